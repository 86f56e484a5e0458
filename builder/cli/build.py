"""`followups build`: the river from a log to a release."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from builder.core.errors import DRIFT_OR_SHORT, INVALID_DATA, OK

Config = Annotated[Path | None, typer.Option(help="Settings file, dataset.toml")]
Transcripts = Annotated[
    list[Path] | None,
    typer.Option(help="Log to read instead of the settings' one: file, folder or glob; repeatable"),
]
Labels = Annotated[
    str,
    typer.Option(
        help='Label file to use instead of the settings\' one; "none" leaves all labelling to the classifier'
    ),
]


def build(
    config: Config = None,
    transcripts: Transcripts = None,
    out: Annotated[Path, typer.Option(help="Folder of releases")] = Path("dist"),
    size: Annotated[int | None, typer.Option(help="Items in the set")] = None,
    floor: Annotated[int | None, typer.Option(help="Fewest items of a stratum that occurs at all")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of every random choice")] = None,
    labels: Labels = "",
    passages: Annotated[Path | None, typer.Option(help="Corpus: JSONL of {id, title, text}")] = None,
    entities: Annotated[Path | None, typer.Option(help="Entity catalogue, JSON")] = None,
    name: Annotated[str, typer.Option(help="Name of the set")] = "",
    fast: Annotated[bool, typer.Option("--fast", help="Classify by rules, without the model")] = False,
    workers: Annotated[
        int, typer.Option(min=0, help="Processes for reading, threads for the classifier; 0 for one a core")
    ] = 0,
    freeze_items: Annotated[
        bool, typer.Option("--freeze-items", help="Keep the previous release's items and weigh them anew")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress on stderr")] = False,
) -> None:
    """Build a validated, versioned follow-up set from a log of conversations.

    Example: followups build --transcripts chats.jsonl --passages docs.jsonl --out dist --size 300
    """
    from builder.pipeline.build import Overrides, build_release, open_sources

    overrides = Overrides(
        transcripts=tuple(transcripts or ()),
        labels=labels,
        passages=passages,
        entities=entities,
        size=size,
        floor=floor,
        seed=seed,
        name=name,
        fast=fast,
    )
    progress = not quiet and sys.stderr.isatty()
    sources = open_sources(config, out, overrides, workers, progress)
    announce = None if quiet else lambda stage: print(f"{stage} ...", file=sys.stderr)
    built = build_release(sources, announce, freeze_items)
    print(built.table)
    print()
    print(built.message)
    for remark in built.remarks:
        print(remark, file=sys.stderr)
    raise typer.Exit(INVALID_DATA if built.rejected else DRIFT_OR_SHORT if built.short else OK)
