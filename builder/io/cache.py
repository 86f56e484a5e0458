"""Finished work kept by content: a folder of segments that appear whole, so a kill loses at most the open one."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from builder.core.hashing import digest_bytes
from builder.io.store import read_jsonl, to_json, write_bytes


def load_cache(folder: Path) -> dict[str, Any]:
    """Every (key, value) pair that was kept in `folder`; empty when it does not exist."""
    found: dict[str, Any] = {}
    for segment in sorted(folder.glob("*.jsonl")):
        found.update((row["key"], row["value"]) for row in read_jsonl(segment))
    return found


def keep(folder: Path, pairs: Mapping[str, Any] | Iterable[tuple[str, Any]]) -> None:
    """Add pairs as one new segment, named by its content: keeping the same pairs twice changes nothing."""
    rows = [{"key": key, "value": value} for key, value in sorted(dict(pairs).items())]
    data = b"".join(to_json(row) + b"\n" for row in rows)
    if rows:
        write_bytes(folder / f"{digest_bytes(data)[:24]}.jsonl", data)
