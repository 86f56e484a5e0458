"""All that is known of a scored run, in one record: what the tables, files and the report are made from."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from builder.scoring.decompose import Decomposition, SetDecomposition, decompose, decompose_sets
from builder.scoring.gate import Gate, Verdict, judge_gate
from builder.scoring.outcomes import QUADRANTS, Outcome
from builder.scoring.paired import Comparison, compare_runs
from builder.scoring.runs import Run
from builder.scoring.strata import Table

DECOMPOSED = ("recall", "contamination")
"""Metrics whose change is split over the strata."""


@dataclass(frozen=True, slots=True)
class Costs:
    """What a run took, of the rows that say so; None where none does.

    Attributes:
        calls: Model calls per item, on average.
        tokens: Tokens read and written per item, on average.
        latency_ms: Median time.
        latency_p95_ms: Time that 95% of the rows stay below.
    """

    calls: float | None = None
    tokens: float | None = None
    latency_ms: float | None = None
    latency_p95_ms: float | None = None


@dataclass(frozen=True, slots=True)
class Judged:
    """A run that was scored.

    Attributes:
        run: The run.
        k: Cut-off of the retrieval metrics.
        outcomes: One per item, in order of id.
        table: Its figures.
        costs: What it took.
    """

    run: Run
    k: int
    outcomes: tuple[Outcome, ...]
    table: Table
    costs: Costs


@dataclass(frozen=True, slots=True)
class Judgement:
    """A scored run beside its baseline and under its gate.

    Attributes:
        set_name: The set it was scored on.
        judged: The run.
        baseline: The run it is compared with; None when there is none.
        comparison: Paired, over the same items; None without a baseline, or when the baseline is of another set version.
        decompositions: The change of each metric over the strata.
        set_decompositions: The same between two versions of the set.
        verdicts: One per rule of the gate; empty without one.
    """

    set_name: str
    judged: Judged
    baseline: Judged | None = None
    comparison: Comparison | None = None
    decompositions: tuple[Decomposition, ...] = ()
    set_decompositions: tuple[SetDecomposition, ...] = ()
    verdicts: tuple[Verdict, ...] = ()


def conclude(
    set_name: str,
    judged: Judged,
    baseline: Judged | None = None,
    gate: Gate | None = None,
    same_set: bool = True,
    seed: int = 0,
) -> Judgement:
    """The judgement of a run: compared, decomposed, and put through the gate.

    With `same_set` the baseline ran over the same items and everything is paired; otherwise it ran on another version
    of the set, and only the change of the means is split into mix and within-stratum effect.

    Raises:
        BuilderError: The gate compares with a baseline and there is none over the same items.
    """
    paired = baseline if same_set else None
    verdicts = judge_gate(gate, judged.outcomes, paired.outcomes if paired else None) if gate else ()
    if baseline is None:
        return Judgement(set_name, judged, verdicts=verdicts)
    old, new = baseline.outcomes, judged.outcomes
    if not same_set:
        splits = (decompose_sets(old, new, metric) for metric in DECOMPOSED)
        return Judgement(
            set_name, judged, baseline, set_decompositions=tuple(s for s in splits if s), verdicts=verdicts
        )
    parts = (decompose(old, new, metric) for metric in DECOMPOSED)
    return Judgement(
        set_name, judged, baseline, compare_runs(old, new, seed), tuple(d for d in parts if d), (), verdicts
    )  # fmt: skip


def count_quadrants(outcomes: Sequence[Outcome]) -> dict[str, int]:
    """Items per quadrant, in the order of `QUADRANTS`, those at 0 included; empty when nothing can be placed."""
    counts = Counter(outcome.quadrant for outcome in outcomes)
    if not any(counts[name] for name, _ in QUADRANTS):
        return {}
    return {name: counts[name] for name, _ in QUADRANTS}


def commonest_contaminants(outcomes: Sequence[Outcome], most: int = 10) -> list[tuple[str, int]]:
    """The forbidden terms that stand in most rewrites, with how many; ties in order of the term."""
    counts = Counter(contaminant.term for outcome in outcomes for contaminant in outcome.contaminants)
    return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:most]
