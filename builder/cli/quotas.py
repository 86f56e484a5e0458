"""`followups quotas check` and `followups quotas update`: does the set still stand for production; what would it take."""

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from builder.core.errors import DRIFT_OR_SHORT, ERROR, OK, USAGE, BuilderError
from builder.core.mix import Mix
from builder.pipeline.sources import Sources
from builder.stages.drift import TOO_FEW, Drift, Shift

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)

Logs = Annotated[
    list[Path] | None,
    typer.Option(
        "--transcripts",
        help="The new log: file, folder or glob; repeatable; the settings' own when none is given",
    ),
]
Config = Annotated[Path | None, typer.Option(help="Settings file, dataset.toml")]
Out = Annotated[Path, typer.Option(help="Folder of releases")]
Name = Annotated[str, typer.Option(help="Name of the set")]
Labels = Annotated[
    str, typer.Option(help='Label file by people for this log; "none" leaves all to the classifier')
]
Fast = Annotated[bool, typer.Option("--fast", help="Classify by rules, without the model")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object")]
Quiet = Annotated[bool, typer.Option("--quiet", help="No progress on stderr")]
BY = ("", "month")


@app.callback()
def quotas() -> None:
    """Does the set still stand for production, and what would it take to follow?"""


def _sources(
    config: Path | None, out: Path, logs: list[Path] | None, labels: str, name: str, fast: bool
) -> Sources:
    from builder.pipeline.build import Overrides, open_sources
    from builder.pipeline.sources import find_release

    if not (name or config) and out.is_dir():
        # Without a settings file the set that is there is meant.
        name = find_release(out).parent.name
    overrides = Overrides(transcripts=tuple(logs or ()), labels=labels, name=name, fast=fast)
    return open_sources(config, out, overrides)


def _announce(quiet: bool) -> Callable[[str], None] | None:
    return None if quiet else lambda stage: print(f"{stage} ...", file=sys.stderr)


@app.command()
def check(
    transcripts: Logs = None,
    quotas: Annotated[
        Path | None, typer.Option(help="quotas.json to compare with; the set's own by default")
    ] = None,
    mix: Annotated[
        Path | None, typer.Option(help="A measured mix (followups mix --json) in place of a log")
    ] = None,
    config: Config = None,
    out: Out = Path("dist"),
    name: Name = "",
    labels: Labels = "",
    by: Annotated[str, typer.Option(help="month: shares of each month of the log too")] = "",
    plot: Annotated[Path | None, typer.Option(help="Write the months as small panels, SVG")] = None,
    fast: Fast = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Compare a new log's mix with the one behind the quotas; exit 5 when a stratum drifted, 1 when nothing compares.

    Example: followups quotas check --transcripts october.jsonl --by month
    """
    from builder.io.store import to_json, write_text
    from builder.pipeline.drifting import measure_log, mixes_by_month, quotas_in_force, read_mix
    from builder.stages.drift import compare_mixes
    from builder.stages.small_multiples import draw_small_multiples

    if by not in BY:
        raise BuilderError("--by", f'unknown window "{by}"', "month is the one there is", USAGE)
    if mix and (by or plot):
        raise BuilderError("--mix", "has no dates", "give --transcripts for shares by month", USAGE)
    sources = _sources(config, out, transcripts, labels, name, fast)
    in_force, path = quotas_in_force(sources, quotas)
    log = None if mix else measure_log(sources, _announce(quiet))
    new = read_mix(mix) if mix else log.mix  # type: ignore[union-attr] # a log was measured when no mix was given
    drift = compare_mixes(in_force.mix, new, sources.settings.drift)
    months = mixes_by_month(sources, log) if log and (by or plot) else {}
    if plot:
        write_text(plot, draw_small_multiples(months, in_force.mix))
        print(f"{plot}: written", file=sys.stderr)
    if as_json:
        print(to_json(_drift_row(drift, in_force.mix, new, months, str(path))).decode())
    else:
        print("\n".join(_describe(drift, in_force.mix, new, months, str(path))))
    raise typer.Exit(DRIFT_OR_SHORT if drift.drifted else OK if drift.comparable else ERROR)


def _drift_row(drift: Drift, old: Mix, new: Mix, months: Mapping[str, Mix], path: str) -> dict[str, Any]:
    from dataclasses import asdict

    return {
        "quotas": path,
        "comparable": drift.comparable,
        "drifted": list(drift.drifted),
        "strata": [{**asdict(shift), "difference": round(shift.difference, 6)} for shift in drift.shifts],
        "g": drift.g,
        "g_df": drift.g_df,
        "g_p": drift.g_p,
        "psi": drift.psi,
        "old": {"follow_ups": old.n_follow_ups, "method": old.method},
        "new": {"follow_ups": new.n_follow_ups, "method": new.method},
        "months": {month: {s.reference_type: s.share for s in mix.shares} for month, mix in months.items()},
    }


def _shift_row(shift: Shift) -> tuple[str, ...]:
    verdict = shift.verdict
    if verdict == TOO_FEW:
        number = f"{shift.needed} follow-ups would decide" if shift.needed else "no longer log would decide"
        verdict = f"{verdict} ({number})"
    return (
        shift.reference_type,
        f"{shift.old:.1%}",
        f"{shift.new:.1%}",
        f"{shift.difference * 100:+.1f}",
        f"{shift.low * 100:+.1f} to {shift.high * 100:+.1f}",
        f"{shift.p:.3f}",
        verdict,
    )


def _describe(drift: Drift, old: Mix, new: Mix, months: Mapping[str, Mix], path: str) -> list[str]:
    from builder.core.tables import render_table

    head = ("stratum", "quotas", "new log", "points", "95% interval", "p", "verdict")
    lines = [
        f"{path}: {old.n_follow_ups} follow-ups ({old.method}); new log: {new.n_follow_ups} ({new.method})",
        "",
        render_table(head, [_shift_row(shift) for shift in drift.shifts]),
    ]
    if drift.comparable:
        g = f"G {drift.g:.1f} on {drift.g_df} degrees of freedom, p {drift.g_p:.4f}; PSI {drift.psi:.3f}"
        lines += ["", f"all strata: {g}"]
    if any(shift.verdict == TOO_FEW and not shift.needed for shift in drift.shifts):
        why = "the mix behind the quotas is itself too uncertain, or the change is as large as what counts as material"
        lines.append(f"no longer log would decide: {why}")
    if months:
        table = [
            (s.reference_type, *(f"{mix.share(s.reference_type):.1%}" for mix in months.values()))
            for s in old.shares
        ]
        sizes = ("follow-ups", *(str(mix.n_follow_ups) for mix in months.values()))
        lines += ["", render_table(("by month", *months), [*table, sizes])]
    if not drift.comparable:
        return [*lines, _not_comparable(old, new)]
    if drift.drifted:
        listed = ", ".join(drift.drifted)
        return [*lines, f"drifted: {listed}; `followups quotas update` says what following would cost"]
    n_open = sum(shift.verdict == TOO_FEW for shift in drift.shifts)
    return [
        *lines,
        f"no drift found; too few to tell for {n_open} of {len(drift.shifts)} strata"
        if n_open
        else "no drift",
    ]


def _not_comparable(old: Mix, new: Mix) -> str:
    return (
        f"not comparable: the quotas' mix was measured by {old.method}, the new log's by {new.method}, and what the "
        "classifier gets wrong would pass for drift; give second labels (followups adjudicate), or measure both alike "
        "(the same [classify] method, and labels for both or neither)"
    )


@app.command()
def update(
    transcripts: Logs = None,
    config: Config = None,
    out: Out = Path("dist"),
    name: Name = "",
    size: Annotated[int | None, typer.Option(help="Items in the set")] = None,
    labels: Labels = "",
    fast: Fast = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what it costs and write nothing")] = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Allot seats by a new log's mix; builds go by these quotas until the next update.

    Example: followups quotas update --transcripts october.jsonl
    """
    from dataclasses import asdict, replace

    from builder.core.tables import render_table
    from builder.io.store import to_json
    from builder.pipeline.drifting import measure_log, quotas_in_force, update_quotas

    sources = _sources(config, out, transcripts, labels, name, fast)
    if size is None and config is None:
        size = quotas_in_force(sources)[0].size
    if size is not None:
        changed = replace(sources.settings, stratify=replace(sources.settings.stratify, size=size))
        sources = replace(sources, settings=changed)
    done = update_quotas(sources, measure_log(sources, _announce(quiet)), write=not dry_run)
    if as_json:
        print(
            to_json(
                {"quotas": str(done.path), "changed": done.changed, "plan": [asdict(r) for r in done.plan]}
            ).decode()
        )
        raise typer.Exit(OK)
    head = (
        "stratum",
        "items now",
        "seats",
        "kept",
        "retired",
        "to add",
        "in the log",
        "left to synthesis",
        "short",
    )
    rows = [tuple(str(cell) for cell in asdict(row).values()) for row in done.plan]
    sums = ["all", *(str(sum(int(row[k]) for row in rows)) for k in range(1, len(head)))]
    print(render_table(head, [*rows, tuple(sums)]))
    state = "would be written" if dry_run else "written" if done.changed else "unchanged"
    print(f"\n{done.path}: {state}; `followups build` goes by it")
