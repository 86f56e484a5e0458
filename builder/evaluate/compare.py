"""Every scope design under every rewriter over one set: a table for each metric, costs, and what the tables say."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from builder.core.records import Item
from builder.core.rows import Row
from builder.evaluate.inputs import content_keys
from builder.evaluate.rewrite import Retrieve, run_design
from builder.scope.designs import Tools, make_design
from builder.scope.rewriters import Rewriter
from builder.scoring.metrics import PLACE
from builder.scoring.outcomes import Outcome, judge_items
from builder.scoring.paired import Change, compare_runs
from builder.scoring.runs import run_from_rows
from builder.scoring.strata import ALL, Table, tabulate

DEFAULT_DESIGNS = (
    *(f"window:{length}" for length in range(11)),
    "segments",
    "segments:wording",
    "segments:flag",
    "threads",
    "liveness",
    "liveness:3,8,keep",
    "liveness:6,12",
    "liveness:3,8,report",
    "oracle",
    "keep_all",
    "last6",
    "last4_questions",
    "last2_pairs_gate12",
    "history_aware",
    "history_aware_counterweight",
)
DEFAULT_REWRITERS = ("expand", "resolve")
METRICS_SHOWN = ("recall", "ndcg", "coverage", "contamination", "needless")


@dataclass(frozen=True, slots=True)
class Entry:
    """One design under one rewriter.

    Attributes:
        design: Name of the design.
        rewriter: Name of the rewriter.
        rows: Its run.
        outcomes: Each item judged.
        table: Figures by stratum.
        costs: Mean of calls, input and output tokens for each message; latency_ms where it was measured.
    """

    design: str
    rewriter: str
    rows: tuple[Row, ...]
    outcomes: tuple[Outcome, ...]
    table: Table
    costs: Mapping[str, float]

    @property
    def name(self) -> str:
        """`design x rewriter`."""
        return f"{self.design} x {self.rewriter}"

    def mean(self, metric: str, group: str = ALL) -> float | None:
        """The weighted mean of a metric over a group; None where no item shows it."""
        cell = self.table.cell(group, metric)
        return cell.mean if cell else None


def compare_designs(
    items: Sequence[Item],
    designs: Sequence[str],
    rewriters: Mapping[str, Rewriter],
    tools: Tools,
    retrieve: Retrieve | None,
    k: int = 5,
    progress: Callable[[], object] = lambda: None,
) -> list[Entry]:
    """An entry for every design under every rewriter, rewriters in turn.

    Raises:
        BuilderError: A design is unknown.
    """
    made = [make_design(name, tools) for name in designs]
    entries = []
    for name, rewriter in rewriters.items():
        for design in made:
            rows = tuple(run_design(items, design, rewriter, retrieve))
            entries.append(judge(items, design.name, name, rows, k))
            progress()
    return entries


def judge(items: Sequence[Item], design: str, rewriter: str, rows: Sequence[Row], k: int) -> Entry:
    """The entry of one run."""
    run = run_from_rows(f"{design} x {rewriter}", ((row["id"], row) for row in rows))
    outcomes = tuple(judge_items(items, run, k, content_keys))
    return Entry(design, rewriter, tuple(rows), outcomes, tabulate(outcomes, draws=100), _costs(rows))


def _costs(rows: Sequence[Row]) -> dict[str, float]:
    n = max(1, len(rows))
    costs = {
        name: round(sum(row["tokens"][name] for row in rows) / n, 1) for name in ("calls", "input", "output")
    }
    # An offline rewriter calls nothing; a model in its place is called unless the design passes the message on.
    rewritten = sum(row["tokens"]["input"] > 0 for row in rows)
    costs["calls"] = round(max(costs["calls"], rewritten / n), 2)
    timed = [row["latency_ms"] for row in rows if "latency_ms" in row]
    if timed:
        costs["latency_ms"] = round(sum(timed) / len(timed), 1)
    return costs


def change(before: Entry, after: Entry, metric: str, group: str = ALL) -> Change | None:
    """The paired change of a metric between two entries; None where no item shows it."""
    compared = compare_runs(before.outcomes, after.outcomes)
    return next((c for c in compared.changes if c.group == group and c.metric == metric), None)


def comparison_row(entries: Sequence[Entry], notes: Sequence[str]) -> Row:
    """The whole comparison as one JSON object, without the runs."""
    return {
        "notes": list(notes),
        "entries": [
            {
                "design": entry.design,
                "rewriter": entry.rewriter,
                "costs": dict(entry.costs),
                "cells": [
                    {
                        "group": cell.group,
                        "metric": cell.metric,
                        "n": cell.n,
                        "mean": round(cell.mean, 4),
                        "low": round(cell.low, 4),
                        "high": round(cell.high, 4),
                    }
                    for cell in entry.table.cells
                    if cell.group in entry.table.groups
                ],
            }
            for entry in entries
        ],
    }


def measured(entries: Sequence[Entry]) -> list[str]:
    """The metrics of `METRICS_SHOWN` that some entry shows."""
    return [
        name for name in METRICS_SHOWN if name in PLACE and any(e.mean(name) is not None for e in entries)
    ]
