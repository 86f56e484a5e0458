import pytest

from builder.core.records import Reading, Transcript, Turn
from builder.model.training.combine import calibrate
from builder.model.training.examples import Example
from builder.model.training.figures import (
    Told,
    calibration_error,
    confident_third,
    confusion,
    figures,
    kappa,
    precision_recall,
)


def told(gold: str, said_form: str, confidence: float, antecedents: tuple[int, ...] = (2,)) -> Told:
    turns = (Turn(1, "user", "keys?"), Turn(2, "assistant", "Dublin."), Turn(3, "user", "and its RPO?"))
    needs = gold not in ("standalone", "post_pivot_standalone", "not_a_query")
    example = Example(
        "s", Transcript("c", turns), 3, needs, False, False, True, True, None, gold, (2,) if needs else ()
    )
    found = antecedents if said_form != "none" else ()
    return Told(example, Reading(3, 1, True, True, said_form, False, False, found, confidence))


def test_precision_and_recall_of_two_in_three_and_two_in_four() -> None:
    gold, said = "aaaabb", "aabbab"
    assert precision_recall(list(gold), list(said), "a") == {
        "precision": 0.667,
        "recall": 0.5,
        "f1": 0.571,
        "n": 4,
    }


def test_kappa_takes_chance_out_of_agreement() -> None:
    assert kappa(["a", "a", "b", "b"], ["a", "a", "b", "b"]) == 1.0
    assert kappa(["a", "a", "b", "b"], ["a", "b", "a", "b"]) == 0.0


def test_calibration_error_is_the_mean_gap_between_confidence_and_being_right() -> None:
    assert calibration_error([(0.75, True), (0.75, True), (0.75, True), (0.75, False)]) == 0.0
    assert calibration_error([(0.9, True), (0.9, False), (0.3, False), (0.3, False)]) == 0.35


def test_figures_of_three_follow_ups_by_hand() -> None:
    row = figures(
        [told("pronoun", "pronoun", 0.9), told("pronoun", "none", 0.4), told("standalone", "none", 0.8)]
    )
    assert row["needs_history_accuracy"] == 0.667
    assert row["accuracy"] == 0.667
    assert row["d_live_exact_on_dependent"] == 0.5
    assert row["per_stratum"]["pronoun"]["recall"] == 0.5
    assert row["macro_f1"] == 0.667


def test_the_confusion_has_true_strata_in_rows() -> None:
    table = confusion([told("pronoun", "ellipsis", 0.5)])
    row, column = table["labels"].index("pronoun"), table["labels"].index("ellipsis")
    assert table["matrix"][row][column] == 1
    assert sum(map(sum, table["matrix"])) == 1


def test_the_confident_third_is_the_most_confident_third_of_what_was_said() -> None:
    said = [told("standalone", "none", 0.9), told("pronoun", "none", 0.5), told("pronoun", "none", 0.4)]
    assert confident_third(said, "standalone") == 1.0
    assert confident_third(said, "long_range") is None


def test_calibration_lines_rise_and_stay_inside_zero_and_one() -> None:
    said = [("pronoun", n / 200, n % 3 != 0 or n > 150) for n in range(200)]
    for line in calibrate(said).values():
        assert [a for a, _ in line] == sorted(a for a, _ in line)
        assert [b for _, b in line] == sorted(b for _, b in line)
        assert all(0 < b < 1 for _, b in line)


def test_too_few_of_a_stratum_borrow_the_line_of_all() -> None:
    said = [("pronoun", n / 100, n >= 50) for n in range(100)] + [("ordinal", 0.9, False)]
    lines = calibrate(said)
    assert lines["ordinal"] == lines["definite"]
    assert lines["ordinal"] != lines["pronoun"]
    assert lines["pronoun"][0][1] < 0.1 < 0.9 < lines["pronoun"][-1][1]


def test_a_label_for_no_follow_up_is_refused(tmp_path: object) -> None:
    from pathlib import Path

    from builder.core.errors import BuilderError
    from builder.model.training.sources import read_sources

    folder = Path(str(tmp_path))
    (folder / "transcripts.jsonl").write_text(
        '{"conversation_id": "c", "messages": [{"role": "user", "content": "keys?"}]}\n', encoding="utf-8"
    )
    (folder / "labels.jsonl").write_text('{"conversation_id": "c", "turn": 1}\n', encoding="utf-8")
    with pytest.raises(BuilderError, match=r"labels\.jsonl:1: no follow-up at turn 1 of conversation 'c'"):
        read_sources([folder / "labels.jsonl"])
