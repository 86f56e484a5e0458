import json
import random
import tracemalloc
from collections import Counter
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from builder.core.hashing import digest
from builder.core.records import Transcript
from builder.core.rows import transcript_to_row
from builder.core.settings import ReadSettings, SampleSettings
from builder.io import source
from builder.io.source import find_files
from builder.pipeline import reading
from builder.pipeline.reading import Sample, sample_files

EVERY = SampleSettings(conversations=10_000, precision=0)


def sample(
    *paths: Path, wanted: SampleSettings = EVERY, workers: int = 1, read: ReadSettings | None = None
) -> Sample:
    return sample_files(find_files(paths), read or ReadSettings(), wanted, 13, workers)


def content(transcripts: list[Transcript]) -> str:
    return digest([transcript_to_row(transcript) for transcript in transcripts])


@pytest.fixture
def halyard(root: Path) -> list[bytes]:
    files = sorted((root / "data" / "halyard").glob("transcripts-*.jsonl"))
    return [line for path in files for line in path.read_bytes().splitlines(keepends=True)]


def test_shuffled_files_and_lines_and_any_number_of_workers_give_the_same_sample(
    tmp_path: Path, halyard: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "SHARD_BYTES", 20_000)
    monkeypatch.setattr(reading, "_SERIAL_BYTES", 0)
    (tmp_path / "plain.jsonl").write_bytes(b"".join(halyard))
    shuffled = random.Random(7).sample(halyard, len(halyard))
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "z.jsonl").write_bytes(b"".join(shuffled[:30]))
    (tmp_path / "b" / "a.jsonl").write_bytes(b"".join(shuffled[30:]))
    wanted = SampleSettings(conversations=50)
    kept, dropped, facts = sample(tmp_path / "plain.jsonl", wanted=wanted)
    again, _, same_facts = sample(tmp_path / "b", wanted=wanted, workers=2)
    assert (len(kept), dropped) == (50, [])
    assert content(again) == content(kept)
    assert same_facts == facts


def test_the_facts_say_what_was_read_and_what_was_left_out(tmp_path: Path, halyard: list[bytes]) -> None:
    first = json.loads(halyard[0])
    one_question = {"conversation_id": "short", "messages": first["messages"][:2]}
    clash = {"conversation_id": json.loads(halyard[1])["conversation_id"], "messages": first["messages"][2:]}
    rows = [
        *halyard[:4],
        halyard[0],
        b"{half\n",
        *(json.dumps(row).encode() + b"\n" for row in (one_question, clash)),
    ]
    (tmp_path / "log.jsonl").write_bytes(b"".join(rows))
    kept, dropped, facts = sample(tmp_path / "log.jsonl")
    assert Counter(d.reason for d in dropped) == {
        "duplicate conversation": 1,
        "duplicate conversation id": 1,
        "not JSON": 1,
        "too few follow-ups": 1,
    }
    assert {t.id for t in kept} == {json.loads(line)["conversation_id"] for line in halyard[:4]}
    assert {
        name: facts[name] for name in ("conversations", "rejected", "duplicates", "too_few_follow_ups")
    } == {
        "conversations": 7,
        "rejected": 2,
        "duplicates": 1,
        "too_few_follow_ups": 1,
    }
    (place,) = [d.id for d in dropped if d.reason == "duplicate conversation id"]
    assert place in (f"{tmp_path / 'log.jsonl'}:2", f"{tmp_path / 'log.jsonl'}:8")


def test_a_table_is_sampled_like_anything_else(tmp_path: Path, halyard: list[bytes]) -> None:
    rows = [
        {"conversation_id": c["conversation_id"], "role": m["role"], "content": m["content"], "order": n}
        for c in map(json.loads, halyard)
        for n, m in enumerate(c["messages"])
    ]
    random.Random(3).shuffle(rows)
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "log.jsonl").write_bytes(b"".join(halyard))
    wanted = SampleSettings(conversations=20)

    def said(path: Path) -> list[tuple[str, list[str]]]:
        return [(t.id, [turn.content for turn in t.turns]) for t in sample(path, wanted=wanted)[0]]

    assert said(tmp_path / "rows.jsonl") == said(tmp_path / "log.jsonl")


