"""How often does each stratum occur in production? Shares and intervals that stay right with a classifier that errs."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from builder.core.apportion import largest_remainder
from builder.core.errors import BuilderError, unknown_name
from builder.core.mix import Confusion, Mix, Share
from builder.core.records import FollowUp
from builder.core.settings import MeasureSettings
from builder.core.taxonomy import STRATUM_NAMES, right_windows
from builder.model.correction import (
    Array,
    Counts,
    Estimate,
    count_by_conversation,
    inverted,
    plain,
    resample_weights,
    second_labels_to_halve,
    two_phase,
)

METHODS = ("auto", "two_phase", "rogan_gladen", "uncorrected")
_MILLION = 1_000_000
Table = tuple[tuple[str, str, int], ...]


def measure_mix(
    follow_ups: Sequence[FollowUp],
    settings: MeasureSettings,
    seed: int,
    confusion: Confusion | None = None,
    second: Mapping[str, FollowUp | str] | None = None,
) -> Mix:
    """The mix: every stratum's share of the follow-ups with a 95% interval, corrected for the classifier's error.

    Methods: `labels` (people labelled every follow-up), `two_phase` (second labels on a random part of each predicted
    stratum), `rogan_gladen` (the classifier's confusion matrix), `uncorrected` (plain counting). Intervals come from
    resampling whole conversations, since the follow-ups of one are alike: Wilson's, at the number of independent
    follow-ups with the same variance. Synthetic follow-ups are never part of the mix.

    Args:
        follow_ups: Follow-ups with the classifier's labels (or people's, where people labelled all).
        settings: Method and number of resamples.
        seed: Seed of the resampling.
        confusion: The classifier's confusion matrix, from its card.
        second: Second label (a follow-up or its stratum) by follow-up id, for a random part of each predicted stratum.

    Raises:
        BuilderError: There are no follow-ups, or the method asked for cannot be used.
    """
    real = [f for f in follow_ups if f.origin == "sampled"]
    if not real:
        raise BuilderError(
            "mix", "no follow-ups to measure (0)", "give transcripts with two or more user turns"
        )
    ids = {f.id for f in real}
    labels = {
        key: label if isinstance(label, str) else label.reference_type
        for key, label in (second or {}).items()
        if key in ids
    }
    counts = count_by_conversation(real, labels, seed)
    weights = resample_weights(len(counts.predicted), settings.resamples, seed)
    method = _method(settings.correction, real, labels, confusion)
    machine = [f for f in real if f.labelled_by != "human"]
    more = None
    if method in ("rogan_gladen", "two_phase") and 0 < len(machine) < len(real):
        method, estimate = _beside_people(real, machine, method, settings, confusion, labels, seed)
    else:
        method, estimate = _estimate(method, settings.correction, counts, weights, confusion, seed)
        if method in ("rogan_gladen", "two_phase"):
            more = second_labels_to_halve(counts, weights, estimate)
    return Mix(
        _rounded(counts, estimate),
        len(real),
        counts.n_conversations,
        method,
        cross_tables(real),
        estimate.notes,
        more,
    )


def _method(
    asked: str, follow_ups: Sequence[FollowUp], labels: Mapping[str, str], confusion: Confusion | None
) -> str:
    if asked not in METHODS:
        raise unknown_name("[measure] correction", "method", asked, METHODS)
    if asked == "two_phase" and not labels:
        raise BuilderError(
            "[measure] correction",
            "two_phase needs second labels (0)",
            "set [adjudicate] source, or use auto",
        )
    if asked == "rogan_gladen" and confusion is None:
        raise BuilderError(
            "[measure] correction",
            "rogan_gladen needs a model card with a confusion matrix",
            "use auto or uncorrected",
        )
    if asked != "auto":
        return asked
    if labels:
        return "two_phase"
    if all(f.labelled_by == "human" for f in follow_ups):
        return "labels"
    return "rogan_gladen" if confusion else "uncorrected"


def _estimate(
    method: str, asked: str, counts: Counts, weights: Array, confusion: Confusion | None, seed: int
) -> tuple[str, Estimate]:
    """The method that was used in the end, and its estimate."""
    if method == "two_phase":
        return method, two_phase(counts, weights)
    refusal = ""
    if method == "rogan_gladen" and confusion is not None:
        found = inverted(counts, weights, confusion, seed)
        if isinstance(found, Estimate):
            return method, found
        if asked == "rogan_gladen":
            what, _, fix = found.partition("; ")
            raise BuilderError("[measure] correction", what, fix)
        refusal = found
    estimate = plain(counts, weights)
    if method == "labels":
        return method, estimate
    notes = (refusal,) if refusal else ()
    return "uncorrected", Estimate(estimate.shares, estimate.bounds, estimate.rates, notes)


def _beside_people(
    follow_ups: Sequence[FollowUp],
    machine: Sequence[FollowUp],
    method: str,
    settings: MeasureSettings,
    confusion: Confusion | None,
    labels: Mapping[str, str],
    seed: int,
) -> tuple[str, Estimate]:
    """Labels by people as they are, the classifier's corrected, in proportion; bounds in proportion too (on the wide side)."""
    people = [f for f in follow_ups if f.labelled_by == "human"]
    counts = count_by_conversation(machine, labels, seed)
    weights = resample_weights(len(counts.predicted), settings.resamples, seed)
    method, corrected = _estimate(method, settings.correction, counts, weights, confusion, seed)
    known = count_by_conversation(people, {}, seed)
    told = plain(known, resample_weights(len(known.predicted), settings.resamples, seed))
    part = len(people) / len(follow_ups)
    bounds = tuple(
        (part * a + (1 - part) * c, part * b + (1 - part) * d)
        for (a, b), (c, d) in zip(told.bounds, corrected.bounds, strict=True)
    )
    note = f"{len(people)} of {len(follow_ups)} follow-ups have labels by people, which are taken as they are"
    shares = part * told.shares + (1 - part) * corrected.shares
    return method, Estimate(shares, bounds, corrected.rates, (*corrected.notes, note))


