"""Upgrade: items of the seven basic fields become valid, or say what is missing."""

import pytest

from builder.core.item_rules import item_problems
from builder.core.rows import Row, item_from_row
from builder.io.schemas import schema_problems
from builder.stages.upgrade import BASIC, upgrade_row

TURNS = [
    "which european sites let us bring our own encryption keys?",
    "Frankfurt and Dublin accept customer-held keys.",
    "uptime commitment for the second?",
    "Dublin (eu-west-1) is covered by a 99.95% uptime commitment.",
    "And Dublin's RPO?",
    "In Dublin the documented RPO is 15 minutes.",
    "new topic: does the billing export API page its results?",
    "Yes, by cursor, up to 500 rows at a time.",
    "what about the reporting one?",
    "The reporting export API returns everything in one file.",
]


def basic(turn: int, follow_up: str, stratum: str, required: list[str], forbidden: list[str]) -> Row:
    values = (f"fu_{turn}", TURNS[: turn - 1], follow_up, ["docs/a"], stratum, forbidden, required)
    return dict(zip(BASIC, values, strict=True))


@pytest.mark.parametrize(
    ("row", "antecedents", "d_live", "d_stale"),
    [
        (basic(5, TURNS[4], "standalone", ["Dublin", "RPO"], ["uptime"]), [], 0, 1),
        (basic(7, TURNS[6], "post_pivot_standalone", ["billing export"], ["Dublin", "RPO"]), [], 0, 1),
        (basic(9, TURNS[8], "ellipsis", ["reporting", "export API"], ["billing"]), [7], 2, 2),
        (
            basic(11, "and the RTO over there?", "long_range", ["Dublin", "RTO"], ["reporting export"]),
            [6],
            5,
            1,
        ),
    ],
    ids=["standalone", "pivot", "ellipsis", "long range"],
)
def test_the_worked_example_in_seven_fields_becomes_valid(
    row: Row, antecedents: list[int], d_live: int, d_stale: int
) -> None:
    whole, problems = upgrade_row(row, "items.jsonl:1")
    assert problems == []
    assert schema_problems("item", whole, "items.jsonl:1") == []
    assert item_problems(item_from_row(whole)) == []
    assert (whole["antecedent_turns"], whole["d_live"], whole["d_stale"]) == (antecedents, d_live, d_stale)
    assert [turn["role"] for turn in whole["prefix"]][-2:] == ["user", "assistant"]


def test_a_missing_basic_field_is_named() -> None:
    row = basic(5, TURNS[4], "standalone", ["Dublin"], [])
    del row["gold"]
    _, problems = upgrade_row(row, "items.jsonl:3")
    assert [str(problem) for problem in problems] == [
        "items.jsonl:3: gold: is missing; add it: it cannot be derived"
    ]


def test_terms_that_lead_nowhere_near_do_not_make_a_long_range_item() -> None:
    row = basic(9, TURNS[8], "long_range", ["export API"], ["Dublin"])
    _, problems = upgrade_row(row, "items.jsonl:1")
    assert [p.what for p in problems] == ["the required terms lead back 2 turns, long_range needs 4"]


def test_fields_that_are_given_stay() -> None:
    row = basic(9, TURNS[8], "ellipsis", ["reporting", "export API"], ["billing"])
    whole, _ = upgrade_row(
        {**row, "language": "en", "conversation_id": "c1", "aliases": {"billing": ["invoice"]}}, "x"
    )
    assert (whole["language"], whole["conversation_id"], whole["aliases"]) == (
        "en",
        "c1",
        {"billing": ["invoice"]},
    )
