"""Shares of the strata in production, and the seats they get in a set."""

from dataclasses import dataclass


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
    """

    shares: tuple[Share, ...]
    n_follow_ups: int
    n_conversations: int
    method: str
    facets: tuple[tuple[str, tuple[tuple[str, str, int], ...]], ...] = ()

    def share(self, reference_type: str) -> float:
        """The share of one stratum; 0 when it was not measured."""
        return next((s.share for s in self.shares if s.reference_type == reference_type), 0.0)


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
