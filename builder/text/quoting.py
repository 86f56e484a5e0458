"""A conversation as quoted material for a prompt: nothing in it can end the quotation, and nothing is cut silently."""

import json
import re
from collections.abc import Sequence

from builder.core.records import Turn

ROOM = 24_000
"""Characters of quoted text above which older turns are shortened further."""

NEAR = 8
"""Turns just above the follow-up that keep the widest limits, whatever the length of the conversation."""

_LIMITS = ({"user": 2000, "assistant": 900}, {"user": 500, "assistant": 200}, {"user": 160, "assistant": 80})
_FOLLOW_UP_LIMIT = 6000

# "<" would allow a closing tag; the others end a line for some readers, or cannot be sent as UTF-8.
_UNSAFE = re.compile("[<\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def quote_conversation(turns: Sequence[Turn], turn: int) -> str:
    """The prefix of the follow-up at `turn` and the follow-up, each turn one line of JSON between tags of our own.

    Long turns are shortened in the middle and say by how many characters; every turn is there with its number.
    """
    prefix, follow_up = turns[: turn - 1], turns[turn - 1]
    lines = _within_room(prefix, turn)
    last = _line(follow_up, _FOLLOW_UP_LIMIT)
    return "\n".join(["<conversation>", *lines, "</conversation>", "<follow_up>", last, "</follow_up>"])


def quote_text(text: str) -> str:
    """`text` as one line of JSON without any character that could end a quotation."""
    return _UNSAFE.sub(lambda found: f"\\u{ord(found.group()):04x}", json.dumps(text, ensure_ascii=False))


def _within_room(prefix: Sequence[Turn], turn: int) -> list[str]:
    for limits in _LIMITS:
        lines = [
            _line(each, (_LIMITS[0] if turn - each.number <= NEAR else limits)[each.role]) for each in prefix
        ]
        if sum(map(len, lines)) <= ROOM:
            break
    return lines if prefix else []


def _line(turn: Turn, limit: int) -> str:
    text, left_out = turn.content, 0
    if len(text) > limit:
        head, tail = limit * 2 // 3, limit // 3
        left_out = len(text) - head - tail
        text = f"{text[:head]} [...] {text[-tail:]}"
    parts = [f'"turn": {turn.number}', f'"role": "{turn.role}"', f'"text": {quote_text(text)}']
    if left_out:
        parts.append(f'"characters_left_out": {left_out}')
    return "{" + ", ".join(parts) + "}"