def _rounded(counts: Counts, estimate: Estimate) -> tuple[Share, ...]:
    """Shares in whole millionths that sum to 1, with bounds around them."""
    millionths = largest_remainder([max(float(share), 0.0) for share in estimate.shares], _MILLION)
    counted = counts.predicted.sum(axis=0)
    shares = []
    for k, (name, (low, high)) in enumerate(zip(STRATUM_NAMES, estimate.bounds, strict=True)):
        share = millionths[k] / _MILLION
        shares.append(
            Share(name, int(counted[k]), share, min(round(low, 6), share), max(round(high, 6), share))
        )
    return tuple(shares)


def _reach(follow_up: FollowUp) -> str:
    ends = ((0, "0"), (1, "1"), (3, "2-3"), (7, "4-7"))
    return next((name for end, name in ends if follow_up.d_live <= end), "8+")


def _yes(name: str, holds: bool) -> str:
    return name if holds else f"not {name}"


FACETS: dict[str, Callable[[FollowUp], tuple[str, str]]] = {
    "long_range x returns": lambda f: (
        _yes("long_range", f.reference_type == "long_range"),
        _yes("returns", f.returns),
    ),
    "form x d_live": lambda f: (f.form, _reach(f)),
    "pivot x needs history": lambda f: (_yes("pivot", f.pivot), _yes("needs history", f.d_live > 0)),
    "windows x needs history": lambda f: (
        right_windows(f.d_live, f.d_stale).verdict,
        _yes("needs history", f.d_live > 0),
    ),
}
"""Cross-tables by name: the row and the column of a follow-up. Windows: some window is right, or none because the
stale term sits in the antecedent's own turn (same_turn) or nearer than the antecedent (nearer_stale)."""


def cross_tables(follow_ups: Sequence[FollowUp]) -> tuple[tuple[str, Table], ...]:
    """Counts of follow-ups by two facets at a time, as classified; follow-ups that are no items are left out."""
    queries = [f for f in follow_ups if f.reference_type not in ("not_a_query", "unresolvable")]
    tables = []
    for name, place in FACETS.items():
        found = Counter(place(f) for f in queries)
        tables.append((name, tuple((row, column, found[row, column]) for row, column in sorted(found))))
    return tuple(tables)
