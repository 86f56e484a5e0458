"""How good the readings are: the figures of the model card, per source, out of fold."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from builder.core.records import Reading
from builder.core.taxonomy import STRATUM_NAMES, d_live, stratum_of
from builder.model.training.examples import Example

_ALONE = ("not_a_query", "post_pivot_standalone", "standalone")
_SURE = ("post_pivot_standalone", "long_range")


@dataclass(frozen=True, slots=True)
class Told:
    """A gold example and what was said about it."""

    example: Example
    reading: Reading

    @property
    def stratum(self) -> str:
        """The stratum that the reading implies."""
        return stratum_of(self.reading)

    @property
    def right(self) -> bool:
        """Whether that is the gold stratum."""
        return self.stratum == self.example.stratum


def figures(told: Sequence[Told]) -> dict[str, Any]:
    """The table of one source; every figure rounded to 3 places."""
    gold = [str(t.example.stratum) for t in told]
    said = [t.stratum for t in told]
    dependent = [t for t in told if t.example.antecedent_turns]
    exact = [
        d_live(t.example.turn, t.example.antecedent_turns or ())
        == d_live(t.reading.turn, t.reading.antecedent_turns)
        for t in dependent
    ]
    per_stratum = {name: precision_recall(gold, said, name) for name in STRATUM_NAMES if name in gold}
    pivots = [bool(t.example.pivot) for t in told]
    return {
        "n_follow_ups": len(told),
        "n_conversations": len({t.example.transcript.id for t in told}),
        "needs_history_accuracy": _mean(
            [(s not in _ALONE) == (g not in _ALONE) for s, g in zip(said, gold, strict=True)]
        ),
        "macro_f1": _mean([row["f1"] for row in per_stratum.values()]),
        "accuracy": _mean([t.right for t in told]),
        "kappa": round(kappa(gold, said), 3),
        "pivot": precision_recall(pivots, [t.reading.pivot for t in told], True),
        "pivot_f1_always_shift": precision_recall(pivots, [True] * len(told), True)["f1"],
        "returns": precision_recall(
            [bool(t.example.returns) for t in told], [t.reading.returns for t in told], True
        ),
        "d_live_exact_on_dependent": _mean(exact),
        "calibration_error": calibration_error([(t.reading.confidence, t.right) for t in told]),
        "confident_third_precision": {name: confident_third(told, name) for name in _SURE},
        "per_stratum": per_stratum,
    }


def precision_recall(gold: Sequence[object], said: Sequence[object], value: object) -> dict[str, Any]:
    """Precision, recall and F1 of one value, with its support."""
    both = sum(g == value and s == value for g, s in zip(gold, said, strict=True))
    n_gold, n_said = sum(g == value for g in gold), sum(s == value for s in said)
    return {
        "precision": round(both / n_said, 3) if n_said else 0.0,
        "recall": round(both / n_gold, 3) if n_gold else 0.0,
        "f1": round(2 * both / (n_gold + n_said), 3) if n_gold + n_said else 0.0,
        "n": n_gold,
    }


def kappa(gold: Sequence[str], said: Sequence[str]) -> float:
    """Cohen's kappa: (observed - expected agreement) / (1 - expected); Cohen, 1960."""
    n = len(gold)
    observed = sum(g == s for g, s in zip(gold, said, strict=True)) / n
    expected = sum(gold.count(name) * said.count(name) for name in set(gold)) / n**2
    return (observed - expected) / (1 - expected) if expected < 1 else 1.0


def calibration_error(pairs: Sequence[tuple[float, bool]], bins: int = 10) -> float:
    """Expected calibration error: mean of |confidence - share right| over equal-width bins, weighted by size."""
    total = 0.0
    for b in range(bins):
        inside = [(c, r) for c, r in pairs if min(int(c * bins), bins - 1) == b]
        if inside:
            total += abs(sum(c for c, _ in inside) - sum(r for _, r in inside))
    return round(total / len(pairs), 3)


def reliability(told: Sequence[Told], bins: int = 10) -> list[dict[str, Any]]:
    """Per bin of confidence: its follow-ups, mean confidence and share right."""
    rows = []
    for b in range(bins):
        inside = [t for t in told if min(int(t.reading.confidence * bins), bins - 1) == b]
        if inside:
            rows.append(
                {
                    "from": b / bins,
                    "n": len(inside),
                    "confidence": _mean([t.reading.confidence for t in inside]),
                    "right": _mean([t.right for t in inside]),
                }
            )
    return rows


def confident_third(told: Sequence[Told], stratum: str) -> float | None:
    """Precision of the most confident third of the follow-ups put into `stratum`; None when there are none."""
    said = sorted(
        (t for t in told if t.stratum == stratum), key=lambda t: (-t.reading.confidence, t.example.id)
    )
    return _mean([t.right for t in said[: -(-len(said) // 3)]]) if said else None


def confusion(told: Sequence[Told]) -> dict[str, Any]:
    """Counts of gold stratum (rows) by predicted stratum (columns)."""
    matrix = np.zeros((len(STRATUM_NAMES), len(STRATUM_NAMES)), int)
    for t in told:
        matrix[STRATUM_NAMES.index(str(t.example.stratum)), STRATUM_NAMES.index(t.stratum)] += 1
    return {
        "labels": list(STRATUM_NAMES),
        "matrix": matrix.tolist(),
        "n_conversations": len({t.example.transcript.id for t in told}),
    }


def by_source(told: Sequence[Told], groups: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """Figures of each source and of each named group of sources."""
    sources = sorted({t.example.source for t in told})
    table = {source: figures([t for t in told if t.example.source == source]) for source in sources}
    for name, members in groups.items():
        inside = [t for t in told if t.example.source in members]
        if inside:
            table[name] = figures(inside)
    return table


def _mean(values: Sequence[float]) -> float:
    return round(float(np.mean(values)), 3) if values else 0.0
