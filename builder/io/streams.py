"""Bytes of a file, decompressed on the way, as lines of bounded length."""

import gzip
import io
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

from builder.core.errors import BuilderError

COMPRESSED = (".gz", ".zst")
BOM = b"\xef\xbb\xbf"
_SKIP = 1 << 20


def is_compressed(path: Path) -> bool:
    """Whether the name ends as compressed files do."""
    return path.suffix.lower() in COMPRESSED


def kind_of(path: Path) -> str:
    """The suffix that tells what is inside, in small letters: `.csv` for `chats.CSV.gz`."""
    inner = Path(path.stem) if is_compressed(path) else path
    return inner.suffix.lower()


def open_stream(path: Path) -> BinaryIO:
    """The decompressed bytes of `path`, to be closed by the caller.

    Raises:
        BuilderError: It cannot be opened.
    """
    try:
        file = path.open("rb")
    except OSError as error:
        raise BuilderError(
            str(path), f"cannot be read ({error.strerror})", "check the path and its permissions"
        ) from None
    if path.suffix.lower() == ".gz":
        return cast(BinaryIO, io.BufferedReader(gzip.GzipFile(fileobj=file)))
    if path.suffix.lower() == ".zst":
        import zstandard

        reader = zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True, closefd=True)
        return cast(BinaryIO, io.BufferedReader(cast(io.RawIOBase, reader)))
    return file


def damage() -> tuple[type[Exception], ...]:
    """What reading a broken compressed file raises."""
    import zstandard

    return (EOFError, gzip.BadGzipFile, zlib.error, zstandard.ZstdError)


def bounded_lines(stream: BinaryIO, max_bytes: int, end: int | None = None) -> Iterator[bytes | None]:
    """Lines with their line ends, from where `stream` stands; None for a line over `max_bytes`, which is never held whole.

    Args:
        stream: Bytes.
        max_bytes: Longest line given.
        end: Bytes after which no further line starts; None for all.
    """
    read = 0
    while end is None or read < end:
        line = stream.readline(max_bytes + 1)
        if not line:
            return
        read += len(line)
        if len(line) <= max_bytes or line.endswith(b"\n"):
            yield line
            continue
        del line
        while True:
            more = stream.readline(_SKIP)
            read += len(more)
            if not more or more.endswith(b"\n"):
                break
        yield None


def line_ranges(path: Path, size: int) -> Iterator[tuple[int, int, int]]:
    """(first byte, byte after the last, number of the first line) of ranges of whole lines, about `size` bytes each."""
    with path.open("rb") as file:
        start, line = 0, 1
        while block := file.read(size):
            lines = block.count(b"\n")
            whole = block.endswith(b"\n")
            while not whole and (more := file.readline(_SKIP)):
                whole = more.endswith(b"\n")
                lines += whole
            end = file.tell()
            yield start, end, line
            start, line = end, line + lines
