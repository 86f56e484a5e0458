import pytest

from builder.core.errors import BuilderError
from builder.core.taxonomy import mentions, window_is_right
from builder.scope.designs import DESIGNS, GATE_WORDS, Tools, make_design, replay, with_needed
from builder.scope.shown import State, estimate_tokens
from builder.scope.vectors import word_vectors
from tests.scope.conversation import TURNS, find, sample_items

TOOLS = Tools(find, word_vectors)


def numbers(name: str, upto: int, latest: str) -> list[int]:
    design, prefix = make_design(name, TOOLS), TURNS[:upto]
    return [turn.number for turn in design.show(prefix, latest, replay(design, prefix)).turns]


@pytest.mark.parametrize("length", range(13))
def test_a_window_is_right_exactly_when_the_taxonomy_says_so(length: int) -> None:
    design = make_design(f"window:{length}", TOOLS)
    for item in sample_items():
        shown = design.show(item.prefix, item.follow_up, State())
        numbers = {turn.number for turn in shown.turns}
        stale = mentions(item.forbidden_in_rewrite, shown.turns, dict(item.aliases))
        seen = set(item.antecedent_turns) <= numbers and not stale
        assert seen == window_is_right(length, item.d_live, item.d_stale), item.id


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("none", []),
        ("window:0", []),
        ("window:3", [8, 9, 10]),
        ("window:99", list(range(1, 11))),
        ("full", list(range(1, 11))),
        ("keep_all", list(range(1, 11))),
        ("last6", [5, 6, 7, 8, 9, 10]),
        ("last4_questions", [3, 5, 7, 9]),
        ("last2_pairs_gate12", [7, 8, 9, 10]),
        ("history_aware", list(range(1, 11))),
        ("history_aware_counterweight", list(range(1, 11))),
    ],
)
def test_a_shape_shows_the_turns_that_its_name_says(name: str, expected: list[int]) -> None:
    assert numbers(name, 10, "and the RTO over there?") == expected


def test_the_gate_sends_long_messages_on_as_they_stand() -> None:
    design = make_design("last2_pairs_gate12", TOOLS)
    long = " ".join(["word"] * GATE_WORDS)
    assert design.show(TURNS, long, State()).pass_through
    assert not design.show(TURNS, long.removesuffix(" word"), State()).pass_through


def test_the_oracle_shows_exactly_the_needed_turns() -> None:
    design = make_design("oracle", TOOLS)
    for item in sample_items()[:100]:
        shown = design.show(item.prefix, item.follow_up, with_needed(State(), item.antecedent_turns))
        assert tuple(turn.number for turn in shown.turns) == item.antecedent_turns


def test_the_counterweight_is_the_only_difference_between_the_two_history_aware_shapes() -> None:
    plain = make_design("history_aware", TOOLS).show(TURNS, "and its RPO?", State()).text
    weighted = make_design("history_aware_counterweight", TOOLS).show(TURNS, "and its RPO?", State()).text
    assert weighted != plain
    assert len(weighted) - len(plain) == len(weighted.split("\n\n")[0]) - len(plain.split("\n\n")[0])


EVERY = (
    "window:4",
    "segments:flag",
    "segments:wording",
    "liveness:3,8,report",
    *sorted(set(DESIGNS) - {"window"}),
)


@pytest.mark.parametrize("name", EVERY)
def test_every_design_is_pure_and_names_itself(name: str) -> None:
    design = make_design(name, TOOLS)
    state = replay(design, TURNS[:6])
    assert replay(design, TURNS[:6]) == state
    first = design.show(TURNS[:6], TURNS[6].content, state)
    assert design.show(TURNS[:6], TURNS[6].content, state) == first
    assert design.name == name
    assert TURNS[6].content in first.text
    assert all(turn.content in first.text for turn in first.turns)
    assert design.summary


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("windw:3", 'unknown design "windw:3"; did you mean window?'),
        ("window", "has no whole number behind the colon; write window:8"),
        ("window:-1", "has no whole number behind the colon"),
        ("segments:near", "has no threshold that is a number"),
        ("threads:near", "has no threshold that is a number"),
        ("liveness:3", "is not a liveness design"),
        ("liveness:0,8", "is not a liveness design"),
        ("liveness:3,8,forever", "is not a liveness design"),
        ("full:2", "full takes no argument"),
    ],
)
def test_a_name_that_makes_no_sense_is_an_error_that_says_what_to_write(name: str, message: str) -> None:
    with pytest.raises(BuilderError, match=message.replace("?", r"\?")):
        make_design(name, TOOLS)


def test_tokens_are_estimated_by_characters_and_one_each_in_scripts_without_spaces() -> None:
    assert estimate_tokens("And Dublin's RPO?") == 5
    assert estimate_tokens("帳單匯出") == 4
    assert estimate_tokens("") == 0


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "window:-1",
            "no whole number behind the colon; write window:8, or any other number of turns from 0",
        ),
        (
            "window:two",
            "no whole number behind the colon; write window:8, or any other number of turns from 0",
        ),
        ("window:²", "no whole number behind the colon; write window:8, or any other number of turns from 0"),
        ("segments:9", "no cosine is 9; give a threshold from -1 to 1"),
        ("segments:nan", "no cosine is nan; give a threshold from -1 to 1"),
        ("segments:wording,-2", "no cosine is -2; give a threshold from -1 to 1"),
        ("threads:1.5", "no cosine is 1.5; give a threshold from -1 to 1"),
        ("liveness:8,3", r"evicted \(3\) before they are stale \(8\); give stale from 1 to evict"),
    ],
)
def test_a_number_out_of_range_is_misuse_and_the_range_is_named(name: str, message: str) -> None:
    with pytest.raises(BuilderError, match=message) as raised:
        make_design(name, TOOLS)
    assert raised.value.code == 2
