"""Has production moved away from the mix that the set was built for? Each stratum, and all of them together."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import log, sqrt
from statistics import NormalDist

from builder.core.intervals import Z95, wilson
from builder.core.mix import Mix, Quotas, Share
from builder.core.records import Item
from builder.core.settings import DriftSettings

STABLE, DRIFTED, TOO_FEW = "stable", "drifted", "too few to tell"
NOT_COMPARABLE = "not comparable"
UNCORRECTED = "uncorrected"
SYNTHESIZED = "long_range"
"""The one stratum whose seats can be filled by synthesis."""
_LEAST = 1e-9
_MOST_TIMES = 4096
"""A log that would have to be more times as long is no advice any more."""


@dataclass(frozen=True, slots=True)
class Shift:
    """How one stratum's share moved.

    Attributes:
        reference_type: The stratum.
        old: Share behind the quotas.
        new: Share in the new log.
        low: Lower end of the 95% interval of the difference new - old.
        high: Upper end.
        p: P-value of no difference, adjusted over the strata (Holm).
        verdict: stable, drifted, too few to tell or not comparable.
        needed: Follow-ups of the new log that would decide, when there are too few; always more than it has. None when
            no number would: the old mix is itself too uncertain, or the change lies at the material one.
    """

    reference_type: str
    old: float
    new: float
    low: float
    high: float
    p: float
    verdict: str
    needed: int | None = None

    @property
    def difference(self) -> float:
        """New share minus old one."""
        return self.new - self.old


@dataclass(frozen=True, slots=True)
class Drift:
    """How two mixes differ.

    Attributes:
        shifts: One per stratum, in the taxonomy's order.
        g: The G statistic over all strata, corrected for clustering and classifier error.
        g_df: Its degrees of freedom.
        g_p: Its p-value.
        psi: Population stability index, for people who know it (below 0.1 small, above 0.25 large by custom).
    """

    shifts: tuple[Shift, ...]
    g: float
    g_df: int
    g_p: float
    psi: float

    @property
    def comparable(self) -> bool:
        """Whether both mixes were measured so that a difference between them means something."""
        return all(shift.verdict != NOT_COMPARABLE for shift in self.shifts)

    @property
    def drifted(self) -> tuple[str, ...]:
        """Strata that drifted."""
        return tuple(shift.reference_type for shift in self.shifts if shift.verdict == DRIFTED)


def compare_mixes(old: Mix, new: Mix, settings: DriftSettings) -> Drift:
    """What moved between two mixes, with both sides' clustering and classifier error carried through.

    Each share's interval says how many independent, perfectly read follow-ups it is worth (the n whose Wilson interval
    is as wide), and those numbers, a and b, enter the tests. Per stratum, with m the pooled share:
    z = (|q - p| - (1/a + 1/b) / 2) / sqrt(m (1 - m) (1/a + 1/b)); p-values adjusted by Holm (1979). A stratum drifted
    when its p-value is below alpha and the difference is at least material; it is stable when the interval of the
    difference (Newcombe, Interval estimation for the difference between independent proportions, 1998, method 10) lies
    within the material one; otherwise there are too few to tell. A mix with the classifier's errors in it and one
    without them differ by these errors alone: nothing is then comparable. Overall: G = 2 sum O ln(O / E) on counts
    divided by the mean design effect (Rao and Scott, 1984).
    """
    rows = [(share, _share_of(new, share.reference_type)) for share in old.shares]
    g, df, g_p = g_test(rows, _worth_of(old), _worth_of(new))
    adjusted = holm([_p_value(a, b) for a, b in rows])
    shifts = [_shift(a, b, p, settings) for (a, b), p in zip(rows, adjusted, strict=True)]
    shifts = [
        replace(s, needed=_needed(rows, k, new.n_follow_ups, settings)) if s.verdict == TOO_FEW else s
        for k, s in enumerate(shifts)
    ]
    if old.method != new.method and UNCORRECTED in (old.method, new.method):
        shifts = [replace(shift, verdict=NOT_COMPARABLE, needed=None) for shift in shifts]
    return Drift(tuple(shifts), round(g, 4), df, round(g_p, 6), round(_psi(rows, old, new), 6))


def _share_of(mix: Mix, name: str) -> Share:
    found = next((share for share in mix.shares if share.reference_type == name), None)
    return found or Share(name, 0, 0.0, *wilson(0, mix.n_follow_ups))


def worth(share: Share) -> float:
    """How many independent follow-ups, read without error, give an interval as wide as this share's.

    Wilson's width w at share p solved for x = 1 / n: z^4 (w^2 - 1) x^2 + 2 z^2 (w^2 - 2 p (1 - p)) x + w^2 = 0.
    """
    width, spread, z2 = share.high - share.low, share.share * (1 - share.share), Z95 * Z95
    width = min(max(width, _LEAST), 1 - _LEAST)
    a, b, c = z2 * z2 * (width * width - 1), 2 * z2 * (width * width - 2 * spread), width * width
    return 2 * a / (-b - sqrt(b * b - 4 * a * c))


def _p_value(old: Share, new: Share) -> float:
    a, b = worth(old), worth(new)
    pooled = (a * old.share + b * new.share) / (a + b)
    error = sqrt(pooled * (1 - pooled) * (1 / a + 1 / b))
    if error < _LEAST:
        return 1.0
    # Counts are whole: without Yates' correction small strata would cry wolf more often than alpha.
    distance = max(abs(new.share - old.share) - (1 / a + 1 / b) / 2, 0.0)
    return 2 * NormalDist().cdf(-distance / error)


def holm(p_values: Sequence[float]) -> list[float]:
    """P-values adjusted so that the chance of any false alarm stays below alpha.

    Source: Holm, A simple sequentially rejective multiple test procedure, 1979.
    """
    order = sorted(range(len(p_values)), key=lambda k: p_values[k])
    adjusted, worst = [1.0] * len(p_values), 0.0
    for rank, k in enumerate(order):
        worst = max(worst, min(1.0, (len(p_values) - rank) * p_values[k]))
        adjusted[k] = worst
    return adjusted


def _shift(old: Share, new: Share, p: float, settings: DriftSettings) -> Shift:
    difference = new.share - old.share
    low = difference - sqrt((new.share - new.low) ** 2 + (old.high - old.share) ** 2)
    high = difference + sqrt((new.high - new.share) ** 2 + (old.share - old.low) ** 2)
    material = settings.material
    if p < settings.alpha and abs(difference) >= material:
        verdict = DRIFTED
    elif -material <= low and high <= material:
        verdict = STABLE
    else:
        verdict = TOO_FEW
    ends = (round(max(low, -1.0), 6), round(min(high, 1.0), 6))
    return Shift(old.reference_type, old.share, new.share, *ends, round(p, 6), verdict)


def _needed(rows: Sequence[tuple[Share, Share]], k: int, n: int, settings: DriftSettings) -> int | None:
    """Follow-ups of the new log that would decide about stratum `k`, if every share stays what it is.

    The least number at which the verdict itself, Holm's correction and strata without a follow-up included, is another
    one: found by asking for it at longer and longer logs.
    """

    def undecided(size: float) -> bool:
        grown = [(old, _grown(new, size / n)) for old, new in rows]
        p = holm([_p_value(old, new) for old, new in grown])[k]
        return _shift(*grown[k], p, settings).verdict == TOO_FEW

    low, high = n, 2 * n
    while undecided(high):
        low, high = high, 2 * high
        if high > _MOST_TIMES * n:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if undecided(middle) else (low, middle)
    return high


def _grown(share: Share, times: float) -> Share:
    """The same share, of a log so many times as long."""
    size = worth(share) * times
    return Share(
        share.reference_type, round(share.count * times), share.share, *wilson(share.share * size, size)
    )


def _worth_of(mix: Mix) -> float:
    """Independent follow-ups that a whole mix is worth: n over the mean design effect, sum (1 - p) n / worth / (k - 1)."""
    shares = mix.shares
    if len(shares) < 2:
        return float(mix.n_follow_ups)
    effect = sum((1 - s.share) * mix.n_follow_ups / worth(s) for s in shares) / (len(shares) - 1)
    return mix.n_follow_ups / max(effect, _LEAST)


def g_test(rows: Iterable[tuple[Share, Share]], n_old: float, n_new: float) -> tuple[float, int, float]:
    """(G, degrees of freedom, p-value) for two distributions over the same strata; strata that neither has do not count."""
    from scipy.stats import chi2

    pairs = [(n_old * a.share, n_new * b.share) for a, b in rows if a.share + b.share > 0]
    total = n_old + n_new
    g = 0.0
    for a, b in pairs:
        for observed, n in ((a, n_old), (b, n_new)):
            expected = (a + b) * n / total
            g += 2 * observed * log(observed / expected) if observed > 0 else 0.0
    df = max(len(pairs) - 1, 1)
    return max(g, 0.0), df, float(chi2.sf(max(g, 0.0), df))


def _psi(rows: Iterable[tuple[Share, Share]], old: Mix, new: Mix) -> float:
    """Population stability index: sum (q - p) ln(q / p), empty strata counted as half a follow-up."""
    total = 0.0
    for a, b in rows:
        p = max(a.share, 0.5 / max(old.n_follow_ups, 1))
        q = max(b.share, 0.5 / max(new.n_follow_ups, 1))
        total += (q - p) * log(q / p)
    return total


@dataclass(frozen=True, slots=True)
class Change:
    """What new quotas cost one stratum.

    Attributes:
        reference_type: The stratum.
        before: Items in the release.
        seats: Items wanted.
        kept: Items that stay.
        retired: Items that go, the lowest-ranked.
        to_add: Items that must be found.
        available: Follow-ups of the new log that could become items.
        synthetic: Seats left to synthesis; only long-range ones can be.
        short: Seats that stay empty.
    """

    reference_type: str
    before: int
    seats: int
    kept: int
    retired: int
    to_add: int
    available: int
    synthetic: int
    short: int


def plan_changes(
    items: Iterable[Item], quotas: Quotas, available: Mapping[str, int], synthesis: bool = True
) -> tuple[Change, ...]:
    """What it costs to bring a release to new quotas with as few item changes as possible; one row per stratum.

    With `synthesis`, long-range seats that the log cannot fill are left to it.
    """
    before: dict[str, int] = {}
    for item in items:
        before[item.reference_type] = before.get(item.reference_type, 0) + 1
    rows = []
    for quota in quotas.quotas:
        name = quota.reference_type
        had = before.get(name, 0)
        kept = min(had, quota.seats)
        to_add, found = quota.seats - kept, available.get(name, 0)
        lacking = max(to_add - found, 0)
        made = lacking if synthesis and name == SYNTHESIZED else 0
        rows.append(Change(name, had, quota.seats, kept, had - kept, to_add, found, made, lacking - made))
    return tuple(rows)
