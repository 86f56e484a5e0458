"""A value from an export with its place: what `io` opens and `read` understands."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Located:
    """One record of an export, before its format was understood.

    Attributes:
        where: `file:line`, for people.
        value: The JSON value, table row or list of cells.
        position: Place in the shard it was read from; grows along the file.
        known_id: Conversation id that a file beside the export gives it; "" for none.
    """

    where: str
    value: Any
    position: int
    known_id: str = ""


@dataclass(frozen=True, slots=True)
class Part:
    """Which conversations of a file are meant, when the rows of one conversation may stand anywhere in it.

    Attributes:
        index: 0-based number of this part.
        parts: How many parts there are; a conversation belongs to one by the hash of its id.
    """

    index: int = 0
    parts: int = 1


WHOLE = Part()
