import json
from pathlib import Path

from builder.cli import run

TALK = {
    "conversation_id": "c1",
    "language": "en",
    "messages": [
        {"role": "user", "content": "which sites take our keys?"},
        {"role": "assistant", "content": "Frankfurt and Dublin accept customer keys."},
        {"role": "user", "content": "uptime commitment for the second?"},
        {"role": "assistant", "content": "Dublin is covered by 99.95%."},
    ],
}


def test_a_log_gets_labels_by_rules(tmp_path: Path) -> None:
    log, out = tmp_path / "log.jsonl", tmp_path / "labels.jsonl"
    log.write_text(json.dumps(TALK) + "\n")
    entities = tmp_path / "entities.json"
    entities.write_text(json.dumps({"entity types": {"region": [{"name": "Dublin"}, {"name": "Frankfurt"}]}}))
    code = run(["classify", str(log), "--out", str(out), "--fast", "--entities", str(entities)])
    (row,) = [json.loads(line) for line in out.read_text().splitlines()]
    assert code == 0
    assert (row["turn"], row["reference_type"], row["antecedent_turns"], row["labelled_by"]) == (
        3,
        "ordinal",
        [2],
        "rules",
    )
    assert "Dublin" in row["required_in_rewrite"]
    assert row["forbidden_in_rewrite"] == ["Frankfurt"]


def test_a_long_range_distance_of_one_makes_every_dependent_follow_up_long_range(tmp_path: Path) -> None:
    log, out = tmp_path / "log.jsonl", tmp_path / "labels.jsonl"
    log.write_text(json.dumps(TALK) + "\n")
    assert run(["classify", str(log), "--out", str(out), "--fast", "--long-range", "1"]) == 0
    assert json.loads(out.read_text())["reference_type"] == "long_range"
