"""What is measured on every item, which way is better, and what a missing rewrite counts as."""

from dataclasses import dataclass

from builder.core.errors import USAGE, BuilderError, unknown_name


@dataclass(frozen=True, slots=True)
class Metric:
    """One number per item, 0 to 1, or nothing where the item cannot show it.

    Attributes:
        name: Name in files and options.
        higher_is_better: Which way is better.
        label: Name for people; `{k}` is the cut-off.
        definition: What 1 means, or what is averaged; `{k}` as in the label.
        needs: rewrite or retrieval: what a run must give for it.
    """

    name: str
    higher_is_better: bool
    label: str
    definition: str
    needs: str

    @property
    def worst(self) -> float:
        """The value that a missing rewrite gets, so that saying nothing never helps."""
        return 0.0 if self.higher_is_better else 1.0


METRICS: tuple[Metric, ...] = (
    Metric("recall", True, "recall@{k}", "share of the gold passages among the first {k} retrieved", "retrieval"),
    Metric("ndcg", True, "nDCG@{k}", "gain of the gold passages by rank, over the best possible", "retrieval"),
    Metric("mrr", True, "MRR@{k}", "1 / rank of the first gold passage among the first {k}", "retrieval"),
    Metric("coverage", True, "coverage", "share of the required terms that the rewrite holds", "rewrite"),
    Metric("contamination", False, "contamination", "the rewrite holds a forbidden term; of items that have one", "rewrite"),
    Metric("needless", False, "needless rewriting", "history was brought into a message that needs none", "rewrite"),
    Metric("over_expansion", False, "over-expansion", "the rewrite is far longer than the query it stands for", "rewrite"),
    Metric("unusable", False, "no query", "an answer instead of a query, or no rewrite at all", "rewrite"),
)  # fmt: skip
METRIC_NAMES: tuple[str, ...] = tuple(metric.name for metric in METRICS)
PLACE: dict[str, int] = {name: place for place, name in enumerate(METRIC_NAMES)}


def metric_named(name: str, where: str) -> Metric:
    """The metric called `name`.

    Raises:
        BuilderError: There is none.
    """
    if name not in PLACE:
        raise unknown_name(where, "metric", name, METRIC_NAMES)
    return METRICS[PLACE[name]]


def check_cut_off(k: int) -> None:
    """Refuse a cut-off below 1.

    Raises:
        BuilderError: `k` is below 1.
    """
    if k < 1:
        raise BuilderError("--k", f"the cut-off is {k}", "give 1 or more", USAGE)
