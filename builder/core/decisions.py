"""What people decide about items: the lines of a decisions file, and which of them hold."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from builder.core.errors import INVALID_DATA, BuilderError, Problem
from builder.core.rows import Row
from builder.core.taxonomy import FORM_NAMES
from builder.core.terms import key

DECISIONS = ("accept", "edit", "reject", "undo")
ADJUDICATION = 3
"""The pass that settles what the first two read differently."""
REASONS: dict[str, str] = {
    "not_a_query": "nothing to retrieve",
    "unresolvable": "needs something that no earlier turn supplies",
    "implausible": "does not read as a log",
    "no_forbidden_term": "nothing in the prefix could contaminate",
    "wrong_gold": "the gold passages do not answer it",
    "private": "holds something private",
    "other": "see the note",
}
"""Why an item is rejected -> what that means."""
UNSETTLED = "two readers disagree and nobody has adjudicated"

LABELS = (
    "form",
    "pivot",
    "returns",
    "antecedent_turns",
    "required_in_rewrite",
    "forbidden_in_rewrite",
    "aliases",
    "reference_rewrite",
    "gold",
)
"""What a reader decides; everything else about an item is derived or given."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What one person decided about one item in one pass.

    Attributes:
        id: The item.
        decision: One of `DECISIONS`; undo takes back the last one of the same item and pass.
        reading: 1, 2 or `ADJUDICATION`.
        reviewer: Who decided.
        at: When, ISO 8601.
        labels: The labels of `LABELS` as accepted or edited; empty otherwise.
        reason: One of `REASONS`, when rejected.
        note: A remark for people.
    """

    id: str
    decision: str
    reading: int
    reviewer: str
    at: str
    labels: Row
    reason: str = ""
    note: str = ""


Standing = dict[str, dict[int, Decision]]


def standing_decisions(rows: Iterable[Row]) -> Standing:
    """The decision that holds for each item and pass: the last one that was not undone.

    Raises:
        BuilderError: A row is malformed; all such are named.
    """
    stacks: dict[str, dict[int, list[Decision]]] = {}
    problems: list[Problem] = []
    for number, row in enumerate(rows, start=1):
        read = read_decision(row, f"decisions:{number}")
        if isinstance(read, Problem):
            problems.append(read)
            continue
        stack = stacks.setdefault(read.id, {}).setdefault(read.reading, [])
        if read.decision != "undo":
            stack.append(read)
        elif stack:
            stack.pop()
    if problems:
        raise BuilderError(
            problems[0].where, problems[0].what, problems[0].fix, INVALID_DATA, problems=problems
        )
    return {
        name: {reading: stack[-1] for reading, stack in passes.items() if stack}
        for name, passes in stacks.items()
        if any(passes.values())
    }


def read_decision(row: Row, where: str) -> Decision | Problem:
    """The decision in `row`, or what is wrong with it."""
    if not isinstance(row, dict) or not isinstance(row.get("id"), str) or not row["id"]:
        return Problem(where, "names no item", 'give "id"')
    place = f"{where}: {row['id']}"
    if row.get("decision") not in DECISIONS:
        return Problem(place, f'unknown decision "{row.get("decision")}"', f"one of {', '.join(DECISIONS)}")
    if row.get("pass") not in (1, 2, ADJUDICATION):
        return Problem(place, f'pass is "{row.get("pass")}"', f"one of 1, 2, {ADJUDICATION}")
    labels = row.get("labels") or {}
    if row["decision"] in ("accept", "edit") and (fault := label_fault(labels)):
        return Problem(f"{place}: labels", *fault)
    reason = row.get("reason", "")
    if row["decision"] == "reject" and reason not in REASONS:
        return Problem(place, f'unknown reason "{reason}"', f"one of {', '.join(REASONS)}")
    return Decision(
        row["id"],
        row["decision"],
        row["pass"],
        str(row.get("reviewer", "")),
        str(row.get("at", "")),
        labels,
        str(reason),
        str(row.get("note", "")),
    )


def label_fault(labels: Row) -> tuple[str, str] | None:
    """What is wrong with the labels of a decision and the remedy; None when they are whole."""
    missing = [name for name in LABELS if name not in labels]
    if missing:
        return f"lacks {', '.join(missing)}", "write the item's labels whole"
    if labels["form"] not in FORM_NAMES:
        return f'unknown form "{labels["form"]}"', f"one of {', '.join(FORM_NAMES)}"
    if not all(isinstance(turn, int) for turn in labels["antecedent_turns"]):
        return f"antecedent_turns is {labels['antecedent_turns']!r}", "give turn numbers"
    for name in ("required_in_rewrite", "forbidden_in_rewrite", "gold"):
        if not all(isinstance(term, str) and term.strip() for term in labels[name]):
            return f"{name} is {labels[name]!r}", "give words"
    if not all(isinstance(labels[name], bool) for name in ("pivot", "returns")):
        return "pivot or returns is neither true nor false", "give true or false"
    return None


def settle(passes: Mapping[int, Decision]) -> Decision | str | None:
    """The decision that counts, why there is none although the item was read, or None when nobody read it.

    Two readers who differ in terms only are both right as often as not: the first one's list holds.
    """
    if ADJUDICATION in passes:
        return passes[ADJUDICATION]
    first, second = passes.get(1), passes.get(2)
    if first and second and set(disagreements(first, second)) - {"required", "forbidden"}:
        return UNSETTLED
    return first or second


def disagreements(first: Decision, second: Decision) -> tuple[str, ...]:
    """Names of what two decisions about one item differ in."""
    rejected = [decision.decision == "reject" for decision in (first, second)]
    if any(rejected):
        return () if all(rejected) else ("decision",)
    one, other = _comparable(first.labels), _comparable(second.labels)
    return tuple(name for name in one if one[name] != other[name])


def _comparable(labels: Row) -> dict[str, object]:
    return {
        "form": labels["form"],
        "pivot": labels["pivot"],
        "returns": labels["returns"],
        "antecedents": sorted(set(labels["antecedent_turns"])),
        "required": sorted(map(key, labels["required_in_rewrite"])),
        "forbidden": sorted(map(key, labels["forbidden_in_rewrite"])),
    }


def last_decided(rows: Iterable[Row], reading: int) -> str:
    """The item whose decision in this pass was made last and not undone; "" when there is none."""
    order: list[str] = []
    for row in rows:
        if row["pass"] != reading:
            continue
        if row["decision"] != "undo":
            order.append(row["id"])
        elif row["id"] in order:
            del order[len(order) - 1 - order[::-1].index(row["id"])]
    return order[-1] if order else ""
