"""Every metric per stratum and facet: mean, number of items, interval, and the smallest change that could be seen."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from builder.core.intervals import wilson
from builder.core.power import detectable_drop
from builder.core.taxonomy import ITEM_STRATA
from builder.scoring.metrics import METRICS, PLACE
from builder.scoring.outcomes import Outcome
from builder.scoring.resampling import Resampled, resample

if TYPE_CHECKING:
    from builder.scoring.resampling import Array

ALL = "all"
"""The group of all items, weighted as production weights them."""

DRAWS = 2000
"""Bootstrap draws."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One metric over one group of items.

    Attributes:
        group: A stratum, `all`, or `facet=value`.
        metric: Name of the metric.
        n: Items that can show it.
        mean: Weighted mean (Hájek): sum w y / sum w.
        plain_mean: Mean over the items as they are in the set.
        low: Lower end of the 95% Wilson interval at the effective number of items.
        high: Its upper end.
        cluster_low: Lower end of the 95% bootstrap interval over conversations; None where it was not drawn.
        cluster_high: Its upper end.
        detectable: Smallest drop against another run that a paired test over these items would see.
    """

    group: str
    metric: str
    n: int
    mean: float
    plain_mean: float
    low: float
    high: float
    cluster_low: float | None
    cluster_high: float | None
    detectable: float


@dataclass(frozen=True, slots=True)
class Table:
    """A run in figures.

    Attributes:
        groups: `all`, then the strata that occur, in the taxonomy's order.
        facets: The further groups, `facet=value`.
        cells: One per group and metric that was measured there.
        seats: Items per group.
        share: Weight per group over the weight of all items.
    """

    groups: tuple[str, ...]
    facets: tuple[str, ...]
    cells: tuple[Cell, ...]
    seats: tuple[tuple[str, int], ...]
    share: tuple[tuple[str, float], ...]

    def cell(self, group: str, metric: str) -> Cell | None:
        """One cell; None when no item of the group shows the metric."""
        return next((cell for cell in self.cells if cell.group == group and cell.metric == metric), None)


def tabulate(outcomes: Sequence[Outcome], seed: int = 0, draws: int = DRAWS) -> Table:
    """The table of a run; the order of `outcomes` changes nothing.

    The weighted mean estimates production: each item stands for `weight` times as many follow-ups as its seat.
    Source: Hájek, comment in Foundations of Statistical Inference, 1971. Facets get no bootstrap.
    """
    import numpy as np

    listed = sorted(outcomes, key=lambda outcome: outcome.id)
    by_group = group_members(listed)
    facets = _facet_members(listed)
    drawn = resample(listed, by_group, seed, draws)
    weights = np.array([outcome.weight for outcome in listed])
    columns = np.array(
        [[np.nan if value is None else value for value in outcome.values] for outcome in listed], dtype=float
    ).reshape(len(listed), len(METRICS))
    cells = []
    for group, members in (*by_group.items(), *facets.items()):
        rows = np.asarray(members, dtype=np.int64)
        for metric in METRICS:
            values = columns[rows, PLACE[metric.name]]
            shown = ~np.isnan(values)
            if shown.any():
                cells.append(_cell(group, metric.name, weights[rows][shown], values[shown], drawn))
    total = sum(outcome.weight for outcome in listed) or 1.0
    seats = tuple((group, len(members)) for group, members in (*by_group.items(), *facets.items()))
    share = tuple(
        (group, sum(listed[place].weight for place in members) / total) for group, members in by_group.items()
    )
    return Table(tuple(by_group), tuple(facets), tuple(cells), seats, share)


def group_members(listed: Sequence[Outcome]) -> dict[str, list[int]]:
    """Places of the items of `all` and of each stratum that occurs, in the taxonomy's order."""
    members: dict[str, list[int]] = {ALL: list(range(len(listed)))}
    for stratum in ITEM_STRATA:
        places = [place for place, outcome in enumerate(listed) if outcome.reference_type == stratum]
        if places:
            members[stratum] = places
    return members


def _facet_members(listed: Sequence[Outcome]) -> dict[str, list[int]]:
    members: dict[tuple[str, str], list[int]] = {}
    for place, outcome in enumerate(listed):
        for facet in outcome.facets:
            members.setdefault(facet, []).append(place)
    order = {name: rank for rank, (name, _) in enumerate(listed[0].facets)} if listed else {}
    values = {name: sum(facet == name for facet, _ in members) for name in order}
    return {
        f"{name}={value}": members[name, value]
        for name, value in sorted(members, key=lambda facet: (order[facet[0]], facet[1]))
        if values[name] > 1
    }


def effective_size(weights: Iterable[float]) -> float:
    """How many equally weighted items are worth the weighted ones: (sum w)^2 / sum w^2.

    Source: Kish, Survey Sampling, 1965.
    """
    listed = list(weights)
    squares = sum(weight * weight for weight in listed)
    return sum(listed) ** 2 / squares if squares else 0.0


def design_effect(weights: Sequence[float], values: Sequence[float], clusters: Sequence[str]) -> float:
    """How many times wider the variance of a weighted mean is because items of one conversation go together; at least 1.

    With e = w (y - mean): sum over conversations of (sum of e)^2, over sum of e^2.
    Source: Kish, Survey Sampling, 1965; the variance by Taylor linearisation, Binder, ISR 1983.
    """
    total = sum(weights)
    mean = sum(w * y for w, y in zip(weights, values, strict=True)) / total if total else 0.0
    together: dict[str, float] = {}
    alone = 0.0
    for weight, value, cluster in zip(weights, values, clusters, strict=True):
        residual = weight * (value - mean)
        together[cluster] = together.get(cluster, 0.0) + residual
        alone += residual * residual
    return max(1.0, sum(r * r for r in together.values()) / alone) if alone else 1.0


@lru_cache(maxsize=4096)
def _detectable(n: int) -> float:
    return detectable_drop(n)


def _cell(group: str, metric: str, weights: "Array", values: "Array", drawn: Resampled) -> Cell:
    n, plain = int(values.size), float(values.mean())
    total, squares = float(weights.sum()), float((weights * weights).sum())
    mean = float((weights * values).sum()) / total if total else plain
    size = total * total / squares if squares else float(n)
    low, high = wilson(mean * size, size)
    cluster_low, cluster_high = drawn.interval(group, metric)
    return Cell(group, metric, n, mean, plain, low, high, cluster_low, cluster_high, _detectable(n))
