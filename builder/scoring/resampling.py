"""Means over conversations drawn again and again: intervals that know that turns of one conversation go together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from builder.core.hashing import rank
from builder.scoring.metrics import METRIC_NAMES
from builder.scoring.outcomes import Outcome

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

_ROOM = 1_000_000
"""Counts held at a time: draws are made in chunks so that memory does not grow with the set."""


@dataclass(frozen=True, slots=True)
class Resampled:
    """Bootstrap draws of a weighted mean, per group and metric.

    Attributes:
        means: (group, metric) -> one mean per draw; NaN in a draw without a single item of the group.
    """

    means: Mapping[tuple[str, str], "Array"]

    def interval(
        self, group: str, metric: str, confidence: float = 0.95
    ) -> tuple[float | None, float | None]:
        """Percentile interval; (None, None) where the group was not drawn or never had an item."""
        import numpy as np

        draws = self.means.get((group, metric))
        kept = draws[~np.isnan(draws)] if draws is not None else None
        if kept is None or not kept.size:
            return None, None
        tail = 50 * (1 - confidence)
        low, high = np.percentile(kept, [tail, 100 - tail])
        return round(float(low), 6), round(float(high), 6)

    def two_sided_p(self, group: str, metric: str) -> float:
        """Twice the smaller part of the draws on either side of 0, at least 1 / draws; 1 when nothing was drawn."""
        import numpy as np

        draws = self.means.get((group, metric))
        kept = draws[~np.isnan(draws)] if draws is not None else None
        if kept is None or not kept.size:
            return 1.0
        smaller = min(int((kept <= 0).sum()), int((kept >= 0).sum()))
        return min(1.0, 2 * (smaller + 1) / (kept.size + 1))


def resample(
    listed: Sequence[Outcome], groups: Mapping[str, Sequence[int]], seed: int, draws: int
) -> Resampled:
    """Draws of the weighted mean of every metric in every group, conversations drawn with replacement.

    One draw takes as many conversations as there are, and each with all of its items; sum w y and sum w are kept per
    conversation, so a draw is one row of counts times a matrix. Outcomes must be in order of id.
    Source: Field and Welsh, Bootstrapping clustered data, JRSS B 2007 (the cluster bootstrap).
    """
    import numpy as np

    names = sorted({outcome.conversation_id for outcome in listed})
    place = {name: row for row, name in enumerate(names)}
    cluster = np.array([place[outcome.conversation_id] for outcome in listed], dtype=np.int64)
    weight = np.array([outcome.weight for outcome in listed])
    values = np.array(
        [[np.nan if value is None else value for value in outcome.values] for outcome in listed], dtype=float
    ).reshape(len(listed), len(METRIC_NAMES))
    columns, below, sums = _per_cluster(groups, values, weight, cluster, len(names))
    drawn = _drawn(np.random.default_rng(rank(seed, "resample")), sums, draws)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = drawn[:, : len(columns)] / drawn[:, below]
    return Resampled({column: means[:, at] for at, column in enumerate(columns)})


def _per_cluster(
    groups: Mapping[str, Sequence[int]],
    values: "Array",
    weight: "Array",
    cluster: "NDArray[np.int64]",
    n: int,
) -> tuple[list[tuple[str, str]], list[int], "Array"]:
    """The (group, metric) pairs with a value; where each finds its sum of w; the sums per conversation.

    The sums of w y come first, one per pair; sums of w follow, one for all metrics that the same items show.
    """
    import numpy as np

    shown = {
        (group, metric): rows[~np.isnan(values[rows, at])]
        for group, members in groups.items()
        for rows in (np.asarray(members, dtype=np.int64),)
        for at, metric in enumerate(METRIC_NAMES)
    }
    columns = [column for column, rows in shown.items() if rows.size]
    alike: dict[bytes, int] = {}
    below = [len(columns) + alike.setdefault(shown[column].tobytes(), len(alike)) for column in columns]
    sums = np.zeros((n, len(columns) + len(alike)))
    for at, column in enumerate(columns):
        rows = shown[column]
        value = values[rows, METRIC_NAMES.index(column[1])]
        sums[:, at] = np.bincount(cluster[rows], weight[rows] * value, minlength=n)
        sums[:, below[at]] = np.bincount(cluster[rows], weight[rows], minlength=n)
    return columns, below, sums


def _drawn(generator: "np.random.Generator", per_cluster: "Array", draws: int) -> "Array":
    import numpy as np
    from threadpoolctl import threadpool_limits

    n, width = per_cluster.shape
    result = np.zeros((draws, width))
    step = max(1, _ROOM // max(n, 1))
    # One thread: sums come out the same on any machine, and on a busy one several would wait for each other.
    with threadpool_limits(1, "blas"):
        for start in range(0, draws if n and width else 0, step):
            size = min(step, draws - start)
            picks = generator.integers(0, n, size=(size, n)) + (np.arange(size) * n)[:, None]
            counts = np.bincount(picks.ravel(), minlength=size * n).reshape(size, n)
            result[start : start + size] = counts.astype(float) @ per_cluster
    return result
