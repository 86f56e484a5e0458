"""A comparison as text, Markdown and page, with a note on what its tables say."""

from collections.abc import Sequence

from builder.core.tables import render_table
from builder.evaluate.compare import Entry, change, measured
from builder.evaluate.pictures import html_table, lines, page, paragraphs
from builder.scoring.metrics import METRICS, PLACE
from builder.scoring.strata import ALL

LONG, SHORT = "window:8", "window:2"
"""The cut that teams make first: from a long window to a short one."""

SCOPED = ("segments", "threads", "liveness")
SMALL = 0.02
"""A change of the mean that reads as none."""


def _cell(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _groups(entries: Sequence[Entry]) -> list[str]:
    return list(entries[0].table.groups)


def metric_table(
    entries: Sequence[Entry], metric: str
) -> tuple[list[str], list[list[str]], frozenset[tuple[int, int]]]:
    """(head, rows, best cells) of one metric: a row for each entry, a column for each stratum, costs last.

    The best of each column are marked; the oracle, which knows the labels, takes no part.
    """
    groups = _groups(entries)
    values = [[entry.mean(metric, group) for group in groups] for entry in entries]
    rows = [
        [
            entry.design,
            entry.rewriter,
            *map(_cell, means),
            f"{entry.costs['calls']:.2f}",
            f"{entry.costs['input']:.0f}",
            f"{entry.costs['output']:.0f}",
            f"{entry.costs['latency_ms']:.0f}" if "latency_ms" in entry.costs else "-",
        ]
        for entry, means in zip(entries, values, strict=True)
    ]
    pick = max if METRICS[PLACE[metric]].higher_is_better else min
    best = set()
    for column in range(len(groups)):
        known = {
            at: round(value, 4)
            for at, means in enumerate(values)
            if (value := means[column]) is not None and entries[at].design != "oracle"
        }
        if known:
            top = pick(known.values())
            best |= {(at, column + 2) for at, value in known.items() if value == top}
    return ["design", "rewriter", *groups, "calls", "in", "out", "ms"], rows, frozenset(best)


def text_tables(entries: Sequence[Entry], metrics: Sequence[str], k: int) -> list[str]:
    """Each metric as an aligned table under its name and the number of items."""
    seats = ", ".join(f"{group} {n}" for group, n in entries[0].table.seats if group in _groups(entries))
    found = [f"items: {seats}"]
    for metric in metrics:
        head, rows, _ = metric_table(entries, metric)
        found.append(f"\n{METRICS[PLACE[metric]].label.format(k=k)}\n{render_table(head, rows)}")
    return found


def markdown(entries: Sequence[Entry], metrics: Sequence[str], k: int, notes: Sequence[str]) -> str:
    """The comparison as Markdown."""
    parts = ["# Scope designs side by side", *(f"- {note}" for note in notes)]
    for metric in metrics:
        head, rows, best = metric_table(entries, metric)
        made = [
            "| " + " | ".join(f"**{c}**" if (at, col) in best else c for col, c in enumerate(row)) + " |"
            for at, row in enumerate(rows)
        ]
        rule = "|" + "---|" * len(head)
        parts += [
            f"\n## {METRICS[PLACE[metric]].label.format(k=k)}\n",
            "| " + " | ".join(head) + " |",
            rule,
            *made,
        ]
    return "\n".join(parts) + "\n"


def notes_on(entries: Sequence[Entry]) -> list[str]:
    """What the tables say, for each rewriter: the cost of a shorter window, and whether scope beats every window."""
    found = []
    for rewriter in dict.fromkeys(entry.rewriter for entry in entries):
        mine = {entry.design: entry for entry in entries if entry.rewriter == rewriter}
        metric = "recall" if any(e.mean("recall") is not None for e in mine.values()) else "coverage"
        if LONG in mine and SHORT in mine:
            found.append(_on_shortening(mine[LONG], mine[SHORT], metric))
        windows = [entry for name, entry in mine.items() if name.startswith("window:")]
        scoped = [entry for name, entry in mine.items() if name.partition(":")[0] in SCOPED]
        if windows and scoped:
            found.append(_on_scope(windows, scoped, metric))
        if "oracle" in mine and windows:
            best = max(windows, key=lambda e: e.mean(metric) or 0.0)
            gap = (mine["oracle"].mean(metric) or 0.0) - (best.mean(metric) or 0.0)
            found.append(
                f"{rewriter}: exactly the needed turns would give {gap:+.2f} {metric} over {best.design}."
            )
    return found


def _on_shortening(long: Entry, short: Entry, metric: str) -> str:
    deltas = {
        group: (short.mean(metric, group) or 0.0) - (long.mean(metric, group) or 0.0)
        for group in _groups([long])
    }
    post, far = deltas.get("post_pivot_standalone", 0.0), deltas.get("long_range", 0.0)
    paired = change(long, short, metric)
    flat = abs(deltas[ALL]) <= SMALL or (paired is not None and paired.low <= 0 <= paired.high)
    shape = post > 0 and far < 0 and flat
    said = f"post-pivot {post:+.2f}, long-range {far:+.2f}, mean {deltas[ALL]:+.2f}"
    beneath = _beneath(long, short)
    if shape:
        return f"{long.rewriter}: from {long.design} to {short.design}, {metric} moves {said}: opposed movements that the mean hides.{beneath}"
    why = []
    if post <= 0:
        why.append("post-pivot items gain nothing (this rewriter already leaves complete messages alone)")
    if far >= 0:
        why.append("long-range items lose nothing (this rewriter did not use what the longer window showed)")
    if not flat:
        why.append("the mean itself moves")
    return f"{long.rewriter}: from {long.design} to {short.design}, {metric} moves {said}: not the opposed pair, since {'; '.join(why)}.{beneath}"


def _beneath(long: Entry, short: Entry) -> str:
    """What moved in the rewrites themselves, before retrieval hid or showed it."""
    told = []
    for metric, group, name in (
        ("coverage", "long_range", "coverage of long-range items"),
        ("contamination", "post_pivot_standalone", "contamination of post-pivot items"),
    ):
        before, after = long.mean(metric, group), short.mean(metric, group)
        if before is not None and after is not None:
            told.append(f"{name} {before:.2f} to {after:.2f}")
    return f" In the rewrites: {', '.join(told)}." if told else ""


def _on_scope(windows: Sequence[Entry], scoped: Sequence[Entry], metric: str) -> str:
    top = max(windows, key=lambda e: e.mean(metric) or 0.0)
    best = max(scoped, key=lambda e: e.mean(metric) or 0.0)
    cleanest = min(windows, key=lambda e: (e.mean("contamination") or 0.0, -(e.mean(metric) or 0.0)))
    beats = [e.design for e in scoped if (e.mean(metric) or 0.0) > (top.mean(metric) or 0.0)]
    cleaner = [
        e.design for e in scoped if (e.mean("contamination") or 0.0) < (top.mean("contamination") or 0.0)
    ]
    paired = change(top, best, metric)
    told = ", which this set cannot tell from none" if paired and paired.low <= 0 <= paired.high else ""
    span = f" (95% {paired.low:+.2f} to {paired.high:+.2f}{told})" if paired else ""
    verdict = (
        f"beat every window on mean {metric}: {', '.join(beats)}"
        if beats
        else f"no scope design beats {top.design} on mean {metric}"
    )
    return (
        f"{top.rewriter}: {verdict}; the best, {best.design}, has {_cell(best.mean(metric))} against "
        f"{_cell(top.mean(metric))} of {top.design}{span}, contamination {_cell(best.mean('contamination'))} against "
        f"{_cell(top.mean('contamination'))}; cleaner than {top.design}: {', '.join(cleaner) or 'none'}; the cleanest window is "
        f"{cleanest.design} with {_cell(cleanest.mean('contamination'))} and {metric} {_cell(cleanest.mean(metric))}."
    )


def comparison_page(
    entries: Sequence[Entry], metrics: Sequence[str], k: int, notes: Sequence[str], title: str
) -> str:
    """The comparison as a page: notes, window lengths as lines, then every table."""
    sections = [("What the tables say", paragraphs(notes))]
    windows = [entry for entry in entries if entry.design.startswith("window:")]
    for rewriter in dict.fromkeys(entry.rewriter for entry in windows):
        mine = [entry for entry in windows if entry.rewriter == rewriter]
        ticks = [entry.design.partition(":")[2] for entry in mine]
        for metric in measured(mine)[:1] + [m for m in measured(mine) if m == "contamination"]:
            label = METRICS[PLACE[metric]].label.format(k=k)
            groups = [
                g
                for g in (ALL, "post_pivot_standalone", "long_range", "pronoun", "ordinal")
                if g in _groups(mine)
            ]
            series = [(group, [entry.mean(metric, group) for entry in mine]) for group in groups]
            sections.append(
                (f"{label} by window length: {rewriter}", lines(ticks, series, "window length, turns"))
            )
    for metric in metrics:
        head, rows, best = metric_table(entries, metric)
        sections.append((METRICS[PLACE[metric]].label.format(k=k), html_table(head, rows, best)))
    return page(title, sections)
