"""The decisions file: lines are only ever added, and each is on the disk before it counts."""

import os
from pathlib import Path

import orjson

from builder.core.errors import INVALID_DATA, BuilderError, Problem
from builder.core.rows import Row


class Journal:
    """An open decisions file.

    Attributes:
        rows: Every line, in order.
        remark: What opening it changed; "" for nothing.
    """

    def __init__(self, path: Path, rows: list[Row], handle: int, remark: str) -> None:
        """Hold the open file; `open_journal` makes one."""
        self.rows = rows
        self.remark = remark
        self._path = path
        self._handle = handle

    def append(self, row: Row) -> None:
        """Add one line; when this returns, a killed process or a lost power supply cannot lose it.

        Raises:
            BuilderError: The disk refuses it; the line does not count.
        """
        line = orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE)
        size = os.fstat(self._handle).st_size
        try:
            written = os.write(self._handle, line)
            os.fsync(self._handle)
        except OSError as error:
            os.ftruncate(self._handle, size)
            raise _refused(self._path, error) from None
        if written != len(line):
            os.ftruncate(self._handle, size)
            raise BuilderError(str(self._path), "the disk took part of a line", "free some space")
        self.rows.append(row)

    def close(self) -> None:
        """Let another process have the file."""
        os.close(self._handle)


def open_journal(path: Path) -> Journal:
    """The decisions file at `path`, made when it does not exist, and held against a second writer.

    A last line without its line end was cut off by a kill before anybody was told that it counts: it is taken away.

    Raises:
        BuilderError: It cannot be opened, another process holds it, or a line is not JSON.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
    except OSError as error:
        raise _refused(path, error) from None
    try:
        _hold(handle, path)
        data = path.read_bytes()
        whole = data[: data.rfind(b"\n") + 1]
        remark = ""
        if len(whole) < len(data):
            os.ftruncate(handle, len(whole))
            remark = f"{path}: took away a last line that a kill had cut off ({len(data) - len(whole)} bytes)"
        return Journal(path, _rows(whole, path), handle, remark)
    except BaseException:
        os.close(handle)
        raise


def _refused(path: Path, error: OSError) -> BuilderError:
    return BuilderError(
        str(path), f"cannot write decisions ({error.strerror})", "check the path and its permissions"
    )


def _hold(handle: int, path: Path) -> None:
    try:
        import fcntl
    except ImportError:
        # Where the system has no such locks, one person's care must do.
        return
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise BuilderError(
            str(path),
            "another review has this file open",
            "close that one, or give another --decisions; lines of several files can be joined",
        ) from None


def _rows(data: bytes, path: Path) -> list[Row]:
    rows: list[Row] = []
    problems = []
    for number, line in enumerate(data.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            rows.append(orjson.loads(line))
        except orjson.JSONDecodeError as error:
            problems.append(Problem(f"{path}:{number}", f"not JSON ({error})", "correct or remove the line"))
    if problems:
        first = problems[0]
        raise BuilderError(first.where, first.what, first.fix, INVALID_DATA, problems)
    return rows
