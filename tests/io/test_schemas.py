"""The schemas and the records say the same."""

from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from builder.core.item_rules import item_problems
from builder.core.records import FollowUp, Item, Synthesis, Turn
from builder.core.rows import item_from_row, item_to_row
from builder.core.taxonomy import FORM_NAMES, ITEM_STRATA, STRATUM_NAMES
from builder.io.resources import schemas_folder
from builder.io.schemas import schema, schema_problems
from tests.pipeline.halyard_set import halyard_items

KINDS = sorted(path.stem for path in schemas_folder().glob("*.json"))


def test_there_is_a_schema_of_everything_that_leaves_or_enters() -> None:
    assert KINDS == ["follow_up", "item", "manifest", "quotas", "review", "run", "transcript"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_schema_is_one_and_says_what_it_describes(kind: str) -> None:
    from jsonschema import Draft202012Validator

    found = schema(kind)
    Draft202012Validator.check_schema(found)
    assert found["title"]
    assert found["description"]
    assert "://" not in found["$id"]


def test_item_and_follow_up_have_the_fields_of_their_records() -> None:
    assert set(schema("item")["properties"]) == {f.name for f in fields(Item)}
    assert set(schema("follow_up")["properties"]) == {f.name for f in fields(FollowUp)} | {
        "gold",
        "reference_rewrite",
    }
    assert set(schema("item")["$defs"]["synthesis"]["properties"]) == {f.name for f in fields(Synthesis)}
    turn = {"number": "turn"}
    assert set(schema("item")["$defs"]["turn"]["properties"]) == {
        turn.get(f.name, f.name) for f in fields(Turn)
    }


def test_strata_and_forms_are_those_of_the_taxonomy() -> None:
    assert tuple(schema("item")["properties"]["reference_type"]["enum"]) == ITEM_STRATA
    assert tuple(schema("follow_up")["properties"]["reference_type"]["enum"]) == STRATUM_NAMES
    assert tuple(schema("item")["properties"]["form"]["enum"]) == FORM_NAMES


def test_items_of_the_sample_log_validate_and_come_back_the_same(root: Path) -> None:
    items = halyard_items(root, "b")
    assert len(items) > 200
    for item in items[:60]:
        row = item_to_row(item)
        assert schema_problems("item", row, item.id) == []
        assert item_from_row(row) == item
        assert item_problems(item) == []


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda r: r.pop("turn"), 'x: lacks the field "turn"; add it (The follow-up\'s turn number)'),
        (lambda r: r.update(turn=1), "x: turn: is 1; give a number of at least 2"),
        (lambda r: r.update(pivot="no"), 'x: pivot: is "no"; give a value of type boolean'),
        (
            lambda r: r.update(gold=["a", "a"]),
            'x: gold: lists an entry twice (["a", "a"]); list each entry once',
        ),
        (
            lambda r: r["prefix"][0].update(role="agent"),
            'x: prefix[0].role: is "agent"; one of user, assistant',
        ),
        (lambda r: r.update(wieght=1), 'x: unknown field "wieght"; did you mean weight?'),
    ],
    ids=["missing", "too small", "type", "twice", "deep", "misspelt"],
)
def test_a_fault_is_told_with_path_value_and_remedy(
    root: Path, edit: Callable[[dict[str, Any]], object], message: str
) -> None:
    row = item_to_row(halyard_items(root)[0])
    edit(row)
    problems = [str(problem) for problem in schema_problems("item", row, "x")]
    assert len(problems) == 1
    assert problems[0].startswith(message)
