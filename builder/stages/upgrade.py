"""Items of the seven basic fields made whole: what can be derived is derived, the rest gets a documented default."""

from collections.abc import Mapping
from typing import Any

from builder.core.errors import Problem
from builder.core.records import Turn
from builder.core.rows import Row, turn_from_row, turn_to_row
from builder.core.taxonomy import FORM_NAMES, ITEM_STRATA, LONG_RANGE, d_introduced, d_live, d_stale
from builder.core.terms import occurs

BASIC = ("id", "prefix", "follow_up", "gold", "reference_type", "forbidden_in_rewrite", "required_in_rewrite")
"""The seven fields that an item must have."""

DEFAULTS: Mapping[str, Any] = {
    "aliases": {},
    "reference_rewrite": None,
    "returns": False,
    "intervening_turns": 0,
    "language": "",
    "origin": "authored",
    "weight": 1.0,
    "inclusion_probability": 0.0,
    "labelled_by": "human",
    "confidence": 1.0,
    "review": "none",
}
"""What is written where nothing can be derived. `conversation_id` is the id; `rewrite_note` says that none was given."""

FORM_OF = {
    "post_pivot_standalone": "none",
    "standalone": "none",
    "ordinal": "ordinal",
    "pronoun": "pronoun",
    "ellipsis": "ellipsis",
    "definite": "definite",
    "constraint_carryover": "carryover",
    "long_range": "definite",
}
"""The form that a stratum implies; of a long-range item the form cannot be told, and `definite` stands for it."""


def upgrade_row(row: Row, where: str) -> tuple[Row, list[Problem]]:
    """The item with every field that the schema requires; fields that are there already stay as they are.

    A prefix of plain strings is read as turns of user and assistant in turn, the last before the follow-up being the
    assistant's. Antecedent turns are the latest turns that supply each required term which the follow-up lacks.

    Args:
        row: An item with at least the seven fields of `BASIC`.
        where: Its place, for problems.

    Returns:
        The item and what could not be made whole.
    """
    problems = [
        Problem(f"{where}: {name}", "is missing", "add it: it cannot be derived")
        for name in BASIC
        if name not in row
    ]
    if not problems and row["reference_type"] not in ITEM_STRATA:
        fix = f"one of {', '.join(ITEM_STRATA)}"
        problems.append(Problem(f"{where}: reference_type", f'is "{row["reference_type"]}"', fix))
    if problems:
        return row, problems
    prefix = _prefix(row["prefix"])
    turn = 1 + sum(bool(t.number) for t in prefix)
    aliases = row.get("aliases") or {}
    made = {**DEFAULTS, "conversation_id": row["id"], "turn": turn}
    if row.get("reference_rewrite") is None:
        made["rewrite_note"] = "none was given"
    made["gold_source"] = "label" if row["gold"] else "none"
    made["pivot"] = row["reference_type"] == "post_pivot_standalone"
    made["form"] = FORM_OF[row["reference_type"]]
    made |= {name: value for name, value in row.items() if name != "prefix"}
    made["prefix"] = [turn_to_row(each) for each in prefix]
    if "antecedent_turns" not in row:
        found = _antecedents(made, prefix, aliases)
        made["antecedent_turns"] = found
        problems += _contradiction(made, found, where)
    return _derived(made, prefix, aliases), problems


def _prefix(given: list[Any]) -> tuple[Turn, ...]:
    """Turns as they are, or plain strings numbered, so that the last one is the assistant's."""
    if all(isinstance(turn, str) for turn in given):
        roles = ("assistant", "user")
        last = len(given)
        # A single turn can only be the user's: a follow-up has an earlier user turn.
        return tuple(
            Turn(n, "user" if last == 1 else roles[(last - n) % 2], text)
            for n, text in enumerate(given, start=1)
        )
    return tuple(turn_from_row({"turn": n, **turn}) for n, turn in enumerate(given, start=1))


def _antecedents(row: Row, prefix: tuple[Turn, ...], aliases: Mapping[str, list[str]]) -> list[int]:
    if FORM_OF[row["reference_type"]] == "none":
        return []
    found: set[int] = set()
    for term in row["required_in_rewrite"]:
        wordings = aliases.get(term, ())
        if not occurs(term, row["follow_up"], wordings):
            found |= {max((t.number for t in prefix if occurs(term, t.content, wordings)), default=0)}
    return sorted(found - {0})


def _contradiction(row: Row, found: list[int], where: str) -> list[Problem]:
    """Where the antecedents that the terms point to do not fit the stratum."""
    stratum = row["reference_type"]
    live = d_live(row["turn"], found)
    if stratum == "long_range" and live < LONG_RANGE:
        what = f"the required terms lead back {live} turns, long_range needs {LONG_RANGE}"
    elif FORM_OF[stratum] != "none" and not found:
        what = f"no required term is missing from the follow-up, {stratum} needs something from history"
    elif stratum != "long_range" and live >= LONG_RANGE:
        what = f"the required terms lead back {live} turns, that is long_range"
    else:
        return []
    fix = "give antecedent_turns, or correct the terms or the stratum"
    return [Problem(f"{where}: antecedent_turns", what, fix)]


def _derived(row: Row, prefix: tuple[Turn, ...], aliases: Mapping[str, list[str]]) -> Row:
    turn, counted = row["turn"], tuple(t for t in prefix if t.number)
    turns = (*counted, Turn(turn, "user", row["follow_up"]))
    antecedents = row["antecedent_turns"]
    row = {**row, "form": row["form"] if row["form"] in FORM_NAMES else FORM_OF[row["reference_type"]]}
    return {
        **row,
        "d_live": d_live(turn, antecedents),
        "d_stale": d_stale(turn, row["forbidden_in_rewrite"], counted, aliases),
        "d_introduced": d_introduced(turn, row["required_in_rewrite"], antecedents, turns, aliases),
    }
