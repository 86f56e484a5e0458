"""`followups export RELEASE --to TOOL`: a release in the form of another evaluation tool."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from builder.core.errors import unknown_name
from builder.core.records import Passage


def export(
    release: Annotated[
        Path, typer.Argument(help="A release, a folder of releases, or a JSONL file of items")
    ],
    to: Annotated[
        str, typer.Option(help="inspect, promptfoo, deepeval, ragas, langfuse, langsmith, beir or trec")
    ],
    out: Annotated[
        Path | None, typer.Option(help="Folder for the files [default: dist/export/ and the tool's name]")
    ] = None,
) -> None:
    """Write a release in the form of another evaluation tool.

    Example: followups export dist --to promptfoo
    """
    from builder.io.items import read_items
    from builder.io.store import read_jsonl, refuse_overwrite, write_bytes
    from builder.pipeline.sources import find_items, release_inputs
    from builder.stages.export import EXPORTS

    if to not in EXPORTS:
        raise unknown_name("--to", "tool", to, EXPORTS)
    out = out or Path("dist", "export", to)
    path = find_items(release)
    refuse_overwrite(out, release_inputs(release))
    items = read_items(path)
    corpus = path.parent / "corpus.jsonl"
    rows = read_jsonl(corpus, "corpus") if corpus.is_file() else []
    passages = {row["_id"]: Passage(row["_id"], row["title"], row["text"]) for row in rows}
    made = EXPORTS[to](items, passages)
    for name in made:
        refuse_overwrite(out / name, (*release_inputs(release), corpus))
    for name, data in made.items():
        write_bytes(out / name, data)
        print(out / name)
    print(f"{len(items)} items for {to}", file=sys.stderr)
