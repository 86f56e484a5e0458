"""Pieces of an export that one worker reads, and the records in them, each with its place."""

import json
import re
from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from builder.core.located import WHOLE, Located, Part
from builder.core.records import Dropped
from builder.io.streams import BOM, bounded_lines, damage, is_compressed, kind_of, open_stream
from builder.io.tables import parquet_rows, table_rows

_FILE_BITS = 40
"""Positions of the n-th file of a shard start at n << 40."""
_EXCERPT = 200
_BETWEEN = re.compile(r"[\s,]*")


@dataclass(frozen=True, slots=True)
class Shard:
    """What one worker reads: a byte range of one file, or whole files.

    Attributes:
        paths: The files; more than one only for tables, whose conversations may cross files.
        layout: A name in `LAYOUTS`.
        kind: Format of the records, "" before it is known.
        start: First byte of a range of lines.
        end: Byte after the last; None for the whole file.
        first_line: Number of the first line.
        key: Field of the file's one object that holds the records; "" for none.
        ids: Conversation ids by position, from a file beside the export.
        part: Which conversations of the files are meant.
    """

    paths: tuple[Path, ...]
    layout: str
    kind: str = ""
    start: int = 0
    end: int | None = None
    first_line: int = 1
    key: str = ""
    ids: tuple[tuple[int, str], ...] = ()
    part: Part = WHOLE

    def where(self, position: int) -> str:
        """The place of a position of this shard, for people."""
        path, number = self.paths[position >> _FILE_BITS], position & ((1 << _FILE_BITS) - 1)
        return place(self.layout, path, number)

    @property
    def size(self) -> int:
        """Bytes on disk that are read."""
        if self.end is not None:
            return self.end - self.start
        return sum(path.stat().st_size for path in self.paths)


def place(layout: str, path: Path, number: int) -> str:
    """`file:line`, or `file[index]` where records are not lines."""
    return f"{path}[{number}]" if layout == "array" else f"{path}:{number}"


def records(shard: Shard, max_bytes: int, only: Container[int] | None = None) -> Iterator[Located | Dropped]:
    """The records of a shard in order; what is no record is given as Dropped, and reading goes on.

    Args:
        shard: What to read.
        max_bytes: Longest record.
        only: Positions that are wanted; None for all. What is dropped is then not given again.
    """
    ids = dict(shard.ids)
    for n, path in enumerate(shard.paths):
        base = n << _FILE_BITS
        wanted = None if only is None else _Shifted(only, base)
        for record in LAYOUTS[shard.layout](shard, path, max_bytes, wanted):
            if isinstance(record, Dropped):
                if only is None:
                    yield record
            elif ids or base:
                position = record.position
                yield Located(record.where, record.value, base + position, ids.get(position, ""))
            else:
                yield record


@dataclass(frozen=True, slots=True)
class _Shifted:
    """Positions of one file among those of all files."""

    positions: Container[int]
    base: int

    def __contains__(self, position: object) -> bool:
        return isinstance(position, int) and position + self.base in self.positions


def fault(where: str, reason: str, detail: str, raw: bytes | str = "") -> Dropped:
    """A record that could not be opened, with the start of what stood there."""
    text = raw if isinstance(raw, str) else raw[:_EXCERPT].decode("utf-8", "replace")
    return Dropped(where, "read", reason, detail, text[:_EXCERPT].strip())


def _lines(
    shard: Shard, path: Path, max_bytes: int, only: Container[int] | None
) -> Iterator[Located | Dropped]:
    number = shard.first_line - 1
    length = None if shard.end is None else shard.end - shard.start
    with open_stream(path) as stream:
        if shard.start:
            stream.seek(shard.start)
        try:
            for line in bounded_lines(stream, max_bytes, length):
                number += 1
                if only is not None and number not in only:
                    continue
                if line is None:
                    detail = f"record is over {max_bytes >> 20} MB; split it or raise [read] max_record_mb"
                    yield fault(f"{path}:{number}", "record too long", detail)
                elif line.strip():
                    yield _decoded(
                        line.removeprefix(BOM) if number == 1 else line, f"{path}:{number}", number
                    )
        except damage() as error:
            yield damaged(f"{path}:{number + 1}", error)


def damaged(where: str, error: Exception) -> Dropped:
    """A file that breaks off or is not what its name says."""
    return fault(
        where,
        "damaged file",
        f"cannot be decompressed further ({error or type(error).__name__}); copy the file again",
    )


