from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builder.core.intervals import wilson
from builder.scoring.strata import Cell, Table, design_effect, effective_size, tabulate
from tests.scoring.sample import outcome, outcomes_of


def cell(table: Table, group: str, metric: str = "recall") -> Cell:
    found = table.cell(group, metric)
    assert found is not None
    return found


def test_the_weighted_mean_counts_each_item_by_its_weight() -> None:
    # By hand: (3 x 1 + 1 x 0 + 1 x 0) / 5 = 0.6, where the plain mean is 1/3.
    outcomes = [
        outcome("a", "pronoun", weight=3.0, recall=1.0),
        outcome("b", "long_range", recall=0.0),
        outcome("c", "long_range", recall=0.0),
    ]
    table = tabulate(outcomes)
    assert cell(table, "all").mean == pytest.approx(0.6)
    assert cell(table, "all").plain_mean == pytest.approx(1 / 3)
    assert dict(table.share) == pytest.approx({"all": 1.0, "long_range": 0.4, "pronoun": 0.6})


def test_groups_stand_in_the_order_of_the_taxonomy() -> None:
    outcomes = (
        outcomes_of("standalone", 1, 2) + outcomes_of("long_range", 1, 2) + outcomes_of("ordinal", 1, 2)
    )
    assert tabulate(outcomes).groups == ("all", "long_range", "ordinal", "standalone")


@pytest.mark.parametrize(
    ("hits", "n", "low", "high"),
    [
        (26, 84, 0.22081923628001893, 0.41488808883032774),
        (0, 15, 0.0, 0.20388330103584867),
        (15, 15, 0.7961166989641513, 1.0),
        (7, 9, 0.45258896910698887, 0.9367748928821533),
    ],
)
def test_a_stratum_has_the_wilson_interval_that_statsmodels_gives(
    hits: int, n: int, low: float, high: float
) -> None:
    found = cell(tabulate(outcomes_of("pronoun", hits, n)), "pronoun")
    assert found.n == n
    assert found.mean == pytest.approx(hits / n)
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-9)


def test_items_that_cannot_show_a_metric_are_left_out_of_its_n() -> None:
    outcomes = [outcome("a", recall=1.0, contamination=1.0), outcome("b", recall=0.0)]
    table = tabulate(outcomes)
    assert (cell(table, "pronoun").n, cell(table, "pronoun", "contamination").n) == (2, 1)


def test_a_metric_that_no_item_shows_has_no_cell() -> None:
    assert tabulate([outcome("a", recall=1.0)]).cell("pronoun", "coverage") is None


def test_order_of_items_and_repetition_change_nothing() -> None:
    outcomes = [
        replace(o, conversation_id=f"c{at % 7}") for at, o in enumerate(outcomes_of("pronoun", 11, 30))
    ]
    assert tabulate(outcomes, draws=200) == tabulate(outcomes[::-1], draws=200)


def test_the_bootstrap_of_single_item_conversations_is_that_of_scipy() -> None:
    import numpy as np
    from scipy.stats import bootstrap

    values = np.array([1.0] * 26 + [0.0] * 34)
    theirs = bootstrap(
        (values,), np.mean, n_resamples=4000, method="percentile", rng=np.random.default_rng(1)
    ).confidence_interval
    ours = cell(tabulate(outcomes_of("pronoun", 26, 60), draws=4000), "pronoun")
    assert (ours.cluster_low, ours.cluster_high) == pytest.approx((theirs.low, theirs.high), abs=0.02)


def test_conversations_are_drawn_whole() -> None:
    # Ten conversations of six like items each: sixty items say no more than ten.
    outcomes = [
        outcome(f"{c}-{at}", "pronoun", f"c{c}", recall=float(c < 5)) for c in range(10) for at in range(6)
    ]
    together = cell(tabulate(outcomes), "pronoun")
    alone = cell(tabulate([replace(o, conversation_id=o.id) for o in outcomes]), "pronoun")
    assert together.cluster_low is not None
    assert together.cluster_high is not None
    assert alone.cluster_low is not None
    assert alone.cluster_high is not None
    assert together.cluster_high - together.cluster_low > 2 * (alone.cluster_high - alone.cluster_low)


def test_like_items_of_one_conversation_count_as_one() -> None:
    weights, values = [1.0] * 6, [1.0, 1.0, 1.0, 0.0, 0.0, 0.0]
    assert design_effect(weights, values, ["a", "a", "a", "b", "b", "b"]) == pytest.approx(3.0)
    assert design_effect(weights, values, list("abcdef")) == 1.0
    assert design_effect(weights, [1.0] * 6, ["a"] * 6) == 1.0


def test_unequal_weights_are_worth_fewer_items() -> None:
    assert effective_size([1.0, 1.0, 1.0]) == 3.0
    assert effective_size([4.0, 1.0, 1.0]) == pytest.approx(2.0)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.floats(0.1, 10)), min_size=1, max_size=20))
def test_every_interval_holds_its_mean(items: list[tuple[bool, float]]) -> None:
    outcomes = [outcome(f"i{at}", weight=w, recall=float(hit)) for at, (hit, w) in enumerate(items)]
    for found in tabulate(outcomes, draws=20).cells:
        assert found.low - 1e-9 <= found.mean <= found.high + 1e-9
        size = effective_size(w for _, w in items)
        assert (found.low, found.high) == pytest.approx(wilson(found.mean * size, size))
