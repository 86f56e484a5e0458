"""Rows of CSV, TSV and Parquet files as objects by column name, or as lists of cells when there is no header."""

import csv
import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import BinaryIO

from builder.core.located import Located
from builder.core.records import Dropped
from builder.io.streams import BOM, bounded_lines

_COLUMN_NAME = re.compile(r"[^\W\d][\w.\-]*( [\w.\-]+){0,2}")
_DELIMITERS = ",;\t|"
_EXCERPT = 200
_BATCH = 512


def table_rows(stream: BinaryIO, path: Path, max_bytes: int, delimiter: str) -> Iterator[Located | Dropped]:
    """Rows of delimited text. The first row is a header when every cell of it looks like a column's name.

    Args:
        stream: The bytes of the table.
        path: Its file, for messages.
        max_bytes: Longest line, and longest cell.
        delimiter: "" finds it in the first line.
    """
    dropped: list[Dropped] = []
    lines = _text_lines(stream, path, max_bytes, dropped)
    first = next(lines, None)
    if first is None:
        yield from dropped
        return
    delimiter = delimiter or max(_DELIMITERS, key=lambda d: (first.count(d), -_DELIMITERS.index(d)))
    header = next(csv.reader([first], delimiter=delimiter), [])
    named = bool(header) and all(_COLUMN_NAME.fullmatch(cell.strip()) for cell in header)
    # Tables without a header come from tools that do not quote; a quote in a cell is then part of the text.
    csv.field_size_limit(max_bytes)
    every = chain([first], lines)
    if named:
        reader = csv.reader(every, delimiter=delimiter)
    else:
        reader = csv.reader(every, delimiter=delimiter, quoting=csv.QUOTE_NONE)
    columns = [cell.strip() for cell in next(reader)] if named else []
    last = reader.line_num
    while True:
        where = f"{path}:{last + 1}"
        try:
            cells = next(reader, None)
        except csv.Error as error:
            detail = f"not a table from here on ({error}); close the quote or write the file again"
            yield Dropped(where, "read", "not a table", detail)
            break
        yield from dropped
        dropped.clear()
        if cells is None:
            break
        number, last = last + 1, reader.line_num
        if any(cells):
            yield _row(cells, columns, where, number)
    yield from dropped


def _text_lines(stream: BinaryIO, path: Path, max_bytes: int, dropped: list[Dropped]) -> Iterator[str]:
    for number, line in enumerate(bounded_lines(stream, max_bytes), start=1):
        if line is None:
            detail = f"record is over {max_bytes >> 20} MB; split it or raise [read] max_record_mb"
            dropped.append(Dropped(f"{path}:{number}", "read", "record too long", detail))
            # A blank line in its place keeps the line numbers of the rows after it right.
            yield "\n"
        else:
            yield (line.removeprefix(BOM) if number == 1 else line).decode("utf-8", "surrogateescape")


def _row(cells: list[str], columns: list[str], where: str, number: int) -> Located | Dropped:
    excerpt = "\t".join(cells)[:_EXCERPT].encode("utf-8", "replace").decode()
    try:
        "".join(cells).encode()
    except UnicodeEncodeError:
        detail = "holds bytes that are not UTF-8; write the row again as UTF-8"
        return Dropped(where, "read", "not UTF-8", detail, excerpt)
    if columns and len(cells) != len(columns):
        detail = f"row has {len(cells)} cells, the header {len(columns)}; quote cells that hold the delimiter"
        return Dropped(where, "read", "unexpected shape", detail, excerpt)
    return Located(where, dict(zip(columns, cells, strict=True)) if columns else cells, number)


def parquet_rows(path: Path) -> Iterator[Located | Dropped]:
    """Rows of a Parquet file as objects, a batch in memory at a time; numbered from 1."""
    import pyarrow as arrow
    import pyarrow.parquet as parquet

    number = 0
    try:
        with parquet.ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=_BATCH):
                for row in batch.to_pylist():
                    number += 1
                    yield Located(f"{path}:{number}", row, number)
    except (arrow.ArrowException, OSError) as error:
        detail = f"not Parquet from here on ({str(error).splitlines()[0]}); write the file again"
        yield Dropped(f"{path}:{number + 1}", "read", "damaged file", detail)
