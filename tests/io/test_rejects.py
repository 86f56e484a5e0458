import json
from pathlib import Path

from builder.core.records import Dropped
from builder.io.rejects import first_of, in_order, rejects_path, summarise, write_rejects

HALF = Dropped("log.jsonl:2", "read", "not JSON", "not JSON (...); correct it", '{"conversation_id": "h')
AGENT = Dropped("log.jsonl:9", "read", "unknown role", 'message 1 has role "agent"; map it', "{}")


def test_rejects_hold_place_reason_detail_and_the_start_of_the_record(tmp_path: Path) -> None:
    path = rejects_path(tmp_path, "log.jsonl.gz")
    assert path == tmp_path / "log.rejects.jsonl"
    assert write_rejects(path, [HALF, AGENT])
    assert [json.loads(line) for line in path.read_text().splitlines()] == [
        {"where": d.id, "reason": d.reason, "detail": d.detail, "raw": d.excerpt} for d in (HALF, AGENT)
    ]


def test_without_rejects_an_older_file_goes(tmp_path: Path) -> None:
    path = tmp_path / "log.rejects.jsonl"
    write_rejects(path, [HALF])
    assert not write_rejects(path, [])
    assert not path.exists()


def test_the_summary_names_the_commonest_reason_first() -> None:
    assert summarise([AGENT, HALF, HALF]) == "not JSON 2, unknown role 1"


def test_rejects_stand_in_the_order_of_their_lines() -> None:
    places = [f"log.jsonl:{n}" for n in (1, 2, 11, 100)]
    mixed = [Dropped(place, "read", "not JSON", "x; y") for place in reversed(places)]
    assert [d.id for d in in_order(mixed)] == places
    assert first_of(mixed) == "log.jsonl:1: not JSON: x; y"
