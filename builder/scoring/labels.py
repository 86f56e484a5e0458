"""How good is a classifier? Its labels beside known ones, follow-up by follow-up."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from builder.core.agreement import cohen_kappa, needs_history, overlap_of_rows
from builder.core.rows import Row
from builder.core.taxonomy import LONG_RANGE, STRATUM_NAMES

MISSING = "(none)"
"""The column of follow-ups that the classifier gave no label; it counts as wrong."""

_BINS = 10
Pairs = Sequence[tuple[Row, Row]]


@dataclass(frozen=True, slots=True)
class StratumScore:
    """Precision, recall and F1 of one stratum.

    Attributes:
        reference_type: The stratum.
        n_gold: Follow-ups that belong in it.
        n_predicted: Follow-ups that the classifier put in it.
        precision: Of the predicted ones, the part that belongs there (0 when none was predicted).
        recall: Of those that belong there, the part predicted.
        f1: Their harmonic mean.
        confident_precision: Precision of the third of the predicted ones with the highest confidence; None without
            confidences.
    """

    reference_type: str
    n_gold: int
    n_predicted: int
    precision: float
    recall: float
    f1: float
    confident_precision: float | None


@dataclass(frozen=True, slots=True)
class LabelScores:
    """A classifier's quality against known labels.

    Attributes:
        n: Follow-ups with a known label.
        n_missing: Of them, those that the classifier gave no label.
        n_extra: Labels of the classifier for follow-ups without a known one; left out.
        strata: Per stratum that occurs on either side, in the taxonomy's order.
        confusion: (true stratum, predicted stratum, count), only counts above 0.
        figures: (name, value) of every single figure, in the order of `FIGURES`; None where nothing is known.
        reliability: Per bin of confidence with follow-ups in it: (mean confidence, share right, count).
    """

    n: int
    n_missing: int
    n_extra: int
    strata: tuple[StratumScore, ...]
    confusion: tuple[tuple[str, str, int], ...]
    figures: tuple[tuple[str, float | None], ...]
    reliability: tuple[tuple[float, float, int], ...]

    def figure(self, name: str) -> float | None:
        """One figure by name."""
        return dict(self.figures)[name]


def evaluate_labels(gold: Mapping[str, Row], predicted: Mapping[str, Row]) -> LabelScores:
    """Scores of `predicted` against `gold`, both label rows by follow-up id.

    A known label may be partial: each figure is taken over the follow-ups whose known label has what it needs. A
    follow-up without a predicted label counts as wrong everywhere, so a mean never loses a case.
    """
    pairs = [(gold[name], predicted.get(name, {})) for name in sorted(gold)]
    typed = [(g, p) for g, p in pairs if g.get("reference_type")]
    confusion = Counter((g["reference_type"], p.get("reference_type") or MISSING) for g, p in typed)
    places = {name: place for place, name in enumerate((*STRATUM_NAMES, MISSING))}
    return LabelScores(
        n=len(pairs),
        n_missing=sum(not p for _, p in pairs),
        n_extra=len(predicted.keys() - gold.keys()),
        strata=_strata(typed),
        confusion=tuple(
            (true, said, confusion[true, said])
            for true, said in sorted(confusion, key=lambda cell: (places[cell[0]], places[cell[1]]))
        ),
        figures=tuple((name, _rounded(figure(pairs))) for name, figure in FIGURES.items()),
        reliability=_reliability(typed),
    )


def _strata(typed: Pairs) -> tuple[StratumScore, ...]:
    """Precision, recall and F1 by scikit-learn, 0 where they are not defined."""
    if not typed:
        return ()
    from sklearn.metrics import precision_recall_fscore_support

    true = [g["reference_type"] for g, _ in typed]
    said = [p.get("reference_type") or MISSING for _, p in typed]
    names = [name for name in STRATUM_NAMES if name in true or name in said]
    table = precision_recall_fscore_support(true, said, labels=names, zero_division=0)
    return tuple(
        StratumScore(
            name,
            int(table[3][row]),
            said.count(name),
            round(float(table[0][row]), 4),
            round(float(table[1][row]), 4),
            round(float(table[2][row]), 4),
            _confident_precision(typed, name),
        )
        for row, name in enumerate(names)
    )


def _confident_precision(typed: Pairs, name: str) -> float | None:
    said = [(g, p) for g, p in typed if p.get("reference_type") == name]
    if not said or any(p.get("confidence") is None for _, p in said):
        return None
    said.sort(key=lambda pair: -float(pair[1]["confidence"]))
    third = said[: max(1, len(said) // 3)]
    return round(sum(bool(g["reference_type"] == name) for g, _ in third) / len(third), 4)


def _macro_f1(pairs: Pairs) -> float | None:
    """Mean F1 over the strata that occur in either labelling."""
    scores = [score.f1 for score in _strata([(g, p) for g, p in pairs if g.get("reference_type")])]
    return sum(scores) / len(scores) if scores else None


def _accuracy(value: Callable[[Row], object], dependent: bool = False) -> Callable[[Pairs], float | None]:
    """Share of follow-ups where both sides have the same value, over those whose known label has one."""

    def share(pairs: Pairs) -> float | None:
        known = [
            (value(g), value(p))
            for g, p in pairs
            if value(g) is not None and (not dependent or needs_history(g))
        ]
        return sum(a == b for a, b in known) / len(known) if known else None

    return share


def _kappa(field: str) -> Callable[[Pairs], float | None]:
    def kappa(pairs: Pairs) -> float | None:
        known = [(g[field], p.get(field)) for g, p in pairs if g.get(field) is not None]
        return cohen_kappa(known) if known else None

    return kappa


def _found(holds: Callable[[Row], bool | None], which: str) -> Callable[[Pairs], float | None]:
    """Precision, recall or F1 of a yes-or-no property; `which` may be always: F1 of always saying yes."""

    def score(pairs: Pairs) -> float | None:
        known = [(bool(holds(g)), bool(holds(p))) for g, p in pairs if holds(g) is not None]
        if not known:
            return None
        if which == "always":
            known = [(true, True) for true, _ in known]
        hits = sum(a and b for a, b in known)
        n_true, n_said = sum(a for a, _ in known), sum(b for _, b in known)
        if which == "precision":
            return hits / n_said if n_said else 0.0
        if which == "recall":
            return hits / n_true if n_true else 0.0
        return 2 * hits / (n_true + n_said) if n_true + n_said else 0.0

    return score


def _overlap(field: str) -> Callable[[Pairs], float | None]:
    def overlap(pairs: Pairs) -> float | None:
        known = [(g, p) for g, p in pairs if g.get(field) is not None]
        return (
            sum(overlap_of_rows(g, p, field) if p else 0.0 for g, p in known) / len(known) if known else None
        )

    return overlap


def _mix_error(pairs: Pairs) -> float | None:
    """Total variation between the two mixes: half the sum of the absolute differences of the shares."""
    typed = [(g["reference_type"], p.get("reference_type")) for g, p in pairs if g.get("reference_type")]
    true, said = Counter(a for a, _ in typed), Counter(b for _, b in typed)
    return sum(abs(true[name] - said[name]) for name in {*true, *said}) / 2 / len(typed) if typed else None


def _calibration_error(pairs: Pairs) -> float | None:
    """Expected calibration error: mean over follow-ups of |confidence - share right| of its bin, ten equal bins."""
    bins = _reliability([(g, p) for g, p in pairs if g.get("reference_type")])
    total = sum(n for _, _, n in bins)
    return sum(n * abs(confidence - right) for confidence, right, n in bins) / total if total else None


def _reliability(typed: Pairs) -> tuple[tuple[float, float, int], ...]:
    bins: dict[int, list[tuple[float, bool]]] = {}
    for g, p in typed:
        if p.get("confidence") is not None:
            place = min(int(p["confidence"] * _BINS), _BINS - 1)
            bins.setdefault(place, []).append(
                (p["confidence"], p.get("reference_type") == g["reference_type"])
            )
    return tuple(
        (
            round(sum(c for c, _ in inside) / len(inside), 4),
            round(sum(right for _, right in inside) / len(inside), 4),
            len(inside),
        )
        for _, inside in sorted(bins.items())
    )


def _last_antecedent(row: Row) -> int | None:
    return max(row["antecedent_turns"], default=0) if row.get("antecedent_turns") is not None else None


def _antecedents(row: Row) -> frozenset[int] | None:
    return frozenset(row["antecedent_turns"]) if row.get("antecedent_turns") is not None else None


def _d_stale_exact(pairs: Pairs) -> float | None:
    """Share of follow-ups with the same `d_stale`, no stale term included."""
    known = [g["d_stale"] == p.get("d_stale", MISSING) for g, p in pairs if "d_stale" in g]
    return sum(known) / len(known) if known else None


def _is_long_range(row: Row) -> bool | None:
    return None if row.get("d_live") is None else row["d_live"] >= LONG_RANGE


def _says(field: str) -> Callable[[Row], bool | None]:
    return lambda row: row.get(field)


FIGURES: dict[str, Callable[[Pairs], float | None]] = {
    "macro_f1": _macro_f1,
    "accuracy": _accuracy(lambda row: row.get("reference_type")),
    "kappa": _kappa("reference_type"),
    "mix_error": _mix_error,
    "needs_history_accuracy": _accuracy(needs_history),
    "pivot_precision": _found(_says("pivot"), "precision"),
    "pivot_recall": _found(_says("pivot"), "recall"),
    "pivot_f1": _found(_says("pivot"), "f1"),
    "pivot_f1_always_shift": _found(_says("pivot"), "always"),
    "returns_precision": _found(_says("returns"), "precision"),
    "returns_recall": _found(_says("returns"), "recall"),
    "returns_f1": _found(_says("returns"), "f1"),
    "form_accuracy": _accuracy(lambda row: row.get("form")),
    "d_live_exact": _accuracy(lambda row: row.get("d_live"), dependent=True),
    "antecedents_exact": _accuracy(_antecedents, dependent=True),
    "last_antecedent_exact": _accuracy(_last_antecedent, dependent=True),
    "d_stale_exact": _d_stale_exact,
    "long_range_precision": _found(_is_long_range, "precision"),
    "long_range_recall": _found(_is_long_range, "recall"),
    "required_overlap": _overlap("required_in_rewrite"),
    "forbidden_overlap": _overlap("forbidden_in_rewrite"),
    "calibration_error": _calibration_error,
}
"""Every single figure by name. "exact" figures of distances and antecedents are over follow-ups that need history."""


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def scores_to_row(scores: LabelScores) -> Row:
    """Scores as a JSON object."""
    return {
        "n": scores.n,
        "n_missing": scores.n_missing,
        "n_extra": scores.n_extra,
        **dict(scores.figures),
        "strata": {
            s.reference_type: {
                "n_gold": s.n_gold,
                "n_predicted": s.n_predicted,
                "precision": s.precision,
                "recall": s.recall,
                "f1": s.f1,
                "confident_precision": s.confident_precision,
            }
            for s in scores.strata
        },
        "confusion": confusion_table(scores),
        "reliability": [list(row) for row in scores.reliability],
    }


def confusion_table(scores: LabelScores) -> Row:
    """The confusion matrix as {labels, matrix}: rows are true strata, columns predicted ones, in the taxonomy's order."""
    used = {name for true, said, _ in scores.confusion for name in (true, said)}
    labels = [name for name in (*STRATUM_NAMES, MISSING) if name in used]
    counts = {(true, said): n for true, said, n in scores.confusion}
    return {"labels": labels, "matrix": [[counts.get((a, b), 0) for b in labels] for a in labels]}
