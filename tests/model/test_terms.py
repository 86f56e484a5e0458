import numpy as np
import pytest

from builder.model.training.terms import fit, fold_of, is_part, readings_of, to_row
from builder.text.boosted import probabilities, trees_from_json


def test_exported_trees_give_the_fitted_models_probabilities() -> None:
    numbers = np.random.default_rng(5).normal(size=(400, 4)).round(3)
    truth = numbers[:, 0] + numbers[:, 1] * numbers[:, 2] > 0
    model = fit(numbers, truth)
    exported = trees_from_json(to_row(model, ("a", "b", "c", "d")))
    expected = model.predict_proba(numbers)[:, 1]
    assert probabilities(exported, numbers.tolist()) == pytest.approx(expected.tolist(), abs=2e-3)


@pytest.mark.parametrize(
    ("word", "terms", "expected"),
    [
        ("export", ["billing export"], True),
        ("exports", ["billing export"], True),
        ("report", ["billing export"], False),
        ("居民停车证一年", ["停车证"], True),
        ("车", ["停车证"], False),
    ],
)
def test_a_word_is_part_of_a_term_by_its_words_or_characters(
    word: str, terms: list[str], expected: bool
) -> None:
    assert is_part(word, terms) is expected


def test_writers_of_one_log_are_left_out_together() -> None:
    sources = ["labels-a", "labels-b", "travel", "retail"]
    assert fold_of("labels-a", sources) == fold_of("labels-b", sources)


def test_equal_subjects_are_one_thread() -> None:
    rows = [
        {"turn": turn, "subject": subject, "pivot": pivot, "returns": returns, "form": "none"}
        | {"antecedent_turns": [], "reference_type": "standalone"}
        for turn, subject, pivot, returns in (
            (3, "keys", False, False),
            (5, "billing", True, False),
            (7, "keys", True, True),
        )
    ]
    assert [reading.thread for _, reading in readings_of(rows)] == [1, 5, 1]
