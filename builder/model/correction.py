"""From what a classifier counted to what is there: shares corrected for its errors, in every resample alike."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from builder.core.hashing import rank
from builder.core.intervals import Z95, lang_reiczigel, wilson
from builder.core.mix import Confusion
from builder.core.records import FollowUp
from builder.core.taxonomy import STRATUM_NAMES
from builder.model.confusion import LEAST_GAIN, aligned, notes_on, told_apart, weak_names

Array = npt.NDArray[np.float64]

MOST_GROUPS = 4000
"""More conversations than this are resampled in that many random groups: the same variance at a bounded cost
(Wolter, Introduction to Variance Estimation, 2007, chapter 2)."""

_PLACE = {name: column for column, name in enumerate(STRATUM_NAMES)}
_N = len(STRATUM_NAMES)


@dataclass(frozen=True, slots=True)
class Counts:
    """Follow-ups by conversation (or random group of them) and predicted stratum, and their second labels.

    Attributes:
        predicted: Groups x strata.
        second: Groups x (predicted stratum, second label), the pairs in one axis.
        n_conversations: Conversations in all.
    """

    predicted: Array
    second: Array
    n_conversations: int


@dataclass(frozen=True, slots=True)
class Estimate:
    """Shares of the strata and how sure they are.

    Attributes:
        shares: The estimate.
        bounds: Its 95% intervals.
        rates: Per predicted stratum, the shares of the true strata in it.
        notes: What could not be corrected, and why.
    """

    shares: Array
    bounds: tuple[tuple[float, float], ...]
    rates: Array
    notes: tuple[str, ...] = ()


def count_by_conversation(follow_ups: Sequence[FollowUp], second: Mapping[str, str], seed: int) -> Counts:
    """Counts of predicted strata and second labels per conversation, in an order that the input's cannot change."""
    ids = sorted({f.conversation_id for f in follow_ups})
    if len(ids) > MOST_GROUPS:
        row = {name: rank(seed, "group", name) % MOST_GROUPS for name in ids}
        n_groups = MOST_GROUPS
    else:
        row, n_groups = {name: number for number, name in enumerate(ids)}, len(ids)
    predicted, pairs = np.zeros((n_groups, _N)), np.zeros((n_groups, _N * _N))
    for follow_up in follow_ups:
        group, column = row[follow_up.conversation_id], _PLACE[follow_up.reference_type]
        predicted[group, column] += 1
        if follow_up.id in second:
            pairs[group, column * _N + _PLACE[second[follow_up.id]]] += 1
    return Counts(predicted, pairs, len(ids))


def resample_weights(n_groups: int, resamples: int, seed: int) -> Array:
    """How often each group is drawn in each resample: resamples x groups, rows sum to `n_groups`."""
    generator = np.random.default_rng(rank(seed, "resample"))
    drawn = generator.integers(0, n_groups, size=(resamples, n_groups))
    flat = drawn + np.arange(resamples)[:, None] * n_groups
    counts = np.bincount(flat.ravel(), minlength=resamples * n_groups)
    return counts.reshape(resamples, n_groups).astype(np.float64)


def plain(counts: Counts, weights: Array) -> Estimate:
    """Shares as counted, with Wilson intervals at the number of follow-ups that the resampling shows to be effective."""
    shares, resampled = _shares(counts.predicted.sum(axis=0)), _shares(weights @ counts.predicted)
    bounds = _wilson_bounds(shares, resampled.var(axis=0), float(counts.predicted.sum()))
    return Estimate(shares, bounds, np.eye(_N))


