"""Which strata a classifier tells apart, by its confusion matrix: those it does not are corrected together or not at all."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from builder.core.mix import Confusion
from builder.core.taxonomy import STRATUM_NAMES

Array = npt.NDArray[np.float64]

LEAST_GAIN = 0.3
"""Sensitivity + specificity - 1 below which a share is not corrected: noise would be multiplied by more than three."""

_N = len(STRATUM_NAMES)


def aligned(confusion: Confusion) -> Array:
    """The matrix in the taxonomy's order; strata that it lacks are rows and columns of zeros."""
    matrix = np.zeros((_N, _N))
    places = [STRATUM_NAMES.index(label) for label in confusion.labels]
    matrix[np.ix_(places, places)] = np.asarray(confusion.matrix, dtype=np.float64)
    return matrix


def gains_of(matrix: Array) -> Array:
    """Sensitivity + specificity - 1 of each stratum against all others; 0 for one that was never tested."""
    rows, columns, hits = matrix.sum(axis=1), matrix.sum(axis=0), np.diag(matrix)
    sensitivity = hits / np.maximum(rows, 1)
    false = (columns - hits) / np.maximum(matrix.sum() - rows, 1)
    return np.where(rows > 0, sensitivity - false, 0.0)


def told_apart(matrix: Array, present: npt.NDArray[np.bool_]) -> list[list[int]]:
    """Groups of strata that the classifier tells apart: the worst joins the one it is most confused with, and again."""
    groups = [[k] for k in range(_N) if present[k]]
    while len(groups) > 1:
        member = np.array([[k in group for k in range(_N)] for group in groups], dtype=np.float64)
        pooled = member @ matrix @ member.T
        gains = gains_of(pooled)
        worst = int(np.argmin(gains))
        if gains[worst] >= LEAST_GAIN:
            break
        odds = pooled / np.maximum(pooled.sum(axis=1, keepdims=True), 1)
        confused = odds[worst] + odds[:, worst]
        confused[worst] = -1
        partner = int(np.argmax(confused))
        joined = sorted(groups[worst] + groups[partner])
        groups = sorted([joined, *(g for n, g in enumerate(groups) if n not in (worst, partner))])
    return groups


def weak_names(matrix: Array) -> str:
    """The strata that the classifier hardly recognises, with sensitivity + specificity - 1."""
    gains = gains_of(matrix)
    tested = (gains < LEAST_GAIN) & (matrix.sum(axis=1) > 0)
    return ", ".join(f"{STRATUM_NAMES[k]} ({gains[k]:.2f})" for k in np.flatnonzero(tested))


def notes_on(groups: Sequence[Sequence[int]], unknown: Sequence[int]) -> tuple[str, ...]:
    """What was not corrected, in words: the split inside a group, and strata that are never recognised."""
    notes = [
        f"correction refused between {' + '.join(STRATUM_NAMES[k] for k in group)}: sensitivity + specificity - 1 is "
        f"below {LEAST_GAIN}; their sum is corrected, its split among them is uncorrected"
        for group in groups
        if len(group) > 1
    ]
    if len(unknown):
        names = ", ".join(STRATUM_NAMES[k] for k in unknown)
        notes.append(
            f"correction refused for {names}: never recognised in the classifier's test; left uncorrected"
        )
    return tuple(notes)
