from dataclasses import replace
from math import sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builder.core.errors import BuilderError
from builder.core.intervals import Z95
from builder.scoring.outcomes import Outcome
from builder.scoring.paired import Change, Comparison, compare_runs, holm, mcnemar, paired_interval
from tests.scoring.sample import outcome, outcomes_of


def change(comparison: Comparison, group: str, metric: str = "recall") -> Change:
    found = comparison.change(group, metric)
    assert found is not None
    return found


def two_runs(up: int, down: int, same: int, stratum: str = "pronoun") -> tuple[list[Outcome], list[Outcome]]:
    flips = [(0.0, 1.0)] * up + [(1.0, 0.0)] * down + [(1.0, 1.0)] * same
    before = [outcome(f"{stratum}{at:03}", stratum, recall=a) for at, (a, _) in enumerate(flips)]
    after = [outcome(f"{stratum}{at:03}", stratum, recall=b) for at, (_, b) in enumerate(flips)]
    return before, after


@pytest.mark.parametrize(
    ("up", "down", "p"),
    [(3, 11, 0.057373046875), (0, 6, 0.03125), (10, 10, 1.0), (25, 9, 0.00904118549078703), (0, 0, 1.0)],
)
def test_mcnemar_is_the_exact_test_of_statsmodels(up: int, down: int, p: float) -> None:
    assert mcnemar(up, down) == pytest.approx(p, rel=1e-9)


def test_mcnemar_is_the_binomial_test_of_scipy_for_many_changes() -> None:
    from scipy.stats import binomtest

    assert mcnemar(5100, 4900) == pytest.approx(binomtest(5100, 10_000).pvalue, rel=1e-7)


def test_holm_gives_what_statsmodels_gives() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


@given(st.lists(st.floats(0, 1), max_size=12))
def test_holm_never_makes_a_p_value_smaller_and_keeps_their_order(p_values: list[float]) -> None:
    adjusted = holm(p_values)
    assert all(p <= q <= 1 for p, q in zip(p_values, adjusted, strict=True))
    pairs = sorted(zip(p_values, adjusted, strict=True))
    assert [q for _, q in pairs] == sorted(q for _, q in pairs)


def test_wins_ties_losses_and_difference_by_hand() -> None:
    found = change(compare_runs(*two_runs(up=3, down=11, same=6)), "pronoun")
    assert (found.wins, found.ties, found.losses) == (3, 6, 11)
    assert (found.before, found.after, found.difference) == pytest.approx((17 / 20, 9 / 20, -8 / 20))
    assert found.test == "mcnemar"
    assert found.p == pytest.approx(0.057373046875)


def test_the_paired_interval_is_the_adjusted_wald_of_bonett_and_price() -> None:
    # By hand for 3 up, 11 down of 20: p12 = 4/22, p21 = 12/22.
    p12, p21 = 4 / 22, 12 / 22
    half = Z95 * sqrt((p12 + p21 - (p12 - p21) ** 2) / 22)
    assert paired_interval(-8 / 20, 14 / 20, 20) == pytest.approx((p12 - p21 - half, p12 - p21 + half))


def test_a_few_items_without_a_change_are_not_certain() -> None:
    low, high = paired_interval(0.0, 0.0, 3)
    assert low < -0.5
    assert high > 0.5


def test_less_contamination_is_a_win() -> None:
    before, after = [outcome("a", contamination=1.0)], [outcome("a", contamination=0.0)]
    found = change(compare_runs(before, after), "pronoun", "contamination")
    assert (found.wins, found.losses, found.difference) == (1, 0, -1.0)


def test_fractional_values_are_tested_by_the_bootstrap() -> None:
    before = [outcome(f"i{at}", recall=0.5) for at in range(30)]
    after = [outcome(f"i{at}", recall=1.0 if at < 20 else 0.5) for at in range(30)]
    found = change(compare_runs(before, after), "pronoun")
    assert (found.test, found.wins) == ("bootstrap", 20)
    assert found.p < 0.01


def test_nothing_changed_is_no_evidence_of_change() -> None:
    run = [outcome(f"i{at}", recall=0.5) for at in range(30)]
    assert change(compare_runs(run, run), "pronoun").p == 1.0


def test_p_values_are_adjusted_over_the_strata_of_a_metric_only() -> None:
    old, new = two_runs(0, 8, 10)
    old2, new2 = two_runs(1, 1, 10, "long_range")
    comparison = compare_runs(old + old2, new + new2)
    assert change(comparison, "pronoun").p_holm == pytest.approx(2 * change(comparison, "pronoun").p)
    assert change(comparison, "all").p_holm == change(comparison, "all").p


def test_a_stratum_that_one_side_does_not_measure_is_no_evidence_and_has_no_figures() -> None:
    before = outcomes_of("pronoun", 3, 6) + [
        replace(o, values=(None,) * 8) for o in outcomes_of("long_range", 3, 6)
    ]
    after = outcomes_of("pronoun", 4, 6) + outcomes_of("long_range", 6, 6)
    comparison = compare_runs(before, after)
    assert comparison.no_evidence == (("long_range", "recall"),)
    assert comparison.change("long_range", "recall") is None
    assert change(comparison, "all").n == 6


def test_runs_over_different_items_cannot_be_paired() -> None:
    with pytest.raises(BuilderError, match="the runs are not over the same items"):
        compare_runs([outcome("a", recall=1.0)], [outcome("b", recall=1.0)])


def test_order_of_items_changes_nothing() -> None:
    before, after = two_runs(3, 11, 6)
    assert compare_runs(before, after) == compare_runs(before[::-1], after)
