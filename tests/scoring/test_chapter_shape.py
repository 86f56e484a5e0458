"""What plain BM25 shows on the Halyard labels: a mean that hides what each stratum does."""

from collections.abc import Callable

import pytest

from builder.evaluate.score import reference_run, score_run
from builder.io.corpus import load_passages
from builder.io.retrieve import index_passages
from builder.scoring.judgement import Judged
from builder.scoring.runs import Run
from tests.scoring.sample import HALYARD, halyard_items, pasted_run

Search = Callable[[str, int], list[str]]

TABLE = {
    "last 0": (0.65, 0.90, 0.60, 0.44),
    "last 8": (0.61, 0.27, 0.44, 0.77),
    "last 1": (0.76, 0.71, 0.47, 0.88),
    "reference": (0.98, 0.97, 0.97, 0.98),
}
"""Recall@5 of the raw message, the last 8 turns, the last turn, the reference rewrite: all, post-pivot, long-range, pronoun."""


@pytest.fixture(scope="module")
def plain_bm25() -> Search:
    """`bm25s` with its own defaults and English stop words, over title and text."""
    import bm25s

    passages = load_passages(HALYARD / "docs.jsonl")

    def tokens(texts: list[str]) -> object:
        return bm25s.tokenize(texts, stopwords="en", show_progress=False)

    index = bm25s.BM25()
    index.index(tokens([f"{passage.title}\n{passage.text}" for passage in passages]), show_progress=False)

    def search(query: str, k: int) -> list[str]:
        found, _ = index.retrieve(tokens([query]), k=k, show_progress=False)
        return [passages[place].id for place in found[0]]

    return search


def runs() -> list[Run]:
    items = halyard_items()
    return [pasted_run(items, 0), pasted_run(items, 8), pasted_run(items, 1), reference_run(items)]


def recall(judged: Judged) -> list[float]:
    cells = [
        judged.table.cell(group, "recall")
        for group in ("all", "post_pivot_standalone", "long_range", "pronoun")
    ]
    return [cell.mean for cell in cells if cell]


@pytest.mark.slow
@pytest.mark.parametrize("run", runs(), ids=list(TABLE))
def test_recall_by_stratum_has_the_known_shape(run: Run, plain_bm25: Search) -> None:
    judged = score_run(halyard_items(), run, 5, plain_bm25, draws=50)
    assert recall(judged) == pytest.approx(TABLE[run.name], abs=0.03)


@pytest.mark.slow
def test_the_built_in_search_shows_the_same_shape() -> None:
    search = index_passages(load_passages(HALYARD / "docs.jsonl"))
    found = {run.name: recall(score_run(halyard_items(), run, 5, search, draws=50)) for run in runs()}
    for name, expected in TABLE.items():
        assert found[name] == pytest.approx(expected, abs=0.06)
    raw, last_turn = found["last 0"], found["last 1"]
    assert last_turn[0] > raw[0] + 0.05
    assert last_turn[1] < raw[1] - 0.15
    assert last_turn[2] < raw[2] - 0.10
