import pytest

from builder.core.agreement import (
    agreement_to_row,
    cohen_kappa,
    measure_agreement,
    needs_history,
    term_overlap,
)
from builder.core.rows import Row


def test_kappa_of_a_worked_table() -> None:
    # 20 both yes, 5 yes-no, 10 no-yes, 15 both no: p_o = .7, p_e = .5 -> .4
    pairs = [("yes", "yes")] * 20 + [("yes", "no")] * 5 + [("no", "yes")] * 10 + [("no", "no")] * 15
    assert cohen_kappa(pairs) == pytest.approx(0.4)


def test_kappa_is_one_for_readers_who_never_vary_and_nothing_without_follow_ups() -> None:
    assert cohen_kappa([("ordinal", "ordinal")] * 4) == 1.0
    assert cohen_kappa([]) == 0.0


@pytest.mark.parametrize(
    ("first", "second", "overlap"),
    [
        pytest.param(["Dublin", "RPO"], ["Dublin", "RPO"], 1.0, id="the same"),
        pytest.param(["Dublin", "RPO"], ["Dublin"], 2 / 3, id="one is missing"),
        pytest.param(["uptime"], ["uptime commitment"], 1.0, id="one inside the other"),
        pytest.param(["backups"], ["backup"], 1.0, id="plural"),
        pytest.param(["SLA"], ["slate"], 0.0, id="never inside a longer word"),
        pytest.param(["billing"], ["reporting"], 0.0, id="rivals"),
        pytest.param([], [], 1.0, id="both empty"),
        pytest.param(["Dublin"], [], 0.0, id="one empty"),
        pytest.param(["備份"], ["備份頻率"], 1.0, id="a script without spaces"),
    ],
)
def test_term_lists_overlap_as_far_as_their_terms_have_fellows(
    first: list[str], second: list[str], overlap: float
) -> None:
    assert term_overlap(first, second) == pytest.approx(overlap)
    assert term_overlap(second, first) == pytest.approx(overlap)


def test_aliases_are_alternatives() -> None:
    assert term_overlap(["Dublin"], ["eu-west-1"], {"Dublin": ["eu-west-1"]}) == 1.0


def test_history_is_needed_when_there_is_an_antecedent() -> None:
    assert needs_history({"antecedent_turns": [2]}) is True
    assert needs_history({"d_live": 0}) is False
    assert needs_history({"needs_history": True}) is True
    assert needs_history({"reference_type": "pronoun"}) is None


def test_agreement_is_taken_over_the_follow_ups_of_both() -> None:
    first: dict[str, Row] = {
        "a#3": {
            "reference_type": "pronoun",
            "form": "pronoun",
            "antecedent_turns": [2],
            "required_in_rewrite": ["Dublin"],
        },
        "a#5": {
            "reference_type": "standalone",
            "form": "none",
            "antecedent_turns": [],
            "required_in_rewrite": ["RPO"],
        },
        "a#7": {"reference_type": "ordinal", "form": "ordinal", "antecedent_turns": [2]},
    }
    second: dict[str, Row] = {
        "a#3": {
            "reference_type": "pronoun",
            "form": "pronoun",
            "antecedent_turns": [1],
            "required_in_rewrite": ["Dublin"],
        },
        "a#5": {
            "reference_type": "pronoun",
            "form": "pronoun",
            "antecedent_turns": [4],
            "required_in_rewrite": ["RTO"],
        },
    }
    row = agreement_to_row(measure_agreement(first, second))
    assert row == {
        "n": 2,
        "kappa": {"reference_type": 0.0, "form": 0.0, "needs_history": 0.0},
        "antecedent_turns_identical": 0.0,
        "required_overlap": 0.5,
        "forbidden_overlap": 1.0,
    }
