"""Boosted decision trees as plain arrays: read from JSON, applied with numpy."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

WEIGHTS = Path(__file__).resolve().parent.parent / "weights"


@dataclass(frozen=True, slots=True)
class Trees:
    """An ensemble of trees, one row each; a leaf points to itself.

    Attributes:
        features: Names of the inputs, in order.
        start: Log-odds before any tree.
        feature: Input that a node asks for.
        threshold: A value up to it goes left.
        left: Node to the left.
        right: Node to the right.
        value: Log-odds that a leaf adds.
        depth: Steps that reach every leaf.
    """

    features: tuple[str, ...]
    start: float
    feature: NDArray[np.int64]
    threshold: NDArray[np.float64]
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    value: NDArray[np.float64]
    depth: int


def trees_from_json(row: dict[str, Any]) -> Trees:
    """Trees from {features, start, depth, trees: [{feature, threshold, left, right, value}]}."""
    width = max(len(tree["value"]) for tree in row["trees"])
    parts = {
        name: np.array([tree[name] + [0] * (width - len(tree[name])) for tree in row["trees"]])
        for name in ("feature", "threshold", "left", "right", "value")
    }
    return Trees(
        tuple(row["features"]),
        float(row["start"]),
        parts["feature"].astype(np.int64),
        parts["threshold"].astype(np.float64),
        parts["left"].astype(np.int64),
        parts["right"].astype(np.int64),
        parts["value"].astype(np.float64),
        int(row["depth"]),
    )


@lru_cache(maxsize=8)
def load_trees(name: str) -> Trees:
    """The shipped trees of that name ("required_terms", "forbidden_terms")."""
    return trees_from_json(json.loads((WEIGHTS / f"{name}.json").read_text(encoding="utf-8")))


def probabilities(trees: Trees, rows: Sequence[Sequence[float]]) -> list[float]:
    """The probability for each row of inputs: 1 / (1 + exp(-(start + sum of the leaves reached))).

    Rounded to 6 places, so that no machine's last digit decides.
    Source: Friedman, Greedy function approximation: a gradient boosting machine, Annals of Statistics 2001.
    """
    if not rows:
        return []
    inputs = np.asarray(rows, dtype=np.float64)
    width = trees.value.shape[1]
    # Nodes and inputs are addressed by one flat number each: a third of the time of two-dimensional look-ups.
    roots = np.arange(len(trees.value), dtype=np.int64) * width
    bases = (np.arange(len(inputs), dtype=np.int64) * inputs.shape[1])[:, None]
    feature, threshold = trees.feature.ravel(), trees.threshold.ravel()
    left, right, flat = trees.left.ravel(), trees.right.ravel(), inputs.ravel()
    node = np.broadcast_to(roots, (len(inputs), len(roots)))
    for _ in range(trees.depth):
        goes_left = flat.take(feature.take(node) + bases) <= threshold.take(node)
        node = np.where(goes_left, left.take(node), right.take(node)) + roots
    total = trees.start + trees.value.ravel().take(node).sum(axis=1)
    return [round(float(p), 6) for p in 1 / (1 + np.exp(-total))]
