from typing import Any

import pytest

from builder.core.decisions import (
    UNSETTLED,
    Decision,
    disagreements,
    last_decided,
    read_decision,
    settle,
    standing_decisions,
)
from builder.core.errors import BuilderError, Problem

LABELS: dict[str, Any] = {
    "form": "pronoun",
    "pivot": False,
    "returns": False,
    "antecedent_turns": [2],
    "required_in_rewrite": ["Dublin"],
    "forbidden_in_rewrite": ["Frankfurt"],
    "aliases": {},
    "reference_rewrite": "Dublin",
    "gold": [],
}


def row(name: str, decision: str, reading: int = 1, **more: Any) -> dict[str, Any]:
    if decision in ("accept", "edit"):
        more.setdefault("labels", LABELS)
    if decision == "reject":
        more.setdefault("reason", "other")
    return {"id": name, "decision": decision, "pass": reading, "reviewer": "ana", "at": "", **more}


def read(decision: str, reading: int = 1, **labels: Any) -> Decision:
    found = read_decision(row("fu_1", decision, reading, labels={**LABELS, **labels}), "here")
    assert isinstance(found, Decision)
    return found


def test_the_last_decision_of_an_item_and_pass_holds() -> None:
    rows = [row("fu_1", "accept"), row("fu_1", "reject"), row("fu_1", "accept", 2), row("fu_2", "accept")]
    standing = standing_decisions(rows)
    assert {name: {n: d.decision for n, d in passes.items()} for name, passes in standing.items()} == {
        "fu_1": {1: "reject", 2: "accept"},
        "fu_2": {1: "accept"},
    }


def test_an_undo_brings_back_what_stood_before() -> None:
    rows = [row("fu_1", "accept"), row("fu_1", "reject"), row("fu_1", "undo")]
    assert standing_decisions(rows)["fu_1"][1].decision == "accept"
    assert standing_decisions([*rows, row("fu_1", "undo")]) == {}
    assert standing_decisions([*rows, row("fu_1", "undo"), row("fu_1", "undo")]) == {}


def test_an_undo_of_one_pass_leaves_the_other() -> None:
    rows = [row("fu_1", "accept"), row("fu_1", "accept", 2), row("fu_1", "undo", 2)]
    assert list(standing_decisions(rows)["fu_1"]) == [1]


def test_undo_goes_back_through_the_items_in_the_order_they_were_decided() -> None:
    rows = [row("fu_1", "accept"), row("fu_2", "accept"), row("fu_3", "accept", 2)]
    assert last_decided(rows, 1) == "fu_2"
    rows.append(row("fu_2", "undo"))
    assert last_decided(rows, 1) == "fu_1"
    rows.append(row("fu_1", "undo"))
    assert last_decided(rows, 1) == ""


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({"decision": "accept"}, "line 4: names no item"),
        (row("fu_1", "maybe"), 'line 4: fu_1: unknown decision "maybe"; one of accept, edit, reject, undo'),
        (row("fu_1", "accept", 4), 'line 4: fu_1: pass is "4"; one of 1, 2, 3'),
        (row("fu_1", "reject", reason="dull"), 'line 4: fu_1: unknown reason "dull"; one of not_a_query'),
        (row("fu_1", "accept", labels={"form": "none"}), "line 4: fu_1: labels: lacks pivot, returns"),
        (row("fu_1", "edit", labels={**LABELS, "form": "odd"}), 'line 4: fu_1: labels: unknown form "odd"'),
        (
            row("fu_1", "edit", labels={**LABELS, "gold": [""]}),
            "line 4: fu_1: labels: gold is ['']; give words",
        ),
    ],
)
def test_a_malformed_decision_is_named_with_its_remedy(bad: dict[str, Any], message: str) -> None:
    found = read_decision(bad, "line 4")
    assert isinstance(found, Problem)
    assert str(found).startswith(message)


def test_every_malformed_line_is_named_at_once() -> None:
    with pytest.raises(BuilderError) as caught:
        standing_decisions([row("fu_1", "maybe"), row("fu_2", "accept"), row("fu_3", "perhaps")])
    assert [problem.where for problem in caught.value.problems] == ["decisions:1: fu_1", "decisions:3: fu_3"]
    assert caught.value.code == 4


def test_disagreement_is_about_what_was_said_not_how() -> None:
    one = read("accept", required_in_rewrite=["Dublin", "SLA"])
    assert disagreements(one, read("edit", required_in_rewrite=["sla", "dublin"], gold=["docs/1"])) == ()
    assert disagreements(one, read("edit", form="ordinal", antecedent_turns=[2, 4])) == (
        "form",
        "antecedents",
        "required",
    )
    assert disagreements(one, read("reject")) == ("decision",)
    assert disagreements(read("reject"), read("reject", 2)) == ()


def test_readers_who_differ_in_terms_only_are_settled_by_the_first() -> None:
    one, two = read("accept"), read("edit", 2, forbidden_in_rewrite=["uptime"])
    assert settle({1: one, 2: two}) == one


def test_readers_who_differ_in_more_are_settled_by_the_adjudication_alone() -> None:
    one, two, three = read("accept"), read("edit", 2, pivot=True), read("reject", 3)
    assert settle({1: one, 2: two}) == UNSETTLED
    assert settle({1: one, 2: two, 3: three}) == three
    assert settle({2: two}) == two
    assert settle({}) is None
