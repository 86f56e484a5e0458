import pytest

from builder.core.records import Transcript, Turn
from builder.text.language import language_of


def conversation(*user_turns: str, language: str = "") -> Transcript:
    return Transcript(
        "c", tuple(Turn(2 * n + 1, "user", text) for n, text in enumerate(user_turns)), language=language
    )


@pytest.mark.parametrize(
    ("turns", "expected"),
    [
        (("which eu regions do you have", "and eu?"), "en"),
        (("Was kostet Faro 300 im Monat?", "und die Einrichtung?"), "de"),
        (("¿Cuánto tarda un envío a Canarias?", "¿y a Baleares?"), "es"),
        (("Jusqu'à quelle heure la hotline répond-elle ?", "et le samedi ?"), "fr"),
        (("qual o horário da loja Ipê no sábado?", "e domingo?"), "pt"),
        (("你们的会员分几档？", "第三档呢"), "zh"),
        (("緑地計画と駐輪場計画の違いは何ですか", "予算は"), "ja"),
    ],
    ids=["en", "de", "es", "fr", "pt", "zh", "ja"],
)
def test_the_language_is_told_from_all_user_turns_together(turns: tuple[str, ...], expected: str) -> None:
    assert language_of(conversation(*turns)) == expected


def test_a_language_that_the_log_names_wins() -> None:
    assert language_of(conversation("kan ik die ook sluiten?", language="nl")) == "nl"


def test_a_conversation_without_letters_has_no_language() -> None:
    assert language_of(conversation("429?", "503?")) == ""


def test_a_language_without_a_lexicon_is_named_all_the_same() -> None:
    turns = (
        "Hoe zet ik een wachtrij op in Freelo?",
        "kan ik die ook tijdelijk sluiten? en wie mag dat doen?",
    )
    assert language_of(conversation(*turns)) == "nl"
