from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builder.core.taxonomy import ITEM_STRATA
from builder.scoring.decompose import ZERO, decompose, decompose_sets, round_to_sum
from builder.scoring.outcomes import Outcome
from builder.scoring.tables import decomposition_table
from tests.scoring.sample import outcome, outcomes_of

SHARES = st.floats(0, 1, allow_nan=False)
ITEM = st.tuples(st.sampled_from(ITEM_STRATA), st.floats(0.01, 20), SHARES, SHARES)


def run(items: list[tuple[str, float, float, float]], is_after: bool) -> list[Outcome]:
    return [
        outcome(f"i{at}", stratum, weight=weight, recall=new if is_after else old)
        for at, (stratum, weight, old, new) in enumerate(items)
    ]


@given(st.lists(ITEM, min_size=1, max_size=40))
def test_the_parts_sum_to_the_change_to_the_last_bit(items: list[tuple[str, float, float, float]]) -> None:
    found = decompose(run(items, is_after=False), run(items, is_after=True), "recall")
    assert found is not None
    assert sum((part.contribution for part in found.parts), ZERO) == found.change
    total = sum(Fraction(w) for _, w, _, _ in items)
    assert (
        found.change == sum((Fraction(w) * (Fraction(b) - Fraction(a)) for _, w, a, b in items), ZERO) / total
    )
    assert sum((part.share for part in found.parts), ZERO) == 1


@given(st.lists(ITEM, min_size=1, max_size=40))
def test_rounded_parts_still_add_up_to_the_rounded_change(
    items: list[tuple[str, float, float, float]],
) -> None:
    found = decompose(run(items, is_after=False), run(items, is_after=True), "recall")
    assert found is not None
    parts = {part.stratum: part.contribution for part in found.parts}
    shown = round_to_sum(parts, found.change, 4)
    assert sum(shown.values(), ZERO) == Fraction(round(found.change * 10_000), 10_000)
    assert all(abs(shown[name] - parts[name]) <= Fraction(1, 10_000) for name in parts)


def test_two_large_movements_leave_a_small_one() -> None:
    # A shorter window: long-range falls by 48 points on 17% of the weight, post-pivot rises by 37 on 9%,
    # and the rest, untouched, keeps the other 74%. By hand: -8.16 + 3.33 = -4.83 points.
    before, after = [], []
    for stratum, share, old, new in (
        ("long_range", 17, 79, 31), ("post_pivot_standalone", 9, 34, 71), ("pronoun", 74, 90, 90),
    ):  # fmt: skip
        for at in range(100):
            name = f"{stratum}{at:03}"
            before.append(outcome(name, stratum, weight=share / 64, recall=float(at < old)))
            after.append(outcome(name, stratum, weight=share / 64, recall=float(at < new)))
    found = decompose(before, after, "recall")
    assert found is not None
    assert {part.stratum: part.contribution for part in found.parts} == {
        "post_pivot_standalone": Fraction(333, 10_000),
        "long_range": Fraction(-816, 10_000),
        "pronoun": ZERO,
    }
    assert found.change == Fraction(-483, 10_000)
    assert found.movement == Fraction(1149, 10_000)
    assert [row[-1] for row in decomposition_table(found)[1]] == ["+3.33", "-8.16", "+0.00", "-4.83"]


def test_only_items_that_both_runs_show_are_decomposed() -> None:
    before = [outcome("a", recall=0.0), outcome("b", coverage=1.0)]
    after = [outcome("a", recall=1.0), outcome("b", recall=1.0)]
    found = decompose(before, after, "recall")
    assert found is not None
    assert (found.before, found.after) == (ZERO, Fraction(1))


def test_nothing_shown_by_both_has_no_decomposition() -> None:
    assert decompose([outcome("a", recall=1.0)], [outcome("a", coverage=1.0)], "recall") is None


def test_kitagawa_by_hand() -> None:
    # Old: 8 pronoun items at 1/2, 2 long-range at 0. New: 5 at 4/5 and 5 at 1/5.
    old = outcomes_of("pronoun", 4, 8) + outcomes_of("long_range", 0, 2)
    new = outcomes_of("pronoun", 4, 5) + outcomes_of("long_range", 1, 5)
    found = decompose_sets(old, new, "recall")
    assert found is not None
    assert (found.before, found.after) == (Fraction(4, 10), Fraction(5, 10))
    parts = {part.stratum: part for part in found.parts}
    assert parts["pronoun"].mix == Fraction(13, 20) * Fraction(-3, 10)
    assert float(parts["pronoun"].within) == pytest.approx(0.65 * 0.3)
    assert found.mix + found.within == found.after - found.before


@settings(max_examples=50)
@given(
    st.lists(ITEM, min_size=1, max_size=25), st.lists(ITEM, min_size=1, max_size=25), st.sampled_from(ITEM_STRATA)
)  # fmt: skip
def test_mix_and_within_leave_nothing_over_or_say_no_evidence(
    old: list[tuple[str, float, float, float]], new: list[tuple[str, float, float, float]], name: str
) -> None:
    found = decompose_sets(run(old, is_after=False), run(new, is_after=True), "recall")
    assert found is not None
    lacking = {item[0] for item in old} ^ {item[0] for item in new}
    assert set(found.no_evidence) == lacking
    if lacking:
        assert found.parts == ()
    else:
        assert found.mix + found.within == found.after - found.before
