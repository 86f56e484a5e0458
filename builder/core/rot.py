"""Label rot: does the passage that an item calls right still say what it said?"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from builder.core.hashing import digest
from builder.core.records import Item, Passage

MOVED = "a gold passage is gone from the corpus"
CHANGED = "a gold passage has another text"


@dataclass(frozen=True, slots=True)
class Rot:
    """An item whose gold can no longer be trusted.

    Attributes:
        id: The item.
        passage: The passage.
        reason: MOVED or CHANGED.
    """

    id: str
    passage: str
    reason: str


def passage_digest(passage: Passage) -> str:
    """SHA-256 of a passage's title and text."""
    return digest([passage.title, passage.text])


def find_rot(
    items: Iterable[Item], digests: Mapping[str, str], passages: Mapping[str, Passage]
) -> tuple[Rot, ...]:
    """Items whose gold passages are gone, or changed since `digests` were taken; one entry for each such item.

    Args:
        items: Items of a release.
        digests: Passage id -> digest of its text then.
        passages: The corpus of today.
    """
    found = []
    for item in items:
        for name in item.gold:
            passage = passages.get(name)
            if passage is None:
                found.append(Rot(item.id, name, MOVED))
                break
            if name in digests and digests[name] != passage_digest(passage):
                found.append(Rot(item.id, name, CHANGED))
                break
    return tuple(found)
