"""A run: what a rewriter gave for each item, read from JSON rows or from a TREC run file; every fault is named by id."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from sys import intern
from typing import Any

from builder.core.errors import INVALID_DATA, BuilderError, Problem
from builder.core.records import Terms

Located = Iterable[tuple[str, Any | Problem]]
"""(place for people, JSON value or the reason why it is none)."""

MOST_LISTED = 10
"""Ids named one by one when a run does not fit the set."""


@dataclass(frozen=True, slots=True)
class RunRow:
    """What a rewriter gave for one item.

    Attributes:
        rewrite: The standalone query; None when it gave none, which counts as a failure.
        retrieved: Passage ids, best first; None when the run leaves retrieval to the scorer.
        shown: The rewriter's input as text, "" when it was not logged.
        shown_turns: Turn numbers of the prefix that it saw; None when it was not logged.
        tokens: Tokens read and written.
        calls: Model calls.
        latency_ms: Time it took.
    """

    rewrite: str | None
    retrieved: Terms | None = None
    shown: str = ""
    shown_turns: tuple[int, ...] | None = None
    tokens: int | None = None
    calls: int | None = None
    latency_ms: float | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """A rewriter's output over a set.

    Attributes:
        name: What it is called in tables.
        rows: By item id.
        has_rewrites: False for a run that is only a ranking: nothing can then be said about rewrites.
    """

    name: str
    rows: Mapping[str, RunRow] = field(default_factory=dict)
    has_rewrites: bool = True

    @property
    def has_retrieval(self) -> bool:
        """Whether it carries rankings of its own."""
        return any(row.retrieved is not None for row in self.rows.values())


def run_from_rows(name: str, rows: Located) -> Run:
    """A run from rows `{id, rewrite, retrieved?, tokens?, latency_ms?, shown?, ...}`; further keys are left alone.

    Raises:
        BuilderError: A row is no run row, or an id stands twice; all faults are listed.
    """
    read: dict[str, RunRow] = {}
    problems: list[Problem] = []
    for where, row in rows:
        if isinstance(row, Problem):
            problems.append(row)
        elif fault := _fault(where, row, read):
            problems.append(fault)
        else:
            read[row["id"]] = _row(row)
    if not problems:
        problems = _half_ranked(name, read)
    _refuse(name, problems, read)
    return Run(name, read)


def run_from_trec(name: str, lines: Iterable[str]) -> Run:
    """A run without rewrites from TREC lines `id Q0 passage rank score tag`; the score decides the order, then the rank.

    Raises:
        BuilderError: A line has another shape or a passage stands twice for an item; all faults are listed.
    """
    found: dict[str, dict[str, tuple[float, int]]] = {}
    problems: list[Problem] = []
    for number, line in enumerate(lines, start=1):
        cells = line.split()
        if not cells:
            continue
        where = f"{name}:{number}"
        try:
            identifier, _, passage, rank, score, _ = cells
            order = (-float(score), int(rank))
        except ValueError:
            problems.append(
                Problem(
                    where,
                    f'not a line of a TREC run ("{line.strip():.60}")',
                    "write: id Q0 passage rank score tag",
                )
            )
            continue
        if passage in found.setdefault(identifier, {}):
            problems.append(
                Problem(where, f"{identifier} retrieves {passage} twice", "keep one of the lines")
            )
        found[identifier][passage] = order
    rows = {
        identifier: RunRow(None, tuple(sorted(passages, key=lambda p: (*passages[p], p))))
        for identifier, passages in found.items()
    }  # fmt: skip
    _refuse(name, problems, rows)
    return Run(name, rows, has_rewrites=False)


def with_rankings(run: Run, rankings: Run) -> Run:
    """`run` with the retrieved passages of `rankings`; an item that `rankings` leaves out retrieved nothing.

    Raises:
        BuilderError: `rankings` names an id that `run` has not.
    """
    extra = sorted(rankings.rows.keys() - run.rows.keys())
    if extra:
        problems = [
            Problem(f"{rankings.name}: {name}", "ranks an id that the run has not", "rank the ids of the run")
            for name in extra
        ]
        _refuse(rankings.name, problems, rankings.rows)
    none = RunRow(None, ())
    rows = {
        name: RunRow(
            row.rewrite, rankings.rows.get(name, none).retrieved, row.shown, row.shown_turns,
            row.tokens, row.calls, row.latency_ms,
        )
        for name, row in run.rows.items()
    }  # fmt: skip
    return Run(run.name, rows)


def match_ids(run: Run, ids: Collection[str]) -> None:
    """Refuse a run whose ids are not exactly those of the set.

    Raises:
        BuilderError: An item has no row, or a row no item; the first ten of each are named, the others counted.
    """
    known = set(ids)
    problems = _listed(
        run.name,
        sorted(known - run.rows.keys()),
        ("no row for this item", "items of the set have no row either"),
        "write one; with rewrite null where it failed",
    )
    problems += _listed(
        run.name,
        sorted(run.rows.keys() - known),
        ("no item of the set has this id", "ids are not of the set either"),
        "score the release the run was made on",
    )
    _refuse(run.name, problems, run.rows)


def _listed(name: str, ids: list[str], what: tuple[str, str], fix: str) -> list[Problem]:
    """A problem for each id, and from the eleventh on one that says how many more there are."""
    problems = [Problem(f"{name}: {found}", what[0], fix) for found in ids[:MOST_LISTED]]
    if len(ids) > MOST_LISTED:
        problems.append(Problem(name, f"{len(ids) - MOST_LISTED} more {what[1]}", fix))
    return problems


def _refuse(name: str, problems: list[Problem], rows: Collection[str]) -> None:
    if problems:
        first = problems[0]
        raise BuilderError(first.where, first.what, first.fix, INVALID_DATA, problems)
    if not rows:
        raise BuilderError(name, "the run is empty (0 rows)", "write one row for each item", INVALID_DATA)


def _fault(where: str, row: Any, seen: Mapping[str, RunRow]) -> Problem | None:
    if not isinstance(row, dict):
        return Problem(where, f"a run row is an object, not {row!r:.40}", "write one JSON object a line")
    name = row.get("id")
    if not isinstance(name, str) or not name:
        return Problem(where, f"id is {name!r:.40}", "give the id of the item, as text")
    if name in seen:
        return Problem(where, f"{name} stands twice", "keep one row for each item")
    if not isinstance(row.get("rewrite", 0), str | None):
        given = f"{row['rewrite']!r:.40}" if "rewrite" in row else "missing"
        return Problem(where, f"{name}: rewrite is {given}", "give a text, or null where the rewriter failed")
    return _fault_in_ranking(where, name, row.get("retrieved")) or _fault_in_costs(where, name, row)


def _fault_in_ranking(where: str, name: str, retrieved: Any) -> Problem | None:
    if retrieved is None:
        return None
    if not isinstance(retrieved, list) or not all(isinstance(passage, str) for passage in retrieved):
        return Problem(
            where, f"{name}: retrieved is {retrieved!r:.40}", "give a list of passage ids, best first"
        )
    if len(set(retrieved)) < len(retrieved):
        twice = next(passage for passage in retrieved if retrieved.count(passage) > 1)
        return Problem(where, f"{name}: retrieves {twice} twice", "list each passage once, at its best rank")
    return None


def _fault_in_costs(where: str, name: str, row: dict[str, Any]) -> Problem | None:
    latency = row.get("latency_ms")
    if latency is not None and (
        isinstance(latency, bool) or not isinstance(latency, int | float) or latency < 0
    ):
        return Problem(where, f"{name}: latency_ms is {latency!r:.40}", "give milliseconds, 0 or more")
    tokens = row.get("tokens")
    counts = list(tokens.values()) if isinstance(tokens, dict) else [] if tokens is None else [tokens]
    if not all(isinstance(count, int) and not isinstance(count, bool) and count >= 0 for count in counts):
        return Problem(where, f"{name}: tokens is {tokens!r:.40}", "give a count, or {calls, input, output}")
    return None


def _half_ranked(name: str, rows: Mapping[str, RunRow]) -> list[Problem]:
    """A rewrite without a ranking in a run that has rankings could mean nothing found or not asked: refuse to guess."""
    if not any(row.retrieved is not None for row in rows.values()):
        return []
    return [
        Problem(
            f"{name}: {identifier}",
            "no retrieved, though other rows have it",
            "write [] where nothing was found",
        )
        for identifier, row in sorted(rows.items())
        if row.retrieved is None and row.rewrite
    ]


def _row(row: dict[str, Any]) -> RunRow:
    shown, tokens = row.get("shown"), row.get("tokens")
    text, turns = _shown(shown)
    counts = tokens if isinstance(tokens, dict) else {}
    retrieved = row.get("retrieved")
    rewrite = row["rewrite"]
    return RunRow(
        rewrite if rewrite is None or rewrite.strip() else None,
        None if retrieved is None else tuple(map(intern, retrieved)),
        text,
        turns,
        sum(counts.get(side, 0) for side in ("input", "output")) if counts else tokens,
        counts.get("calls"),
        row.get("latency_ms"),
    )


def _shown(shown: Any) -> tuple[str, tuple[int, ...] | None]:
    if isinstance(shown, str):
        return shown, None
    if isinstance(shown, dict):
        return str(shown.get("text") or ""), _turn_numbers(shown.get("turns"))
    return "", _turn_numbers(shown)


def _turn_numbers(value: Any) -> tuple[int, ...] | None:
    is_list = isinstance(value, list) and all(isinstance(turn, int) for turn in value)
    return tuple(value) if is_list else None
