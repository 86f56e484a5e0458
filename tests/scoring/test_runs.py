import pytest

from builder.core.errors import BuilderError, Problem
from builder.scoring.runs import Run, match_ids, run_from_rows, run_from_trec, with_rankings

GOOD = {"id": "fu_1", "rewrite": "Dublin RPO", "retrieved": ["a", "b"], "tokens": 12, "latency_ms": 3.5}


def rows(*given: object) -> list[tuple[str, object]]:
    return [(f"run.jsonl:{number}", row) for number, row in enumerate(given, start=1)]


def test_a_row_keeps_what_the_rewriter_gave() -> None:
    row = run_from_rows("run.jsonl", rows(GOOD)).rows["fu_1"]
    assert (row.rewrite, row.retrieved, row.tokens, row.latency_ms) == ("Dublin RPO", ("a", "b"), 12, 3.5)


def test_token_counts_by_side_are_added_and_calls_kept_apart() -> None:
    row = run_from_rows(
        "r", rows({"id": "x", "rewrite": "q", "tokens": {"calls": 2, "input": 30, "output": 9}})
    ).rows["x"]
    assert (row.tokens, row.calls) == (39, 2)


@pytest.mark.parametrize(
    ("shown", "text", "turns"),
    [
        ("[1] user: hi", "[1] user: hi", None),
        ({"turns": [3, 4], "text": "[3] user: hi"}, "[3] user: hi", (3, 4)),
        ([3, 4], "", (3, 4)),
        (None, "", None),
    ],
)
def test_what_was_shown_is_text_or_turn_numbers_or_both(
    shown: object, text: str, turns: tuple[int, ...] | None
) -> None:
    row = run_from_rows("r", rows({"id": "x", "rewrite": "q", "shown": shown})).rows["x"]
    assert (row.shown, row.shown_turns) == (text, turns)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ([1], r"run.jsonl:1: a run row is an object, not \[1\]; write one JSON object a line"),
        ({"rewrite": "q"}, "run.jsonl:1: id is None; give the id of the item, as text"),
        ({"id": "x"}, "run.jsonl:1: x: rewrite is missing; give a text, or null where the rewriter failed"),
        ({"id": "x", "rewrite": 5}, "x: rewrite is 5; give a text"),
        ({"id": "x", "rewrite": "q", "retrieved": "a"}, "x: retrieved is 'a'; give a list of passage ids"),
        ({"id": "x", "rewrite": "q", "retrieved": ["a", "b", "a"]}, "x: retrieves a twice; list each passage once"),
        ({"id": "x", "rewrite": "q", "latency_ms": -1}, "x: latency_ms is -1; give milliseconds"),
        ({"id": "x", "rewrite": "q", "tokens": "many"}, "x: tokens is 'many'; give a count"),
    ],
)  # fmt: skip
def test_a_faulty_row_is_named_with_its_value(row: object, message: str) -> None:
    with pytest.raises(BuilderError, match=message):
        run_from_rows("run.jsonl", rows(row))


def test_every_fault_of_a_run_is_listed_at_once() -> None:
    with pytest.raises(BuilderError) as caught:
        run_from_rows(
            "run.jsonl", rows(GOOD, GOOD, {"id": "y"}, Problem("run.jsonl:4", "not JSON", "mend it"))
        )
    assert [problem.where for problem in caught.value.problems] == [
        "run.jsonl:2",
        "run.jsonl:3",
        "run.jsonl:4",
    ]
    assert caught.value.code == 4


def test_a_run_that_ranks_some_rewrites_only_is_refused() -> None:
    with pytest.raises(BuilderError, match=r"r: y: no retrieved, though other rows have it; write \[\]"):
        run_from_rows("r", rows(GOOD, {"id": "y", "rewrite": "q"}))


def test_a_missing_rewrite_needs_no_ranking() -> None:
    assert run_from_rows("r", rows(GOOD, {"id": "y", "rewrite": None})).rows["y"].rewrite is None


def test_a_blank_rewrite_is_a_missing_one() -> None:
    assert run_from_rows("r", rows({"id": "y", "rewrite": "  \n"})).rows["y"].rewrite is None


def test_an_empty_run_is_an_error() -> None:
    with pytest.raises(BuilderError, match=r"r: the run is empty \(0 rows\)"):
        run_from_rows("r", [])


def test_missing_and_extra_ids_are_errors_by_name() -> None:
    run = run_from_rows("r", rows({"id": "a", "rewrite": "q"}, {"id": "zz", "rewrite": "q"}))
    with pytest.raises(BuilderError) as caught:
        match_ids(run, ["a", "b", "c"])
    assert [(p.where, p.what) for p in caught.value.problems] == [
        ("r: b", "no row for this item"),
        ("r: c", "no row for this item"),
        ("r: zz", "no item of the set has this id"),
    ]


def test_from_the_eleventh_on_missing_ids_are_counted() -> None:
    with pytest.raises(BuilderError) as caught:
        match_ids(
            run_from_rows("r", rows({"id": "a", "rewrite": "q"})), ["a", *(f"m{n:03}" for n in range(250))]
        )
    told = [str(problem) for problem in caught.value.problems]
    assert len(told) == 11
    assert told[9] == "r: m009: no row for this item; write one; with rewrite null where it failed"
    assert told[10].startswith("r: 240 more items of the set have no row either; ")


def test_trec_lines_are_ranked_by_score_then_rank() -> None:
    lines = ["q1 Q0 b 2 1.5 bm25", "q1 Q0 a 1 1.5 bm25", "q1 Q0 c 3 9.0 bm25", "", "q2 Q0 a 1 0.1 bm25"]
    run = run_from_trec("bm25.trec", lines)
    assert run.rows["q1"].retrieved == ("c", "a", "b")
    assert not run.has_rewrites


def test_a_line_that_is_not_trec_is_named() -> None:
    with pytest.raises(BuilderError, match=r'x.trec:2: not a line of a TREC run \("q1 b 2"\)'):
        run_from_trec("x.trec", ["q1 Q0 a 1 1.5 t", "q1 b 2"])


def test_rankings_join_a_run_and_what_they_leave_out_found_nothing() -> None:
    run = run_from_rows("r", rows({"id": "a", "rewrite": "q"}, {"id": "b", "rewrite": "p"}))
    joined = with_rankings(run, run_from_trec("t", ["a Q0 doc 1 1.0 t"]))
    assert (joined.rows["a"].retrieved, joined.rows["b"].retrieved) == (("doc",), ())


def test_rankings_of_an_unknown_id_are_an_error() -> None:
    with pytest.raises(BuilderError, match="t: b: ranks an id that the run has not"):
        with_rankings(
            run_from_rows("r", rows({"id": "a", "rewrite": "q"})), run_from_trec("t", ["b Q0 d 1 1 t"])
        )


def test_a_run_without_any_ranking_says_so() -> None:
    assert not Run("r", {}).has_retrieval
