"""review: items and decisions of people in, items out; a decision that breaks an item's rules is refused."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from builder.core.errors import INVALID_DATA, BuilderError, Problem
from builder.core.item_rules import counted, item_problems
from builder.core.records import Dropped, Item, Turn
from builder.core.rows import Row, aliases_from_row, aliases_to_row
from builder.core.taxonomy import FORM_NAMES, LONG_RANGE, Facts, d_introduced, d_live, d_stale, reference_type
from builder.core.terms import key

STAGE = "review"
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


def apply_decisions(
    items: Iterable[Item], decisions: Iterable[Row], long_range: int = LONG_RANGE
) -> Iterator[Item | Dropped]:
    """Each item as it was decided: accepted, edited with what follows from its labels derived anew, or dropped.

    An adjudication outweighs the two passes. Where they disagree on more than terms and there is none, the item is
    dropped: an item with a wrong label is worse than none. Items nobody decided pass unchanged.

    Raises:
        BuilderError: A decision is malformed, or its labels break a rule of items; all such are named.
    """
    standing = standing_decisions(decisions)
    problems: list[Problem] = []
    for item in items:
        final = settle(standing.get(item.id, {}))
        if final is None:
            yield item
        elif isinstance(final, str):
            yield Dropped(item.id, STAGE, final, "followups review --adjudicate settles it")
        elif final.decision == "reject":
            yield Dropped(item.id, STAGE, f"rejected: {final.reason}", final.note)
        else:
            decided, found = decide(item, final.labels, final.decision, long_range)
            problems += found
            yield decided
    if problems:
        first = problems[0]
        raise BuilderError(first.where, first.what, first.fix, INVALID_DATA, sorted(problems))


def decide(
    item: Item, labels: Row, decision: str, long_range: int = LONG_RANGE
) -> tuple[Item, list[Problem]]:
    """`item` with `labels` in place of its own, and the rules that it then breaks."""
    decided = relabel(item, labels, long_range)
    if decision == "edit":
        decided = replace(decided, labelled_by="human", confidence=1.0, review="edited")
    else:
        decided = replace(decided, review="accepted")
    return decided, item_problems(decided, where="review", long_range=long_range)


def relabel(item: Item, labels: Row, long_range: int = LONG_RANGE) -> Item:
    """`item` with `labels`, and with everything that follows from them derived anew.

    `intervening_turns` follows from the subjects of the prefix, which an item does not hold: it is kept, within the
    new distance.
    """
    given = {**labels_of(item), **{name: labels[name] for name in LABELS if name in labels}}
    required, forbidden = tuple(given["required_in_rewrite"]), tuple(given["forbidden_in_rewrite"])
    antecedents = tuple(sorted({int(turn) for turn in given["antecedent_turns"]}))
    terms = {*required, *forbidden}
    aliases = {term: given["aliases"][term] for term in given["aliases"] if term in terms}
    live = d_live(item.turn, antecedents)
    rewrite = given["reference_rewrite"] or None
    inside = tuple(turn for turn in antecedents if 0 < turn < item.turn)
    texts = (*counted(item), Turn(item.turn, "user", item.follow_up))
    return replace(
        item,
        form=given["form"],
        pivot=bool(given["pivot"]),
        returns=bool(given["returns"]),
        antecedent_turns=antecedents,
        required_in_rewrite=required,
        forbidden_in_rewrite=forbidden,
        aliases=aliases_from_row(aliases),
        reference_rewrite=rewrite,
        rewrite_note="" if rewrite else item.rewrite_note or "left empty in review",
        gold=tuple(given["gold"]),
        gold_source=item.gold_source if tuple(given["gold"]) == item.gold else "human",
        reference_type=_stratum(
            Facts(given["form"], bool(given["pivot"]), live, long_range=long_range), item.reference_type
        ),
        d_live=live,
        d_stale=d_stale(item.turn, forbidden, counted(item), aliases),
        d_introduced=d_introduced(item.turn, required, inside, texts, aliases) if inside else 0,
        intervening_turns=min(item.intervening_turns, max(0, live - 1)),
    )


def _stratum(facts: Facts, before: str) -> str:
    """The stratum that the labels give; the old one while they contradict each other, which the rules then report."""
    try:
        return reference_type(facts)
    except ValueError:
        return before


def labels_of(item: Item) -> Row:
    """The labels that a reader decides, as plain values."""
    row: Row = {name: getattr(item, name) for name in LABELS}
    for name in ("antecedent_turns", "required_in_rewrite", "forbidden_in_rewrite", "gold"):
        row[name] = list(row[name])
    row["aliases"] = aliases_to_row(item.aliases)
    return row


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
    if row["decision"] in ("accept", "edit") and (fault := _fault(labels)):
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


def _fault(labels: Row) -> tuple[str, str] | None:
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


def pass_labels(standing: Standing, items: Mapping[str, Item], reading: int) -> dict[str, Row]:
    """Label rows of one pass by item id, for measuring agreement; a rejected item has its reason as its stratum."""
    rows: dict[str, Row] = {}
    for name, passes in standing.items():
        if reading not in passes or name not in items:
            continue
        decision = passes[reading]
        if decision.decision == "reject":
            rows[name] = {"reference_type": decision.reason}
        else:
            rows[name] = {
                **decision.labels,
                "reference_type": relabel(items[name], decision.labels).reference_type,
            }
    return rows
