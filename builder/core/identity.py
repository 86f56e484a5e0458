"""Ids that stay the same across releases: derived from what a thing is, never from its position."""

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b

from builder.core.hashing import digest
from builder.core.records import Synthesis, Transcript


@dataclass(frozen=True, slots=True)
class Outline:
    """A conversation reduced to what the choice of a sample needs.

    Attributes:
        id: Conversation id.
        n_questions: Its user turns.
        said: 16 bytes that stand for every role and text in it, in order.
    """

    id: str
    n_questions: int
    said: bytes


def said_digest(roles_and_texts: Iterable[str]) -> bytes:
    """16 bytes that stand for role, text, role, text, ... of a conversation."""
    return blake2b("\x1e".join(roles_and_texts).encode(), digest_size=16).digest()


def outline_of(transcript: Transcript) -> Outline:
    """The outline of a transcript."""
    said = [part for turn in transcript.messages for part in (turn.role, turn.content)]
    return Outline(transcript.id, said[::2].count("user"), said_digest(said))


def item_id(conversation_id: str, turn: int, synthesis: Synthesis | None = None) -> str:
    """The id of the item at `turn` of a conversation: `fu_` and 12 hex digits.

    A synthesized item is known by its base, its donors and its variant, whatever its transcript is called.
    """
    made_of = [conversation_id, turn]
    if synthesis:
        made_of = [
            synthesis.base,
            synthesis.base_turn,
            *synthesis.donors,
            synthesis.planned_distance,
            synthesis.variant,
        ]
    return f"fu_{digest(made_of)[:12]}"
