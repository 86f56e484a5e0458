from functools import cache

import pytest

from builder.core.records import Transcript, Turn
from builder.model.encoder import SHIPPED
from builder.model.pieces import Vocabulary, load_vocabulary, shorten, shorten_message
from builder.model.rendering import CLS, ROOM, SEP, mark, render


@cache
def vocabulary() -> Vocabulary:
    return load_vocabulary(SHIPPED / "tokenizer.json", SHIPPED / "stop_words.json")


def talk(*texts: str) -> Transcript:
    roles = ("user", "assistant")
    return Transcript("c", tuple(Turn(n + 1, roles[n % 2], text) for n, text in enumerate(texts)))


REGIONS = talk(
    "which european sites let us bring our own encryption keys?",
    "Frankfurt and Dublin accept customer-held keys.",
    "uptime of Dublin?",
)


def test_the_follow_up_comes_first_then_earlier_turns_newest_first_each_behind_its_mark() -> None:
    rendering = render(REGIONS, 3, vocabulary())
    encode = vocabulary().encode
    expected = (
        CLS,
        *encode("uptime of Dublin?"),
        SEP,
        mark("assistant", 1),
        *encode("Frankfurt and Dublin accept customer-held keys."),
        mark("user", 2),
        *encode("which european sites let us bring our own encryption keys?"),
    )
    assert rendering.ids == expected
    assert rendering.seen == (2, 1)
    assert [rendering.ids[at] for at in rendering.marks] == [mark("assistant", 1), mark("user", 2)]
    assert rendering.ids[rendering.follow_up_end] == SEP
    assert rendering.unseen == ()


def test_a_content_piece_that_message_and_history_share_is_of_the_other_kind() -> None:
    rendering = render(REGIONS, 3, vocabulary())
    (dublin,) = vocabulary().encode("dublin")
    assert {i for i, kind in zip(rendering.ids, rendering.kinds, strict=True) if kind} == {dublin}
    assert sum(rendering.kinds) == 2


def test_turn_facts_say_who_spoke_how_far_away_and_how_much_is_shared() -> None:
    newest, oldest = render(REGIONS, 3, vocabulary()).turn_facts
    assert newest[:5] == (0.0, 1 / 16, 0.0, 0.5, 0.25)
    assert oldest[:5] == (1.0, 2 / 16, 0.0, 0.0, 0.0)


def test_later_turns_cannot_change_an_earlier_follow_up() -> None:
    longer = Transcript(
        "c", (*REGIONS.messages, Turn(4, "assistant", "99.95%."), Turn(5, "user", "and RPO?"))
    )
    assert render(longer, 3, vocabulary()) == render(REGIONS, 3, vocabulary())


@pytest.mark.parametrize("n_exchanges", [3, 12, 40])
def test_a_long_history_fits_and_what_was_not_read_is_recorded(n_exchanges: int) -> None:
    long_answer = "The reporting export returns everything in one file and keeps it for a week. " * 12
    texts = [text for n in range(n_exchanges) for text in (f"question {n} about exports", long_answer)]
    rendering = render(talk(*texts, "and the last one?"), 2 * n_exchanges + 1, vocabulary())
    assert len(rendering.ids) <= ROOM
    assert {*rendering.seen, *rendering.unseen} == set(range(1, 2 * n_exchanges + 1))
    assert not set(rendering.seen) & set(rendering.unseen)
    assert {2 * n_exchanges, 2 * n_exchanges - 1} <= set(rendering.seen)


def test_user_turns_alone_are_read_too() -> None:
    turns = (Turn(1, "user", "What is throat cancer?"), Turn(2, "user", "Is it treatable?"))
    rendering = render(Transcript("c", turns), 2, vocabulary())
    assert rendering.seen == (1,)
    assert rendering.ids[rendering.marks[0]] == mark("user", 1)


def test_shortening_keeps_the_opening_and_the_sentence_that_shares_pieces() -> None:
    sentences = [(1, 2, 9), (3, 3, 3, 9), (7, 8, 9)]
    ids = [piece for sentence in sentences for piece in sentence]
    assert shorten(ids, 6, frozenset({8}), frozenset({9})) == (1, 2, 9, 7, 8, 9)
    assert shorten(ids, 20, frozenset({8}), frozenset({9})) == tuple(ids)


def test_a_long_message_keeps_its_start_and_its_end() -> None:
    assert shorten_message(list(range(30)), 9) == (0, 1, 2, 3, 4, 5, 27, 28, 29)


def test_distances_beyond_twelve_share_marks() -> None:
    assert mark("user", 1) != mark("user", 2)
    assert mark("user", 13) == mark("user", 16) != mark("user", 17)
    assert mark("user", 25) == mark("user", 400)
    assert mark("user", 3) != mark("assistant", 3)
