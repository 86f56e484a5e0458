import pytest
from hypothesis import given
from hypothesis import strategies as st

from builder.core.terms import key, normalise, occurs, singular, spans, which_occur


@pytest.mark.parametrize(
    ("term", "text"),
    [
        ("SLA", "and the sla there?"),
        ("SLA", "Both SLAs are listed."),
        ("Dublin", "Dublin's RPO"),
        ("Dublin", "a DUBLIN-based project"),
        ("US", "is it in the US?"),
        ("billing export", "the billing-exports API"),
        ("policy", "our retention policies"),
        ("eu-west-1", "EU West 1 and others"),
        ("web-07", "restarted web-07."),
        ("2.4", "upgrade to v2.4 first"),
        ("v2.4", "since version 2.4"),
        ("99.95%", "99,95 % im Monat"),
        ("10,000 rows", "10000 row limit"),
        ("15", "10-15 minutes"),
        ("email", "by e-mail"),
        ("28", "tyres for 28s"),
        ("São Paulo", "sa\u0303o paulo"),
        ("東京", "東京リージョンのSLA"),
        ("SLA", "東京リージョンのSLAは?"),
        ("制限", "API 制 限"),
    ],
)
def test_a_term_occurs(term: str, text: str) -> None:
    assert occurs(term, text)


@pytest.mark.parametrize(
    ("term", "text"),
    [
        ("SLA", "a slate roof"),
        ("US", "tell us more"),
        ("IT", "is it ready?"),
        ("plan", "two planes"),
        ("eu-west-1", "eu-west-10"),
        ("web-07", "web-071"),
        ("2.4", "2.4.1 is out"),
        ("2.4", "version 12.4"),
        ("2.4", "2 4"),
        ("4", "version 2.4"),
        ("07", "host web-07"),
        ("...", "what ... now?"),
    ],
)
def test_a_term_does_not_fire_inside_something_longer_or_something_else(term: str, text: str) -> None:
    assert not occurs(term, text)


def test_an_alias_stands_for_its_term() -> None:
    assert occurs("Dublin", "costs in eu-west-1", ["eu-west-1"])
    assert which_occur(["Dublin", "RPO"], "eu-west-1 costs", {"Dublin": ["eu-west-1"]}) == ("Dublin",)


def test_spans_point_into_the_text_as_it_was_written() -> None:
    text = "sa\u0303o paulo allows 10,000 rows"
    (start, end), *_ = spans("10000 rows", text)
    assert text[start:end] == "10,000 rows"
    assert spans("RPO", "RPO and RPOs") == ((0, 3), (8, 12))


def test_wordings_that_match_alike_share_a_key() -> None:
    assert key("Billing  Exports") == key("billing-export") == "billing export"
    assert singular("status") == "status"
    assert normalise("Ｄublin’s") == "Dublin's"


words = st.text(alphabet="abcdefghijklmnop", min_size=4, max_size=9)


@given(words, words)
def test_a_term_never_fires_inside_a_longer_word(term: str, tail: str) -> None:
    assert not occurs(term, f"the {term}q{tail} here")


@given(words, words, words)
def test_a_term_is_found_between_any_punctuation_and_case(before: str, term: str, after: str) -> None:
    assert occurs(term, f"{before}; ({term.upper()}), {after}")


@given(st.text(max_size=40), st.text(max_size=40))
def test_spans_lie_inside_any_text_whatsoever(term: str, text: str) -> None:
    for start, end in spans(term, text):
        assert 0 <= start < end <= len(text)
