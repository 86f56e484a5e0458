import csv
import gzip
import io
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as arrow
import pyarrow.parquet as parquet
import pytest
import zstandard

from builder.core.errors import BuilderError
from builder.core.records import Dropped, Transcript
from builder.core.settings import ReadSettings
from builder.io import source
from builder.io.source import find_files, open_transcripts
from builder.stages.read import detect_format, read_transcripts


def conversation(name: str, *texts: str) -> dict[str, Any]:
    roles = ("user", "assistant")
    return {
        "conversation_id": name,
        "messages": [{"role": roles[n % 2], "content": text} for n, text in enumerate(texts)],
    }


PLAIN = ReadSettings()
DUBLIN = conversation("hal-1", "RPO of Dublin?", "Five minutes.", "and São Paulo's?")
FRANKFURT = conversation("hal-2", "RPO of Frankfurt?", "One minute.", "why so short?")


def opened(*paths: Path, settings: ReadSettings = PLAIN, workers: int = 1) -> list[Transcript | Dropped]:
    parse, detect = partial(read_transcripts, settings=settings), partial(detect_format, settings=settings)
    return list(open_transcripts(paths, settings, workers, False, parse, detect))


def ids(results: list[Transcript | Dropped]) -> list[str]:
    return [result.id for result in results if isinstance(result, Transcript)]


def dropped(results: list[Transcript | Dropped]) -> list[tuple[str, str, str]]:
    return [(d.id, d.reason, d.detail) for d in results if isinstance(d, Dropped)]


def lines(*rows: Any) -> bytes:
    return b"".join(json.dumps(row, ensure_ascii=False).encode() + b"\n" for row in rows)


def rows_of(*conversations: dict[str, Any]) -> list[dict[str, str]]:
    return [
        {"conversation_id": c["conversation_id"], "role": m["role"], "content": m["content"]}
        for c in conversations
        for m in c["messages"]
    ]


def as_csv(delimiter: str) -> bytes:
    out = io.StringIO()
    table = csv.DictWriter(out, ["conversation_id", "role", "content"], delimiter=delimiter)
    table.writeheader()
    table.writerows(rows_of(DUBLIN, FRANKFURT))
    return out.getvalue().encode()


def as_parquet(rows: list[Any]) -> bytes:
    out = io.BytesIO()
    parquet.write_table(arrow.Table.from_pylist(rows), out)
    return out.getvalue()


SHAPES: dict[str, Callable[[], bytes]] = {
    "chats.jsonl": lambda: lines(DUBLIN, FRANKFURT),
    "bom.jsonl": lambda: b"\xef\xbb\xbf" + lines(DUBLIN, FRANKFURT),
    "crlf.jsonl": lambda: lines(DUBLIN, FRANKFURT).replace(b"\n", b"\r\n"),
    "blank lines.jsonl": lambda: b"\n" + lines(DUBLIN) + b"\n\n" + lines(FRANKFURT).rstrip(),
    "chats.jsonl.gz": lambda: gzip.compress(lines(DUBLIN, FRANKFURT)),
    "chats.jsonl.zst": lambda: zstandard.compress(lines(DUBLIN, FRANKFURT)),
    "array.json": lambda: json.dumps([DUBLIN, FRANKFURT], indent=1).encode(),
    "array in one line.json": lambda: json.dumps([DUBLIN, FRANKFURT]).encode(),
    "array.jsonl": lambda: json.dumps([DUBLIN, FRANKFURT]).encode(),
    "lines.json": lambda: lines(DUBLIN, FRANKFURT),
    "wrapped.json": lambda: json.dumps({"exported": "2026-09-01", "data": [DUBLIN, FRANKFURT]}).encode(),
    "messages.csv": lambda: as_csv(","),
    "semicolons.csv": lambda: as_csv(";"),
    "messages.tsv": lambda: as_csv("\t"),
    "messages.csv.gz": lambda: gzip.compress(as_csv(",")),
    "messages.jsonl": lambda: lines(*rows_of(DUBLIN, FRANKFURT)),
    "messages.parquet": lambda: as_parquet(rows_of(DUBLIN, FRANKFURT)),
    "conversations.parquet": lambda: as_parquet([DUBLIN, FRANKFURT]),
}


