"""The review desk: items, the decisions file and a pass, joined to what the page can ask for."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from builder.core.agreement import agreement_to_row, measure_agreement
from builder.core.decisions import (
    ADJUDICATION,
    REASONS,
    Decision,
    disagreements,
    label_fault,
    last_decided,
    read_decision,
    standing_decisions,
)
from builder.core.errors import INVALID_DATA, BuilderError, Problem
from builder.core.hashing import rank
from builder.core.item_rules import item_problems
from builder.core.records import Item, Passage
from builder.core.rows import Row
from builder.core.taxonomy import FORMS
from builder.io.review.app import Desk
from builder.io.review.journal import Journal
from builder.io.review.view import view_item
from builder.stages.review import decide, labels_of, pass_labels, relabel

SEED = 0
"""The order of a pass must not depend on a set's seed: two readers of one file get the same queue."""


@dataclass(frozen=True, slots=True)
class Sitting:
    """One pass of one person over the items of a set.

    Attributes:
        items: The items by id.
        journal: The open decisions file.
        reading: The pass.
        reviewer: Who reads.
        now: The time, ISO 8601.
        passages: The corpus by id, to show gold passages; may be empty.
    """

    items: Mapping[str, Item]
    journal: Journal
    reading: int
    reviewer: str
    now: Callable[[], str]
    passages: Mapping[str, Passage] = field(default_factory=dict)


def open_desk(sitting: Sitting) -> Desk:
    """What the page can ask for in one sitting.

    The page of a pass is never told what another pass decided, but for the adjudication, which is about nothing else.

    Raises:
        BuilderError: There is nothing to read in this pass, or a decision in the file is malformed.
    """
    order = _order(sitting.items, sitting.journal, sitting.reading)
    return Desk(
        partial(_queue, sitting, order),
        partial(_show, sitting),
        partial(_keep, sitting),
        partial(_undo, sitting),
    )


def pass_agreement(items: Mapping[str, Item], journal: Journal) -> Row:
    """How far the two passes agree, field by field.

    Raises:
        BuilderError: No item was read in both.
    """
    standing = standing_decisions(journal.rows)
    first, second = (pass_labels(standing, items, reading) for reading in (1, 2))
    if not first.keys() & second.keys():
        raise BuilderError(
            "review", "no item was read in both passes", "read some again with --pass 2, by another person"
        )
    return agreement_to_row(measure_agreement(first, second))


def _queue(sitting: Sitting, order: Sequence[str]) -> Row:
    decided = standing_decisions(sitting.journal.rows)
    is_last = sitting.reading == ADJUDICATION

    def state(name: str) -> str:
        mine = decided.get(name, {}).get(sitting.reading)
        return mine.decision if mine else ""

    return {
        "pass": sitting.reading,
        "adjudicating": is_last,
        "forms": [[form.name, form.definition] for form in FORMS],
        "reasons": [[name, meaning] for name, meaning in REASONS.items()],
        "items": [[name, state(name)] for name in order],
        "agreement": pass_agreement(sitting.items, sitting.journal) if is_last else None,
    }


def _show(sitting: Sitting, item_id: str, labels: Row | None) -> Row | None:
    given = sitting.items.get(item_id)
    if given is None:
        return None
    passes = standing_decisions(sitting.journal.rows).get(item_id, {})
    mine = passes.get(sitting.reading)
    if labels is None:
        labels = mine.labels if mine and mine.labels else labels_of(given)
    item = _relabelled(given, labels)
    return {
        **view_item(item, sitting.passages),
        "labels": labels_of(item),
        "given": labels_of(given),
        "problems": [f"{p.where.split(': ')[-1]}: {p.what}; {p.fix}" for p in item_problems(item)],
        "decision": _shown(mine) if mine else None,
        "readings": _readings(given, passes) if sitting.reading == ADJUDICATION else [],
    }


def _keep(sitting: Sitting, asked: Row) -> Row:
    row = _row(asked, sitting)
    item = sitting.items.get(row["id"])
    if item is None:
        raise BuilderError("decision", f'no item "{row["id"]}"', "reload the page", INVALID_DATA)
    if row["decision"] in ("accept", "edit"):
        labels = labels_of(_relabelled(item, row.get("labels") or {}))
        row["labels"] = labels
        row["decision"] = "accept" if labels == labels_of(item) else "edit"
        _, problems = decide(item, labels, row["decision"])
        if problems:
            first = problems[0]
            raise BuilderError(first.where, first.what, first.fix, INVALID_DATA, problems)
    read = read_decision(row, "decision")
    if isinstance(read, Problem):
        raise BuilderError(read.where, read.what, read.fix, INVALID_DATA)
    sitting.journal.append(row)
    return {"id": row["id"], "decision": row["decision"]}


def _undo(sitting: Sitting) -> Row:
    last = last_decided(sitting.journal.rows, sitting.reading)
    if last:
        row = {"id": last, "decision": "undo", "pass": sitting.reading, "reviewer": sitting.reviewer}
        sitting.journal.append({**row, "at": sitting.now()})
    return {"id": last}


def _row(asked: Row, sitting: Sitting) -> Row:
    """The line that a request asks for, with nothing in it but what a decision has."""
    decision = asked.get("decision")
    if decision == "undo":
        raise BuilderError("decision", "undo is its own request", "use undo", INVALID_DATA)
    row: Row = {"id": str(asked.get("id", "")), "decision": decision, "pass": sitting.reading}
    row |= {"reviewer": sitting.reviewer, "at": sitting.now()}
    kinds = {"note": str, "reason": str} if decision == "reject" else {"note": str, "labels": dict}
    row |= {
        name: asked[name] for name, kind in kinds.items() if asked.get(name) and isinstance(asked[name], kind)
    }
    return row


def _relabelled(item: Item, labels: Row) -> Item:
    fault = label_fault(labels)
    if fault:
        raise BuilderError("labels", *fault, INVALID_DATA)
    return relabel(item, labels)


def _shown(decision: Decision) -> Row:
    return {"decision": decision.decision, "reason": decision.reason, "note": decision.note}


def _order(known: Mapping[str, Item], journal: Journal, reading: int) -> list[str]:
    """The items of a pass in its order: all in the first, those read once in the second, the disputed in the third."""
    standing = standing_decisions(journal.rows)
    if reading == 1:
        chosen = list(known)
    elif reading == ADJUDICATION:
        chosen = [
            name
            for name, passes in standing.items()
            if name in known and {1, 2} <= set(passes) and disagreements(passes[1], passes[2])
        ]
    else:
        chosen = [name for name, passes in standing.items() if name in known and 1 in passes]
    if not chosen:
        what = {
            1: "no items",
            2: "nothing was read in the first pass",
            ADJUDICATION: "no item was read differently in two passes",
        }
        raise BuilderError("review", what[reading], "there is nothing to read in this pass")
    return sorted(chosen, key=lambda name: rank(SEED, "review", reading, name))


def _readings(item: Item, passes: Mapping[int, Decision]) -> list[Row]:
    """The two readings of a disputed item, in an order that does not tell which was first."""
    pair = [passes[n] for n in (1, 2) if n in passes]
    if rank(SEED, "readings", item.id) % 2:
        pair.reverse()
    differ = disagreements(pair[0], pair[1]) if len(pair) == 2 else ()
    return [
        {
            "reader": name,
            **_shown(decision),
            "labels": decision.labels or None,
            "reference_type": relabel(item, decision.labels).reference_type if decision.labels else "",
            "differs": list(differ),
        }
        for name, decision in zip("AB", pair, strict=False)
    ]
