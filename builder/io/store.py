"""Files: JSONL and JSON in, whole files out by rename, and digests of what is there."""

import hashlib
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import orjson

from builder.core.errors import USAGE, BuilderError, Problem


def write_bytes(path: Path, data: bytes) -> None:
    """Put `data` at `path` in one step: readers see the old file or the new one, never a part.

    Raises:
        BuilderError: It cannot be written there: it is a folder, or what should hold it is a file or closed.
    """
    if path.is_dir():
        raise BuilderError(str(path), "cannot be written (is a folder)", "give the path of a file")
    make_folder(path.parent)
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:100]}.")
    except OSError as error:
        raise _unwritable(path, error) from None
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except BaseException:
        with suppress(FileNotFoundError):
            Path(temporary).unlink()
        raise


def make_folder(path: Path) -> None:
    """Make the folder `path` and those above it; one that is there is left alone.

    Raises:
        BuilderError: It cannot be made: it or a part of its path is a file, or the folder above is closed.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _unwritable(path, error) from None


def _unwritable(path: Path, error: OSError) -> BuilderError:
    if isinstance(error, FileExistsError | NotADirectoryError):
        file = next((part for part in (path, *path.parents) if part.is_file()), path)
        what = f"cannot be written ({file} is a file, not a folder)"
        return BuilderError(str(path), what, "choose another path")
    reason = (error.strerror or type(error).__name__).lower()
    return BuilderError(str(path), f"cannot be written ({reason})", "choose another path or mend its rights")


def refuse_overwrite(out: Path, inputs: Iterable[Path]) -> None:
    """Stop before a command writes over what it reads.

    Args:
        out: The file or folder that is going to be written.
        inputs: Files and folders that are read.

    Raises:
        BuilderError: `out` is one of the inputs, by whatever path.
    """
    target = out.resolve()
    for given in inputs:
        if given.resolve() == target or (given.exists() and out.exists() and given.samefile(out)):
            raise BuilderError(
                str(out), f"would overwrite an input ({given})", "give another path to write to", USAGE
            )


def write_text(path: Path, text: str) -> None:
    """Put `text` at `path` in one step, as UTF-8."""
    write_bytes(path, text.encode())


def to_json(value: Any) -> bytes:
    """`value` as one line of JSON: keys in the order given, UTF-8, no spaces."""
    return orjson.dumps(value)


def write_json(path: Path, value: Any) -> None:
    """Put `value` at `path` as indented JSON, in one step."""
    write_bytes(path, orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))


def write_jsonl(path: Path, rows: Iterable[Any]) -> int:
    """Put `rows` at `path`, one JSON object a line, in one step; returns how many."""
    lines = [orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in rows]
    write_bytes(path, b"".join(lines))
    return len(lines)


def read_bytes(path: Path, what: str = "file") -> bytes:
    """The content of `path`.

    Raises:
        BuilderError: It does not exist or cannot be read.
    """
    try:
        return path.read_bytes()
    except IsADirectoryError:
        raise BuilderError(str(path), f"is a folder, not a {what}", f"give the path of a {what}") from None
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise BuilderError(str(path), f"cannot read the {what} ({reason})", "check the path") from None


def read_json(path: Path, what: str = "file") -> Any:
    """The JSON value in `path`.

    Raises:
        BuilderError: It cannot be read or is not JSON.
    """
    try:
        return orjson.loads(read_bytes(path, what))
    except orjson.JSONDecodeError as error:
        raise BuilderError(str(path), f"not JSON ({error})", "correct the file or write it again") from None


def iter_lines(path: Path, what: str = "file") -> Iterator[bytes]:
    """The lines of `path`, one at a time, so that a file need not fit in memory.

    Raises:
        BuilderError: It does not exist or cannot be read.
    """
    try:
        with path.open("rb") as file:
            yield from file
    except OSError as error:
        reason = "is a folder" if path.is_dir() else error.strerror or type(error).__name__
        raise BuilderError(str(path), f"cannot read the {what} ({reason})", "check the path") from None


def iter_jsonl(path: Path, what: str = "file") -> Iterator[tuple[int, Any | Problem]]:
    """Each line of `path` as (line number, value); a line that is not JSON is given as a Problem. Blank lines are passed over."""
    for number, line in enumerate(iter_lines(path, what), start=1):
        if not line.strip():
            continue
        try:
            yield number, orjson.loads(line)
        except orjson.JSONDecodeError as error:
            yield number, Problem(f"{path}:{number}", f"not JSON ({error})", "correct or remove the line")


def read_jsonl(path: Path, what: str = "file") -> list[Any]:
    """All lines of `path`.

    Raises:
        BuilderError: It cannot be read, or a line is not JSON (all such lines are named).
    """
    values = [value for _, value in iter_jsonl(path, what)]
    problems = [value for value in values if isinstance(value, Problem)]
    if problems:
        first = problems[0]
        raise BuilderError(first.where, first.what, first.fix, problems=problems)
    return values


def digest_file(path: Path) -> str:
    """SHA-256 of the bytes of `path`, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
