import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from builder.core.records import Transcript, Turn
from builder.text.second_label import (
    ANSWER_SCHEMA,
    NOT_JSON,
    OFF_SCHEMA,
    Answer,
    answer_problems,
    fits,
    labels_from,
    read_answer,
)
from tests.stages.second_reader import classified, gold_answer, load

DUBLIN = Transcript(
    "regions",
    (
        Turn(1, "user", "which european sites let us bring our own keys?"),
        Turn(2, "assistant", "Frankfurt and Dublin accept customer-held keys."),
        Turn(3, "user", "uptime commitment for the second?"),
        Turn(4, "assistant", "Dublin (eu-west-1) has a 99.95% uptime commitment."),
        Turn(5, "user", "and its RPO?"),
    ),
)
GOOD: dict[str, Any] = {
    "analysis": "Its is Dublin.",
    "is_query": True,
    "missing": [{"what": "the site", "turn": 4}],
    "form": "pronoun",
    "subject": "Dublin",
    "same_subject_turns": [1, 3],
    "required": [{"term": "Dublin", "aliases": ["eu-west-1"]}, {"term": "RPO", "aliases": []}],
    "forbidden": [{"term": "uptime", "aliases": []}],
    "standalone_query": "Dublin RPO",
}


def read(**change: Any) -> tuple[Answer, list[str]]:
    answer = read_answer(json.dumps({**GOOD, **change}))
    assert isinstance(answer, Answer)
    row = {"conversation_id": "regions", "turn": 5}
    labelled = labels_from(answer, classified(row), DUBLIN)
    return answer, answer_problems(answer, labelled, DUBLIN)


def test_an_answer_in_order_has_no_problems() -> None:
    assert read()[1] == []


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        pytest.param(
            {"missing": [{"what": "the site", "turn": 7}]},
            "missing: turn 7 is not an earlier turn",
            id="turn ahead",
        ),
        pytest.param(
            {"same_subject_turns": [2]},
            "same_subject_turns: 2 is not an earlier user turn",
            id="not a user turn",
        ),
        pytest.param(
            {"form": "none"}, "form is none although something is missing", id="form none, yet missing"
        ),
        pytest.param(
            {"missing": []}, "form is pronoun although nothing is missing", id="a form without a need"
        ),
        pytest.param({"required": []}, "required: there is no required term", id="nothing required"),
        pytest.param(
            {"required": [{"term": "PWNED", "aliases": []}], "standalone_query": "PWNED"},
            "required term 'PWNED' is in neither the follow-up nor a turn named under missing",
            id="an invented term",
        ),
        pytest.param(
            {"standalone_query": "RPO"},
            "standalone_query lacks the required term 'Dublin'",
            id="query too short",
        ),
        pytest.param({"standalone_query": ""}, "standalone_query is empty", id="no query"),
        pytest.param(
            {"standalone_query": "Dublin RPO and uptime"},
            "standalone_query contains the forbidden term 'uptime'",
            id="a contaminated query",
        ),
        pytest.param(
            {"forbidden": [{"term": "Oregon", "aliases": []}]},
            "forbidden term 'Oregon' is nowhere in the conversation before the follow-up",
            id="a forbidden term from nowhere",
        ),
        pytest.param(
            {"forbidden": [{"term": "RPO", "aliases": []}]},
            "forbidden term 'RPO' occurs in the follow-up itself",
            id="a forbidden term that was asked for",
        ),
    ],
)
def test_a_contradiction_is_named_in_a_sentence(change: dict[str, Any], problem: str) -> None:
    assert any(found.startswith(problem) for found in read(**change)[1]), read(**change)[1]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param('{"form": "pron', NOT_JSON, id="cut"),
        pytest.param("Sure! Here is the label.", NOT_JSON, id="chat"),
        pytest.param("[]", OFF_SCHEMA, id="a list"),
        pytest.param(json.dumps({**GOOD, "form": "anaphora"}), OFF_SCHEMA, id="an unknown form"),
        pytest.param(json.dumps({**GOOD, "pivot": True}), OFF_SCHEMA, id="a field too many"),
        pytest.param(
            json.dumps({k: v for k, v in GOOD.items() if k != "missing"}), OFF_SCHEMA, id="a field too few"
        ),
        pytest.param(json.dumps({**GOOD, "subject": "x" * 81}), OFF_SCHEMA, id="too long"),
    ],
)
def test_what_is_no_answer_says_why(text: str, reason: str) -> None:
    fault = read_answer(text)
    assert isinstance(fault, tuple)
    assert fault[0] == reason


LEAVES = st.one_of(
    st.booleans(), st.integers(-2, 9), st.floats(0, 3), st.text(max_size=90), st.none(), st.just([])
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(sorted(GOOD)), LEAVES, st.booleans())
def test_the_quick_check_says_what_jsonschema_says(name: str, value: object, wrapped: bool) -> None:
    row = {
        **GOOD,
        name: [{"term": value, "aliases": []}, {"what": "it", "turn": value}] if wrapped else value,
    }
    assert fits(row, ANSWER_SCHEMA) == Draft202012Validator(ANSWER_SCHEMA).is_valid(row)


def test_a_thing_that_no_turn_supplies_makes_the_follow_up_unresolvable() -> None:
    answer = read_answer(json.dumps({**GOOD, "missing": [{"what": "which order", "turn": 0}]}))
    assert isinstance(answer, Answer)
    labelled = labels_from(answer, classified({"conversation_id": "regions", "turn": 5}), DUBLIN)
    assert (labelled.reference_type, labelled.antecedent_turns, labelled.d_live) == ("unresolvable", (), 0)
    assert labelled.required_in_rewrite == ()


def test_thanks_are_no_query_whatever_else_the_answer_says() -> None:
    answer = read_answer(json.dumps({**GOOD, "is_query": False}))
    assert isinstance(answer, Answer)
    labelled = labels_from(answer, classified({"conversation_id": "regions", "turn": 5}), DUBLIN)
    assert (labelled.reference_type, labelled.form, labelled.pivot) == ("not_a_query", "none", False)


@pytest.mark.parametrize("log", ["a", "b"])
def test_right_answers_give_halyards_labels(root: Path, log: str) -> None:
    transcripts, rows = load(
        root / f"data/halyard/transcripts-{log}.jsonl", root / f"data/halyard/labels-{log}.jsonl"
    )
    for row in rows.values():
        transcript = transcripts[row["conversation_id"]]
        answer = read_answer(json.dumps(gold_answer(row, rows, transcript)))
        assert isinstance(answer, Answer)
        labelled = labels_from(answer, classified(row), transcript)
        for field in ("reference_type", "form", "pivot", "returns", "d_live", "d_stale"):
            assert getattr(labelled, field) == row[field], (row["conversation_id"], row["turn"], field)
        assert labelled.labelled_by == "llm"
        assert (
            labelled.reference_rewrite == (row["reference_rewrite"] or "") or not labelled.required_in_rewrite
        )
