from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builder.core.identity import Outline, outline_of
from builder.core.records import Dropped, Transcript, Turn
from builder.core.settings import SampleSettings
from builder.stages.sample import (
    Choice,
    choose_conversations,
    design_effect,
    half_width,
    key_of,
    scan_conversations,
    take_chosen,
    too_few,
    wanted_conversations,
)


def talk(name: str, *questions: str) -> Transcript:
    return Transcript(name, tuple(Turn(n, "user", text) for n, text in enumerate(questions, start=1)))


def sample(
    shards: Sequence[Sequence[Transcript]], wanted: SampleSettings, seed: int = 13
) -> list[Transcript]:
    choice = choose(shards, wanted, seed)
    placed = [(place, transcript) for shard in shards for place, transcript in enumerate(shard)]
    return [
        transcript for _, transcript in sorted(take_chosen(placed, choice.keys, seed), key=lambda p: p[0])
    ]


def choose(shards: Sequence[Sequence[Transcript]], wanted: SampleSettings, seed: int = 13) -> Choice:
    scans = [
        scan_conversations(enumerate(map(outline_of, shard)), wanted, seed, number)
        for number, shard in enumerate(shards)
    ]
    return choose_conversations(scans, wanted)


LOG = [talk(f"c{n}", f"what is the RPO of region {n}?", "and its RTO?") for n in range(40)]


@given(st.randoms(use_true_random=False), st.integers(1, 4), st.integers(1, 50))
@settings(max_examples=40, deadline=None)
def test_the_sample_does_not_depend_on_order_or_shards(random, n_shards: int, size: int) -> None:  # type: ignore[no-untyped-def]
    repeated = [
        *LOG,
        *LOG[:7],
        talk("c3", "another text", "under a used id"),
        talk("z", *("same words",) * 3),
    ]
    repeated += [talk("y", *("same words",) * 3)]
    wanted = SampleSettings(conversations=size, precision=0)
    shuffled = list(repeated)
    random.shuffle(shuffled)
    shards = [shuffled[n::n_shards] for n in range(n_shards)]
    assert sample(shards, wanted) == sample([repeated], wanted)


def test_each_conversation_has_the_same_chance() -> None:
    wanted = SampleSettings(conversations=10, precision=0)
    counts = Counter(t.id for seed in range(400) for t in sample([LOG], wanted, seed))
    # Binomial(400, 1/4): mean 100, standard deviation 8.7.
    assert set(counts) == {t.id for t in LOG}
    assert all(65 <= n <= 135 for n in counts.values())


def test_a_text_that_is_often_repeated_is_not_drawn_more_often() -> None:
    copies = [talk(f"copy {n}", "hello", "are you there?") for n in range(40)]
    wanted = SampleSettings(conversations=10, precision=0)
    drawn = sum(
        any(t.id.startswith("copy") for t in sample([[*LOG[:39], *copies]], wanted, seed))
        for seed in range(200)
    )
    # Binomial(200, 10/40): mean 50, standard deviation 6.1; were every copy in the draw, nearly all 200.
    assert 30 <= drawn <= 70


def test_the_sample_is_in_the_order_of_rank() -> None:
    chosen = sample([LOG], SampleSettings(conversations=5, precision=0))
    ranks = [key_of(outline_of(t), 13)[0] for t in LOG]
    assert [key_of(outline_of(t), 13)[0] for t in chosen] == sorted(ranks)[:5]


def test_of_two_conversations_with_one_id_the_smaller_digest_stays_and_the_other_is_named() -> None:
    one, other = talk("c1", "price of Team?", "and Business?"), talk("c1", "SLA of Dublin?", "and the RPO?")
    keeps = min((one, other), key=lambda t: key_of(outline_of(t), 13)[1:])
    leaves = {one: 0, other: 1}[other if keeps is one else one]
    choice = choose([[one, other]], SampleSettings())
    assert (choice.clashing, choice.repeated) == (((0, leaves),), ())
    assert sample([[one, other]], SampleSettings()) == [keeps]


def test_of_two_states_of_one_conversation_the_longer_one_stays() -> None:
    early, late = (
        talk("c1", "price of Team?", "and Business?"),
        talk("c1", "price of Team?", "and Business?", "why?"),
    )
    assert (
        sample([[early], [late]], SampleSettings()) == sample([[late], [early]], SampleSettings()) == [late]
    )


def test_the_same_words_under_two_ids_are_counted_once() -> None:
    choice = choose([[talk("a", "hi", "SLA?")], [talk("b", "hi", "SLA?")]], SampleSettings())
    assert (len(choice.places), len(choice.repeated), choice.clashing) == (1, 1, ())
    assert choice.facts["with_follow_ups"] == 1


def test_conversations_with_too_few_follow_ups_are_counted_and_named() -> None:
    read = [talk("one", "what is an SLA?"), talk("two", "SLA?", "and RPO?"), talk("three", "a", "b", "c")]
    results: list[tuple[int, Outline | Dropped]] = [
        *enumerate(map(outline_of, read)),
        (3, Dropped("log.jsonl:4", "read", "not JSON")),
    ]
    scan = scan_conversations(results, SampleSettings(min_follow_ups=2), 13)
    assert (scan.n_conversations, scan.n_few, [d.reason for d in scan.rejected]) == (3, 2, ["not JSON"])
    assert sorted((d.id, d.reason, d.detail) for d in too_few([scan])) == [
        ("one", "too few follow-ups", "0 follow-ups"),
        ("two", "too few follow-ups", "1 follow-up"),
    ]


def test_nothing_to_choose_from_gives_nothing() -> None:
    assert choose([[]], SampleSettings()).places == ()


def test_the_design_effect_grows_with_the_size_of_conversations() -> None:
    assert design_effect(10, 10) == 1  # ten conversations of one follow-up
    assert design_effect(100, 1000) == pytest.approx(1 + 9 * 0.05)  # ten of ten


def test_as_many_conversations_as_the_precision_needs_and_no_more_than_allowed() -> None:
    # One follow-up each: 1.96^2 / (4 * 0.05^2) = 384.1 of them.
    assert wanted_conversations(5000, 5000, 5000, SampleSettings(precision=0.05)) == 385
    # Ten each: 384.1 * 1.45 / 10 = 55.7 conversations.
    assert wanted_conversations(5000, 50000, 500000, SampleSettings(precision=0.05)) == 56
    assert wanted_conversations(5000, 5000, 5000, SampleSettings(precision=0.01, conversations=900)) == 900
    assert wanted_conversations(30, 30, 30, SampleSettings(precision=0.05)) == 30


def test_the_half_width_of_the_wanted_sample_is_the_precision() -> None:
    assert half_width(385, 5000, 5000) == pytest.approx(0.05, abs=0.0002)
    assert half_width(0, 0, 0) == 1
