"""Score a run: a set and what a rewriter made of it in, outcomes and figures out; from memory or from files."""

import importlib
import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from builder.core.errors import INVALID_DATA, USAGE, BuilderError
from builder.core.records import Item
from builder.core.rows import turn_to_row
from builder.evaluate.inputs import content_keys
from builder.io.store import iter_jsonl, iter_lines, read_bytes
from builder.scoring.gate import Gate, gate_from_toml
from builder.scoring.judgement import Costs, Judged
from builder.scoring.metrics import check_cut_off
from builder.scoring.outcomes import Retrieve, judge_items
from builder.scoring.runs import Run, RunRow, match_ids, run_from_rows, run_from_trec
from builder.scoring.strata import DRAWS, tabulate


def score_run(
    items: Iterable[Item],
    run: Run,
    k: int = 5,
    retrieve: Retrieve | None = None,
    seed: int = 0,
    draws: int = DRAWS,
) -> Judged:
    """Every item judged under `run`, and the table over strata and facets.

    Items are taken one at a time and not kept. `retrieve` (query, k) searches with the rewrites of a run that has no
    rankings of its own.

    Raises:
        BuilderError: The ids of the run are not those of the items (each is named), or there are no items.
    """
    check_cut_off(k)
    seen: list[str] = []

    def known() -> Iterator[Item]:
        for item in items:
            seen.append(item.id)
            if item.id in run.rows:
                yield item

    outcomes = tuple(sorted(judge_items(known(), run, k, content_keys, retrieve), key=lambda o: o.id))
    if not seen:
        raise BuilderError(
            "items", "there is nothing to score (0 items)", "give a release with items", INVALID_DATA
        )
    match_ids(run, seen)
    return Judged(run, k, outcomes, tabulate(outcomes, seed, draws), costs_of(run))


def costs_of(run: Run) -> Costs:
    """Average calls and tokens, median and 95th percentile of the time."""
    rows = run.rows.values()
    times = sorted(row.latency_ms for row in rows if row.latency_ms is not None)
    return Costs(
        _mean([row.calls for row in rows if row.calls is not None]),
        _mean([row.tokens for row in rows if row.tokens is not None]),
        round(times[(len(times) - 1) // 2], 1) if times else None,
        round(times[(len(times) - 1) * 95 // 100], 1) if times else None,
    )


def _mean(counts: Sequence[int]) -> float | None:
    return round(sum(counts) / len(counts), 2) if counts else None


def read_run(path: Path) -> Run:
    """A run from JSONL, or from a TREC run file; told apart by the first character.

    Raises:
        BuilderError: The file cannot be read or holds something else; all faults are listed.
    """
    first = next((line.strip() for line in iter_lines(path, "run") if line.strip()), b"")
    if first and not first.startswith(b"{"):
        return run_from_trec(str(path), (line.decode(errors="replace") for line in iter_lines(path, "run")))
    return run_from_rows(str(path), ((f"{path}:{number}", row) for number, row in iter_jsonl(path, "run")))


Rewrite = Callable[[list[dict[str, Any]], str], Any]
"""(prefix turns as {turn, role, content}, follow-up) -> the query, or a run row without id, or None."""


def run_from_callable(path: str, items: Iterable[Item]) -> Run:
    """A run from your own function, named by import path (`package.module:function`).

    It is called with (prefix, follow_up) for each item. What it raises counts as a missing rewrite for that item only
    when it raises on some items; a function that fails on all of them is an error.

    Raises:
        BuilderError: There is no such function, or it fails on every item.
    """
    rewrite = import_function(path)
    rows: list[tuple[str, Any]] = []
    last: Exception | None = None
    for item in items:
        try:
            given = rewrite([turn_to_row(turn) for turn in item.prefix], item.follow_up)
        except Exception as error:
            given, last = None, error
        row = given if isinstance(given, dict) else {"rewrite": given}
        rows.append((f"{path}: {item.id}", {"rewrite": None, **row, "id": item.id}))
    if last is not None and all(row["rewrite"] is None for _, row in rows):
        raise BuilderError(
            path, f"fails on every item ({type(last).__name__}: {last})", "correct the function"
        )
    return run_from_rows(path, rows)


def import_function(path: str) -> Rewrite:
    """The function at `package.module:function`.

    Raises:
        BuilderError: There is none.
    """
    module, _, name = path.partition(":")
    try:
        function = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise BuilderError(
            path, f"cannot import it ({error})", "write package.module:function", USAGE
        ) from None
    if not callable(function):
        raise BuilderError(path, "is not a function", "write package.module:function", USAGE)
    found: Rewrite = function
    return found


def reference_run(items: Iterable[Item]) -> Run:
    """The run of a rewriter that gives every item's reference rewrite: what the set itself allows."""
    return Run("reference", {item.id: RunRow(item.reference_rewrite) for item in items})


def read_gate(path: Path) -> Gate:
    """The gate in a TOML file.

    Raises:
        BuilderError: It cannot be read, or a rule in it makes no sense.
    """
    try:
        table = tomllib.loads(read_bytes(path, "gate file").decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BuilderError(str(path), f"not TOML ({error})", "correct the file", USAGE) from None
    return gate_from_toml(table, str(path))
