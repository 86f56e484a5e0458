from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from builder.core.errors import BuilderError
from builder.core.rows import item_to_row
from builder.evaluate.score import costs_of, read_gate, read_run, run_from_callable, score_run
from builder.io.items import iter_items
from builder.io.store import write_jsonl, write_text
from builder.scoring.runs import Run, RunRow
from tests.scoring.sample import ORDINAL, PIVOT

RUN = Run("r", {"fu_pivot": RunRow("billing export pages"), "fu_ordinal": RunRow("Dublin uptime")})


def echo(prefix: Sequence[dict[str, Any]], follow_up: str) -> str:
    return f"{follow_up} after {len(prefix)} turns from {prefix[0]['role']}"


def moody(prefix: Sequence[dict[str, Any]], follow_up: str) -> dict[str, Any]:
    if "topic" in follow_up:
        raise ValueError("no idea")
    return {"rewrite": "Dublin uptime", "latency_ms": 4, "topic_shift": False}


def broken(prefix: Sequence[dict[str, Any]], follow_up: str) -> str:
    raise ValueError("no key")


def test_items_and_run_may_come_in_any_order() -> None:
    assert score_run([PIVOT, ORDINAL], RUN, draws=20) == score_run(iter([ORDINAL, PIVOT]), RUN, draws=20)


def test_an_item_without_a_row_and_a_row_without_an_item_are_both_named() -> None:
    run = Run("r", {"fu_pivot": RunRow("q"), "fu_other": RunRow("q")})
    with pytest.raises(BuilderError) as caught:
        score_run([PIVOT, ORDINAL], run, draws=20)
    assert [problem.where for problem in caught.value.problems] == ["r: fu_ordinal", "r: fu_other"]
    assert caught.value.code == 4


def test_nothing_to_score_is_an_error() -> None:
    with pytest.raises(BuilderError, match=r"there is nothing to score \(0 items\)"):
        score_run([], RUN)


def test_a_cut_off_below_one_is_misuse() -> None:
    with pytest.raises(BuilderError, match="--k: the cut-off is 0; give 1 or more"):
        score_run([PIVOT], RUN, k=0)


def test_a_run_is_read_from_jsonl_or_trec(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "run.jsonl", [{"id": "fu_pivot", "rewrite": "q", "retrieved": ["a"]}])
    write_text(tmp_path / "run.trec", "fu_pivot Q0 a 1 9.5 bm25\n")
    assert read_run(tmp_path / "run.jsonl").rows["fu_pivot"].rewrite == "q"
    assert read_run(tmp_path / "run.trec").rows["fu_pivot"].retrieved == ("a",)


def test_an_empty_or_missing_run_file_is_an_error(tmp_path: Path) -> None:
    write_text(tmp_path / "run.jsonl", "\n")
    with pytest.raises(BuilderError, match=r"the run is empty \(0 rows\)"):
        read_run(tmp_path / "run.jsonl")
    with pytest.raises(BuilderError, match=r"no.jsonl: cannot read the run"):
        read_run(tmp_path / "no.jsonl")


def test_items_come_back_from_their_file(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "items.jsonl", map(item_to_row, [PIVOT, ORDINAL]))
    assert list(iter_items(tmp_path / "items.jsonl")) == [PIVOT, ORDINAL]


def test_a_line_that_is_no_item_is_named(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "items.jsonl", [item_to_row(PIVOT), {"id": "x"}])
    with pytest.raises(BuilderError, match=r"items.jsonl:2: not an item"):
        list(iter_items(tmp_path / "items.jsonl"))


def test_a_function_of_ones_own_is_called_with_prefix_and_follow_up() -> None:
    run = run_from_callable("tests.evaluate.test_score:echo", [ORDINAL])
    assert run.rows["fu_ordinal"].rewrite == "uptime commitment for the second? after 2 turns from user"


def test_an_item_that_the_function_fails_on_is_a_missing_rewrite() -> None:
    run = run_from_callable("tests.evaluate.test_score:moody", [PIVOT, ORDINAL])
    assert (run.rows["fu_pivot"].rewrite, run.rows["fu_ordinal"].rewrite) == (None, "Dublin uptime")
    assert run.rows["fu_ordinal"].latency_ms == 4


def test_a_function_that_always_fails_is_an_error_with_its_reason() -> None:
    with pytest.raises(BuilderError, match=r"fails on every item \(ValueError: no key\)"):
        run_from_callable("tests.evaluate.test_score:broken", [PIVOT])


@pytest.mark.parametrize(
    "path", ["nowhere.at_all:rewrite", "tests.evaluate.test_score:no_such", "json:__doc__"]
)
def test_a_function_that_does_not_exist_is_misuse(path: str) -> None:
    with pytest.raises(BuilderError, match=r"write package.module:function") as caught:
        run_from_callable(path, [PIVOT])
    assert caught.value.code == 2


def test_costs_are_of_the_rows_that_say_so() -> None:
    rows = {f"i{at}": RunRow("q", tokens=10 + at, calls=1, latency_ms=float(at)) for at in range(21)}
    costs = costs_of(Run("r", {**rows, "x": RunRow("q")}))
    assert (costs.calls, costs.tokens, costs.latency_ms, costs.latency_p95_ms) == (1.0, 20.0, 10.0, 19.0)


def test_the_sample_gate_is_a_gate(root: Path) -> None:
    gate = read_gate(root / "data" / "gate.toml")
    assert gate.needs_baseline
    assert gate.k == 5


def test_a_gate_that_is_not_toml_is_refused(tmp_path: Path) -> None:
    write_text(tmp_path / "gate.toml", "k = = 5")
    with pytest.raises(BuilderError, match=r"gate.toml: not TOML"):
        read_gate(tmp_path / "gate.toml")
