from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builder.core.taxonomy import window_is_right
from builder.scope.ceiling import (
    Case,
    Verdict,
    case_of,
    cut_table,
    no_window,
    queries,
    right_by_stratum,
    segmentation,
    starting_at,
    window_table,
    window_verdict,
)
from builder.scope.liveness import Horizons
from builder.scope.slot_ceiling import best_choice, conversation_of, liveness_grid, liveness_verdicts
from tests.scope.conversation import TURNS, find, no_words, sample_items


def case(
    turn: int, kind: str, antecedents: tuple[int, ...], d_stale: int | None, pivot: bool = False
) -> Case:
    d_live = max((turn - number for number in antecedents), default=0)
    return Case("worked", turn, kind, antecedents, d_live, d_stale, pivot)


WORKED = [
    case(3, "ordinal", (2,), 1),
    case(5, "standalone", (), 1),
    case(7, "post_pivot_standalone", (), 1, pivot=True),
    case(9, "ellipsis", (7,), 2, pivot=True),
    case(11, "long_range", (6,), 1, pivot=True),
]


def test_the_worked_example_has_its_two_standalone_turns_right_without_history_and_no_other_window() -> None:
    assert [row[1].right for row in window_table(WORKED)] == [0.4, 0.0, 0.0, 0.0, 0.0, 0.0]
    assert window_verdict(WORKED, 1) == Verdict(right=0.0, short=0.2, stale=0.6, both=0.2)
    assert window_verdict(WORKED, 5) == Verdict(right=0.0, short=0.0, stale=1.0, both=0.0)


def test_the_two_ways_in_which_no_window_is_right_are_told_apart() -> None:
    assert no_window(WORKED) == {"some": 0.4, "same_turn": 0.4, "nearer_stale": 0.2}


def test_a_stratum_shows_which_window_serves_it() -> None:
    assert right_by_stratum(WORKED, 0) == {
        "post_pivot_standalone": 1.0,
        "long_range": 0.0,
        "ordinal": 0.0,
        "ellipsis": 0.0,
        "standalone": 1.0,
    }


def test_cuts_at_the_labelled_pivots_strand_the_references_that_reach_behind_them() -> None:
    found = segmentation(WORKED, {"worked": [7, 9, 11]})
    assert found.contiguous == 0.4
    assert found.consistent == 0.4
    assert found.early_at_pivots == 0.4
    assert found.at_pivots == Verdict(right=0.2, short=0.4, stale=0.4, both=0.0)


def test_weights_count() -> None:
    light, heavy = case(3, "ordinal", (2,), 1), Case("c", 5, "standalone", (), 0, None, False, weight=3.0)
    assert window_verdict([light, heavy], 0).right == 0.75


def test_what_asks_for_nothing_is_left_out() -> None:
    assert queries([case(3, "not_a_query", (), None), *WORKED]) == WORKED


def test_a_window_of_the_sample_is_right_for_the_share_that_the_taxonomy_says() -> None:
    cases = [case_of(item) for item in sample_items()]
    for length, shares in window_table(cases):
        right = sum(window_is_right(length, c.d_live, c.d_stale) for c in cases) / len(cases)
        assert shares.right == pytest.approx(right, abs=1e-6)
        assert shares.right + shares.short + shares.stale + shares.both == pytest.approx(1, abs=1e-5)


@st.composite
def conversations(draw: st.DrawFn) -> list[Case]:
    found = []
    for turn in draw(st.sets(st.sampled_from([3, 5, 7, 9]), min_size=1)):
        d_live, d_stale = draw(st.integers(0, turn - 1)), draw(st.none() | st.integers(1, turn - 1))
        antecedents = (turn - d_live,) if d_live else ()
        found.append(Case("c", turn, "standalone", antecedents, d_live, d_stale, False))
    return sorted(found, key=lambda c: c.turn)


@given(conversations())
def test_the_best_cuts_are_the_best_of_all_cuts_tried_one_by_one(cases: list[Case]) -> None:
    best = 0
    for cuts in product([False, True], repeat=8):
        starts = [1, *(turn for turn, is_cut in enumerate(cuts, start=2) if is_cut)]
        shown = [starting_at(c, max(s for s in starts if s <= c.turn)) for c in cases]
        best = max(best, sum(reaches and not stale for reaches, stale, _ in shown))
    found = segmentation(cases, None)
    assert found.consistent == pytest.approx(best / len(cases), abs=1e-6)
    assert found.consistent <= found.contiguous + 1e-6
    assert found.at_pivots is None


def test_vectors_that_tell_nothing_apart_never_cut_and_a_threshold_above_one_always_does() -> None:
    never, always = cut_table({"worked": TURNS}, WORKED, no_words, thresholds=(0.5, 1.5))
    assert (never.cuts, never.early, never.shows.right) == (0.0, 0.0, 0.0)
    assert (always.cuts, always.early, always.shows.right) == (5.0, 0.6, 0.4)
    assert (always.early_conversations, always.cost) == (1.0, 0.0)


def labelled(
    turn: int, antecedents: tuple[int, ...], required: tuple[str, ...], forbidden: tuple[str, ...]
) -> Case:
    d_live = max((turn - number for number in antecedents), default=0)
    return Case("worked", turn, "ordinal", antecedents, d_live, None, False, required, forbidden)


def test_a_perfect_choice_per_entity_separates_what_no_window_can() -> None:
    read = conversation_of(TURNS, [labelled(11, (6,), ("Dublin", "RTO"), ("reporting export",))], find)
    assert best_choice([read]).right == 1.0
    alone, beside = liveness_verdicts([read], Horizons(stale=6, evict=20))
    assert alone == Verdict(right=0.0, short=0.0, stale=1.0, both=0.0)
    assert beside == alone


def test_superseding_hides_the_sibling_that_the_user_left() -> None:
    read = conversation_of(TURNS[:10], [labelled(9, (7,), ("reporting export",), ("billing export",))], find)
    on, _ = liveness_verdicts([read], Horizons(supersede=True))
    off, _ = liveness_verdicts([read], Horizons(supersede=False))
    assert (on.shows_stale, off.shows_stale) == (1.0, 1.0)  # "the reporting one" does not name the API yet
    named = TURNS[8].__class__(9, "user", "what about the reporting export?")
    read = conversation_of(
        (*TURNS[:8], named), [labelled(9, (7,), ("reporting export",), ("billing export",))], find
    )
    on, _ = liveness_verdicts([read], Horizons(supersede=True))
    off, _ = liveness_verdicts([read], Horizons(supersede=False))
    assert (on.shows_stale, off.shows_stale) == (0.0, 1.0)


def test_the_grid_has_a_row_for_every_pair_of_horizons_and_takes_no_short_cut_that_changes_one() -> None:
    read = [conversation_of(TURNS, [labelled(11, (6,), ("Dublin",), ("reporting export",))], find)]
    grid = liveness_grid(read, stale=(1, 4), evict=(3, 20))
    assert len(grid) == 8
    for row in grid:
        assert (row.slots, row.beside) == liveness_verdicts(read, row.horizons)