def _decoded(line: bytes, where: str, number: int) -> Located | Dropped:
    try:
        return Located(where, orjson.loads(line), number)
    except orjson.JSONDecodeError:
        bare = line.rstrip(b"\r\n")
        try:
            return Located(where, orjson.loads(bare), number)
        except (
            orjson.JSONDecodeError
        ) as error:  # without the line end, which would be blamed for half a string
            return _not_json(bare, where, error)


def _not_json(raw: bytes, where: str, error: orjson.JSONDecodeError) -> Dropped:
    try:
        raw.decode()
    except UnicodeDecodeError as bad:
        byte = f"byte {raw[bad.start]:#04x} at column {bad.start + 1}"
        return fault(where, "not UTF-8", f"{byte} is not UTF-8; write the record again as UTF-8", raw)
    return fault(
        where,
        "not JSON",
        f"not JSON ({error.msg} at column {error.colno}); correct or remove the record",
        raw,
    )


def _array(
    shard: Shard, path: Path, _max_bytes: int, only: Container[int] | None
) -> Iterator[Located | Dropped]:
    try:
        with open_stream(path) as stream:
            data = stream.read().removeprefix(BOM)
    except damage() as error:
        yield damaged(str(path), error)
        return
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        yield from _broken_array(path, data, error, only)
        return
    if shard.key and isinstance(value, dict):
        value = value.get(shard.key)
    for n, entry in enumerate(value if isinstance(value, list) else [value]):
        if only is None or n in only:
            yield Located(f"{path}[{n}]", entry, n)


def _broken_array(
    path: Path, data: bytes, error: orjson.JSONDecodeError, only: Container[int] | None
) -> Iterator[Located | Dropped]:
    """The whole entries of an array that is broken somewhere, and what is wrong with the others."""
    text = data.decode("utf-8", "surrogateescape")
    at = len(text) - len(text.lstrip())
    if not text.startswith("[", at):
        yield _not_json(data, str(path), error)
        return
    decoder, n, at = json.JSONDecoder(), 0, at + 1
    while True:
        at = _BETWEEN.match(text, at).end()  # type: ignore[union-attr] # it matches nothing too
        where = f"{path}[{n}]"
        if text.startswith("]", at):
            return
        try:
            entry, end = decoder.raw_decode(text, at)
        except (json.JSONDecodeError, RecursionError) as stop:
            line = text.count("\n", 0, at) + 1
            detail = f"not JSON from line {line} on ({getattr(stop, 'msg', stop)}); correct the file or write it again"
            yield fault(where, "not JSON", detail, text[at : at + _EXCERPT].encode("utf-8", "replace"))
            return
        if only is None or n in only:
            yield _clean(entry, where, n, text[at:end])
        at, n = end, n + 1


def _clean(entry: Any, where: str, n: int, text: str) -> Located | Dropped:
    try:
        orjson.dumps(entry)
    except TypeError:
        raw = text[:_EXCERPT].encode("utf-8", "replace")
        return fault(
            where, "not UTF-8", "holds bytes that are not UTF-8; write the record again as UTF-8", raw
        )
    return Located(where, entry, n)


def _table(
    _shard: Shard, path: Path, max_bytes: int, only: Container[int] | None
) -> Iterator[Located | Dropped]:
    try:
        with open_stream(path) as stream:
            for record in table_rows(stream, path, max_bytes, "\t" if kind_of(path) == ".tsv" else ""):
                if only is None or isinstance(record, Dropped) or record.position in only:
                    yield record
    except damage() as error:
        yield damaged(str(path), error)


def _parquet(
    _shard: Shard, path: Path, _max_bytes: int, only: Container[int] | None
) -> Iterator[Located | Dropped]:
    for record in parquet_rows(path):
        if only is None or isinstance(record, Dropped) or record.position in only:
            yield record


Layout = Callable[[Shard, Path, int, Container[int] | None], Iterator[Located | Dropped]]
LAYOUTS: dict[str, Layout] = {"lines": _lines, "array": _array, "table": _table, "parquet": _parquet}
"""How records stand in a file -> how they are taken out."""


def is_splittable(path: Path, layout: str) -> bool:
    """Whether byte ranges of the file can be read apart."""
    return layout == "lines" and not is_compressed(path)
