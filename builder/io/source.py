"""Opening exports: which files are meant, how records stand in them, and how the work is cut into shards."""

import csv
import glob
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

import orjson

from builder.core.errors import INVALID_DATA, BuilderError
from builder.core.located import Located, Part
from builder.core.records import Dropped, Transcript
from builder.core.settings import ReadSettings
from builder.io.corpus import load_catalogue, load_passages
from builder.io.engine import run
from builder.io.shards import Shard, fault, is_splittable, records
from builder.io.streams import COMPRESSED, damage, kind_of, line_ranges, open_stream

__all__ = ["Plan", "find_files", "load_catalogue", "load_passages", "open_transcripts", "plan_shards"]

SUFFIXES = (".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".parquet")
"""What a folder is searched for, each also with a suffix of `COMPRESSED`."""
LINES = (".jsonl", ".ndjson")
INDEX = "conversation_index.tsv"
"""A file beside or above an export that gives conversation ids by position in it."""
SHARD_BYTES = 8 << 20
PART_BYTES = 24 << 20
"""Tables are grouped in memory: so much of a table at a time."""
_HEAD = 1 << 16
_LOOK = 50
_HEADLESS = "cells without a header"


class Parse(Protocol):
    """Records of a format to transcripts: `stages.read.read_transcripts` with its settings."""

    def __call__(
        self, records: Iterable[Located | Dropped], kind: str, *, part: Part
    ) -> Iterator[Transcript | Dropped]:
        """A transcript for each conversation, or what was dropped."""


Detect = Callable[[Sequence[Any]], str]
"""First records -> format; "" when none is known: `stages.read.detect_format` with its settings."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How a log is read.

    Attributes:
        shards: What to read, in order of files and places.
        dropped: Files with nothing in them.
        unknown: Files that hold records of no known format, with the fields of the first.
        formats: Format by file.
    """

    shards: tuple[Shard, ...]
    dropped: tuple[Dropped, ...]
    unknown: Mapping[Path, str]
    formats: Mapping[Path, str]


def find_files(paths: Iterable[Path]) -> tuple[Path, ...]:
    """The files that `paths` mean: files as they are, those below a folder that can hold records, and globs; sorted, each once.

    Raises:
        BuilderError: A path does not exist, or a folder or glob holds no such file.
    """
    found: dict[Path, None] = {}
    for path in paths:
        if path.is_file():
            found[path] = None
            continue
        if path.is_dir():
            inside = [file for file in path.rglob("*") if _may_hold_records(file)]
        elif glob.has_magic(str(path)):
            names = glob.glob(str(path), recursive=True)  # noqa: PTH207 - Path.glob takes no absolute pattern
            inside = [file for name in names if _is_log(file := Path(name))]
        else:
            raise BuilderError(str(path), "no such file or folder", "check the path")
        if not inside:
            raise BuilderError(
                str(path), "holds no transcripts", f"give files that end in {', '.join(SUFFIXES)}"
            )
        found |= dict.fromkeys(inside)
    return tuple(sorted(found))


def _is_log(path: Path) -> bool:
    return path.is_file() and ".rejects." not in path.name and path.name != INDEX


def _may_hold_records(path: Path) -> bool:
    hidden = any(part.startswith(".") for part in path.parts[-2:])
    return not hidden and kind_of(path) in SUFFIXES and _is_log(path)


def plan_shards(files: Sequence[Path], settings: ReadSettings, detect: Detect) -> Plan:
    """Shards for `files`; what is in them is looked at, never trusted by name alone.

    Raises:
        BuilderError: No file has a record of a known format.
    """
    shards: list[Shard] = []
    dropped: list[Dropped] = []
    unknown: dict[Path, str] = {}
    formats: dict[Path, str] = {}
    tables: list[Shard] = []
    max_bytes = settings.max_record_mb << 20
    for path in files:
        shard = _look(path, max_bytes, detect)
        if isinstance(shard, Dropped):
            dropped.append(shard)
        elif not shard.kind:
            unknown[path] = shard.key
        else:
            formats[path] = shard.kind
            if shard.kind == "rows":
                tables.append(shard)
            else:
                shards += _cut(shard)
    shards += _table_parts(tables)
    if not shards:
        _refuse(dropped, unknown)
    return Plan(tuple(shards), tuple(dropped), unknown, formats)


def _refuse(dropped: Sequence[Dropped], unknown: Mapping[Path, str]) -> None:
    for path, keys in unknown.items():
        fix = "set [read] format, or name its fields under [read.fields]"
        if keys.endswith(_HEADLESS):
            fix = "give it a first line that names the columns: conversation_id, role, content"
        raise BuilderError(str(path), f"no known format (the first record has {keys})", fix, INVALID_DATA)
    what, _, fix = dropped[0].detail.rpartition("; ")
    raise BuilderError(dropped[0].id, what, fix, INVALID_DATA)


def _look(path: Path, max_bytes: int, detect: Detect) -> Shard | Dropped:
    """The whole file as one shard, its layout and format known; `key` names the fields when no format is."""
    try:
        shard = Shard((path,), _layout(path))
    except damage() as error:
        return fault(str(path), "damaged file", f"cannot be decompressed ({error}); copy the file again")
    first = list(islice(records(shard, max_bytes), _LOOK))
    values = [record.value for record in first if isinstance(record, Located)]
    if not values:
        # Many bad records may stand before the first good one.
        found = (record for record in records(shard, max_bytes) if isinstance(record, Located))
        values = [record.value for record in islice(found, _LOOK)]
    if not values:
        return _unreadable(
            path, shard, next((record for record in first if isinstance(record, Dropped)), None)
        )
    kind = detect(values)
    if not kind and shard.layout in ("array", "lines") and len(first) == 1 and isinstance(values[0], dict):
        inner = {key: value for key, value in values[0].items() if isinstance(value, list) and value}
        key = next((key for key, value in inner.items() if detect(value[:_LOOK])), "")
        if key:
            shard, kind = replace(shard, layout="array", key=key), detect(inner[key][:_LOOK])
    if not kind:
        return replace(shard, key=_fields(values[0]))
    return replace(shard, kind=kind, ids=_known_ids(path) if kind == "mtrag" else ())


def _unreadable(path: Path, shard: Shard, bad: Dropped | None) -> Dropped:
    """A file without a single record, and the first thing that is wrong with it."""
    if bad is None:
        return fault(str(path), "empty file", "the file has no records; check the export")
    if shard.layout != "lines":
        return replace(bad, id=str(path))
    return fault(str(path), bad.reason, f"no record can be read, the first: {bad.detail}", bad.excerpt)


def _fields(value: Any) -> str:
    if isinstance(value, dict):
        return f"the fields {', '.join(list(map(str, value))[:12])}" if value else "no fields"
    return f"{len(value)} {_HEADLESS}" if isinstance(value, list) else f"the value {value!r:.60}"


def _layout(path: Path) -> str:
    """How records stand in a file: by its suffix for tables, by its first bytes for JSON."""
    suffix = kind_of(path)
    if suffix == ".parquet":
        return "parquet"
    if suffix in (".csv", ".tsv"):
        return "table"
    with open_stream(path) as stream:
        head = stream.read(_HEAD).removeprefix(b"\xef\xbb\xbf").lstrip()
    line, _, rest = head.partition(b"\n")
    try:
        orjson.loads(line)
    except orjson.JSONDecodeError:
        # A broken or very long first line: an array spreads over lines or is one, JSONL says so by its name.
        return "array" if head.startswith(b"[") or (suffix not in LINES and _spreads(head)) else "lines"
    return "lines" if rest.strip() or line.startswith(b"{") else "array"


def _spreads(head: bytes) -> bool:
    """Whether the first line only opens an object that goes on over further lines."""
    return head.split(b"\n", 1)[0].strip() in (b"{", b"[")


def _known_ids(path: Path) -> tuple[tuple[int, str], ...]:
    for folder in (path.parent, path.parent.parent):
        index = folder / INDEX
        if index.is_file():
            with index.open(encoding="utf-8", newline="") as file:
                rows = list(csv.DictReader(file, delimiter="\t"))
            name = path.name.split(".")[0]
            return tuple(
                (int(row["position_in_file"]), row["conversation_id"])
                for row in rows
                if row.get("domain") == name
            )
    return ()


def _cut(shard: Shard) -> Iterator[Shard]:
    if not is_splittable(shard.paths[0], shard.layout):
        yield shard
        return
    for start, end, line in line_ranges(shard.paths[0], SHARD_BYTES):
        yield replace(shard, start=start, end=end, first_line=line)


def _table_parts(tables: Sequence[Shard]) -> Iterator[Shard]:
    """Tables of one layout together, since conversations may cross files, in parts by the hash of the conversation's id."""
    for layout in sorted({table.layout for table in tables}):
        same = [table for table in tables if table.layout == layout]
        whole = replace(same[0], paths=tuple(table.paths[0] for table in same))
        weights = {COMPRESSED[0]: 8, COMPRESSED[1]: 8, ".parquet": 4}
        size = sum(path.stat().st_size * weights.get(path.suffix, 1) for path in whole.paths)
        parts = size // PART_BYTES + 1
        yield from (replace(whole, part=Part(n, parts)) for n in range(parts))


def _read_shard(shard: Shard, parse: Parse, max_bytes: int) -> list[Transcript | Dropped]:
    return list(parse(records(shard, max_bytes), shard.kind, part=shard.part))


def open_transcripts(
    paths: Sequence[Path],
    settings: ReadSettings,
    workers: int,
    progress: bool,
    parse: Parse,
    detect: Detect,
    passed_over: Callable[[Path, str], object] = lambda _path, _fields: None,
) -> Iterator[Transcript | Dropped]:
    """Every transcript of the files that `paths` mean, in order of files and places, and everything that was dropped.

    `passed_over` is told of each file that holds no known format, with the fields of its first record.

    Raises:
        BuilderError: A path does not exist, or no file has a record of a known format.
    """
    from tqdm import tqdm

    plan = plan_shards(find_files(paths), settings, detect)
    for path, fields in plan.unknown.items():
        passed_over(path, fields)
    yield from plan.dropped
    work = partial(_read_shard, parse=parse, max_bytes=settings.max_record_mb << 20)
    with tqdm(total=len(plan.shards), desc="reading", unit="shard", disable=not progress) as bar:
        for results in run(work, plan.shards, workers):
            bar.update()
            yield from results
