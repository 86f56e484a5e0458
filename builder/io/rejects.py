"""The file of records that could not be read: where each stands, why it was refused, and how it begins."""

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from builder.core.records import Dropped
from builder.core.wording import by_number
from builder.io.store import write_jsonl


def rejects_path(out: Path, name: str) -> Path:
    """Where the rejects of an input called `name` go: `<out>/<name>.rejects.jsonl`."""
    return out / f"{name.split('.')[0] or 'transcripts'}.rejects.jsonl"


def write_rejects(path: Path, rejected: Sequence[Dropped]) -> bool:
    """Write one line {where, reason, detail, raw} per record; without any, an older file is taken away. Says if there are any."""
    if not rejected:
        if path.is_file():
            path.unlink()
        return False
    rows = [(d.id, d.reason, d.detail, d.excerpt) for d in in_order(rejected)]
    write_jsonl(path, (dict(zip(("where", "reason", "detail", "raw"), row, strict=True)) for row in rows))
    return True


def in_order(rejected: Iterable[Dropped]) -> list[Dropped]:
    """Rejected records by file and line, line 2 before line 11."""
    return sorted(rejected, key=lambda d: (by_number(d.id), d.reason, d.detail, d.excerpt))


def first_of(rejected: Iterable[Dropped]) -> str:
    """The first rejected record as a sentence: its place, the reason, the value and the remedy; "" without any."""
    first = next(iter(in_order(rejected)), None)
    return f"{first.id}: {first.reason}: {first.detail}" if first else ""


def summarise(dropped: Iterable[Dropped]) -> str:
    """Counts by reason, the commonest first: `not JSON 3, unknown role 1`."""
    counts = Counter(d.reason for d in dropped)
    return ", ".join(
        f"{reason} {n}" for reason, n in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    )
