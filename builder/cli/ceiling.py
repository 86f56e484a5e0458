"""`followups ceiling RELEASE_OR_LABELS`: what any window, segmentation or liveness could reach, with no model."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from builder.evaluate.ceiling import Ceiling


def ceiling(
    source: Annotated[
        Path,
        typer.Argument(metavar="RELEASE_OR_LABELS", help="A release, an item file, or labels as JSONL"),
    ],
    transcripts: Annotated[
        list[Path] | None,
        typer.Option(help="Transcripts of the labels: adds segments by cosine and liveness"),
    ] = None,
    entities: Annotated[
        Path | None, typer.Option(help="Entity catalogue: gives the types that superseding needs")
    ] = None,
    embed: Annotated[str, typer.Option(help="Sentence vectors of the segments: words or minilm")] = "words",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object")] = False,
    html: Annotated[Path | None, typer.Option(help="Also write a page with plots here")] = None,
) -> None:
    """Print what any window, segmentation or liveness horizon could reach, from labels alone.

    Example: followups ceiling data/halyard/labels-a.jsonl --transcripts data/halyard/transcripts-a.jsonl
    """
    from builder.cli.inputs import keep_inputs
    from builder.evaluate.ceiling import ceiling_lines, ceiling_page, ceiling_to_row
    from builder.io.store import to_json, write_text

    if html:
        keep_inputs([html], source, (*(transcripts or ()), entities))
    found = _measure(source, transcripts or [], entities, embed)
    if html:
        write_text(html, ceiling_page(found, f"Ceiling of {source}"))
    print(to_json(ceiling_to_row(found)).decode() if as_json else "\n".join(ceiling_lines(found)))


def _measure(source: Path, transcripts: list[Path], entities: Path | None, embed: str) -> "Ceiling":
    from tqdm import tqdm

    from builder.evaluate.ceiling import make_ceiling
    from builder.evaluate.inputs import (
        entity_finder,
        follow_up_of,
        items_from_labels,
        make_embedder,
        read_catalogue,
        read_transcripts,
    )
    from builder.io.items import read_items_or_labels
    from builder.pipeline.sources import find_items
    from builder.scope.ceiling import case_of, case_of_row, queries
    from builder.scope.slot_ceiling import EVICT_HORIZONS, STALE_HORIZONS

    items, rows = read_items_or_labels(find_items(source))
    pivots = None
    if rows:
        pivots = _pivots(rows)
        if not transcripts:
            cases = queries(map(case_of_row, rows))
            return make_ceiling(cases, len(rows) - len(cases), pivots)
        items = items_from_labels(rows, read_transcripts(transcripts))
    n = len(rows) or len(items)
    cases = queries(map(case_of, items))
    conversations = {}
    for item in sorted(items, key=lambda item: item.turn):
        conversations[item.conversation_id] = (*item.prefix, follow_up_of(item))
    find = entity_finder(read_catalogue(entities, items))
    left_out = n - len(cases)
    total = 2 * len(STALE_HORIZONS) * len(EVICT_HORIZONS)
    with tqdm(total=total, desc="horizons", unit="pair", disable=not sys.stderr.isatty()) as bar:
        return make_ceiling(cases, left_out, pivots, conversations, find, make_embedder(embed), bar.update)


def _pivots(rows: list[dict[str, object]]) -> dict[str, list[int]]:
    """User turns that pivot, by conversation."""
    found: dict[str, list[int]] = {}
    for row in rows:
        if row["pivot"]:
            found.setdefault(str(row["conversation_id"]), []).append(int(str(row["turn"])))
    return found
