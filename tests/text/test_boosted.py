from math import exp

import pytest

from builder.text.boosted import load_trees, probabilities, trees_from_json
from builder.text.term_features import FORBIDDEN_FEATURES, REQUIRED_FEATURES

STUMP = {
    "feature": [1, 0, 0],
    "threshold": [2.5, 0.0, 0.0],
    "left": [1, 1, 2],
    "right": [2, 1, 2],
    "value": [0.0, -1.0, 1.0],
}
LEAF = {"feature": [0], "threshold": [0.0], "left": [0], "right": [0], "value": [0.5]}
ROW = {"features": ["a", "b"], "start": 0.25, "depth": 1, "trees": [STUMP, LEAF]}


def test_leaves_of_all_trees_add_up_to_log_odds() -> None:
    found = probabilities(trees_from_json(ROW), [[9.0, 2.5], [0.0, 2.6]])
    expected = [1 / (1 + exp(-(0.25 - 1 + 0.5))), 1 / (1 + exp(-(0.25 + 1 + 0.5)))]
    assert found == pytest.approx(expected, abs=1e-6)


def test_no_rows_give_no_probabilities() -> None:
    assert probabilities(trees_from_json(ROW), []) == []


def test_shipped_trees_take_the_features_that_are_computed() -> None:
    assert load_trees("required_terms").features == REQUIRED_FEATURES
    assert load_trees("forbidden_terms").features == FORBIDDEN_FEATURES
