import pytest

from builder.core.errors import BuilderError
from builder.core.taxonomy import ITEM_STRATA
from builder.scoring.gate import Gate, Rule, Verdict, gate_from_toml, judge_gate, passes
from builder.scoring.outcomes import Outcome
from tests.scoring.sample import outcome, outcomes_of


def verdict(gate: Gate, outcomes: list[Outcome], baseline: list[Outcome] | None = None) -> Verdict:
    (found,) = judge_gate(gate, outcomes, baseline)
    return found


def one(
    limit: str, value: float, metric: str = "recall", group: str = "pronoun", passes: bool = False
) -> Gate:
    return Gate((Rule(group, metric, limit, value),), undecided_passes=passes)


def contaminated(k: int, n: int) -> list[Outcome]:
    return [outcome(f"i{at:03}", contamination=float(at < k)) for at in range(n)]


# Wilson by hand (95%): 45/50 is 0.786 to 0.957; 30/50 is 0.462 to 0.724; 2/50 is 0.011 to 0.135.
@pytest.mark.parametrize(
    ("gate", "outcomes", "expected"),
    [
        (one("floor", 0.78), outcomes_of("pronoun", 45, 50), "pass"),
        (one("floor", 0.79), outcomes_of("pronoun", 45, 50), "too few to tell"),
        (one("floor", 0.96), outcomes_of("pronoun", 45, 50), "fail"),
        (one("floor", 0.70), outcomes_of("pronoun", 30, 50), "too few to tell"),
        (one("floor", 0.73), outcomes_of("pronoun", 30, 50), "fail"),
        (one("ceiling", 0.14, "contamination"), contaminated(2, 50), "pass"),
        (one("ceiling", 0.13, "contamination"), contaminated(2, 50), "too few to tell"),
        (one("ceiling", 0.01, "contamination"), contaminated(2, 50), "fail"),
        (one("floor", 0.5), outcomes_of("pronoun", 3, 3), "too few to tell"),
    ],
)
def test_a_level_is_judged_by_its_whole_interval(gate: Gate, outcomes: list[Outcome], expected: str) -> None:
    assert verdict(gate, outcomes).verdict == expected


# Bonett and Price by hand for 100 items, 5 lost and none won: d = (1 - 6) / 102, half width 0.0495.
@pytest.mark.parametrize(
    ("lost", "limit", "expected"),
    [(0, 0.10, "pass"), (5, 0.10, "pass"), (5, 0.05, "too few to tell"), (48, 0.30, "fail"), (48, 0.45, "too few to tell")],
)  # fmt: skip
def test_a_drop_is_judged_for_non_inferiority(lost: int, limit: float, expected: str) -> None:
    before = outcomes_of("pronoun", 79, 100)
    after = outcomes_of("pronoun", 79 - lost, 100)
    assert verdict(one("largest_drop", limit), after, before).verdict == expected


def test_no_change_on_a_handful_of_items_does_not_pass() -> None:
    run = outcomes_of("pronoun", 4, 4)
    assert verdict(one("largest_drop", 0.1), run, run).verdict == "too few to tell"


def test_a_rise_of_contamination_is_judged_like_a_drop_of_recall() -> None:
    gate = one("largest_rise", 0.1, "contamination")
    assert verdict(gate, contaminated(40, 100), contaminated(5, 100)).verdict == "fail"
    assert verdict(gate, contaminated(5, 100), contaminated(5, 100)).verdict == "pass"


def test_items_of_one_conversation_are_worth_fewer() -> None:
    apart = [outcome(f"i{at:03}", "pronoun", recall=float(at < 90)) for at in range(100)]
    together = [outcome(f"i{at:03}", "pronoun", f"c{at // 10}", recall=float(at < 90)) for at in range(100)]
    assert verdict(one("floor", 0.8), apart).verdict == "pass"
    assert verdict(one("floor", 0.8), together).verdict == "too few to tell"


def test_undecided_blocks_unless_the_file_lets_it_through() -> None:
    few = outcomes_of("pronoun", 3, 3)
    assert not passes(judge_gate(one("floor", 0.5), few))
    assert passes(judge_gate(one("floor", 0.5, passes=True), few))


def test_a_stratum_without_items_cannot_be_told() -> None:
    found = verdict(one("floor", 0.5, group="ordinal"), outcomes_of("pronoun", 9, 9))
    assert (found.verdict, found.n, found.blocks) == ("too few to tell", 0, True)


def test_a_mean_that_holds_does_not_save_a_ruined_stratum() -> None:
    before = outcomes_of("pronoun", 240, 400) + outcomes_of("long_range", 40, 50)
    after = outcomes_of("pronoun", 290, 400) + outcomes_of("long_range", 15, 50)
    rules = (Rule("all", "recall", "largest_drop", 0.05), Rule("long_range", "recall", "largest_drop", 0.05))
    assert [v.verdict for v in judge_gate(Gate(rules), after, before)] == ["pass", "fail"]


def test_a_change_without_a_baseline_is_misuse() -> None:
    with pytest.raises(BuilderError, match="need a baseline; give --baseline RUN") as caught:
        judge_gate(one("largest_drop", 0.1), outcomes_of("pronoun", 1, 2))
    assert caught.value.code == 2


def test_each_is_spelled_out_over_the_strata() -> None:
    gate = gate_from_toml({"each": {"recall": {"floor": 0.5}}}, "gate.toml")
    assert [rule.group for rule in gate.rules] == list(ITEM_STRATA)


def test_a_gate_file_is_read_whole() -> None:
    gate = gate_from_toml(
        {
            "k": 10,
            "confidence": 0.9,
            "undecided": "passes",
            "all": {"recall": {"largest_drop": 0.02}},
            "strata": {"long_range": {"recall": {"floor": 0.6}}},
        },
        "gate.toml",
    )
    assert gate == Gate(
        (Rule("all", "recall", "largest_drop", 0.02), Rule("long_range", "recall", "floor", 0.6)),
        0.9,
        True,
        10,
    )


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({}, "gate.toml: no rule in the gate file"),
        ({"strat": {}}, 'gate.toml: unknown key "strat"; did you mean strata'),
        ({"strata": {"long-range": {"recall": {"floor": 0.1}}}}, 'unknown stratum "long-range"; did you mean long_range'),
        ({"each": {"recal": {"floor": 0.1}}}, r'gate.toml: \[each\]: unknown metric "recal"; did you mean recall'),
        ({"each": {"recall": {"flor": 0.1}}}, 'unknown limit "flor"; did you mean floor'),
        ({"each": {"recall": {"floor": 60}}}, "recall floor is 60; give a number from 0 to 1"),
        ({"each": {"recall": {"ceiling": 0.5}}}, "ceiling on recall would let it get worse; set floor or largest_drop"),
        ({"each": {"contamination": {"floor": 0.5}}}, "set ceiling or largest_rise"),
        ({"each": {"recall": 0.5}}, "is 0.5; write a table, such as recall = { floor = 0.6 }"),
        ({"each": {"recall": {"floor": 0.5}}, "undecided": "maybe"}, 'undecided is \'maybe\'; write "blocks" or "passes"'),
        ({"each": {"recall": {"floor": 0.5}}, "confidence": 95}, "confidence is 95; give 0.5 up to below 1"),
        ({"each": {"recall": {"floor": 0.5}}, "k": 0}, "k is 0; give a cut-off of 1 or more"),
    ],
)  # fmt: skip
def test_a_gate_that_makes_no_sense_is_refused(table: dict[str, object], message: str) -> None:
    with pytest.raises(BuilderError, match=message):
        gate_from_toml(table, "gate.toml")
