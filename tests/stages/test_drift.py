"""Drift: exact values, and how often it cries wolf or stays silent."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from builder.core.intervals import wilson
from builder.core.mix import Mix, Quota, Quotas, Share
from builder.core.settings import DriftSettings
from builder.core.taxonomy import ITEM_STRATA, STRATUM_NAMES
from builder.stages.drift import (
    DRIFTED,
    NOT_COMPARABLE,
    STABLE,
    TOO_FEW,
    compare_mixes,
    holm,
    plan_changes,
    worth,
)

SHARES = (0.05, 0.02, 0.13, 0.15, 0.06, 0.18, 0.14, 0.07, 0.05, 0.15)


def mix_of(counts: list[int]) -> Mix:
    n = sum(counts)
    shares = tuple(
        Share(name, k, k / n, *wilson(k, n)) for name, k in zip(STRATUM_NAMES, counts, strict=True)
    )
    return Mix(shares, n, n, "labels")


def counts_of(n: int, shares: tuple[float, ...] = SHARES) -> list[int]:
    counts = [round(n * share) for share in shares]
    counts[-1] += n - sum(counts)
    return counts


def moved(points: float) -> tuple[float, ...]:
    """The shares with one stratum larger by `points`, the others smaller in proportion."""
    target = SHARES[2] + points
    return tuple(target if k == 2 else p * (1 - target) / (1 - SHARES[2]) for k, p in enumerate(SHARES))


@pytest.mark.parametrize(("share", "n"), [(0.12, 300), (0.0, 50), (0.5, 4000), (1.0, 80)])
def test_a_wilson_interval_is_worth_the_follow_ups_it_came_from(share: float, n: int) -> None:
    assert worth(Share("pronoun", round(share * n), share, *wilson(share * n, n))) == pytest.approx(
        n, rel=1e-4
    )


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])


def test_equal_large_mixes_are_stable_throughout() -> None:
    mix = mix_of(counts_of(20_000))
    drift = compare_mixes(mix, mix, DriftSettings())
    assert {shift.verdict for shift in drift.shifts} == {STABLE}
    assert (drift.g, drift.g_p, drift.psi) == (0.0, 1.0, 0.0)


def test_a_huge_log_does_not_cry_wolf_over_one_point() -> None:
    drift = compare_mixes(
        mix_of(counts_of(500_000)), mix_of(counts_of(500_000, moved(0.01))), DriftSettings()
    )
    assert drift.g_p < 1e-6
    assert drift.drifted == ()


def test_few_follow_ups_are_too_few_to_tell_and_the_number_that_decides_is_named() -> None:
    old = mix_of(counts_of(100_000))
    shift = compare_mixes(old, mix_of(counts_of(200)), DriftSettings()).shifts[2]
    assert shift.verdict == TOO_FEW
    assert shift.needed is not None
    # The normal interval would want 1.96^2 * .13 * .87 / .02^2 = 1086; Wilson's centre moves and asks for more.
    assert 1086 <= shift.needed <= 1300
    assert (
        compare_mixes(old, mix_of(counts_of(3 * shift.needed)), DriftSettings()).shifts[2].verdict == STABLE
    )


def grown(mix: Mix, n: int) -> Mix:
    """The same shares, measured on a log of `n` follow-ups."""
    shares = tuple(
        Share(s.reference_type, round(n * s.share), s.share, *wilson(n * s.share, n)) for s in mix.shares
    )
    return Mix(shares, n, n, mix.method)


@pytest.mark.parametrize("points", [-0.13, -0.08, -0.03, 0.0, 0.01, 0.03, 0.06, 0.1])
@pytest.mark.parametrize("n", [15, 63, 200, 900])
def test_the_number_that_would_decide_is_more_than_there_is_and_does_decide(n: int, points: float) -> None:
    old, new = mix_of(counts_of(3_000)), mix_of(counts_of(n, moved(points)))
    for k, shift in enumerate(compare_mixes(old, new, DriftSettings()).shifts):
        if shift.needed is not None:
            assert shift.needed > n
            decided = compare_mixes(old, grown(new, shift.needed), DriftSettings()).shifts[k]
            assert decided.verdict != TOO_FEW, shift


def test_a_stratum_that_a_short_log_has_none_of_does_not_need_fewer_than_the_log_has() -> None:
    old, new = mix_of(counts_of(600)), mix_of([4, 0, 9, 0, 4, 15, 9, 6, 3, 13])
    shift = compare_mixes(old, new, DriftSettings()).shifts[3]
    assert (shift.new, shift.verdict) == (0.0, DRIFTED) or (shift.needed or 64) > 63


@pytest.mark.parametrize(("before", "after"), [("labels", "uncorrected"), ("uncorrected", "two_phase")])
def test_a_mix_with_the_classifiers_errors_in_it_is_not_comparable_with_one_without(
    before: str, after: str
) -> None:
    old = replace(mix_of(counts_of(3_000)), method=before)
    new = replace(mix_of(counts_of(3_000, moved(0.1))), method=after)
    drift = compare_mixes(old, new, DriftSettings())
    assert {shift.verdict for shift in drift.shifts} == {NOT_COMPARABLE}
    assert (drift.comparable, drift.drifted) == (False, ())


@pytest.mark.parametrize(
    ("before", "after"), [("uncorrected", "uncorrected"), ("labels", "rogan_gladen"), ("labels", "labels")]
)
def test_mixes_measured_alike_or_both_without_error_compare(before: str, after: str) -> None:
    old = replace(mix_of(counts_of(3_000)), method=before)
    new = replace(mix_of(counts_of(3_000, moved(0.1))), method=after)
    assert "post_pivot_standalone" in compare_mixes(old, new, DriftSettings()).drifted


def test_no_new_log_decides_against_an_old_mix_of_forty_follow_ups() -> None:
    shift = compare_mixes(mix_of(counts_of(40)), mix_of(counts_of(400)), DriftSettings()).shifts[2]
    assert (shift.verdict, shift.needed) == (TOO_FEW, None)


def test_classifier_error_widens_what_counts_as_drift() -> None:
    sharp, new = mix_of(counts_of(2_000)), mix_of(counts_of(2_000, moved(0.05)))
    blurred = Mix(
        tuple(
            Share(s.reference_type, s.count, s.share, max(s.low - 0.05, 0), min(s.high + 0.05, 1))
            for s in new.shares
        ),
        new.n_follow_ups,
        new.n_conversations,
        "rogan_gladen",
    )
    assert compare_mixes(sharp, new, DriftSettings()).drifted == ("post_pivot_standalone",)
    assert compare_mixes(sharp, blurred, DriftSettings()).drifted == ()


def simulated(generator: np.random.Generator, n: int, shares: tuple[float, ...]) -> Mix:
    return mix_of([int(k) for k in generator.multinomial(n, shares)])


def test_six_hundred_logs_without_drift_raise_the_alarm_in_at_most_five_percent() -> None:
    generator = np.random.default_rng(7)
    alarms = 0
    for _ in range(600):
        old = simulated(generator, 3_000, SHARES)
        alarms += bool(compare_mixes(old, simulated(generator, 3_000, SHARES), DriftSettings()).drifted)
    assert alarms <= 30


def test_a_six_point_shift_with_three_thousand_follow_ups_is_found() -> None:
    generator = np.random.default_rng(8)
    found = 0
    for _ in range(200):
        old, new = simulated(generator, 3_000, SHARES), simulated(generator, 3_000, moved(0.06))
        drift = compare_mixes(old, new, DriftSettings())
        found += drift.shifts[2].verdict == DRIFTED
    assert found >= 180


def quotas_of(seats: list[int]) -> Quotas:
    listed = tuple(Quota(name, n, 0, 0, 0.125, 1.0, 1.0) for name, n in zip(ITEM_STRATA, seats, strict=True))
    return Quotas(sum(seats), listed, mix_of(counts_of(300)))


@given(
    st.lists(st.integers(0, 60), min_size=8, max_size=8), st.lists(st.integers(0, 40), min_size=8, max_size=8)
)
def test_a_plan_without_items_adds_every_seat(seats: list[int], available: list[int]) -> None:
    plan = plan_changes([], quotas_of(seats), dict(zip(ITEM_STRATA, available, strict=True)))
    assert [row.to_add for row in plan] == seats
    assert all(row.kept == row.retired == 0 for row in plan)
    lacking = [max(s - a, 0) for s, a in zip(seats, available, strict=True)]
    assert [row.synthetic + row.short for row in plan] == lacking
    assert {row.reference_type for row in plan if row.synthetic} <= {"long_range"}
    assert [row.short for row in plan if row.reference_type == "long_range"] == [0]
    without = plan_changes(
        [], quotas_of(seats), dict(zip(ITEM_STRATA, available, strict=True)), synthesis=False
    )
    assert [row.short for row in without] == lacking