def two_phase(counts: Counts, weights: Array) -> Estimate:
    """Shares by double sampling: each predicted stratum's share, spread as its second labels say.

    share_k = sum_h W_h n_hk / n_h, with W_h the share of predicted stratum h, and n_hk of its n_h second labels
    saying k. Right for any classifier; a better one only makes the interval narrower.
    Source: Tenenbein, A double sampling scheme for estimating from binomial data with misclassifications, JASA 1970;
    Neyman, Contribution to the theory of sampling human populations, JASA 1938; the same number as stratified
    prediction-powered inference (Fisch et al., 2024).
    """
    total = counts.second.sum(axis=0).reshape(_N, _N)
    labelled, predicted = total.sum(axis=1), counts.predicted.sum(axis=0)
    rates = _rates(total, np.eye(_N))
    shares = _shares(predicted)
    again = _rates((weights @ counts.second).reshape(-1, _N, _N), rates)
    resampled = np.einsum("bh,bhk->bk", _shares(weights @ counts.predicted), again)
    # A second label that was never seen in a predicted stratum may still exist there: half a label's worth.
    partly = (labelled > 0) & (labelled < predicted)
    rare = 0.5 / (labelled + 1)
    unseen = (total == 0) & partly[:, None]
    extra = (unseen * (shares**2 * rare * (1 - rare) / np.maximum(labelled, 1))[:, None]).sum(axis=0)
    open_share = shares * (labelled > 0)
    n_effective = 1 / max(float((open_share**2 / np.maximum(labelled, 1)).sum()), 1 / float(predicted.sum()))
    estimate = shares @ rates
    bounds = _wilson_bounds(estimate, resampled.var(axis=0) + extra, n_effective)
    bare = [STRATUM_NAMES[h] for h in range(_N) if predicted[h] and not labelled[h]]
    notes = (
        f"no second label among follow-ups predicted {', '.join(bare)}: the classifier's word stands there",
    )
    return Estimate(estimate, bounds, rates, notes if bare else ())


def second_labels_to_halve(counts: Counts, weights: Array, estimate: Estimate) -> int | None:
    """Further second labels that would make the widest interval half as wide; None when none could.

    The variance has a part from the sample of conversations, V1 (the predicted strata's shares vary), and one from
    the second labels, sum_h W_h^2 R_hk (1 - R_hk) / n_h; only the latter falls with n. New labels are spread as the
    old ones are, or evenly over predicted strata when there are none.
    """
    widths = [high - low for low, high in estimate.bounds]
    k = int(np.argmax(widths))
    target = (widths[k] / 4 / Z95) ** 2
    first_phase = float((_shares(weights @ counts.predicted) @ estimate.rates[:, k]).var())
    predicted = counts.predicted.sum(axis=0)
    labelled = counts.second.sum(axis=0).reshape(_N, _N).sum(axis=1)
    spread = labelled if labelled.sum() else (predicted > 0).astype(np.float64)
    occurs = (predicted > 0) & (spread > 0)
    part, rate = (spread / spread.sum())[occurs], estimate.rates[occurs, k]
    per_label = float((_shares(predicted)[occurs] ** 2 * rate * (1 - rate) / part).sum())
    if target <= first_phase or per_label == 0:
        return None
    needed = int(np.ceil(per_label / (target - first_phase)))
    more = max(needed - int(labelled.sum()), 0)
    return more if needed <= predicted.sum() and more else None


def inverted(counts: Counts, weights: Array, confusion: Confusion, seed: int) -> Estimate | str:
    """Shares by inverting the classifier's confusion matrix; the reason as text when they cannot be had.

    With A_tp the part of true stratum t that is predicted p, the predicted shares are q = A' s, so s = inverse(A') q,
    moved to the nearest point where no share is negative. For two strata this is Rogan and Gladen (Am J Epidemiol
    1978); per stratum, with the specificity that the other strata's shares imply, it is the same number. Intervals:
    the wider of Lang and Reiczigel's (Prev Vet Med 2014) and resampling conversations and matrix together.
    A stratum that the classifier hardly recognises (sensitivity + specificity - 1 < 0.3) is corrected as one group
    with the stratum it is most confused with, and the group split as counted; a stratum that it never recognises is
    left as counted. The notes say so.
    """
    matrix, predicted = aligned(confusion), counts.predicted.sum(axis=0)
    present = (matrix.sum(axis=1) > 0) | (predicted > 0)
    unknown = present & (np.diag(matrix) == 0)
    groups = told_apart(matrix, present & ~unknown)
    if len(groups) < 2:
        return (
            f"correction refused: sensitivity + specificity - 1 is below {LEAST_GAIN} for {weak_names(matrix)}; "
            "add second labels ([adjudicate]) to measure the mix"
        )
    member = np.array([[k in group for k in range(_N)] for group in groups], dtype=np.float64)
    grouped, low, high = _solved(counts, weights, member @ matrix @ member.T, member, seed)
    inside = predicted[:, None] * member.T
    even = member.T / member.sum(axis=1)
    split = np.where(inside.sum(axis=0) > 0, inside / np.maximum(inside.sum(axis=0), 1), even)
    counted = plain(counts, weights)
    known = 1 - float(counted.shares[unknown].sum())
    shares = np.where(unknown, counted.shares, known * (split @ grouped))
    # What is not corrected by itself is no surer than its count.
    rough = unknown | (member[member.sum(axis=1) > 1].sum(axis=0) > 0)
    bounds = tuple(
        (min(float(lower), plainly[0]), max(float(upper), plainly[1]))
        if rough[k]
        else (float(lower), float(upper))
        for k, (lower, upper, plainly) in enumerate(
            zip(known * (split @ low), known * (split @ high), counted.bounds, strict=True)
        )
    )
    return Estimate(
        shares, bounds, _posterior(matrix, shares), notes_on(groups, np.flatnonzero(unknown).tolist())
    )


