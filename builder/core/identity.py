"""Ids that stay the same across releases: derived from what a thing is, never from its position."""

from builder.core.hashing import digest
from builder.core.records import Synthesis


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
