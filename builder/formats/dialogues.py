"""Dialogue corpora: SGD, GECOR's CamRest, ABCD, and FollowUp's pairs of questions."""

from collections.abc import Iterator
from typing import Any

from builder.formats.shape import Malformed, Row, find_id, is_messages, one, said, shown, text_id

SGD_ROLES = {"user": "user", "system": "assistant"}
ABCD_ROLES = {"customer": "user", "agent": "assistant", "action": "tool"}
_PAIR_CELLS = 4
_ROLE_CELLS = frozenset({*SGD_ROLES, *ABCD_ROLES, "assistant", "human", "bot"})


def is_sgd(value: Any) -> bool:
    """{dialogue_id, turns: [{speaker, utterance}]}."""
    return isinstance(value, dict) and is_messages(value.get("turns"), "speaker", "utterance")


def from_sgd(value: Any) -> Iterator[Row]:
    """One dialogue."""
    return one(find_id(value), [said(turn["speaker"], turn["utterance"]) for turn in value["turns"]])


def is_gecor(value: Any) -> bool:
    """{dialogue_id, dial: [{usr: {transcript}, sys: {sent}}]}."""
    return isinstance(value, dict) and is_messages(value.get("dial"), "usr", "sys")


def from_gecor(value: Any) -> Iterator[Row]:
    """One dialogue in its original wording; the shortened and completed versions are annotation."""
    messages = []
    for turn in value["dial"]:
        messages += [said("user", turn["usr"]["transcript"]), said("assistant", turn["sys"]["sent"])]
    return one(text_id(value.get("dialogue_id")), messages)


def is_abcd(value: Any) -> bool:
    """{convo_id, original: [[speaker, text]]}."""
    turns = value.get("original") if isinstance(value, dict) else None
    return isinstance(turns, list) and bool(turns) and isinstance(turns[0], list) and len(turns[0]) == 2


def from_abcd(value: Any) -> Iterator[Row]:
    """One chat in its original wording; the same speaker twice in a row stays two messages."""
    return one(text_id(value.get("convo_id")), [said(speaker, text) for speaker, text in value["original"]])


def is_pair(value: Any) -> bool:
    """Cells without a header: question, follow-up, fused question, table number."""
    if not (isinstance(value, list) and len(value) == _PAIR_CELLS and all(isinstance(c, str) for c in value)):
        return False
    # A message of a table without a header has four cells too, but one of them is a role or the last no number.
    return value[3].strip().isdigit() and not any(cell.strip().lower() in _ROLE_CELLS for cell in value)


def from_pair(value: Any) -> Iterator[Row]:
    """Two user turns and no answer; the fused question is annotation."""
    if not is_pair(value):
        cells = "question, follow-up, fused question, table number"
        raise Malformed("unexpected shape", f"row is {shown(value)}; give four cells: {cells}")
    return one("", [said("user", value[0]), said("user", value[1])])