@pytest.mark.slow
def test_a_line_of_100_mb_never_stands_in_memory_whole(tmp_path: Path, halyard: list[bytes]) -> None:
    path = tmp_path / "log.jsonl"
    with path.open("wb") as file:
        file.writelines(halyard[:5])
        for _ in range(100):
            file.write(b"x" * (1 << 20))
        file.write(b"\n")
        file.writelines(halyard[5:10])
    tracemalloc.start()
    kept, dropped, _ = sample(path, read=ReadSettings(max_record_mb=4))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (len(kept), [(d.id, d.reason) for d in dropped]) == (10, [(f"{path}:6", "record too long")])
    assert peak < 32 << 20


CORPORA: dict[str, tuple[str, int, int, int, dict[str, int]]] = {
    "mtrag": ("mtrag", 76, 1150, 499, {}),
    "mtrag-labels": ("canonical", 76, 1150, 499, {}),
    "cast/2019": ("cast", 53, 498, 445, {}),
    "cast/2020": ("cast", 17, 144, 127, {"duplicate conversation": 9, "duplicate conversation id": 8}),
    "cast/2021": ("cast", 7, 130, 58, {}),
    "cast/2022": ("cast", 27, 288, 120, {"duplicate conversation": 27}),
    "ikat": ("ikat", 36, 854, 391, {}),
    "sgd": ("sgd", 512, 11156, 5066, {}),
    "gecor": ("gecor", 507, 4090, 1538, {}),
    "followup": ("followup", 798, 1596, 798, {"duplicate conversation": 2}),
    "abcd": ("abcd", 3, 63, 28, {}),
    "tau-bench": ("tau-bench tau-bench-text", 49, 808, 369, {}),
    "halyard": ("canonical", 115, 1458, 614, {}),
    "authored": ("canonical", 398, 4732, 1968, {}),
}
"""Folder -> formats, conversations, turns, follow-ups, what is dropped and how often."""


@pytest.mark.slow
@pytest.mark.parametrize("name", CORPORA)
def test_every_public_corpus_is_read_whole(shared: Path, root: Path, name: str) -> None:
    formats, n_conversations, n_turns, n_follow_ups, reasons = CORPORA[name]
    transcripts, dropped, facts = sample(shared / "data" / name)
    assert " ".join(facts["formats"]) == formats
    assert (len(transcripts), sum(len(t.turns) for t in transcripts)) == (n_conversations, n_turns)
    assert sum(len(t.follow_up_turns) for t in transcripts) == facts["follow_ups"] == n_follow_ups
    assert Counter(d.reason for d in dropped) == reasons
    schema: dict[str, Any] = json.loads((root / "schemas" / "transcript.json").read_text())
    validator = jsonschema.Draft202012Validator(schema)
    for transcript in transcripts[:50]:
        validator.validate(transcript_to_row(transcript))


@pytest.mark.slow
def test_mtrag_ids_are_those_of_its_queries_and_its_citations_are_carried_passages(shared: Path) -> None:
    from builder.formats.passages import carried_passages

    folder = shared / "data" / "mtrag"
    transcripts, _, _ = sample(folder / "conversations")
    queries = (folder / "retrieval_tasks" / "govt" / "govt_lastturn.jsonl").read_text().splitlines()
    asked = [json.loads(line) for line in queries]
    by_id = {transcript.id: transcript for transcript in transcripts}
    for query in asked:
        name, _, turn = query["_id"].partition("<::>")
        users = [t.content for t in by_id[name].turns if t.role == "user"]
        assert query["text"] == f"|user|: {users[int(turn) - 1]}"
    carried = {
        passage.id
        for path in (folder / "conversations").glob("*.json")
        for value in json.loads(path.read_text())
        for passage in carried_passages(value)
    }
    assert {name for t in transcripts for turn in t.turns for name in turn.citations} <= carried
