"""`followups show ID`: one item as a conversation, with its labels, its proof and why it was chosen."""

import textwrap
from pathlib import Path
from typing import Annotated

import typer

from builder.core.errors import USAGE, BuilderError, nearest
from builder.core.records import Item, Turn
from builder.core.taxonomy import right_windows
from builder.core.terms import spans

WIDTH = 96
_LISTED = 5


def show(
    item_id: Annotated[
        str, typer.Argument(metavar="ID", help="Item id, such as fu_0123456789ab, or the start of one")
    ],
    release: Annotated[Path, typer.Option(help="A release, its items.jsonl, or a folder of releases")] = Path(
        "dist"
    ),
) -> None:
    """Print an item as a conversation with its labels, its proof and why it was chosen.

    Example: followups show fu_0123456789ab --release dist
    """
    from builder.io.items import read_items
    from builder.pipeline.sources import find_items

    items = read_items(find_items(release))
    found = [item for item in items if item.id.startswith(item_id)]
    if len(found) != 1:
        raise _not_one(str(release), item_id, [item.id for item in found], [item.id for item in items])
    print("\n".join(describe(found[0])))


def _not_one(where: str, given: str, found: list[str], known: list[str]) -> BuilderError:
    """The error for a start of several ids, with the first of them, or of none, with the likest."""
    if found:
        more = f" and {len(found) - _LISTED} more" if len(found) > _LISTED else ""
        what = f'"{given}" is the start of {len(found)} ids'
        return BuilderError(where, what, f"give one of {', '.join(sorted(found)[:_LISTED])}{more}", USAGE)
    close = nearest(given, known)
    return BuilderError(
        where, f'no item "{given}"', f"did you mean {close}?" if close else "give a whole id", USAGE
    )


def describe(item: Item) -> list[str]:
    """The lines that `show` prints for an item. Antecedent turns are marked <, turns with a stale term x, inserted ones +."""
    inserted = set(item.synthesis.inserted) if item.synthesis else set()
    aliases = dict(item.aliases)
    lines = [f"{item.id}  {item.reference_type}  ({item.form})  {item.conversation_id} turn {item.turn}", ""]
    for turn in item.prefix:
        stale = any(spans(term, turn.content, aliases.get(term, ())) for term in item.forbidden_in_rewrite)
        marks = ("<" if turn.number in item.antecedent_turns else " ") + ("x" if stale else " ")
        lines += _said(turn, marks + ("+" if turn.number in inserted else " "))
    lines += _said(Turn(item.turn, "user", item.follow_up), ">> ")
    lines += [
        "",
        "   < supplies what is needed   x mentions a forbidden term   + inserted   >> the follow-up",
        "",
    ]
    lines += [f"{name:<14}{value}" for name, value in _labels(item) if value]
    if item.synthesis:
        made = item.synthesis
        lines += [
            "",
            f"made from {made.base} turn {made.base_turn}, {made.variant}, donors {', '.join(made.donors)}",
        ]
        lines += [f"distance {made.original_distance} -> {made.planned_distance}"]
        lines += [f"  {name:<26}{finding}" for name, finding in made.proof]
    return lines


def _said(turn: Turn, marks: str) -> list[str]:
    head = f"{marks}{turn.number:>3} {turn.role:<10}"
    return textwrap.wrap(
        printable(turn.content), WIDTH, initial_indent=head, subsequent_indent=" " * len(head)
    ) or [head]


def printable(text: str) -> str:
    """`text` with control and direction characters shown as escapes: transcripts cannot steer a terminal."""
    return "".join(c if c.isprintable() else " " if c in "\n\t\r" else f"\\u{ord(c):04x}" for c in text)


def _labels(item: Item) -> list[tuple[str, str]]:
    aliases = dict(item.aliases)

    def listed(terms: tuple[str, ...]) -> str:
        return ", ".join(f"{t} (or {', '.join(aliases[t])})" if aliases.get(t) else t for t in terms)

    windows = right_windows(item.d_live, item.d_stale)
    upper = "" if windows.high is None else f" to {windows.high}"
    right = {"some": f"{windows.low}{upper}{' or more' if windows.high is None else ''}"}
    seats = f"chance {item.inclusion_probability:.2f}, weight {item.weight:.2f}"
    return [
        ("required", listed(item.required_in_rewrite)),
        ("forbidden", listed(item.forbidden_in_rewrite)),
        ("rewrite", item.reference_rewrite or f"none: {item.rewrite_note}"),
        ("gold", f"{', '.join(item.gold)} ({item.gold_source})"),
        ("distances", f"d_live {item.d_live}, d_stale {item.d_stale}, introduced {item.d_introduced} back"),
        ("right windows", right.get(windows.verdict, f"none ({windows.verdict})")),
        ("facets", ", ".join(n for n in ("pivot", "returns", "correction", "drift") if getattr(item, n))),
        ("labelled by", f"{item.labelled_by}, confidence {item.confidence:.2f}, review {item.review}"),
        ("chosen", "synthesized for a shortage" if item.origin == "synthetic" else f"drawn: {seats}"),
        ("pair", item.pair),
    ]
