import pytest

from builder.text.lexicon import lexicon
from builder.text.words import content_words, words


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("en", "And Dublin's RPO on eu-west-1?", ["Dublin", "RPO", "eu-west-1"]),
        ("en", "use --project with db.medium, 99.95% in C++", ["--project", "db.medium", "99.95", "C++"]),
        ("fr", "Combien coûte l'abonnement Orme ?", ["abonnement", "Orme"]),
        ("ja", "にじいろ保育園は何時まで預かってもらえますか", ["にじいろ", "保育園"]),
        ("zh", "居民停车证怎么收费", ["居民停车证"]),
    ],
    ids=["codes", "flags", "elision", "kana and Han", "Han"],
)
def test_content_words_are_names_and_nouns_with_their_separators(
    language: str, text: str, expected: list[str]
) -> None:
    found = [word.text for word in content_words(text, lexicon(language))]
    assert [word for word in expected if word in found] == expected


def test_a_word_knows_where_it_stands() -> None:
    text = "Does São Paulo fail over to Virginia?"
    for word in words(text, lexicon("en")):
        assert text[word.start : word.end] == word.text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("KST-4221", True),
        ("eu-west-1", True),
        ("max_receives", True),
        ("pooler", False),
        ("2026", False),
        ("SLA", True),
    ],
)
def test_codes_are_told_by_their_look(text: str, expected: bool) -> None:
    assert words(text, lexicon("en"))[0].is_code is expected


def test_a_capital_that_opens_a_sentence_makes_no_name() -> None:
    first, *_, last = words("Backups run daily. Backups of Frankfurt", lexicon("en"))
    assert not first.is_name
    assert last.is_name
