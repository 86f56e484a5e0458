"""`followups mix TRANSCRIPTS`: measured shares of the strata, with intervals."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from builder.core.errors import INVALID_DATA, OK
from builder.core.mix import Mix

if TYPE_CHECKING:
    from builder.pipeline.river import River
    from builder.pipeline.sources import Sources


def mix(
    transcripts: Annotated[
        list[Path] | None,
        typer.Argument(help="Log: files, folders or globs; the settings' own when none is given"),
    ] = None,
    config: Annotated[Path | None, typer.Option(help="Settings file, dataset.toml")] = None,
    labels: Annotated[
        str,
        typer.Option(help='Label file by people for these transcripts; "none" leaves all to the classifier'),
    ] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object")] = False,
    fast: Annotated[bool, typer.Option("--fast", help="Classify by rules, without the model")] = False,
    seed: Annotated[int | None, typer.Option(help="Seed of every random choice")] = None,
    out: Annotated[Path, typer.Option(help="Folder of releases; finished work is kept in its .work")] = Path(
        "dist"
    ),
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress on stderr")] = False,
) -> int:
    """Measure how often each stratum occurs in a log, corrected for the classifier's error.

    Example: followups mix chats.jsonl --json
    """
    from builder.io.store import to_json
    from builder.pipeline.artefacts import mix_to_row
    from builder.pipeline.build import Overrides, open_sources
    from builder.pipeline.river import River

    overrides = Overrides(transcripts=tuple(transcripts or ()), labels=labels, seed=seed, fast=fast)
    sources = open_sources(config, out, overrides, progress=not quiet and sys.stderr.isatty())
    river = River(
        sources, sources.work, None if quiet else lambda stage: print(f"{stage} ...", file=sys.stderr)
    )
    river.run("measure")
    measured: Mix = river.artefact("mix")[0]
    if as_json:
        print(to_json(mix_to_row(measured)).decode())
    else:
        print("\n".join(describe(measured)))
    return _say_rejects(sources, river)


def _say_rejects(sources: "Sources", river: "River") -> int:
    """Say on stderr what could not be read, whatever is printed beside; the exit code that tells of it."""
    from builder.pipeline.reading import remarks_on

    rejects = [d for d in river.dropped() if d.stage == "read"]
    for remark in remarks_on(sources, rejects, river.facts().get("sample", {})):
        print(remark, file=sys.stderr)
    return INVALID_DATA if rejects else OK


def describe(mix: Mix) -> list[str]:
    """The lines that `mix` prints: shares with intervals, what was not corrected, cross-tables, labels still missing."""
    from builder.core.tables import render_table
    from builder.core.wording import counted

    head = ("stratum", "share", "95% interval", "counted")
    rows = [
        (s.reference_type, f"{s.share:.1%}", f"{s.low:.1%} to {s.high:.1%}", str(s.count)) for s in mix.shares
    ]
    lines = [
        f"mix of {counted(mix.n_follow_ups, 'follow-up')} in {counted(mix.n_conversations, 'conversation')}, method {mix.method}",
        "",
        render_table(head, rows),
        *(("", *mix.notes) if mix.notes else ()),
        "",
        labels_still_missing(mix),
    ]
    for name, table in mix.facets:
        columns = sorted({column for _, column, _ in table})
        cells = {(row, column): count for row, column, count in table}
        listed = dict.fromkeys(row for row, _, _ in table)
        body = [(row, *(str(cells.get((row, column), 0)) for column in columns)) for row in listed]
        lines += ["", render_table((name, *columns), body)]
    return lines


def labels_still_missing(mix: Mix) -> str:
    """How many more second labels would halve the widest interval, in words."""
    widest = max(mix.shares, key=lambda share: share.high - share.low)
    of = f"the widest interval ({widest.reference_type}, {widest.low:.1%} to {widest.high:.1%})"
    if mix.labels_to_halve is not None:
        return f"{mix.labels_to_halve} more second labels would halve {of}"
    if mix.method == "labels":
        return f"every follow-up has its label; only more conversations would narrow {of}"
    if mix.method == "uncorrected":
        return "uncorrected counts of the classifier; add second labels ([adjudicate]) for shares one can rely on"
    return f"no number of second labels alone would halve {of}; sample more conversations too"
