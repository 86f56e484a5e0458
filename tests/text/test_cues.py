import pytest

from builder.text.cues import not_a_query, read_cues, strip_openers
from builder.text.lexicon import LANGUAGES, lexicon


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "thanks, that helps!"),
        ("en", "perfect, thanks a lot!!"),
        ("en", "asdfjkl;;"),
        ("en", "ok got it"),
        ("en", "lol ok and how are you today"),
        ("de", "alles klar, vielen Dank!"),
        ("es", "vale gracias"),
        ("fr", "d'accord, merci beaucoup"),
        ("pt", "Muito agradecida pela paciência."),
        ("zh", "谢谢 回答得很快👍"),
        ("ja", "わかりました。ありがとうございます。"),
    ],
)
def test_thanks_and_acknowledgements_ask_for_nothing(language: str, text: str) -> None:
    assert not_a_query(text, lexicon(language))


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "thanks, and how long is the warranty?"),
        ("en", 'Thanks, and the next line: "Penetration testing: frequency"'),
        ("en", "ok. max direct connections on a db.medium"),
        ("fr", "d'accord merci, et le samedi ?"),
        ("de", "danke, und was kostet die Einrichtung?"),
        ("es", "vale, ¿y cuánto cuesta?"),
        ("zh", "好的，那发票抬头能改吗"),
        ("ja", "ありがとう。予算はいくらですか"),
    ],
)
def test_a_request_behind_thanks_is_a_query(language: str, text: str) -> None:
    assert not not_a_query(text, lexicon(language))


@pytest.mark.parametrize(
    ("language", "text", "field"),
    [
        ("en", "uptime commitment for the second?", "selector"),
        ("en", "what about the other one", "selector"),
        ("en", "does it support CMK?", "pronoun"),
        ("en", "and the RTO over there?", "pronoun"),
        ("en", "what about the RTO?", "ellipsis"),
        ("en", "why?", "ellipsis"),
        ("en", "different question: do you have webhooks", "pivot_marker"),
        ("en", "back to regions - which of the two", "return_marker"),
        ("de", "Wie lange vorher muss ich das Zweite beantragen?", "selector"),
        ("de", "gibts den auch am wochenende", "pronoun"),
        ("de", "und bei Faro 300?", "ellipsis"),
        ("de", "andere Frage: wo melde ich mich an", "pivot_marker"),
        ("es", "¿Cómo lo cancelo?", "pronoun"),
        ("es", "¿puedo devolverlo en tienda?", "pronoun"),
        ("es", "¿y a Baleares?", "ellipsis"),
        ("es", "volviendo a lo del soporte, cuánto cuesta", "return_marker"),
        ("fr", "et le samedi ?", "ellipsis"),
        ("fr", "comment je le renouvelle ?", "pronoun"),
        ("fr", "laquelle des deux est la moins chère ?", "selector"),
        ("pt", "Como é que o cancelo?", "pronoun"),
        ("pt", "e domingo?", "ellipsis"),
        ("pt", "outra coisa, onde fica a loja", "pivot_marker"),
        ("zh", "它在哪里能买", "pronoun"),
        ("zh", "第三档呢", "selector"),
        ("zh", "键盘呢？", "ellipsis"),
        ("zh", "换个问题，发票能改吗", "pivot_marker"),
        ("ja", "さっきの1つ目の計画の予算は", "selector"),
        ("ja", "それは無料ですか", "pronoun"),
        ("ja", "話は変わりますが、駐車場はありますか", "pivot_marker"),
    ],
)
def test_each_language_has_its_cues(language: str, text: str, field: str) -> None:
    assert getattr(read_cues(text, lexicon(language)), field)


@pytest.mark.parametrize(
    "text",
    [
        "is it possible to rename a bucket?",
        "are there discounts for students",
        "how long does it take to restore a snapshot",
        "what is open this weekend",
        "I know that refunds take five days",
    ],
)
def test_it_and_that_which_stand_for_nothing_are_no_pronouns(text: str) -> None:
    assert not read_cues(text, lexicon("en")).pronoun


def test_the_position_of_a_choice_is_read() -> None:
    assert read_cues("and the second one?", lexicon("en")).position == 2
    assert read_cues("what does the last one cost", lexicon("en")).position == -1


def test_discourse_openers_are_set_apart() -> None:
    assert strip_openers("ok, and Dublin's RPO?", lexicon("en")) == ("ok, and", "Dublin's RPO?")


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_every_list(language: str) -> None:
    for name in ("openers", "pivot_markers", "return_markers", "selectors", "thanks", "acks", "corrections"):
        assert lexicon(language).pattern(name).pattern != "(?!)"


def test_a_language_without_a_lexicon_is_read_without_cues() -> None:
    cues = read_cues("kan ik die ook tijdelijk sluiten?", lexicon("nl"))
    assert (cues.pronoun, cues.selector, cues.not_a_query) == ("", "", "")
    assert cues.is_question
