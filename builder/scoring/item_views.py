"""Items as they are read in the report: the conversation with its terms marked, and what the rewriter saw and wrote."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from builder.core.hashing import rank
from builder.core.records import Item, Terms
from builder.core.terms import spans
from builder.scoring.metrics import PLACE
from builder.scoring.outcomes import QUADRANTS, Outcome
from builder.scoring.runs import RunRow

MOST_ITEMS = 400
"""Items a report shows; those that went wrong or changed come first."""


@dataclass(frozen=True, slots=True)
class Marked:
    """A text ready for the page: HTML in which all is escaped and terms are marked."""

    html: str

    def __html__(self) -> str:
        """The HTML, for the template."""
        return self.html


@dataclass(frozen=True, slots=True)
class TurnView:
    """One prefix turn: its text, and whether it supplies the follow-up and was shown to the rewriter."""

    number: int
    role: str
    text: Marked
    is_antecedent: bool
    is_shown: bool | None


@dataclass(frozen=True, slots=True)
class RewriteView:
    """What one run did with the item."""

    name: str
    text: Marked | None
    quadrant: str
    label: str
    absent: Terms
    contaminants: tuple[str, ...]
    retrieved: tuple[tuple[str, bool], ...]
    shown: Marked | None


@dataclass(frozen=True, slots=True)
class ItemView:
    """One item of the browser."""

    item: Item
    turns: tuple[TurnView, ...]
    follow_up: Marked
    reference: Marked | None
    runs: tuple[RewriteView, ...]
    change: str


def choose_items(
    outcomes: Sequence[Outcome], before: Mapping[str, Outcome], most: int = MOST_ITEMS
) -> tuple[str, ...]:
    """Ids of the items to show: those that got worse, then those that are not clean hits, then the rest, by hash."""

    def urgency(outcome: Outcome) -> tuple[int, int, int]:
        is_worse = change_of(outcome, before.get(outcome.id)) == "worse"
        return (not is_worse, outcome.quadrant in ("clean_hit", ""), rank(0, outcome.id))

    return tuple(outcome.id for outcome in sorted(outcomes, key=urgency)[:most])


def change_of(after: Outcome, before: Outcome | None) -> str:
    """Whether the item got better, worse or stayed, by recall and then by contamination; "" without a baseline."""
    if before is None:
        return ""
    for metric, sign in (("recall", 1), ("contamination", -1)):
        old, new = before.values[PLACE[metric]], after.values[PLACE[metric]]
        if old is not None and new is not None and old != new:
            return "better" if (new - old) * sign > 0 else "worse"
    return "same"


def view_item(item: Item, runs: Iterable[tuple[str, RunRow, Outcome]], k: int, change: str) -> ItemView:
    """The view of one item under the given runs, (name, row, outcome) each; the first is the one being judged."""
    listed = list(runs)
    shown_turns = listed[0][1].shown_turns
    turns = tuple(
        TurnView(
            turn.number,
            turn.role,
            mark_terms(turn.content, item),
            turn.number in item.antecedent_turns,
            None if shown_turns is None else turn.number in shown_turns,
        )
        for turn in item.prefix
    )
    reference = mark_terms(item.reference_rewrite, item) if item.reference_rewrite else None
    return ItemView(
        item,
        turns,
        mark_terms(item.follow_up, item),
        reference,
        tuple(_rewrite_view(item, name, row, outcome, k) for name, row, outcome in listed),
        change,
    )


def _rewrite_view(item: Item, name: str, row: RunRow, outcome: Outcome, k: int) -> RewriteView:
    labels = dict(QUADRANTS)
    return RewriteView(
        name,
        mark_terms(row.rewrite, item) if row.rewrite else None,
        outcome.quadrant or outcome.kind or "unknown",
        labels.get(outcome.quadrant, outcome.kind or "ranking only"),
        outcome.absent,
        tuple(_origin(c.term, c.turns) for c in outcome.contaminants),
        tuple((passage, passage in item.gold) for passage in (row.retrieved or ())[:k]),
        mark_terms(row.shown, item) if row.shown else None,
    )


def _origin(term: str, turns: Sequence[int]) -> str:
    where = f"turn {turns[-1]}" if len(turns) == 1 else f"turns {', '.join(map(str, turns))}"
    return f"{term} ({where})" if turns else f"{term} (not in the prefix)"


def mark_terms(text: str, item: Item) -> Marked:
    """`text` escaped, with the item's required and forbidden terms in marks; where they overlap, forbidden wins."""
    aliases = dict(item.aliases)
    found: list[tuple[int, int, int, str]] = []
    kinds = (("bad", item.forbidden_in_rewrite), ("good", item.required_in_rewrite))
    for order, (name, terms) in enumerate(kinds):
        for term in terms:
            for start, end in spans(term, text, aliases.get(term, ())):
                found.append((order, start, end, name))
    taken: list[tuple[int, int, str]] = []
    for _, start, end, name in sorted(found, key=lambda f: (f[0], f[1], -f[2])):
        if all(end <= other or start >= stop for other, stop, _ in taken):
            taken.append((start, end, name))
    parts, at = [], 0
    for start, end, name in sorted(taken):
        parts += [escape(text[at:start]), f'<mark class="{name}">{escape(text[start:end])}</mark>']
        at = end
    return Marked("".join([*parts, escape(text[at:])]))