def _solved(
    counts: Counts, weights: Array, pooled: Array, member: Array, seed: int
) -> tuple[Array, Array, Array]:
    """Corrected shares of the groups with lower and upper bounds."""
    rows = pooled.sum(axis=1)
    odds = pooled / rows[:, None]
    q = _shares(counts.predicted.sum(axis=0) @ member.T)
    solved = np.asarray(np.linalg.solve(odds.T, q), dtype=np.float64)
    shares: Array = _nearest_shares(solved[None, :])[0]
    again = _shares(weights @ counts.predicted @ member.T)
    generator = np.random.default_rng(rank(seed, "confusion"))
    drawn = generator.standard_gamma(np.broadcast_to(pooled + 1 / len(rows), (len(weights), *pooled.shape)))
    drawn /= drawn.sum(axis=2, keepdims=True)
    points = np.asarray(np.linalg.solve(drawn.transpose(0, 2, 1), again[:, :, None]), dtype=np.float64)
    resampled = _nearest_shares(points[:, :, 0])
    low, high = np.quantile(resampled, [0.025, 0.975], axis=0)
    n = float((counts.predicted @ member.T).sum())
    for g in range(len(rows)):
        n_effective = _effective(float(q[g]), float(again[:, g].var()), n)
        others = [t for t in range(len(rows)) if t != g]
        mass = shares[others] / max(float(shares[others].sum()), 1e-12)
        false = float(mass @ odds[others, g])
        variance = float((mass**2 * odds[others, g] * (1 - odds[others, g]) / rows[others]).sum())
        negatives = _effective(false, variance, float(rows[others].sum()))
        bound = lang_reiczigel(
            float(q[g]) * n_effective, n_effective, pooled[g, g], rows[g], (1 - false) * negatives, negatives
        )
        # Where the equations leave nothing for a stratum, what one could have missed of it still bounds it above.
        unseen = min(wilson(0, n_effective)[1] / max(float(odds[g, g]) - false, LEAST_GAIN), 1.0)
        low[g], high[g] = min(low[g], bound[0], shares[g]), max(high[g], bound[1], shares[g], unseen)
    return shares, low, high


def _posterior(matrix: Array, shares: Array) -> Array:
    """Per predicted stratum, the shares of the true strata in it: Bayes' rule on the confusion matrix."""
    joint = (matrix / np.maximum(matrix.sum(axis=1, keepdims=True), 1)) * shares[:, None]
    return _rates(joint.T, np.eye(_N))


def _nearest_shares(points: Array) -> Array:
    """Each row's nearest point whose coordinates are 0 or more and sum to 1 (Duchi et al., ICML 2008)."""
    ordered = -np.sort(-points, axis=1)
    excess = ordered.cumsum(axis=1) - 1
    places = np.arange(1, points.shape[1] + 1)
    last = (ordered - excess / places > 0).sum(axis=1)
    offset = excess[np.arange(len(points)), last - 1] / last
    nearest: Array = np.maximum(points - offset[:, None], 0.0)
    return nearest


def _rates(counts: Array, otherwise: Array) -> Array:
    totals = counts.sum(axis=-1, keepdims=True)
    rates: Array = np.where(totals > 0, counts / np.where(totals > 0, totals, 1), otherwise)
    return rates


def _shares(counts: Array) -> Array:
    shares: Array = counts / np.maximum(counts.sum(axis=-1, keepdims=True), 1)
    return shares


def _effective(share: float, variance: float, otherwise: float) -> float:
    """Independent follow-ups that would give `share` this variance."""
    inside = share * (1 - share)
    return inside / variance if variance > 0 and inside > 0 else otherwise


def _wilson_bounds(shares: Array, variances: Array, n: float) -> tuple[tuple[float, float], ...]:
    effective = [_effective(float(p), float(v), n) for p, v in zip(shares, variances, strict=True)]
    return tuple(wilson(float(p) * m, m) for p, m in zip(shares, effective, strict=True))
