from math import log2

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builder.scoring.retrieval import Retrieved, measure_ranking

PASSAGES = [f"p{number}" for number in range(12)]


@pytest.mark.parametrize(
    ("retrieved", "gold", "expected"),
    [
        (["a", "x"], ["a"], Retrieved(1.0, 1.0, 1.0)),
        (["x", "a"], ["a"], Retrieved(1.0, 1 / log2(3), 0.5)),
        (["x", "a"], ["a", "b"], Retrieved(0.5, (1 / log2(3)) / (1 + 1 / log2(3)), 0.5)),
        (["x", "y", "a"], ["a"], Retrieved(0.0, 0.0, 0.0)),
        ([], ["a"], Retrieved(0.0, 0.0, 0.0)),
    ],
    ids=["first", "second", "one of two", "below the cut-off", "nothing found"],
)
def test_figures_at_cut_off_two_by_hand(retrieved: list[str], gold: list[str], expected: Retrieved) -> None:
    assert measure_ranking(retrieved, gold, 2) == expected


@settings(deadline=None)  # the first call loads the library
@given(
    st.lists(st.sampled_from(PASSAGES), unique=True),
    st.lists(st.sampled_from(PASSAGES), unique=True, min_size=1),
    st.integers(1, 8),
)
def test_the_figures_are_those_of_ir_measures(retrieved: list[str], gold: list[str], k: int) -> None:
    ir_measures = pytest.importorskip("ir_measures")
    qrels = [ir_measures.Qrel("q", name, 1) for name in gold]
    run = [ir_measures.ScoredDoc("q", name, -float(rank)) for rank, name in enumerate(retrieved)]
    measures = [ir_measures.R @ k, ir_measures.nDCG @ k, ir_measures.RR @ k]
    theirs = ir_measures.calc_aggregate(measures, qrels, run or [ir_measures.ScoredDoc("q", "none", 0.0)])
    ours = measure_ranking(retrieved, gold, k)
    assert [ours.recall, ours.ndcg, ours.mrr] == pytest.approx([theirs[measure] for measure in measures])
