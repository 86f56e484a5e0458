from collections import Counter, defaultdict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builder.core.mix import Mix, Quota, Quotas
from builder.core.records import Candidate, Dropped, FollowUp, Synthesis, Transcript, Turn
from builder.core.settings import DrawSettings
from builder.stages.draw import (
    BEYOND,
    CONVERSATION_FULL,
    HELD_BACK,
    NO_ITEMS,
    SECOND_OF_STRATUM,
    capped_chances,
    count_available,
    draw_candidates,
)

STRATA = ("pronoun", "ellipsis", "ordinal", "long_range", "standalone", "definite")


def follow_up(conversation: str, turn: int, stratum: str, **values: object) -> FollowUp:
    row: dict[str, object] = {
        "conversation_id": conversation,
        "turn": turn,
        "subject": "Dublin",
        "reference_type": stratum,
        "form": "pronoun",
        "pivot": False,
        "returns": False,
        "antecedent_turns": (turn - 1,),
        "d_live": 1,
        "d_introduced": 1,
        "required_in_rewrite": ("Dublin",),
        "forbidden_in_rewrite": (),
        "d_stale": None,
        "confidence": 0.9,
        **values,
    }
    return FollowUp(**row)  # type: ignore[arg-type]


def transcript(name: str, synthesis: Synthesis | None = None) -> Transcript:
    return Transcript(name, (Turn(1, "user", "is Dublin in the EU?"),), synthesis=synthesis)


def quotas(**seats: int) -> Quotas:
    rows = tuple(Quota(name, n, 0, 0, 0.0, 1.0, 1.0) for name, n in seats.items())
    return Quotas(sum(seats.values()), rows, Mix((), 0, 0, "labels"))


def drawn(
    follow_ups: list[FollowUp],
    wanted: Quotas,
    kept: frozenset[str] = frozenset(),
    seed: int = 13,
    **values: float,
) -> tuple[list[Candidate], dict[str, str]]:
    transcripts = {f.conversation_id: transcript(f.conversation_id) for f in follow_ups}
    choice = DrawSettings(**{"least_confident": 0.0, **values})  # type: ignore[arg-type]
    out = list(draw_candidates(follow_ups, transcripts, wanted, choice, seed, kept))
    candidates = [record for record in out if isinstance(record, Candidate)]
    return candidates, {record.id: record.reason for record in out if isinstance(record, Dropped)}


LOG = [follow_up(f"c{c:02}", 3 + 2 * n, STRATA[(c + n) % 6]) for c in range(30) for n in range(1 + c % 6)]


def test_every_follow_up_comes_out_once_as_candidate_or_dropped() -> None:
    candidates, dropped = drawn(LOG, quotas(pronoun=3, ellipsis=3, ordinal=2))
    ids = [c.follow_up.id for c in candidates] + list(dropped)
    assert sorted(ids) == sorted(f.id for f in LOG)


@settings(max_examples=30)
@given(st.permutations(LOG))
def test_drawing_ignores_input_order(shuffled: list[FollowUp]) -> None:
    wanted = quotas(pronoun=5, ellipsis=4, standalone=2)
    assert drawn(shuffled, wanted) == drawn(LOG, wanted)


@settings(max_examples=30)
@given(st.integers(0, 10_000), st.integers(1, 3), st.integers(1, 2))
def test_no_conversation_is_over_its_caps(seed: int, per_conversation: int, per_stratum: int) -> None:
    log = [follow_up(f"c{c}", 3 + 2 * n, STRATA[(c * n) % 3]) for c in range(9) for n in range(8)]
    candidates, _ = drawn(
        log,
        quotas(pronoun=9, ellipsis=9, ordinal=9),
        seed=seed,
        per_conversation=per_conversation,
        per_conversation_and_stratum=per_stratum,
    )
    assert max(Counter(c.follow_up.conversation_id for c in candidates).values()) <= per_conversation
    pairs = Counter((c.follow_up.conversation_id, c.follow_up.reference_type) for c in candidates)
    assert max(pairs.values()) <= per_stratum


def test_the_reserve_is_as_long_as_the_setting_says() -> None:
    log = [follow_up(f"c{c:02}", 3, "pronoun") for c in range(50)]
    candidates, dropped = drawn(log, quotas(pronoun=10), reserve=2.0)
    assert [c.position for c in candidates] == list(range(20))
    assert Counter(dropped.values()) == {BEYOND: 30}
    assert {c.inclusion_probability for c in candidates} == {0.2}


def test_the_previous_release_comes_first() -> None:
    log = [follow_up(f"c{c:02}", 3, "pronoun") for c in range(50)]
    last = {c.follow_up.id for c in drawn(log, quotas(pronoun=10))[0][-3:]}
    candidates, _ = drawn(log, quotas(pronoun=10), kept=frozenset(last))
    assert {c.follow_up.id for c in candidates[:3]} == last
    assert [c.kept for c in candidates[:4]] == [True, True, True, False]


def test_a_kept_follow_up_holds_its_place_against_its_own_conversation() -> None:
    log = [
        follow_up("c01", 3 + 2 * n, stratum)
        for n, stratum in enumerate(["pronoun", "pronoun", "ellipsis", "ordinal"])
    ]
    wanted = quotas(pronoun=2, ellipsis=2, ordinal=2)
    for kept in log:
        candidates, _ = drawn(log, wanted, kept=frozenset({kept.id}), per_conversation=1)
        assert [c.follow_up.id for c in candidates] == [kept.id]


