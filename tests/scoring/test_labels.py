from typing import Any
from xml.etree import ElementTree

import pytest

from builder.scoring.heat_map import heat_map
from builder.scoring.labels import MISSING, confusion_table, evaluate_labels, scores_to_row

Row = dict[str, Any]


def label(stratum: str, antecedents: list[int], turn: int = 7, **values: object) -> Row:
    return {
        "reference_type": stratum,
        "form": "none" if not antecedents else "pronoun",
        "pivot": stratum == "post_pivot_standalone",
        "returns": False,
        "antecedent_turns": antecedents,
        "d_live": turn - min(antecedents) if antecedents else 0,
        "d_stale": None,
        "required_in_rewrite": ["Dublin"],
        "forbidden_in_rewrite": [],
        **values,
    }


GOLD = {
    "a#7": label("pronoun", [6]),
    "b#7": label("pronoun", [6]),
    "c#7": label("standalone", []),
    "d#7": label("post_pivot_standalone", [], forbidden_in_rewrite=["RPO"]),
    "e#7": label("long_range", [2]),
}
PREDICTED = {
    "a#7": label("pronoun", [6], confidence=0.9),
    "b#7": label("standalone", [], confidence=0.6),
    "c#7": label("standalone", [], confidence=0.8),
    "d#7": label("post_pivot_standalone", [], forbidden_in_rewrite=["RPO"], confidence=0.7),
    "f#7": label("ordinal", [6], confidence=0.7),
}


def test_every_figure_of_a_small_labelling_worked_by_hand() -> None:
    scores = evaluate_labels(GOLD, PREDICTED)
    assert (scores.n, scores.n_missing, scores.n_extra) == (5, 1, 1)
    # F1: pivot 1, long_range 0 (no label), pronoun 2/3, standalone 2/3.
    assert scores.figure("macro_f1") == pytest.approx((1 + 0 + 2 / 3 + 2 / 3) / 4, abs=1e-4)
    assert scores.figure("accuracy") == 0.6
    assert scores.figure("needs_history_accuracy") == 0.6
    assert scores.figure("pivot_f1") == 1.0
    # One pivot in five: always saying so has precision .2, recall 1.
    assert scores.figure("pivot_f1_always_shift") == pytest.approx(1 / 3, abs=1e-4)
    assert scores.figure("d_live_exact") == pytest.approx(1 / 3, abs=1e-4)
    assert scores.figure("last_antecedent_exact") == pytest.approx(1 / 3, abs=1e-4)
    assert scores.figure("long_range_recall") == 0.0
    assert scores.figure("required_overlap") == 0.8
    # Gold shares .4 .2 .2 .2 against .2 .4 .2 .0 (and one without a label): (.2 + .2 + .2 + .2) / 2
    assert scores.figure("mix_error") == 0.4


def test_a_stratum_that_was_never_predicted_has_no_precision_but_counts() -> None:
    long_range = next(s for s in evaluate_labels(GOLD, PREDICTED).strata if s.reference_type == "long_range")
    assert (long_range.n_gold, long_range.n_predicted, long_range.precision, long_range.f1) == (
        1,
        0,
        0.0,
        0.0,
    )


def test_a_missing_label_has_its_column_in_the_confusion() -> None:
    table = confusion_table(evaluate_labels(GOLD, PREDICTED))
    assert table["labels"] == ["post_pivot_standalone", "long_range", "pronoun", "standalone", MISSING]
    assert table["matrix"] == [
        [1, 0, 0, 0, 0],
        [0, 0, 0, 0, 1],
        [0, 0, 1, 1, 0],
        [0, 0, 0, 1, 0],
        [0, 0, 0, 0, 0],
    ]


def test_confidence_that_is_right_half_the_time_at_ninety_percent_is_off_by_forty_points() -> None:
    gold = {f"a#{n}": label("pronoun", [6]) for n in range(10)}
    said = {f"a#{n}": label("pronoun" if n % 2 else "ellipsis", [6], confidence=0.9) for n in range(10)}
    scores = evaluate_labels(gold, said)
    assert scores.figure("calibration_error") == pytest.approx(0.4)
    assert scores.reliability == ((0.9, 0.5, 10),)


def test_without_confidences_there_is_no_calibration_error() -> None:
    assert evaluate_labels(GOLD, GOLD).figure("calibration_error") is None


def test_a_perfect_labelling_scores_one_everywhere() -> None:
    row = scores_to_row(evaluate_labels(GOLD, GOLD))
    for name in (
        "macro_f1",
        "kappa",
        "needs_history_accuracy",
        "pivot_f1",
        "d_live_exact",
        "required_overlap",
    ):
        assert row[name] == 1.0
    assert row["mix_error"] == 0.0


def test_a_partial_gold_label_is_scored_on_what_it_says() -> None:
    # CAsT says which turns are needed, and nothing of form or stratum.
    gold: dict[str, Row] = {"31_4#7": {"antecedent_turns": [3]}, "31_5#9": {"needs_history": False}}
    said = {"31_4#7": label("pronoun", [3]), "31_5#9": label("standalone", [])}
    scores = evaluate_labels(gold, said)
    assert scores.figure("needs_history_accuracy") == 1.0
    assert scores.figure("last_antecedent_exact") == 1.0
    assert scores.figure("macro_f1") is None
    assert scores.figure("pivot_f1") is None
    assert scores.strata == ()


def test_the_surest_third_is_scored_by_itself() -> None:
    gold = {f"a#{n}": label("ordinal" if n < 3 else "definite", [6]) for n in range(9)}
    said = {f"a#{n}": label("ordinal", [6], confidence=0.9 - n / 20) for n in range(9)}
    ordinal = next(s for s in evaluate_labels(gold, said).strata if s.reference_type == "ordinal")
    assert ordinal.precision == pytest.approx(1 / 3, abs=1e-4)
    assert ordinal.confident_precision == 1.0


def test_the_heat_map_is_well_formed_and_says_each_cell_in_words() -> None:
    svg = heat_map(["pronoun", "a<b"], [[3, 1], [0, 0]])
    root = ElementTree.fromstring(svg)
    titles = [node.text for node in root.iter("{http://www.w3.org/2000/svg}title")]
    assert titles[:2] == ["3 of 4 pronoun predicted pronoun", "1 of 4 pronoun predicted a<b"]
