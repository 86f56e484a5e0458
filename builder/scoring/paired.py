"""Two runs over the same items: what changed in each stratum, and could it be chance?"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import exp, fsum, lgamma, log, sqrt

from builder.core.errors import BuilderError
from builder.core.intervals import Z95
from builder.scoring.metrics import METRICS, PLACE, Metric
from builder.scoring.outcomes import Outcome
from builder.scoring.resampling import Resampled, resample
from builder.scoring.strata import ALL, DRAWS, design_effect, effective_size, group_members

Pair = tuple[float, float, float, str]


@dataclass(frozen=True, slots=True)
class Change:
    """One metric over one group of items, before and after.

    Attributes:
        group: A stratum or `all`.
        metric: Name of the metric.
        n: Items that show the metric under both runs.
        before: Weighted mean of the baseline.
        after: Weighted mean of the run.
        difference: after - before.
        low: Lower end of the 95% interval for the difference (Bonett and Price, at the effective number of items).
        high: Its upper end.
        cluster_low: Lower end of the 95% bootstrap interval over conversations.
        cluster_high: Its upper end.
        wins: Items that got better (whichever way is better).
        ties: Items that stayed.
        losses: Items that got worse.
        p: Two-sided p-value: exact McNemar where every value is 0 or 1, else by the bootstrap.
        p_holm: The same, adjusted over the strata (Holm); for `all` it is `p`.
        test: mcnemar or bootstrap.
    """

    group: str
    metric: str
    n: int
    before: float
    after: float
    difference: float
    low: float
    high: float
    cluster_low: float | None
    cluster_high: float | None
    wins: int
    ties: int
    losses: int
    p: float
    p_holm: float
    test: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two runs side by side.

    Attributes:
        changes: One per group and metric that both runs show.
        no_evidence: (group, metric) that only one of them shows: nothing is said about these, and nothing ranked.
    """

    changes: tuple[Change, ...]
    no_evidence: tuple[tuple[str, str], ...]

    def change(self, group: str, metric: str) -> Change | None:
        """One change; None when there is no evidence."""
        return next((c for c in self.changes if c.group == group and c.metric == metric), None)


def compare_runs(
    before: Sequence[Outcome], after: Sequence[Outcome], seed: int = 0, draws: int = DRAWS
) -> Comparison:
    """The paired comparison of two runs over the same items, in any order.

    Raises:
        BuilderError: They are not over the same items.
    """
    old = sorted(before, key=lambda outcome: outcome.id)
    new = sorted(after, key=lambda outcome: outcome.id)
    if [o.id for o in old] != [o.id for o in new]:
        raise BuilderError("baseline", "the runs are not over the same items", "score both on one release")
    moved = [_difference(a, b) for a, b in zip(old, new, strict=True)]
    groups = group_members(moved)
    drawn = resample(moved, groups, seed, draws)
    changes, silent = [], []
    for group, places in groups.items():
        for metric in METRICS:
            pairs = _pairs(metric, [(old[at], new[at]) for at in places])
            if pairs:
                changes.append(_change(group, metric, pairs, drawn))
            elif any(o.values[PLACE[metric.name]] is not None for at in places for o in (old[at], new[at])):
                silent.append((group, metric.name))
    return Comparison(_with_holm(changes), tuple(silent))


def _difference(before: Outcome, after: Outcome) -> Outcome:
    pairs = zip(before.values, after.values, strict=True)
    return replace(after, values=tuple(None if a is None or b is None else b - a for a, b in pairs))


def _pairs(metric: Metric, outcomes: Iterable[tuple[Outcome, Outcome]]) -> list[Pair]:
    """(weight, before, after, conversation) of the items that both runs show."""
    at = PLACE[metric.name]
    return [
        (new.weight, a, b, new.conversation_id)
        for old, new in outcomes
        if (a := old.values[at]) is not None and (b := new.values[at]) is not None
    ]


