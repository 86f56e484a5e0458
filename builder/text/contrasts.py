"""What a follow-up sets against what was said before: a replaced part of a name, a corrected value, a chosen list item."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from builder.text.cues import Cues, read_cues
from builder.text.place import Place
from builder.text.scene import TurnWords
from builder.text.words import Word

_NUMBERED = re.compile(r"(?:^|(?<=[\s:：。，,;；(]))(\d{1,2})[.)、．](?!\d)\s*")
_BULLET = re.compile(r"^\s*[-*•]\s+", re.MULTILINE)
_MOST_CORRECTED = 2


@dataclass(frozen=True, slots=True)
class Contrast:
    """Words on both sides of a contrast.

    Attributes:
        chosen: Keys of what the user now means.
        stale: Keys of what it stands against: never required, forbidden unless the answer needed them.
    """

    chosen: frozenset[str]
    stale: frozenset[str]


def contrast_of(spot: Place) -> Contrast:
    """The contrast that a follow-up makes; empty when it makes none."""
    cues = read_cues(spot.follow_up.turn.content, spot.scene.lex)
    chosen, stale = set[str](), set[str]()
    for new, old in _rivals(spot, cues):
        chosen.add(new)
        stale.add(old)
    for position, heads in _lists(spot, cues):
        picked = heads[position - 1] if position > 0 else heads[position]
        chosen.add(picked)
        stale |= set(heads) - {picked}
    if cues.correction:
        said = [word.key for word in spot.follow_up.words]
        chosen |= set(said) if len(said) <= _MOST_CORRECTED else set()
    stale -= chosen | set(spot.follow_up.counts)
    if spot.answer:
        stale -= set(spot.answer.counts)
    return Contrast(frozenset(chosen), frozenset(stale))


def _rivals(spot: Place, cues: Cues) -> Iterator[tuple[str, str]]:
    """(new, old) parts of overlapping names: hazelnut oat / almond oat, Runner 2.3 / Runner 2.4."""
    own = list(_pairs(spot.follow_up))
    earlier = [pair for n in range(1, spot.reading.turn) for pair in _pairs(spot.scene.at(n))]
    for left, right in own:
        for before, after in earlier:
            if left.key == before.key and right.key != after.key and right.is_number and after.is_number:
                yield right.key, after.key
            elif cues.ellipsis and right.key == after.key and left.key != before.key:
                yield left.key, before.key


def _pairs(turn: TurnWords) -> Iterator[tuple[Word, Word]]:
    text = turn.turn.content
    return ((a, b) for a, b in pairwise(turn.words) if text[a.end : b.start] == " ")


def _lists(spot: Place, cues: Cues) -> Iterator[tuple[int, list[str]]]:
    """The chosen position and the first words of the items, for the latest antecedent turn that lists enough items."""
    if not cues.selector or not cues.position:
        return
    for turn in reversed(spot.antecedents):
        heads = _heads(turn)
        if len(heads) > 1 and -1 <= cues.position <= len(heads):
            yield cues.position, heads
            return


def _heads(turn: TurnWords) -> list[str]:
    """The first word with content of each item of a numbered or bulleted list."""
    text = turn.turn.content
    starts: list[int] = []
    for match in _NUMBERED.finditer(text):
        if int(match.group(1)) == len(starts) + 1:
            starts.append(match.end())
    if len(starts) < 2:
        starts = [match.end() for match in _BULLET.finditer(text)]
    heads = []
    for start, end in pairwise([*starts, len(text)]):
        inside = [word for word in turn.words if start <= word.start < end]
        if inside:
            heads.append(inside[0].key)
    return heads
