"""Items, labels and transcripts from JSON lines: a line that is something else is named with its place and its remedy."""

from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any, TypeVar

from builder.core.errors import INVALID_DATA, BuilderError, Problem
from builder.core.records import Item, Transcript
from builder.core.rows import Row, item_from_row, transcript_from_row
from builder.io.store import iter_jsonl

Made = TypeVar("Made")

LABEL_FIELDS = (
    "conversation_id",
    "turn",
    "form",
    "pivot",
    "returns",
    "antecedent_turns",
)
"""What a label has to say; terms are found where it gives none."""
WHOLE_LABEL = (*LABEL_FIELDS, "reference_type", "required_in_rewrite", "forbidden_in_rewrite")
"""What a label has to say that an item is made of."""
_ITEM_FIELDS = ("prefix", *(f.name for f in fields(Item) if f.default is MISSING and f.name != "prefix"))
_CASE = ("conversation_id", "turn", "reference_type", "antecedent_turns", "pivot")
_FIXES = {
    "item": "give a release or its items.jsonl, or run `followups validate` on the file",
    "label": "give a label file, as `followups classify` writes it",
    "item or label": "give a release, its items.jsonl, or a label file",
    "transcript": "give transcripts as `followups redact` writes them: a conversation_id and messages",
}


def iter_items(path: Path, only: Container[str] | None = None) -> Iterator[Item]:
    """The items of an item file, one at a time; those with an id in `only`, when it is given.

    Raises:
        BuilderError: A line is not an item.
    """
    for where, row in _rows(path, "item", _ITEM_FIELDS):
        if only is None or row["id"] in only:
            yield _made(item_from_row, row, where, "item")


def read_items(path: Path) -> list[Item]:
    """All items of an item file.

    Raises:
        BuilderError: A line is not an item, or there is none.
    """
    items = list(iter_items(path))
    if not items:
        raise BuilderError(str(path), "no items (0 lines)", "build a release first", INVALID_DATA)
    return items


def read_labels(path: Path, need: Sequence[str] = LABEL_FIELDS) -> list[Row]:
    """The rows of a label file; each has the fields in `need`.

    Raises:
        BuilderError: A line is not a label.
    """
    return [row for _, row in _rows(path, "label", need)]


def read_items_or_labels(path: Path) -> tuple[list[Item], list[Row]]:
    """The items of a file, or else its labels; one of the two is empty.

    Raises:
        BuilderError: A line is neither, or there is none.
    """
    first = next(_rows(path, "item or label", _CASE), None)
    if first is None:
        raise BuilderError(
            str(path), "no labels (0 lines)", "give a file with one label a line", INVALID_DATA
        )
    return (read_items(path), []) if "prefix" in first[1] else ([], read_labels(path, _CASE))


def iter_transcripts(path: Path) -> Iterator[Transcript]:
    """The transcripts of a file in the canonical shape.

    Raises:
        BuilderError: A line is not a transcript.
    """
    for where, row in _rows(path, "transcript", ("conversation_id", "messages")):
        yield _made(transcript_from_row, row, where, "transcript")


def _rows(path: Path, kind: str, need: Sequence[str]) -> Iterator[tuple[str, Row]]:
    for number, row in iter_jsonl(path, f"{kind} file"):
        where = f"{path}:{number}"
        if isinstance(row, Problem):
            raise BuilderError(row.where, row.what, row.fix, INVALID_DATA)
        if not isinstance(row, dict):
            raise _other(where, kind, f"{row!r:.40} is no object")
        missing = next((name for name in need if name not in row), "")
        if missing:
            raise _other(where, kind, f"no field {missing}")
        yield where, row


def _made(decode: Callable[[Row], Made], row: Row, where: str, kind: str) -> Made:
    """What `decode` makes of a row.

    Raises:
        BuilderError: A field is none that it knows, or holds something of another type.
    """
    try:
        return decode(row)
    except (AttributeError, KeyError, TypeError, ValueError):
        raise _other(where, kind, _strange(row, kind)) from None


def _strange(row: dict[str, Any], kind: str) -> str:
    known = {f.name for f in fields(Item)}
    unknown = next((name for name in row if kind == "item" and name not in known), "")
    return f"unknown field {unknown}" if unknown else "a field holds a value of another type"


def _other(where: str, kind: str, why: str) -> BuilderError:
    article = "an" if kind.startswith("item") else "a"
    return BuilderError(where, f"not {article} {kind} ({why})", _FIXES[kind], INVALID_DATA)
