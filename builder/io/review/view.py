"""An item as the page shows it: turns cut into plain, required, stale and inert pieces. Nothing here is markup."""

import unicodedata
from collections.abc import Iterable, Mapping

from builder.core.records import Item, Passage, Turn
from builder.core.rows import Row
from builder.core.taxonomy import right_windows
from builder.core.terms import spans

_LAYOUT = frozenset("\n\t")
_JOINERS = frozenset("\u200c\u200d")


def view_item(item: Item, passages: Mapping[str, Passage]) -> Row:
    """What the page needs of `item`, under the labels it has."""
    aliases = dict(item.aliases)
    inserted = set(item.synthesis.inserted) if item.synthesis else set()
    windows = right_windows(item.d_live, item.d_stale)
    return {
        "id": item.id,
        "conversation": item.conversation_id,
        "turn": item.turn,
        "origin": item.origin,
        "language": item.language,
        "labelled_by": item.labelled_by,
        "confidence": round(item.confidence, 2),
        "prefix": [
            {
                "turn": turn.number,
                "role": turn.role,
                "antecedent": turn.number in item.antecedent_turns,
                "inserted": turn.number in inserted,
                "pieces": pieces(turn, item, aliases),
            }
            for turn in item.prefix
        ],
        "follow_up": pieces(Turn(item.turn, "user", item.follow_up), item, aliases),
        "derived": {
            "reference_type": item.reference_type,
            "d_live": item.d_live,
            "d_stale": item.d_stale,
            "d_introduced": item.d_introduced,
            "windows": _windows(windows.low, windows.high, windows.verdict),
        },
        "gold": [
            {"id": name, "title": passages[name].title, "text": passages[name].text}
            for name in item.gold
            if name in passages
        ],
        "proof": [list(pair) for pair in item.synthesis.proof] if item.synthesis else [],
    }


def _windows(low: int, high: int | None, verdict: str) -> str:
    if verdict == "same_turn":
        return "none: the stale term stands in the antecedent's own turn"
    if verdict == "nearer_stale":
        return "none: the stale term is nearer than the antecedent"
    return f"{low} or more" if high is None else str(low) if low == high else f"{low} to {high}"


def pieces(turn: Turn, item: Item, aliases: Mapping[str, Iterable[str]]) -> list[list[str]]:
    """The text of `turn` as [kind, text] pieces in order: "", required, stale or control.

    A character that changes the direction of text, or that cannot be seen, becomes a control piece that names it:
    a transcript can then neither reorder what the reviewer sees nor hide a part of it.
    """
    marks = [""] * len(turn.content)
    for kind, terms in (("required", item.required_in_rewrite), ("stale", item.forbidden_in_rewrite)):
        for term in terms:
            for start, end in spans(term, turn.content, aliases.get(term, ())):
                marks[start:end] = [kind] * (end - start)
    found: list[list[str]] = []
    for char, kind in zip(turn.content, marks, strict=True):
        if is_inert(char):
            found.append(["control", _name(char)])
        elif found and found[-1][0] == kind:
            found[-1][1] += char
        else:
            found.append([kind, char])
    return found


def is_inert(char: str) -> bool:
    """Whether `char` is shown by its code: controls, directions, invisible and unassigned characters."""
    if char in _LAYOUT or char in _JOINERS:
        return False
    return unicodedata.category(char) in ("Cc", "Cf", "Co", "Cs", "Cn", "Zl", "Zp")


def _name(char: str) -> str:
    name = unicodedata.name(char, "").lower()
    return f"U+{ord(char):04X}{' ' + name if name else ''}"