def test_the_least_confident_fifth_is_held_back_unless_it_has_a_second_label() -> None:
    log = [follow_up(f"c{c}", 3, "pronoun", confidence=c / 10) for c in range(10)]
    _, dropped = drawn(log, quotas(pronoun=10), least_confident=0.2)
    assert dropped == {"c0#3": HELD_BACK, "c1#3": HELD_BACK}
    checked = [follow_up(f"c{c}", 3, "pronoun", confidence=c / 10, labelled_by="llm") for c in range(2)]
    _, dropped = drawn(checked + log[2:], quotas(pronoun=10), least_confident=0.2)
    assert dropped == {"c2#3": HELD_BACK}


def test_synthetic_follow_ups_queue_behind_all_real_ones_and_stand_for_no_share() -> None:
    real = [follow_up(f"c{c}", 9, "long_range") for c in range(3)]
    made = [follow_up(f"syn{c}", 9, "long_range", origin="synthetic") for c in range(2)]
    candidates, _ = drawn(real + made, quotas(long_range=5), reserve=1.0)
    assert [c.follow_up.origin for c in candidates] == ["sampled"] * 3 + ["synthetic"] * 2
    assert [c.inclusion_probability for c in candidates] == [1.0] * 3 + [0.0] * 2
    candidates, _ = drawn(real + made, quotas(long_range=2), reserve=1.0)
    assert [c.follow_up.origin for c in candidates] == ["sampled"] * 2 + ["synthetic"] * 2


def test_every_base_is_used_once_before_any_is_used_twice() -> None:
    made = [follow_up(f"syn{c}", 9, "long_range", origin="synthetic") for c in range(8)]
    transcripts = {
        f.conversation_id: transcript(
            f.conversation_id, Synthesis(f"base{n // 2}", 5, (), (), 1, 4, "plain", (1,))
        )
        for n, f in enumerate(made)
    }
    out = draw_candidates(made, transcripts, quotas(long_range=4), DrawSettings(reserve=2.0), 13)
    bases = [c.transcript.synthesis.base for c in out if isinstance(c, Candidate) and c.transcript.synthesis]
    assert len(bases) == 8
    assert len(set(bases[:4])) == 4


def test_strata_without_items_and_second_ones_are_dropped_with_their_reason() -> None:
    log = [
        follow_up("c1", 3, "not_a_query"),
        follow_up("c1", 5, "pronoun"),
        follow_up("c1", 7, "pronoun"),
    ]
    candidates, dropped = drawn(log, quotas(pronoun=4))
    assert len(candidates) == 1
    assert candidates[0].inclusion_probability == 0.5
    assert sorted(dropped.values()) == sorted([NO_ITEMS, SECOND_OF_STRATUM])


def test_the_scarce_stratum_wins_the_places_of_a_conversation() -> None:
    # Seats of all strata but ordinal are far fewer than the follow-ups there; every ordinal one is needed.
    log = [follow_up(f"c{c:02}", 3 + 2 * n, name) for c in range(40) for n, name in enumerate(STRATA[:3])]
    candidates, dropped = drawn(log, quotas(pronoun=4, ellipsis=4, ordinal=40), per_conversation=2)
    assert sum(c.follow_up.reference_type == "ordinal" for c in candidates) == 40
    assert CONVERSATION_FULL in dropped.values()


@pytest.mark.parametrize("n", [1, 2, 3])
def test_capped_chances_sum_to_the_places(n: int) -> None:
    chances = capped_chances([1.0, 0.1, 0.1, 0.3], n)
    assert sum(chances) == pytest.approx(n)
    assert max(chances) <= 1.0


def test_inclusion_probabilities_are_the_frequencies_over_many_seeds() -> None:
    log = [follow_up(f"c{c}", 3 + 2 * n, STRATA[(c * n) % 3]) for c in range(6) for n in range(1 + c)]
    wanted = quotas(pronoun=3, ellipsis=2, ordinal=2)
    times: Counter[str] = Counter()
    claimed: defaultdict[str, float] = defaultdict(float)
    n_seeds = 1500
    for seed in range(n_seeds):
        for candidate in drawn(log, wanted, seed=seed, per_conversation=2)[0]:
            seats = wanted.seats(candidate.follow_up.reference_type)
            times[candidate.follow_up.id] += candidate.position < seats
            claimed[candidate.follow_up.id] += (candidate.position < seats) / candidate.inclusion_probability
    # The claimed probability estimates totals without bias: every follow-up counts once on average.
    for follow in log:
        assert claimed[follow.id] / n_seeds == pytest.approx(1.0, abs=0.15), follow.id
    assert min(times.values()) > 0


def test_what_is_available_is_counted_before_seats_are_known() -> None:
    log = [
        *(follow_up("c1", 3 + 2 * n, "pronoun") for n in range(3)),
        follow_up("c2", 3, "pronoun"),
        follow_up("syn", 9, "long_range", origin="synthetic"),
    ]
    available = count_available(log, DrawSettings(least_confident=0.0), 13)
    assert (available["pronoun"], available["long_range"]) == (2, 0)
