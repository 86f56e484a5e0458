"""Records as plain JSON objects and back; the shapes that schemas/ describes."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from builder.core.records import Aliases, FollowUp, Item, Synthesis, Transcript, Turn

Row = dict[str, Any]


def aliases_to_row(aliases: Aliases) -> dict[str, list[str]]:
    """Aliases as {term: [wording, ...]}."""
    return {term: list(wordings) for term, wordings in aliases}


def aliases_from_row(row: Mapping[str, Sequence[str]]) -> Aliases:
    """Aliases from {term: [wording, ...]}, sorted by term; terms without a wording are left out."""
    return tuple((term, tuple(row[term])) for term in sorted(row) if row[term])


def turn_to_row(turn: Turn) -> Row:
    """A turn as {turn, role, content, citations?, at?}; empty fields are left out."""
    row: Row = {"turn": turn.number, "role": turn.role, "content": turn.content}
    if turn.citations:
        row["citations"] = list(turn.citations)
    if turn.at:
        row["at"] = turn.at
    return row


def turn_from_row(row: Row) -> Turn:
    """A turn from the shape of `turn_to_row`."""
    return Turn(
        row["turn"], row["role"], row["content"], tuple(row.get("citations") or ()), row.get("at") or ""
    )


_SYNTHESIS_TUPLES = ("donors", "inserted", "antecedent_turns", "terms")


def synthesis_to_row(synthesis: Synthesis) -> Row:
    """A synthesis with its proof as {obligation: finding}."""
    row: Row = {f.name: getattr(synthesis, f.name) for f in fields(Synthesis)}
    for name in _SYNTHESIS_TUPLES:
        row[name] = list(row[name])
    row["proof"] = dict(synthesis.proof)
    return row


def synthesis_from_row(row: Row) -> Synthesis:
    """A synthesis from the shape of `synthesis_to_row`."""
    values = dict(row)
    for name in _SYNTHESIS_TUPLES:
        values[name] = tuple(values.get(name) or ())
    values["proof"] = tuple((name, finding) for name, finding in row["proof"].items())
    return Synthesis(**values)


def transcript_to_row(transcript: Transcript) -> Row:
    """A transcript in the canonical shape: {conversation_id, started_at?, language?, source?, messages, synthesis?}."""
    row: Row = {"conversation_id": transcript.id}
    for name in ("started_at", "language", "source"):
        if getattr(transcript, name):
            row[name] = getattr(transcript, name)
    row["messages"] = [
        {key: value for key, value in turn_to_row(turn).items() if key != "turn"}
        for turn in transcript.messages
    ]
    if transcript.synthesis:
        row["synthesis"] = synthesis_to_row(transcript.synthesis)
    return row


def transcript_from_row(row: Row) -> Transcript:
    """A transcript from the canonical shape; user and assistant messages are numbered from 1."""
    messages, number = [], 0
    for message in row["messages"]:
        counted = message["role"] in ("user", "assistant")
        number += counted
        messages.append(turn_from_row({**message, "turn": number if counted else 0}))
    return Transcript(
        row["conversation_id"],
        tuple(messages),
        row.get("started_at") or "",
        row.get("language") or "",
        row.get("source") or "",
        synthesis_from_row(row["synthesis"]) if row.get("synthesis") else None,
    )


_TUPLES = ("antecedent_turns", "required_in_rewrite", "forbidden_in_rewrite", "unseen_turns", "gold")


def follow_up_to_row(follow_up: FollowUp) -> Row:
    """A follow-up as one flat JSON object."""
    row: Row = {f.name: getattr(follow_up, f.name) for f in fields(FollowUp)}
    for name in _TUPLES:
        if name in row:
            row[name] = list(row[name])
    row["aliases"] = aliases_to_row(follow_up.aliases)
    row["probabilities"] = dict(follow_up.probabilities)
    return row


def follow_up_from_row(row: Row) -> FollowUp:
    """A follow-up from the shape of `follow_up_to_row`."""
    values = dict(row)
    for name in _TUPLES:
        if name in values:
            values[name] = tuple(values[name])
    values["aliases"] = aliases_from_row(row.get("aliases") or {})
    values["probabilities"] = tuple((row.get("probabilities") or {}).items())
    return FollowUp(**values)


def item_to_row(item: Item) -> Row:
    """An item in the shape of schemas/item.json; optional fields without a value are left out."""
    row: Row = {f.name: getattr(item, f.name) for f in fields(Item)}
    row["prefix"] = [turn_to_row(turn) for turn in item.prefix]
    for name in _TUPLES:
        if name in row:
            row[name] = list(row[name])
    row["aliases"] = aliases_to_row(item.aliases)
    row["synthesis"] = synthesis_to_row(item.synthesis) if item.synthesis else None
    for name in ("synthesis", "pair", "rewrite_note", "subject"):
        if not row[name]:
            del row[name]
    return row


def item_from_row(row: Row) -> Item:
    """An item from the shape of `item_to_row`."""
    values = dict(row)
    values["prefix"] = tuple(turn_from_row(turn) for turn in row["prefix"])
    for name in _TUPLES:
        if name in values:
            values[name] = tuple(values[name])
    values["aliases"] = aliases_from_row(row.get("aliases") or {})
    values["synthesis"] = synthesis_from_row(row["synthesis"]) if row.get("synthesis") else None
    return Item(**values)
