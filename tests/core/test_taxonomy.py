"""The taxonomy's worked example is the first golden: every derived value of its table, recomputed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builder.core.records import Turn
from builder.core.taxonomy import (
    FORM_NAMES,
    STRATUM_NAMES,
    Facts,
    Windows,
    d_introduced,
    d_live,
    d_stale,
    intervening_turns,
    reference_type,
    right_windows,
    window_is_right,
)

TEXTS = [
    "which european sites let us bring our own encryption keys?",
    "Frankfurt and Dublin accept customer-held keys.",
    "uptime commitment for the second?",
    "Dublin (eu-west-1) is covered by a 99.95% uptime commitment.",
    "And Dublin's RPO?",
    "In Dublin the documented RPO is 15 minutes.",
    "new topic: does the billing export API page its results?",
    "Yes, by cursor, up to 500 rows at a time.",
    "what about the reporting one?",
    "The reporting export API returns everything in one file.",
    "and the RTO over there?",
]
TURNS = tuple(Turn(n, "user" if n % 2 else "assistant", text) for n, text in enumerate(TEXTS, start=1))
ALIASES = {"Dublin": ("eu-west-1",)}

WORKED = [
    # turn, form, pivot, antecedents, forbidden -> stratum, d_live, d_stale
    (3, "ordinal", False, (2,), ("Frankfurt",), "ordinal", 1, 1),
    (5, "none", False, (), ("uptime",), "standalone", 0, 1),
    (7, "none", True, (), ("Dublin", "RPO", "uptime", "encryption"), "post_pivot_standalone", 0, 1),
    (9, "ellipsis", True, (7,), ("billing",), "ellipsis", 2, 2),
    (11, "pronoun", True, (6,), ("reporting export", "billing export"), "long_range", 5, 1),
]


@pytest.mark.parametrize(
    ("turn", "form", "pivot", "antecedents", "forbidden", "stratum", "live", "stale"), WORKED
)
def test_the_worked_example_derives_as_the_taxonomy_says(
    turn: int,
    form: str,
    pivot: bool,
    antecedents: tuple[int, ...],
    forbidden: tuple[str, ...],
    stratum: str,
    live: int,
    stale: int,
) -> None:
    assert d_live(turn, antecedents) == live
    # The table gives the distance of the entity it names; the item's is that of the nearest forbidden term.
    found = d_stale(turn, forbidden[:1], TURNS[: turn - 1], ALIASES)
    assert found == stale
    assert reference_type(Facts(form, pivot, live)) == stratum


def test_the_antecedent_was_introduced_long_before_it_was_last_named() -> None:
    assert d_introduced(11, ("Dublin", "RTO"), (6,), TURNS, ALIASES) == 9
    assert d_introduced(7, ("billing export",), (), TURNS, ALIASES) == 0


def test_intervening_turns_are_those_of_other_subjects() -> None:
    subjects = {1: "regions", 3: "Dublin", 5: "Dublin", 7: "billing export", 9: "reporting export"}
    assert intervening_turns(11, (6,), subjects, "Dublin") == 4
    assert intervening_turns(5, (), subjects, "Dublin") == 0


@pytest.mark.parametrize(
    ("facts", "stratum"),
    [
        (Facts("pronoun", True, 6, is_query=False), "not_a_query"),
        (Facts("pronoun", True, 0, resolvable=False), "unresolvable"),
        (Facts("none", True, 0), "post_pivot_standalone"),
        (Facts("ordinal", True, 4), "long_range"),
        (Facts("ordinal", True, 3), "ordinal"),
        (Facts("carryover", False, 2), "constraint_carryover"),
        (Facts("none", False, 0), "standalone"),
        (Facts("ellipsis", False, 4, long_range=5), "ellipsis"),
    ],
)
def test_a_follow_up_belongs_to_the_first_row_that_holds(facts: Facts, stratum: str) -> None:
    assert reference_type(facts) == stratum


def test_facts_that_contradict_each_other_have_no_stratum() -> None:
    with pytest.raises(ValueError, match="no stratum for form 'none' with d_live 2"):
        reference_type(Facts("none", False, 2))


def test_right_windows_and_why_there_are_none() -> None:
    assert right_windows(2, 5) == Windows(2, 4, "some")
    assert right_windows(0, None) == Windows(0, None, "some")
    assert right_windows(2, 2).verdict == "same_turn"
    assert right_windows(5, 1).verdict == "nearer_stale"


distances = st.integers(0, 30)


@given(st.sampled_from(FORM_NAMES), st.booleans(), distances, st.booleans(), st.booleans())
def test_the_strata_are_a_partition(form: str, pivot: bool, live: int, query: bool, resolvable: bool) -> None:
    live = 0 if form == "none" else max(live, 1)
    assert reference_type(Facts(form, pivot, live, query, resolvable)) in STRATUM_NAMES


@given(distances, distances, st.one_of(st.none(), st.integers(1, 30)))
def test_a_window_is_right_exactly_between_the_two_distances(w: int, live: int, stale: int | None) -> None:
    windows = right_windows(live, stale)
    inside = windows.low <= w and (windows.high is None or w <= windows.high)
    assert window_is_right(w, live, stale) == inside
    assert (windows.verdict == "some") == any(window_is_right(n, live, stale) for n in range(62))
