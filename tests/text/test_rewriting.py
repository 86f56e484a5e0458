import pytest

from builder.text.lexicon import lexicon
from builder.text.rewriting import MISSING, NO_QUERY, STALE, rewrite_by_rules


@pytest.mark.parametrize(
    ("language", "follow_up", "form", "required", "expected"),
    [
        ("en", "ok, and does it support CMK?", "pronoun", ["Dublin", "CMK"], "does Dublin support CMK?"),
        ("en", "and its RPO?", "pronoun", ["Frankfurt", "RPO"], "Frankfurt's RPO?"),
        (
            "en",
            "new topic: does the billing export page?",
            "none",
            ["billing export"],
            "does the billing export page?",
        ),
        ("en", "and the RTO over there?", "pronoun", ["RTO", "Dublin"], "the RTO Dublin?"),
        ("en", "what about the second?", "ordinal", ["Dublin", "SLA"], "Dublin SLA: what about the second?"),
        ("fr", "et le samedi ?", "ellipsis", ["samedi", "hotline Orme"], "hotline Orme: le samedi ?"),
        ("zh", "它在哪里能买", "pronoun", ["青鸟音箱"], "青鸟音箱在哪里能买"),
    ],
)
def test_missing_things_are_put_where_the_message_points(
    language: str, follow_up: str, form: str, required: list[str], expected: str
) -> None:
    assert rewrite_by_rules(follow_up, form, required, ["uptime"], {}, lexicon(language)) == (expected, "")


def test_a_message_that_holds_a_forbidden_term_has_no_rewrite() -> None:
    found = rewrite_by_rules("not Bronze, Silver", "ellipsis", ["Silver"], ["Bronze"], {}, lexicon("en"))
    assert found == (None, STALE)


def test_a_term_that_no_text_can_hold_leaves_no_rewrite() -> None:
    assert rewrite_by_rules("and the price?", "ellipsis", ["?!"], [], {}, lexicon("en")) == (None, MISSING)


def test_thanks_have_no_rewrite() -> None:
    assert rewrite_by_rules("thanks", "none", [], [], {}, lexicon("en"))[0] is None
    assert rewrite_by_rules("", "pronoun", [], [], {}, lexicon("en")) == (None, NO_QUERY)
