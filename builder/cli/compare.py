"""`followups compare RELEASE`: scope designs and rewriters side by side, one table a metric and stratum."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from builder.core.errors import BuilderError
from builder.core.records import Item

if TYPE_CHECKING:
    from builder.evaluate.compare import Entry
    from builder.evaluate.rewrite import Retrieve

PRINTED = ("recall", "contamination")
"""Metrics whose tables go to the terminal; the files hold all."""


def compare(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="RELEASE_OR_LABELS", help="A release, an item file, or labels with --transcripts"
        ),
    ],
    out: Annotated[Path, typer.Option(help="Folder for tables, page and runs")],
    designs: Annotated[str, typer.Option(help="Names by spaces; see docs/scope.md")] = "",
    rewriters: Annotated[
        str, typer.Option(help="Names by spaces, offline ones: expand, resolve, paste, none")
    ] = "",
    transcripts: Annotated[list[Path] | None, typer.Option(help="Transcripts of the labels")] = None,
    passages: Annotated[
        Path | None, typer.Option(help="Passages as JSONL; those of the release by default")
    ] = None,
    entities: Annotated[Path | None, typer.Option(help="Entity catalogue; names are mined beside it")] = None,
    config: Annotated[Path | None, typer.Option(help="Settings file whose catalogue is used")] = None,
    embed: Annotated[str, typer.Option(help="Sentence vectors: words or minilm")] = "words",
    k: Annotated[int, typer.Option(help="Cut-off of the retrieval metrics", min=1)] = 5,
) -> None:
    """Run every scope design under every rewriter and compare them by stratum.

    Example: followups compare dist --designs "window:2 window:8 segments liveness" --out dist/compare
    """
    from builder.cli.inputs import keep_inputs
    from builder.evaluate.compare import comparison_row, measured
    from builder.evaluate.compare_report import comparison_page, markdown, notes_on, text_tables
    from builder.io.store import write_json, write_jsonl, write_text

    pages = (out, out / "compare.json", out / "compare.md", out / "index.html")
    keep_inputs(pages, source, (*(transcripts or ()), passages, entities, config))
    items = load_items(source, transcripts or [])
    entries = _run(
        items,
        designs.split(),
        rewriters.split(),
        open_retriever(source, passages),
        catalogue_path(entities, config),
        embed,
        k,
    )
    metrics, notes = measured(entries), notes_on(entries)
    for entry in entries:
        write_jsonl(out / "runs" / f"{file_name(entry.design)}--{entry.rewriter}.jsonl", entry.rows)
    write_json(out / "compare.json", comparison_row(entries, notes))
    write_text(out / "compare.md", markdown(entries, metrics, k, notes))
    write_text(out / "index.html", comparison_page(entries, metrics, k, notes, f"Scope designs on {source}"))
    printed = [metric for metric in metrics if metric in PRINTED]
    print("\n".join([*text_tables(entries, printed, k), "", *notes]))
    print(f"\ntables, runs and page: {out}", file=sys.stderr)


def file_name(design: str) -> str:
    """A design's name as a file name."""
    return design.replace(":", "-").replace(",", "-")


def load_items(source: Path, transcripts: list[Path]) -> list[Item]:
    """The items of a release or item file, or made of labels and transcripts."""
    from builder.evaluate.inputs import items_from_labels, read_transcripts
    from builder.io.items import WHOLE_LABEL, read_items, read_labels
    from builder.pipeline.sources import find_items

    if transcripts:
        return items_from_labels(read_labels(source, WHOLE_LABEL), read_transcripts(transcripts))
    return read_items(find_items(source))


def catalogue_path(entities: Path | None, config: Path | None) -> Path | None:
    """The entity catalogue: the one given, else that of the settings file, else none."""
    if entities or config is None:
        return entities
    from builder.config import load_settings

    named = load_settings(config).input.entities
    return config.parent / named if named else None


def open_retriever(source: Path, passages: Path | None) -> "Retrieve | None":
    """BM25 over the passages given, or over those that the release carries; None when there are none."""
    from functools import lru_cache

    from builder.io.corpus import load_passages
    from builder.io.retrieve import index_passages
    from builder.pipeline.sources import find_release

    path = passages
    if path is None and source.is_dir():
        carried = find_release(source) / "corpus.jsonl"
        path = carried if carried.is_file() else None
    if path is None:
        print("no passages: retrieval is not measured; give --passages FILE", file=sys.stderr)
        return None
    search = index_passages(load_passages(path))
    return lru_cache(maxsize=200_000)(lambda query, depth: tuple(search(query, depth)))


def _run(
    items: list[Item],
    designs: list[str],
    rewriters: list[str],
    retrieve: "Retrieve | None",
    entities: Path | None,
    embed: str,
    k: int,
) -> "list[Entry]":
    from tqdm import tqdm

    from builder.evaluate.compare import DEFAULT_DESIGNS, DEFAULT_REWRITERS, compare_designs
    from builder.evaluate.inputs import entity_finder, make_embedder, read_catalogue
    from builder.scope.designs import Tools
    from builder.scope.rewriters import OFFLINE, offline_rewriter

    find = entity_finder(read_catalogue(entities, items))
    tools = Tools(find, make_embedder(embed))
    names, chosen = rewriters or list(DEFAULT_REWRITERS), designs or list(DEFAULT_DESIGNS)
    if unknown := [name for name in names if name not in OFFLINE]:
        fix = "run it with `followups rewrite` and compare its runs with `followups score`"
        raise BuilderError("--rewriters", f'"{unknown[0]}" is not one that runs offline', fix, 2)
    made = {name: offline_rewriter(name, find) for name in names}
    with tqdm(
        total=len(made) * len(chosen), desc="comparing", unit="run", disable=not sys.stderr.isatty()
    ) as bar:
        return compare_designs(items, chosen, made, tools, retrieve, k, bar.update)
