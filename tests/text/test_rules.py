import pytest

from builder.core.records import Catalogue, Entity, Transcript, Turn
from builder.core.taxonomy import stratum_of
from builder.text.entities import EntityIndex
from builder.text.rules import read_by_rules, rules_reader

INDEX = EntityIndex(
    Catalogue((Entity("Dublin", "region"), Entity("billing export", "api"), Entity("RPO", "term")))
)


def conversation(*texts: str, language: str = "en") -> Transcript:
    turns = tuple(Turn(n + 1, "assistant" if n % 2 else "user", text) for n, text in enumerate(texts))
    return Transcript("c", turns, language=language)


@pytest.mark.parametrize(
    ("texts", "stratum"),
    [
        (("which sites take our keys?", "Frankfurt and Dublin.", "uptime for the second?"), "ordinal"),
        (("what is the SLA in Dublin?", "It is 99.95%.", "does it cover weekends?"), "pronoun"),
        (("what is the SLA in Dublin?", "It is 99.95%.", "why?"), "ellipsis"),
        (("what is the SLA in Dublin?", "It is 99.95%.", "and Dublin's RPO?"), "standalone"),
        (
            (
                "what is the SLA in Dublin?",
                "It is 99.95%.",
                "new topic: does the billing export page its results?",
            ),
            "post_pivot_standalone",
        ),
        (("what is the SLA in Dublin?", "It is 99.95%.", "thanks a lot!"), "not_a_query"),
        (
            ("What is Falcon 2.4?", "A game.", "What about Falcon 2.3, what is the release date for it?"),
            "standalone",
        ),
    ],
    ids=["ordinal", "pronoun", "ellipsis", "standalone", "pivot", "thanks", "pronoun inside the message"],
)
def test_the_first_row_that_holds_is_read(texts: tuple[str, ...], stratum: str) -> None:
    (reading,) = read_by_rules(conversation(*texts), INDEX)
    assert stratum_of(reading) == stratum


def test_subjects_are_threads_so_interleaving_returns() -> None:
    readings = read_by_rules(
        conversation(
            "how do I rotate Dublin keys?",
            "Rotate keys under Security.",
            "does the billing export page its results?",
            "By cursor.",
            "back to Dublin keys: how often are keys rotated?",
        ),
        INDEX,
    )
    assert [reading.thread for reading in readings] == [3, 1]
    assert readings[1].returns


def test_a_conversation_with_one_user_turn_has_no_reading() -> None:
    assert read_by_rules(conversation("hello", "hi")) == ()


def test_readings_keep_the_taxonomys_laws() -> None:
    talk = conversation("a", "b", "and the second one?", "c", "it?", "d", "thanks", "e", "what about Dublin?")
    for reading in rules_reader(INDEX.catalogue)([talk])[0]:
        assert bool(reading.antecedent_turns) == (reading.form != "none")
        assert all(turn < reading.turn for turn in reading.antecedent_turns)
        assert reading.pivot or not reading.returns
