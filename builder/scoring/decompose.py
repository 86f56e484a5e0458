"""Where a change of the mean comes from: exact parts by stratum, nothing left over."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from builder.core.taxonomy import ITEM_STRATA
from builder.scoring.metrics import PLACE
from builder.scoring.outcomes import Outcome

ZERO = Fraction(0)


@dataclass(frozen=True, slots=True)
class Part:
    """What one stratum adds to the change: share x (after - before), exactly.

    Attributes:
        stratum: The stratum.
        share: Its share of the weight.
        before: Its weighted mean under the baseline.
        after: Its weighted mean under the run.
        contribution: share x (after - before).
    """

    stratum: str
    share: Fraction
    before: Fraction
    after: Fraction
    contribution: Fraction


@dataclass(frozen=True, slots=True)
class Decomposition:
    """A change of the weighted mean and its parts, which sum to it exactly.

    Attributes:
        metric: Name of the metric.
        before: Mean of the baseline.
        after: Mean of the run.
        parts: One per stratum, in the taxonomy's order.
    """

    metric: str
    before: Fraction
    after: Fraction
    parts: tuple[Part, ...]

    @property
    def change(self) -> Fraction:
        """After - before."""
        return self.after - self.before

    @property
    def movement(self) -> Fraction:
        """The parts summed without their signs: how much moved, whatever the mean says."""
        return sum((abs(part.contribution) for part in self.parts), ZERO)


def decompose(before: Sequence[Outcome], after: Sequence[Outcome], metric: str) -> Decomposition | None:
    """The change of one metric's weighted mean between two runs over the same items; None when no item shows it in both.

    mean = sum over strata of share x stratum mean, so change = sum of share x (after - before). Reckoned in fractions:
    the strata are a partition, so the parts sum to the change to the last bit.
    """
    at = PLACE[metric]
    old = {outcome.id: outcome for outcome in before}
    shown = [
        (o.reference_type, Fraction(o.weight), Fraction(a), Fraction(b))
        for o in after
        if o.id in old and (a := old[o.id].values[at]) is not None and (b := o.values[at]) is not None
    ]
    total = sum((weight for _, weight, _, _ in shown), ZERO)
    if not total:
        return None
    parts = []
    for stratum in ITEM_STRATA:
        members = [row for row in shown if row[0] == stratum]
        weight = sum((w for _, w, _, _ in members), ZERO)
        if weight:
            first = sum((w * a for _, w, a, _ in members), ZERO) / weight
            second = sum((w * b for _, w, _, b in members), ZERO) / weight
            share = weight / total
            parts.append(Part(stratum, share, first, second, share * (second - first)))
    return Decomposition(
        metric,
        sum((part.share * part.before for part in parts), ZERO),
        sum((part.share * part.after for part in parts), ZERO),
        tuple(parts),
    )


@dataclass(frozen=True, slots=True)
class SetPart:
    """What one stratum adds to the change between two versions of a set.

    Attributes:
        stratum: The stratum.
        mix: Because its share moved: mean of both rates x change of share.
        within: Because its own mean moved: mean of both shares x change of rate.
    """

    stratum: str
    mix: Fraction
    within: Fraction


@dataclass(frozen=True, slots=True)
class SetDecomposition:
    """A change between two versions of a set, split by Kitagawa; or the strata that forbid it.

    Attributes:
        metric: Name of the metric.
        before: Weighted mean on the older version.
        after: Weighted mean on the newer one.
        parts: One per stratum; they sum to after - before. Empty when there is no evidence.
        no_evidence: Strata that only one version measures: with any of them, nothing is attributed.
    """

    metric: str
    before: Fraction
    after: Fraction
    parts: tuple[SetPart, ...]
    no_evidence: tuple[str, ...]

    @property
    def mix(self) -> Fraction:
        """The part of the change that the shares account for."""
        return sum((part.mix for part in self.parts), ZERO)

    @property
    def within(self) -> Fraction:
        """The part of the change that the strata's own means account for."""
        return sum((part.within for part in self.parts), ZERO)


def decompose_sets(
    before: Sequence[Outcome], after: Sequence[Outcome], metric: str
) -> SetDecomposition | None:
    """A metric's change between two versions of a set, as mix effect and within-stratum effect; None without values.

    With shares p and means r: sum of (r + r') / 2 x (p' - p) plus sum of (p + p') / 2 x (r' - r); nothing is left over.
    Source: Kitagawa, Components of a difference between two rates, JASA 1955.
    """
    old, new = _rates(before, metric), _rates(after, metric)
    if not old or not new:
        return None
    means = [sum((share * rate for share, rate in rates.values()), ZERO) for rates in (old, new)]
    lacking = tuple(s for s in ITEM_STRATA if (s in old) != (s in new))
    parts = []
    for stratum in ITEM_STRATA:
        if not lacking and stratum in old:
            (p, r), (q, s) = old[stratum], new[stratum]
            parts.append(SetPart(stratum, (r + s) / 2 * (q - p), (p + q) / 2 * (s - r)))
    return SetDecomposition(metric, means[0], means[1], tuple(parts), lacking)


def _rates(outcomes: Sequence[Outcome], metric: str) -> dict[str, tuple[Fraction, Fraction]]:
    """Stratum -> (share, weighted mean), of the items that show the metric."""
    at = PLACE[metric]
    weight: dict[str, Fraction] = {}
    value: dict[str, Fraction] = {}
    for outcome in outcomes:
        shown = outcome.values[at]
        if shown is not None and outcome.weight:
            w = Fraction(outcome.weight)
            weight[outcome.reference_type] = weight.get(outcome.reference_type, ZERO) + w
            value[outcome.reference_type] = value.get(outcome.reference_type, ZERO) + w * Fraction(shown)
    total = sum(weight.values(), ZERO)
    return {stratum: (w / total, value[stratum] / w) for stratum, w in weight.items()}


def round_to_sum(parts: Mapping[str, Fraction], total: Fraction, digits: int) -> dict[str, Fraction]:
    """`parts` rounded to `digits` decimals so that the rounded figures still sum to the rounded `total`.

    Largest remainders are rounded up, ties in the order given, so that a reader who adds a column up gets its last line.
    """
    assert sum(parts.values(), ZERO) == total
    scale = 10**digits
    floors = {name: (part * scale).__floor__() for name, part in parts.items()}
    missing = round(total * scale) - sum(floors.values())
    by_remainder = sorted(parts, key=lambda name: floors[name] - parts[name] * scale)
    for name in by_remainder[:missing]:
        floors[name] += 1
    return {name: Fraction(floor, scale) for name, floor in floors.items()}
