from dataclasses import replace

import pytest

from builder.evaluate.inputs import content_keys
from builder.scoring.checks import Checks, Contaminant, check_rewrite, is_answer
from tests.scoring.sample import ORDINAL, PIVOT


def check(rewrite: str | None, item: object = PIVOT) -> Checks:
    return check_rewrite(item, rewrite, content_keys)  # type: ignore[arg-type]


def test_the_reference_rewrite_passes_every_check() -> None:
    assert check("billing export API pagination") == Checks("rewritten", (), (), (), False)


def test_a_contaminant_is_named_with_the_turns_it_can_have_come_from() -> None:
    found = check("Is the billing export API paged for RPO in eu-west-1?").contaminants
    assert found == (Contaminant("Dublin", (2, 4, 5, 6)), Contaminant("RPO", (5, 6)))


def test_an_alias_of_a_forbidden_term_contaminates_and_one_of_a_required_term_covers() -> None:
    checks = check("billing exports API pages eu-west-1")
    assert checks.absent == ()
    assert [c.term for c in checks.contaminants] == ["Dublin"]


def test_a_forbidden_term_inside_a_longer_word_does_not_contaminate() -> None:
    assert check("does the billing export API page its corporate results").contaminants == ()


def test_absent_required_terms_are_listed() -> None:
    assert check("commitment of the second site", ORDINAL).absent == ("Dublin", "uptime")


def test_history_brought_into_a_message_that_needs_none_is_needless() -> None:
    assert check("billing export API pages, customer-held keys").brought_in == ("customer held", "key")


def test_wordings_of_follow_up_and_reference_are_not_brought_in() -> None:
    assert check("pagination of results of the billing exports API").brought_in == ()


def test_items_that_need_history_are_not_judged_for_needless_rewriting() -> None:
    assert check("Dublin uptime commitment, Frankfurt keys", ORDINAL).brought_in is None


def test_a_rewrite_that_pastes_the_conversation_is_over_expanded() -> None:
    pasted = " ".join([*(turn.content for turn in PIVOT.prefix), PIVOT.follow_up])
    assert check(pasted).is_over_expanded
    assert check(pasted).kind == "rewritten"


def test_spelling_a_fragment_out_is_not_over_expansion() -> None:
    assert not check("What uptime commitment does the Dublin region have?", ORDINAL).is_over_expanded


def test_an_unchanged_message_is_told_apart_from_a_rewrite() -> None:
    assert check(PIVOT.follow_up.upper()).kind == "unchanged"


def test_a_missing_rewrite_lacks_every_required_term() -> None:
    checks = check(None, ORDINAL)
    assert (checks.kind, checks.absent, checks.contaminants) == ("missing", ("Dublin", "uptime"), ())


@pytest.mark.parametrize(
    "text",
    [
        "Yes, by cursor, up to 500 rows at a time.",
        "I'm sorry, I can't find that in the documentation.",
        "Unfortunately the billing export API has no pages.",
        "Could you clarify which export you mean?",
        "According to the documentation, results come in pages.",
        "The billing export API returns its results in pages. Each page holds up to 500 rows. Use the cursor "
        "to fetch the next one.",
        "Ja, die Ergebnisse kommen seitenweise.",
        "是的，结果是分页的",
    ],
)
def test_an_answer_or_a_refusal_is_not_a_query(text: str) -> None:
    assert is_answer("does the billing export API page its results?", text)


@pytest.mark.parametrize(
    "text",
    [
        "billing export API pagination",
        "Does the billing export API page its results?",
        "I need the billing export API. Does it page?",
        "No region set error when calling the export API",
        "Frankfurt and Dublin accept customer-held keys. Dublin is covered. It holds 99.95% uptime each month there. "
        "does the billing export API page its results?",
    ],
)
def test_a_query_is_not_taken_for_an_answer(text: str) -> None:
    assert not is_answer("does the billing export API page its results?", text)


def test_a_message_that_opens_like_an_answer_may_be_kept() -> None:
    item = replace(PIVOT, follow_up="no, the billing export I meant")
    assert check("no, I meant the billing export", item).kind == "rewritten"
