import json
from pathlib import Path

import pytest

from builder.core.errors import BuilderError
from builder.core.identity import item_id
from builder.core.settings import AdjudicateSettings, ClassifySettings, InputSettings, Settings
from builder.pipeline.second_labels import load_prompt, second_labels
from builder.pipeline.sources import Sources
from tests.stages.second_reader import classified, load

LABELS = {
    "form": "pronoun",
    "pivot": False,
    "returns": False,
    "antecedent_turns": [4],
    "required_in_rewrite": ["Frankfurt", "RPO"],
    "forbidden_in_rewrite": ["SLA"],
    "aliases": {},
    "reference_rewrite": "Frankfurt RPO",
    "gold": [],
}


def sources(folder: Path, source: str, decisions: list[dict[str, object]]) -> Sources:
    (folder / "decisions.jsonl").write_text("\n".join(json.dumps(row) for row in decisions))
    settings = Settings(
        adjudicate=AdjudicateSettings(source=source),
        classify=ClassifySettings(method="rules"),
        input=InputSettings(reviews="decisions.jsonl"),
    )
    return Sources(settings, folder, folder / "dist", folder / "work")


def test_decisions_in_review_are_second_labels(root: Path, tmp_path: Path) -> None:
    transcripts, rows = load(root / "data/halyard/transcripts-a.jsonl", root / "data/halyard/labels-a.jsonl")
    follow_ups = [classified(row) for row in rows.values() if row["conversation_id"] == "hal-a-001"]
    accepted, thanks = item_id("hal-a-001", 5), item_id("hal-a-001", 7)
    decisions: list[dict[str, object]] = [
        {"id": accepted, "decision": "accept", "pass": 1, "labels": LABELS},
        {"id": thanks, "decision": "reject", "pass": 1, "reason": "not_a_query"},
        {"id": item_id("hal-a-001", 9), "decision": "reject", "pass": 1, "reason": "private"},
    ]
    made = second_labels(sources(tmp_path, "review", decisions), [transcripts["hal-a-001"]], follow_ups)
    found = {f.id: f for f in made["second"]}
    assert {name: f.reference_type for name, f in found.items()} == {
        "hal-a-001#5": "pronoun",
        "hal-a-001#7": "not_a_query",
    }
    assert found["hal-a-001#5"].labelled_by == "human"
    assert found["hal-a-001#5"].required_in_rewrite == ("Frankfurt", "RPO")
    assert made["adjudicate_facts"] == [{"source": "review", "labelled": 2}]


def test_an_unknown_source_of_second_labels_is_named(tmp_path: Path) -> None:
    with pytest.raises(BuilderError, match='unknown source "people"; one of none, model, review'):
        second_labels(sources(tmp_path, "people", []), [], [])


def test_the_shipped_prompt_is_whole() -> None:
    prompt = load_prompt(4)
    assert prompt.version == "second_label.1"
    assert "{{" not in prompt.system
