"""Finished calls, one JSON line each, written as they end: a kill loses none of them, and none is paid for twice."""

from pathlib import Path
from typing import Any

import orjson

from builder.io.store import make_folder


class Journal:
    """Calls by key, in a file that only ever grows.

    Attributes:
        rows: Every finished call by its key.
        fresh: Keys of the calls that this process added.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.rows: dict[str, dict[str, Any]] = {}
        self.fresh: list[str] = []
        if path.is_file():
            for line in path.read_bytes().split(b"\n"):
                try:
                    row = orjson.loads(line)
                except orjson.JSONDecodeError:
                    continue  # the last line of a process that was killed while it wrote
                self.rows[row["key"]] = row
        make_folder(path.parent)
        self._file = path.open("ab", buffering=0)
        if self._file.tell() and path.read_bytes()[-1:] != b"\n":
            self._file.write(b"\n")

    def add(self, key: str, row: dict[str, Any]) -> None:
        """Keep one finished call; it is on its way to the disk when this returns."""
        self.rows[key] = {"key": key, **row}
        self.fresh.append(key)
        self._file.write(orjson.dumps(self.rows[key], option=orjson.OPT_APPEND_NEWLINE))

    def hold(self, key: str, row: dict[str, Any]) -> None:
        """Know a call that got no answer until this process ends; the next one may ask again."""
        self.rows[key] = {"key": key, **row}

    def cost(self, keys: list[str] | None = None) -> float:
        """US dollars that calls cost: those of `keys`, or all that are written down."""
        rows = self.rows.values() if keys is None else [self.rows[key] for key in keys]
        return float(sum(row["cost"] for row in rows))

    def close(self) -> None:
        """Close the file; the rows stay readable."""
        self._file.close()
