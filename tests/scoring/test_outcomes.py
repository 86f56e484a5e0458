from dataclasses import replace

import pytest

from builder.core.errors import BuilderError
from builder.core.records import Item
from builder.evaluate.inputs import content_keys
from builder.scoring.metrics import METRICS, PLACE
from builder.scoring.outcomes import Outcome, facets_of, judge_item, judge_items
from builder.scoring.runs import Run, RunRow
from tests.scoring.sample import ORDINAL, PIVOT

GOLD = ("docs/billing-export#pagination",)


def judge(rewrite: str | None, retrieved: tuple[str, ...] = GOLD, item: Item = PIVOT) -> Outcome:
    return judge_item(item, RunRow(rewrite, retrieved), True, True, 5, content_keys)


def value(outcome: Outcome, metric: str) -> float | None:
    return outcome.values[PLACE[metric]]


@pytest.mark.parametrize(
    ("rewrite", "retrieved", "quadrant"),
    [
        ("billing export API pagination", GOLD, "clean_hit"),
        ("billing export API pagination in Dublin", GOLD, "lucky"),
        ("billing export API pagination", ("other",), "unlucky"),
        ("billing export API pagination in Dublin", ("other",), "contaminated_miss"),
        ("Yes, by cursor, up to 500 rows at a time.", GOLD, "answered"),
        (None, GOLD, "missing"),
    ],
)
def test_an_item_ends_in_the_quadrant_of_clean_and_found(
    rewrite: str | None, retrieved: tuple[str, ...], quadrant: str
) -> None:
    assert judge(rewrite, retrieved).quadrant == quadrant


def test_a_missing_rewrite_has_the_worst_value_of_every_metric_even_if_something_was_retrieved() -> None:
    outcome = judge(None)
    for metric in METRICS:
        assert value(outcome, metric.name) == metric.worst


def test_a_missing_rewrite_is_never_absent_from_a_mean() -> None:
    good = judge("billing export API pagination")
    assert [v is None for v in judge(None).values] == [v is None for v in good.values]


def test_an_item_without_forbidden_terms_says_nothing_about_contamination() -> None:
    outcome = judge("billing export API pagination", item=replace(PIVOT, forbidden_in_rewrite=()))
    assert value(outcome, "contamination") is None
    assert outcome.quadrant == "clean_hit"


def test_an_item_without_gold_says_nothing_about_retrieval() -> None:
    outcome = judge("billing export API pagination", item=replace(PIVOT, gold=()))
    assert (value(outcome, "recall"), value(outcome, "contamination"), outcome.quadrant) == (None, 0.0, "")


def test_coverage_is_the_share_of_required_terms() -> None:
    outcome = judge("Dublin commitment", item=ORDINAL)
    assert value(outcome, "coverage") == 0.5
    assert outcome.absent == ("uptime",)


def test_recall_counts_every_gold_passage() -> None:
    assert value(judge("Dublin uptime", ("docs/dublin#sla",), ORDINAL), "recall") == 0.5


def test_without_rankings_the_given_search_is_asked_with_each_rewrite() -> None:
    asked: list[tuple[str, int]] = []

    def search(query: str, k: int) -> list[str]:
        asked.append((query, k))
        return ["docs/billing-export#pagination"]

    run = Run("r", {PIVOT.id: RunRow("billing export pages"), ORDINAL.id: RunRow(None)})
    outcomes = list(judge_items([PIVOT, ORDINAL], run, 3, content_keys, search))
    assert asked == [("billing export pages", 3)]
    assert [value(outcome, "recall") for outcome in outcomes] == [1.0, 0.0]


def test_without_rankings_and_search_retrieval_stays_unmeasured() -> None:
    (outcome,) = judge_items([PIVOT], Run("r", {PIVOT.id: RunRow("billing export")}), 5, content_keys)
    assert value(outcome, "recall") is None
    assert value(outcome, "coverage") == 1.0


def test_a_run_that_only_ranks_says_nothing_about_rewrites() -> None:
    run = Run("t", {PIVOT.id: RunRow(None, GOLD)}, has_rewrites=False)
    (outcome,) = judge_items([PIVOT], run, 5, content_keys)
    assert (value(outcome, "recall"), value(outcome, "contamination"), outcome.kind) == (1.0, None, "")


def test_an_item_without_a_row_is_an_error_by_name() -> None:
    with pytest.raises(BuilderError, match="r: fu_ordinal: no row for this item"):
        list(judge_items([ORDINAL], Run("r", {PIVOT.id: RunRow("q")}), 5, content_keys))


def test_the_facets_name_the_two_ways_of_having_no_right_window_apart() -> None:
    assert dict(facets_of(ORDINAL))["right windows"] == "same_turn"
    assert dict(facets_of(replace(ORDINAL, d_live=4)))["right windows"] == "nearer_stale"
    assert dict(facets_of(PIVOT))["right windows"] == "some"
