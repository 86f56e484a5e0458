import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from builder.core.decisions import LABELS, REASONS, UNSETTLED
from builder.core.errors import BuilderError
from builder.core.item_rules import item_problems
from builder.core.records import Dropped, Item
from builder.core.taxonomy import FORM_NAMES
from builder.stages.review import apply_decisions, labels_of, pass_labels, relabel
from tests.stages.worked import hostile_item, item, worked_items


def row(of: Item, decision: str, reading: int = 1, **labels: Any) -> dict[str, Any]:
    line: dict[str, Any] = {"id": of.id, "decision": decision, "pass": reading}
    return line | ({"reason": "private"} if decision == "reject" else {"labels": labels_of(of) | labels})


def test_the_worked_items_obey_the_rules() -> None:
    assert [item_problems(each) for each in [*worked_items(), hostile_item()]] == [[]] * 5
    assert [(each.reference_type, each.d_live, each.d_stale) for each in worked_items()] == [
        ("ordinal", 1, 1),
        ("standalone", 0, 1),
        ("post_pivot_standalone", 0, 1),
        ("long_range", 5, 1),
    ]


def test_items_nobody_decided_pass_unchanged() -> None:
    assert list(apply_decisions(worked_items(), [])) == worked_items()


def test_an_accepted_item_keeps_its_labels_and_is_marked() -> None:
    first = worked_items()[0]
    assert list(apply_decisions([first], [row(first, "accept")])) == [replace(first, review="accepted")]


def test_an_accepted_item_keeps_its_labels_when_a_later_build_labels_it_differently() -> None:
    seen = worked_items()[3]
    rebuilt = relabel(seen, labels_of(seen) | {"antecedent_turns": [10], "required_in_rewrite": ["RTO"]})
    assert rebuilt.reference_type == "pronoun"
    [kept] = apply_decisions([rebuilt], [row(seen, "accept")])
    assert kept == replace(seen, review="accepted")


def test_what_follows_from_edited_labels_is_derived_anew() -> None:
    last = worked_items()[3]
    [edited] = apply_decisions(
        [last],
        [
            row(
                last,
                "edit",
                antecedent_turns=[6, 10],
                forbidden_in_rewrite=["cursor"],
                required_in_rewrite=["RTO"],
            )
        ],
    )
    assert isinstance(edited, Item)
    assert (edited.reference_type, edited.d_live, edited.d_stale) == ("long_range", 5, 3)
    assert (edited.labelled_by, edited.confidence, edited.review) == ("human", 1.0, "edited")
    assert edited.aliases == ()
    [nearer] = apply_decisions(
        [last], [row(last, "edit", antecedent_turns=[10], required_in_rewrite=["RTO"])]
    )
    assert isinstance(nearer, Item)
    assert (nearer.reference_type, nearer.d_live) == ("pronoun", 1)


def test_a_rewrite_left_empty_says_who_left_it() -> None:
    first = worked_items()[0]
    [edited] = apply_decisions([first], [row(first, "edit", reference_rewrite=None)])
    assert isinstance(edited, Item)
    assert (edited.reference_rewrite, edited.rewrite_note) == (None, "left empty in review")


def test_a_rejected_item_leaves_with_its_reason() -> None:
    first, *others = worked_items()
    gone, *rest = apply_decisions([first, *others], [row(first, "reject")])
    assert gone == Dropped(first.id, "review", "rejected: private")
    assert rest == others


def test_a_disputed_item_leaves_until_it_is_adjudicated() -> None:
    first = worked_items()[0]
    rows = [row(first, "accept"), row(first, "edit", 2, form="definite")]
    [gone] = apply_decisions([first], rows)
    assert isinstance(gone, Dropped)
    assert gone.reason == UNSETTLED
    [kept] = apply_decisions([first], [*rows, row(first, "accept", 3)])
    assert isinstance(kept, Item)


def test_edits_that_break_rules_stop_the_run_with_every_rule() -> None:
    first, second, *_ = worked_items()
    rows = [
        row(first, "edit", antecedent_turns=[]),
        row(second, "edit", required_in_rewrite=["Oslo"], reference_rewrite="Oslo"),
    ]
    with pytest.raises(BuilderError) as caught:
        list(apply_decisions([first, second], rows))
    assert caught.value.code == 4
    assert [str(problem) for problem in caught.value.problems] == [
        "review: fu_0003: form: is ordinal with antecedent turns []; form none and no antecedent go together;"
        " correct one of them",
        'review: fu_0003: required_in_rewrite: term "Dublin" is in neither the follow-up nor an antecedent turn;'
        " drop the term, or add the turn that supplies it",
        'review: fu_0005: required_in_rewrite: term "Oslo" is in neither the follow-up nor an antecedent turn;'
        " drop the term, or add the turn that supplies it",
    ]


def test_passes_become_label_rows_for_measuring_agreement() -> None:
    first, second, *_ = worked_items()
    from builder.core.decisions import standing_decisions

    standing = standing_decisions(
        [row(first, "accept"), row(second, "reject"), row(second, "accept", 2), row(item(9), "reject")]
    )
    known = {each.id: each for each in (first, second)}
    one, two = pass_labels(standing, known, 1), pass_labels(standing, known, 2)
    assert one[first.id]["reference_type"] == "ordinal"
    assert one[second.id] == {"reference_type": "private"}
    assert two[second.id]["reference_type"] == "standalone"
    assert set(one) == {first.id, second.id}


def test_the_schema_of_decisions_says_what_the_code_reads(root: Path) -> None:
    schema = json.loads((root / "schemas/review.json").read_text())
    first = worked_items()[0]
    for line in (row(first, "accept"), row(first, "reject"), {"id": "fu_1", "decision": "undo", "pass": 2}):
        jsonschema.validate(line, schema)
    for line in ({**row(first, "reject"), "reason": ""}, {"id": "fu_1", "decision": "accept", "pass": 1}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(line, schema)
    labels = schema["$defs"]["labels"]
    assert tuple(labels["required"]) == LABELS
    assert tuple(labels["properties"]["form"]["enum"]) == FORM_NAMES
    assert tuple(schema["properties"]["reason"]["enum"]) == ("", *REASONS)