def _change(group: str, metric: Metric, pairs: list[Pair], drawn: Resampled) -> Change:
    weights, old, new, conversations = zip(*pairs, strict=True)
    total = sum(weights)
    before = sum(weight * a for weight, a, _, _ in pairs) / total
    after = sum(weight * b for weight, _, b, _ in pairs) / total
    square = sum(weight * (b - a) ** 2 for weight, a, b, _ in pairs) / total
    moved = [b - a for a, b in zip(old, new, strict=True)]
    size = effective_size(weights) / design_effect(weights, moved, conversations)
    low, high = paired_interval(after - before, square, size)
    up, down = sum(d > 0 for d in moved), sum(d < 0 for d in moved)
    wins, losses = (up, down) if metric.higher_is_better else (down, up)
    is_binary = all(value in (0, 1) for value in (*old, *new))
    cluster_low, cluster_high = drawn.interval(group, metric.name)
    p = mcnemar(up, down) if is_binary else 1.0 if not up + down else drawn.two_sided_p(group, metric.name)
    return Change(
        group, metric.name, len(pairs), before, after, after - before, low, high,
        cluster_low, cluster_high, wins, len(pairs) - wins - losses, losses, p, p,
        "mcnemar" if is_binary else "bootstrap",
    )  # fmt: skip


def _with_holm(changes: Sequence[Change]) -> tuple[Change, ...]:
    adjusted: dict[tuple[str, str], float] = {}
    for metric in METRICS:
        family = [c for c in changes if c.metric == metric.name and c.group != ALL]
        for change, p in zip(family, holm([c.p for c in family]), strict=True):
            adjusted[change.group, change.metric] = p
    return tuple(replace(c, p_holm=adjusted.get((c.group, c.metric), c.p)) for c in changes)


def paired_interval(mean: float, mean_square: float, n: float, z: float = Z95) -> tuple[float, float]:
    """Interval for a mean paired difference over `n` items, each difference in [-1, 1].

    Two items are added, one that won and one that lost, so that a few items without any change do not pass for
    certainty: with d = n mean / (n + 2) and s = (n mean_square + 2) / (n + 2), d +- z sqrt((s - d^2) / (n + 2)).
    For 0/1 outcomes this is the adjusted Wald interval of Bonett and Price, Adjusted Wald confidence interval for a
    difference of binomial proportions based on paired data, J Educ Behav Stat 2012.

    Args:
        mean: Mean difference.
        mean_square: Mean squared difference; for 0/1 outcomes the share of items that changed.
        n: Items; need not be whole (an effective number).
        z: Quantile of the normal distribution.
    """
    d = n * mean / (n + 2)
    half = z * sqrt(max((n * mean_square + 2) / (n + 2) - d * d, 0.0) / (n + 2))
    return max(d - half, -1.0), min(d + half, 1.0)


def mcnemar(up: int, down: int) -> float:
    """Exact two-sided p-value that `up` and `down` changes are equally likely: 2 P(X <= min), X ~ Bin(up + down, 1/2).

    Source: McNemar, Note on the sampling error of the difference between correlated proportions, 1947.
    """
    n, smaller = up + down, min(up, down)
    logs = [lgamma(n + 1) - lgamma(i + 1) - lgamma(n - i + 1) - n * log(2) for i in range(smaller + 1)]
    return min(1.0, 2 * fsum(map(exp, logs)))


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjusted p-values that keep the chance of any false alarm among them, in the order given.

    The i-th smallest of m becomes the largest of (m - j + 1) p_(j) for j <= i, at most 1.
    Source: Holm, A simple sequentially rejective multiple test procedure, 1979.
    """
    order = sorted(range(len(p_values)), key=lambda at: p_values[at])
    adjusted = [0.0] * len(p_values)
    highest = 0.0
    for step, at in enumerate(order):
        highest = max(highest, min(1.0, (len(p_values) - step) * p_values[at]))
        adjusted[at] = highest
    return adjusted
