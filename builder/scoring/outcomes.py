"""Each item judged: one row of metric values, its quadrant, and what gave it away."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from builder.core.errors import INVALID_DATA, BuilderError
from builder.core.records import Item, Terms
from builder.core.taxonomy import right_windows
from builder.scoring.checks import Checks, Contaminant, ContentKeys, check_rewrite
from builder.scoring.metrics import METRICS
from builder.scoring.retrieval import Retrieved, measure_ranking
from builder.scoring.runs import Run, RunRow

Retrieve = Callable[[str, int], Sequence[str]]
"""(query, k) -> passage ids, best first."""

QUADRANTS: tuple[tuple[str, str], ...] = (
    ("clean_hit", "clean and found"),
    ("lucky", "contaminated, yet found"),
    ("unlucky", "clean, yet missed"),
    ("contaminated_miss", "contaminated and missed"),
    ("answered", "an answer, no query"),
    ("missing", "no rewrite"),
)
"""Where an item ends: the four quadrants of clean and found, and the two ways not to be a query."""

_FLAGS = ("pivot", "returns", "correction", "drift", "answers_clarification")


@dataclass(frozen=True, slots=True)
class Outcome:
    """One item under one run.

    Attributes:
        id: The item.
        conversation_id: Its conversation; items of one conversation are not independent.
        reference_type: Its stratum.
        facets: (facet, value) of its further properties.
        weight: Production share over set share.
        d_live: From the item.
        d_stale: From the item.
        kind: missing, answered, unchanged or rewritten; "" for a run without rewrites.
        quadrant: One of `QUADRANTS`; "" where rewrite or retrieval is unknown.
        values: By `METRICS`; None where the item cannot show the metric or the run gives no means to.
        absent: Required terms that the rewrite lacks.
        contaminants: Forbidden terms that it holds, with the turns they stand in.
        brought_in: Words it took from a history it did not need.
    """

    id: str
    conversation_id: str
    reference_type: str
    facets: tuple[tuple[str, str], ...]
    weight: float
    d_live: int
    d_stale: int | None
    kind: str
    quadrant: str
    values: tuple[float | None, ...]
    absent: Terms = ()
    contaminants: tuple[Contaminant, ...] = ()
    brought_in: Terms = ()


def judge_items(
    items: Iterable[Item], run: Run, k: int, content_keys: ContentKeys, retrieve: Retrieve | None = None
) -> Iterator[Outcome]:
    """The outcome of every item under `run`, in the order of the items.

    Rankings are the run's own; where it has none, `retrieve` searches with each rewrite, and without that the
    retrieval metrics stay unmeasured. A missing rewrite has the worst value of every metric that its item can show.

    Raises:
        BuilderError: An item has no row in the run.
    """
    ranks_itself = run.has_retrieval
    for item in items:
        row = run.rows.get(item.id)
        if row is None:
            raise BuilderError(
                f"{run.name}: {item.id}", "no row for this item", "write one; with rewrite null where it failed",
                INVALID_DATA,
            )  # fmt: skip
        if not ranks_itself and retrieve and row.rewrite:
            row = RunRow(row.rewrite, tuple(retrieve(row.rewrite, k)))
        yield judge_item(item, row, run.has_rewrites, ranks_itself or retrieve is not None, k, content_keys)


def judge_item(
    item: Item, row: RunRow, has_rewrites: bool, has_retrieval: bool, k: int, content_keys: ContentKeys
) -> Outcome:
    """The outcome of one item under one row."""
    checks = check_rewrite(item, row.rewrite, content_keys) if has_rewrites else None
    failed = has_rewrites and row.rewrite is None
    ranking = None
    if has_retrieval and item.gold:
        ranking = measure_ranking(() if failed else row.retrieved or (), item.gold, k)
    return Outcome(
        item.id,
        item.conversation_id,
        item.reference_type,
        facets_of(item),
        item.weight,
        item.d_live,
        item.d_stale,
        checks.kind if checks else "",
        _quadrant(checks, ranking),
        _values(item, checks, ranking),
        checks.absent if checks else (),
        checks.contaminants if checks else (),
        (checks.brought_in or ()) if checks else (),
    )


def facets_of(item: Item) -> tuple[tuple[str, str], ...]:
    """The item's facets: form, windows that are right, number of antecedents, origin, language, and each flag."""
    flags = tuple("yes" if getattr(item, flag) else "no" for flag in _FLAGS)
    windows = right_windows(item.d_live, item.d_stale).verdict
    n_antecedents = min(len(item.antecedent_turns), 2)
    return _facets(
        item.form, windows, n_antecedents, min(item.intervening_turns, 4), item.origin, item.language, flags
    )


@lru_cache(maxsize=4096)
def _facets(
    form: str, windows: str, antecedents: int, between: int, origin: str, language: str, flags: Terms
) -> tuple[tuple[str, str], ...]:
    """One tuple for all items that are alike, so that a large set has few."""
    return (
        ("form", form),
        ("right windows", windows),
        ("antecedents", "2+" if antecedents > 1 else str(antecedents)),
        ("intervening turns", "0" if not between else "1-3" if between < 4 else "4+"),
        ("origin", origin),
        ("language", language or "unknown"),
        *((name.replace("_", " "), flag) for name, flag in zip(_FLAGS, flags, strict=True)),
    )


def _values(item: Item, checks: Checks | None, ranking: Retrieved | None) -> tuple[float | None, ...]:
    measured: dict[str, float | None] = {}
    if ranking:
        measured = {"recall": ranking.recall, "ndcg": ranking.ndcg, "mrr": ranking.mrr}
    if checks:
        n_required = len(item.required_in_rewrite)
        measured["coverage"] = 1 - len(checks.absent) / n_required if n_required else 1.0
        measured["contamination"] = float(bool(checks.contaminants)) if item.forbidden_in_rewrite else None
        measured["needless"] = None if checks.brought_in is None else float(bool(checks.brought_in))
        measured["over_expansion"] = float(checks.is_over_expanded)
        measured["unusable"] = float(checks.kind in ("answered", "missing"))
        if checks.kind == "missing":
            for metric in METRICS:
                if measured.get(metric.name) is not None:
                    measured[metric.name] = metric.worst
    return tuple(measured.get(metric.name) for metric in METRICS)


def _quadrant(checks: Checks | None, ranking: Retrieved | None) -> str:
    if checks is None:
        return ""
    if checks.kind in ("missing", "answered"):
        return checks.kind
    if ranking is None:
        return ""
    is_clean, is_found = not checks.contaminants, ranking.recall > 0
    if is_clean:
        return "clean_hit" if is_found else "unlucky"
    return "lucky" if is_found else "contaminated_miss"