@pytest.mark.parametrize("name", SHAPES)
def test_every_shape_of_file_gives_the_same_transcripts(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(SHAPES[name]())
    results = opened(path)
    assert dropped(results) == []
    assert [[turn.content for turn in t.turns] for t in results if isinstance(t, Transcript)] == [
        [message["content"] for message in c["messages"]] for c in (DUBLIN, FRANKFURT)
    ]
    assert ids(results) == ["hal-1", "hal-2"]


def test_half_a_line_is_dropped_with_its_place_and_the_others_stay(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(lines(DUBLIN) + b'{"conversation_id": "hal-9", "mess\n' + lines(FRANKFURT))
    results = opened(path)
    assert ids(results) == ["hal-1", "hal-2"]
    detail = "not JSON (unexpected end of data at column 35); correct or remove the record"
    assert dropped(results) == [(f"{path}:2", "not JSON", detail)]
    assert [d.excerpt for d in results if isinstance(d, Dropped)] == ['{"conversation_id": "hal-9", "mess']


def test_bytes_that_are_not_utf8_cost_their_record_only(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    latin = json.dumps(FRANKFURT).replace("why so short?", "S\u00e3o?").encode("latin-1")
    path.write_bytes(lines(DUBLIN) + latin + b"\n" + lines({**DUBLIN, "conversation_id": "hal-3"}))
    results = opened(path)
    assert ids(results) == ["hal-1", "hal-3"]
    column = latin.index(b"\xe3") + 1
    detail = f"byte 0xe3 at column {column} is not UTF-8; write the record again as UTF-8"
    assert dropped(results) == [(f"{path}:2", "not UTF-8", detail)]


@pytest.mark.parametrize(
    ("damage", "reason"),
    [(lambda data: data[:-30], "not JSON"), (lambda data: data.replace(b"why", b"w\xffy"), "not UTF-8")],
    ids=["breaks off", "not UTF-8"],
)
def test_a_broken_array_gives_its_whole_entries(
    tmp_path: Path, damage: Callable[[bytes], bytes], reason: str
) -> None:
    path = tmp_path / "log.json"
    path.write_bytes(damage(json.dumps([DUBLIN, FRANKFURT], indent=1).encode()))
    results = opened(path)
    assert ids(results) == ["hal-1"]
    assert [(where, why) for where, why, _ in dropped(results)] == [(f"{path}[1]", reason)]


def test_a_line_over_the_limit_is_dropped_without_being_held(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    with path.open("wb") as file:
        file.write(lines(DUBLIN) + b'{"conversation_id": "huge", "messages": "')
        for _ in range(12):
            file.write(b"x" * (1 << 20))
        file.write(b'"}\n' + lines(FRANKFURT))
    results = opened(path, settings=ReadSettings(max_record_mb=2))
    assert ids(results) == ["hal-1", "hal-2"]
    detail = "record is over 2 MB; split it or raise [read] max_record_mb"
    assert dropped(results) == [(f"{path}:2", "record too long", detail)]


def test_a_compressed_file_that_breaks_off_gives_what_was_before(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl.gz"
    data = gzip.compress(lines(*({**DUBLIN, "conversation_id": f"c{n}"} for n in range(4000))))
    path.write_bytes(data[: len(data) // 2])
    results = opened(path)
    assert ids(results)[:2] == ["c0", "c1"]
    assert [reason for _, reason, _ in dropped(results)][-1] == "damaged file"


def test_a_row_with_another_number_of_cells_is_dropped(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_bytes(as_csv(",") + b"hal-3,user,prices, please\n")
    results = opened(path)
    assert ids(results) == ["hal-1", "hal-2"]
    detail = "row has 4 cells, the header 3; quote cells that hold the delimiter"
    assert dropped(results) == [(f"{path}:8", "unexpected shape", detail)]


def test_rows_of_one_conversation_may_stand_in_two_files(tmp_path: Path) -> None:
    rows = rows_of(DUBLIN)
    (tmp_path / "2026-08.jsonl").write_bytes(lines(*rows[:2]))
    (tmp_path / "2026-09.jsonl").write_bytes(lines(*rows[2:]))
    (transcript,) = opened(tmp_path)
    assert isinstance(transcript, Transcript)
    assert [turn.content for turn in transcript.turns] == [
        "RPO of Dublin?",
        "Five minutes.",
        "and São Paulo's?",
    ]


def test_shards_keep_line_numbers_and_workers_change_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "SHARD_BYTES", 2000)
    path = tmp_path / "log.jsonl"
    rows = [lines({**DUBLIN, "conversation_id": f"c{n}"}) for n in range(1, 201)]
    rows[149] = b"{\n"
    path.write_bytes(b"".join(rows))
    results = opened(path)
    assert ids(results) == [f"c{n}" for n in range(1, 201) if n != 150]
    assert [where for where, _, _ in dropped(results)] == [f"{path}:150"]
    assert opened(path, workers=2) == results


def test_folders_and_globs_find_files_once_and_pass_over_what_holds_no_transcripts(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    for name in ("b.jsonl", "a.jsonl", "log.rejects.jsonl", "readme.md", ".hidden.jsonl"):
        (tmp_path / "logs" / name).write_bytes(lines(DUBLIN))
    (tmp_path / "logs" / "schema.json").write_text('[{"service_name": "Alarm_1", "slots": []}]')
    found = find_files([tmp_path / "logs", tmp_path / "logs" / "*.jsonl", tmp_path / "logs" / "a.jsonl"])
    assert [path.name for path in found] == ["a.jsonl", "b.jsonl", "schema.json"]
    assert ids(opened(tmp_path / "logs" / "a.jsonl", tmp_path / "logs" / "schema.json")) == ["hal-1"]


def test_ids_stand_in_an_index_beside_or_above_the_export(tmp_path: Path) -> None:
    (tmp_path / "conversations").mkdir()
    talks = [
        {"messages": [{"speaker": "user", "text": text}]} for text in ("where do they play?", "who won?")
    ]
    (tmp_path / "conversations" / "clapnq.json").write_text(json.dumps(talks))
    index = "conversation_id\tdomain\tposition_in_file\nx9\tgovt\t0\nd1\tclapnq\t1\nd0\tclapnq\t0\n"
    (tmp_path / "conversation_index.tsv").write_text(index)
    assert ids(opened(tmp_path / "conversations")) == ["d0", "d1"]


NOTHING: dict[str, tuple[str, bytes | None, str]] = {
    "a wrong path": ("no.jsonl", None, "no such file or folder; check the path"),
    "an empty file": ("log.jsonl", b"", "the file has no records; check the export"),
    "blank lines only": ("log.jsonl", b"\n \n", "the file has no records; check the export"),
    "an unknown shape": (
        "log.jsonl",
        lines({"ticket": 1, "log": []}),
        "no known format (the first record has the fields ticket, log); set [read] format, or name its fields under "
        "[read.fields]",
    ),
    "a table without a header": (
        "log.csv",
        b"c1,user,What is the SLA?,2024-05-01\nc1,assistant,99.9%.,2024-05-01\n",
        "no known format (the first record has 4 cells without a header); give it a first line that names the "
        "columns: conversation_id, role, content",
    ),
    "not JSON at all": (
        "log.jsonl",
        b"hello\n",
        "no record can be read, the first: not JSON (unexpected character, expected a JSON value at column 1); correct or remove the record",
    ),
    "no Parquet inside": (
        "log.parquet",
        b"hello",
        "not Parquet from here on (Parquet file size is 5 bytes, smaller than the minimum file footer (8 bytes)); "
        "write the file again",
    ),
    "no gzip inside": (
        "log.jsonl.gz",
        b"hello",
        "cannot be decompressed (Not a gzipped file (b'he')); copy the file again",
    ),
}


@pytest.mark.parametrize("case", NOTHING)
def test_nothing_to_read_is_an_error_with_place_and_remedy(tmp_path: Path, case: str) -> None:
    name, data, message = NOTHING[case]
    path = tmp_path / name
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(BuilderError) as caught:
        opened(path)
    assert str(caught.value) == f"{path}: {message}"


def test_a_folder_without_transcripts_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "readme.md").write_text("nothing here")
    with pytest.raises(
        BuilderError, match=r"holds no transcripts; give files that end in \.jsonl, \.ndjson, \.json"
    ):
        find_files([tmp_path])
