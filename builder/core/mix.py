"""Shares of the strata in production, and the seats they get in a set."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Share:
    """A stratum's share of the follow-ups with its interval; all in [0, 1].

    Attributes:
        reference_type: The stratum.
        count: Follow-ups counted in it (by the classifier).
        share: The estimate.
        low: Lower end of the 95% interval.
        high: Upper end.
    """

    reference_type: str
    count: int
    share: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Mix:
    """The measured distribution over strata.

    Attributes:
        shares: One per stratum, in the taxonomy's order; they sum to 1.
        n_follow_ups: Follow-ups measured.
        n_conversations: Conversations they come from.
        method: How classifier error was corrected: two_phase, rogan_gladen, labels or uncorrected.
        facets: Cross-tables: (name, ((row, column, count), ...)).
        notes: What a reader of the shares must know: why a correction was refused, for which strata it was.
        labels_to_halve: Further second labels that would halve the widest interval; None when none could.
    """

    shares: tuple[Share, ...]
    n_follow_ups: int
    n_conversations: int
    method: str
    facets: tuple[tuple[str, tuple[tuple[str, str, int], ...]], ...] = ()
    notes: tuple[str, ...] = ()
    labels_to_halve: int | None = None

    def share(self, reference_type: str) -> float:
        """The share of one stratum; 0 when it was not measured."""
        return next((s.share for s in self.shares if s.reference_type == reference_type), 0.0)


@dataclass(frozen=True, slots=True)
class Confusion:
    """What a classifier made of follow-ups whose stratum is known.

    Attributes:
        labels: The strata, in the order of rows and columns.
        matrix: Counts; rows are true strata, columns predicted ones.
        n_conversations: Conversations that the counts come from.
    """

    labels: tuple[str, ...]
    matrix: tuple[tuple[float, ...], ...]
    n_conversations: int = 0


def confusion_from_card(card: Mapping[str, Any]) -> Confusion | None:
    """The confusion matrix of a model card ({confusion: {labels, matrix, n_conversations}}); None when it has none.

    A card with one matrix per kind of source has the one over all sources under `pooled`.
    """
    table = card.get("confusion")
    if not table:
        return None
    table = table.get("pooled", table)
    rows = tuple(tuple(float(count) for count in row) for row in table["matrix"])
    return Confusion(tuple(table["labels"]), rows, int(table.get("n_conversations") or 0))


@dataclass(frozen=True, slots=True)
class Quota:
    """Seats of one stratum in the set.

    Attributes:
        reference_type: The stratum.
        seats: Items wanted.
        available: Real candidates in the sample.
        shortage: Seats that real candidates cannot fill.
        share: Production share among item strata, rescaled to sum to 1.
        weight: Production share over set share.
        detectable_drop: Smallest paired drop that these seats detect (points, 0 to 1).
    """

    reference_type: str
    seats: int
    available: int
    shortage: int
    share: float
    weight: float
    detectable_drop: float


@dataclass(frozen=True, slots=True)
class Quotas:
    """Seats per stratum for a set of `size` items, and the mix they were allotted from."""

    size: int
    quotas: tuple[Quota, ...]
    mix: Mix

    def seats(self, reference_type: str) -> int:
        """Seats of one stratum; 0 when it has none."""
        return next((q.seats for q in self.quotas if q.reference_type == reference_type), 0)


def set_weights(quotas: Quotas, filled: Mapping[str, int]) -> dict[str, float]:
    """Weight of an item per stratum when `filled` items were found: production share over share of this set.

    Shares of strata without an item are spread over the others, so the weights of all items sum to their number.
    """
    covered = sum(q.share for q in quotas.quotas if filled.get(q.reference_type))
    size = sum(filled.values())
    return {
        q.reference_type: round(q.share / covered / (filled[q.reference_type] / size), 6) if covered else 1.0
        for q in quotas.quotas
        if filled.get(q.reference_type)
    }
