"""Transcripts for commands that read a whole log: good records go on, the others go to a rejects file."""

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from builder.core.errors import INVALID_DATA, OK, BuilderError
from builder.core.identity import outline_of
from builder.core.records import Dropped, Transcript
from builder.core.settings import ReadSettings
from builder.core.wording import counted


@dataclass(frozen=True, slots=True)
class Loaded:
    """A whole log.

    Attributes:
        transcripts: Its transcripts, in order of files and places.
        rejected: Records that could not be read.
    """

    transcripts: list[Transcript]
    rejected: tuple[Dropped, ...]

    @property
    def code(self) -> int:
        """The exit code that a command which otherwise succeeds ends with."""
        return INVALID_DATA if self.rejected else OK


def load_log(
    paths: Sequence[Path],
    settings: ReadSettings,
    rejects: Path | None = None,
    hide: Callable[[str], str] = str,
) -> Loaded:
    """Every transcript of the files, folders and globs in `paths`; says on stderr what was read and what was not.

    Args:
        paths: Where to look.
        settings: How to read.
        rejects: Folder of the rejects file; None for the current one.
        hide: What is done to the words of rejected records before they are written down.

    Raises:
        BuilderError: A path does not exist, or there is no transcript or no follow-up in any of the files.
    """
    from builder.io.rejects import first_of, rejects_path, summarise, write_rejects
    from builder.io.source import open_transcripts
    from builder.stages.read import detect_format, read_transcripts

    parse = partial(read_transcripts, settings=settings)
    detect = partial(detect_format, settings=settings)
    results = list(open_transcripts(paths, settings, 1, sys.stderr.isatty(), parse, detect, passed_over))
    transcripts, clashes = _distinct([result for result in results if isinstance(result, Transcript)])
    refused = (*(result for result in results if isinstance(result, Dropped)), *clashes)
    rejected = tuple(
        replace(d, id=hide(d.id), detail=hide(d.detail), excerpt=hide(d.excerpt)) for d in refused
    )
    target = rejects_path(rejects or Path(), paths[0].name)
    if write_rejects(target, rejected):
        print(
            f"{counted(len(rejected), 'record')} rejected ({summarise(rejected)}): {target}", file=sys.stderr
        )
    n_follow_ups = sum(len(transcript.follow_up_turns) for transcript in transcripts)
    if not n_follow_ups:
        why = f"; rejected: {summarise(rejected)}, the first: {first_of(rejected)}" if rejected else ""
        raise BuilderError(
            ", ".join(map(str, paths[:3])),
            f"no follow-ups among {counted(len(transcripts), 'conversation')}{why}",
            "give a log whose conversations have two or more user turns, or set [read] format, fields and roles",
            INVALID_DATA,
        )
    read = f"{counted(len(transcripts), 'conversation')}, {counted(n_follow_ups, 'follow-up')}"
    print(read, file=sys.stderr)
    return Loaded(transcripts, rejected)


def load_transcripts(
    paths: Sequence[Path], settings: ReadSettings, rejects: Path | None = None
) -> list[Transcript]:
    """The transcripts of `load_log`, for commands that have no use for the rejected records."""
    return load_log(paths, settings, rejects).transcripts


def keep_inputs(outs: Iterable[Path], source: Path, beside: Iterable[Path | None]) -> None:
    """Stop before `outs` are written over what a command on a release reads.

    Args:
        outs: Files and folders that are going to be written.
        source: A release, a folder of releases, or a file of items or labels.
        beside: What else is read; None for what was not given.

    Raises:
        BuilderError: One of `outs` is read.
    """
    from builder.io.store import refuse_overwrite
    from builder.pipeline.sources import release_inputs

    read = [*release_inputs(source), *(path for path in beside if path)]
    for out in outs:
        refuse_overwrite(out, read)


def passed_over(path: Path, fields: str) -> None:
    """Say on stderr that a file was left alone, since its format is not known."""
    fix = "set [read] format, name its fields under [read.fields], or take it out of the folder"
    print(f"{path}: passed over, no known format (the first record has {fields}); {fix}", file=sys.stderr)


def _distinct(transcripts: Sequence[Transcript]) -> tuple[list[Transcript], list[Dropped]]:
    """Each conversation once, and those whose id belongs to another one: the choice is that of `stages.sample`."""
    by_id: dict[str, dict[tuple[int, bytes], Transcript]] = {}
    for transcript in transcripts:
        key = (-len(transcript.follow_up_turns), outline_of(transcript).said)
        by_id.setdefault(transcript.id, {}).setdefault(key, transcript)
    kept, clashes = [], []
    for name, copies in by_id.items():
        kept.append(longest := copies[min(copies)])
        other = (
            f"another conversation, of {counted(len(longest.follow_up_turns), 'follow-up')}, has the same id"
        )
        detail = f"{other} and was kept; give each conversation its own id"
        clashes += [Dropped(name, "read", "duplicate conversation id", detail)] * (len(copies) - 1)
    return kept, clashes
