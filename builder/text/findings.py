"""What is private in a transcript: a finding, its kinds, and how sure one must be to replace it."""

from collections.abc import Iterable
from dataclasses import dataclass

KINDS = ("email", "phone", "ip", "card", "iban", "secret", "ssn", "name")

SURE = 0.5
"""Confidence from which a finding is replaced; below it a person has to decide."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A place in a transcript that holds something private. Never the thing itself.

    Attributes:
        kind: One of `KINDS`.
        turn: Number of the turn; 0 in system and tool messages and in the conversation id.
        start: First character, in the content as it was read.
        end: Character after the last.
        confidence: 0 to 1; from `SURE` on it is replaced.
    """

    kind: str
    turn: int
    start: int
    end: int
    confidence: float


Place = tuple[str, int, int, float]
"""Kind, start, end, confidence."""


def has_any(text: str, signs: tuple[str, ...]) -> bool:
    """Whether `text` holds one of `signs`; a plain loop, since this runs for every message of a log."""
    for sign in signs:  # noqa: SIM110  # any() with a generator takes twice as long
        if sign in text:
            return True
    return False


def first_come(places: Iterable[Place], size: int) -> list[Place]:
    """Those of `places`, given in order of precedence, that overlap none before them, in a text of `size` characters."""
    taken = bytearray(size)
    kept = []
    for place in places:
        _, start, end, _ = place
        if taken.find(1, start, end) < 0:
            taken[start:end] = b"\x01" * (end - start)
            kept.append(place)
    return kept
