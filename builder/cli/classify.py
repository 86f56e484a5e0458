"""`followups classify TRANSCRIPTS`: the labels of every follow-up of a log, one a line."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from builder.core.records import FollowUp


def classify(
    transcripts: Annotated[list[Path], typer.Argument(help="Chat logs: files, folders or globs")],
    out: Annotated[Path, typer.Option(help="Label file to write, one follow-up a line")] = Path(
        "labels.jsonl"
    ),
    fast: Annotated[bool, typer.Option("--fast", help="By rules instead of the model: less right")] = False,
    model: Annotated[Path | None, typer.Option(help="Model folder; default: the shipped model")] = None,
    entities: Annotated[Path | None, typer.Option(help="Entity catalogue, JSON")] = None,
    long_range: Annotated[int, typer.Option(min=1, help="Distance from which a reference is long-range")] = 4,
    workers: Annotated[int, typer.Option(min=1, help="Conversations read at the same time")] = 1,
) -> int:
    """Label every follow-up: stratum, form, pivot, antecedent turns, distances, terms, confidence.

    Example: followups classify chats.jsonl --out labels.jsonl --entities entities.json
    """
    from builder.cli.inputs import load_log
    from builder.core.records import Catalogue
    from builder.core.rows import follow_up_to_row
    from builder.core.settings import ClassifySettings, ReadSettings
    from builder.core.wording import counted
    from builder.io.corpus import load_catalogue
    from builder.io.source import find_files
    from builder.io.store import refuse_overwrite, write_jsonl
    from builder.pipeline.readers import make_reader
    from builder.stages.classify import classify_follow_ups
    from builder.text.entities import mine_entities

    refuse_overwrite(out, (*find_files(transcripts), *((entities,) if entities else ())))
    log = load_log(transcripts, ReadSettings(), out.parent)
    settings = ClassifySettings("rules" if fast else "encoder", str(model or ""), long_range)
    listed = load_catalogue(entities) if entities else Catalogue()
    catalogue = mine_entities(log.transcripts, listed)
    reader = make_reader(settings, catalogue, None, workers, sys.stderr.isatty())
    follow_ups = list(classify_follow_ups(log.transcripts, reader, catalogue, settings))
    write_jsonl(out, (follow_up_to_row(follow_up) for follow_up in follow_ups))
    print(
        f"{out}: {counted(len(follow_ups), 'follow-up')} of {counted(len(log.transcripts), 'conversation')}, by {settings.method}"
    )
    return log.code


def _warn_of_languages(follow_ups: "Sequence[FollowUp]") -> None:
    """Say on stderr which follow-ups were read without cue words, for want of a lexicon of their language."""
    from collections import Counter

    from builder.text.lexicon import LANGUAGES

    bare = Counter(
        f.language or "unknown" for f in follow_ups if f.language.partition("-")[0] not in LANGUAGES
    )
    if bare:
        listed = ", ".join(f"{language} {count}" for language, count in sorted(bare.items()))
        print(f"no lexicon: {listed}; read by language-independent features only", file=sys.stderr)
