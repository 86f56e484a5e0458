"""Which chosen words stand together and make one term."""

from collections.abc import Container, Sequence

from builder.text.entities import COMMON
from builder.text.scene import NEIGHBOUR_GAPS, Scene, TurnWords
from builder.text.words import Word

_TOGETHER = 0.7
_NAMES_TOGETHER = 0.5


def phrase_at(scene: Scene, home: TurnWords, key: str, joinable: Container[str]) -> tuple[Word, ...]:
    """The words of the term around the first word of `key` in a turn: neighbours among `joinable` that belong to it."""
    at = low = high = home.order[key]
    listed = home.words
    while low > 0 and listed[low - 1].key in joinable and belong(scene, home, listed[low - 1], listed[low]):
        low -= 1
    while (
        high + 1 < len(listed)
        and listed[high + 1].key in joinable
        and belong(scene, home, listed[high], listed[high + 1])
    ):
        high += 1
    return listed[low : high + 1] if low < high else (listed[at],)


def words_of(span: Sequence[Word]) -> list[str]:
    """The keys of the words of a term."""
    return [word.key for word in span]


def belong(scene: Scene, home: TurnWords, left: Word, right: Word) -> bool:
    """Whether two neighbouring words are parts of one term.

    They are when one known name holds both, or when the conversation seldom uses the rarer one without the other:
    n(both) / min(n(left), n(right)), counted in turns. A name and a plain word ("Frankfurt uptime") need to stand
    together twice.
    """
    text = home.turn.content
    if text[left.end : right.start] not in NEIGHBOUR_GAPS:
        return False
    if left.is_spaceless or right.is_spaceless:
        return left.end == right.start
    mention = home.entities.get(right.key)
    if mention and mention.entity.type != COMMON and mention.start <= left.start and right.end <= mention.end:
        return True
    n_both = scene.pairs.get((left.key, right.key), 0)
    rarer = max(min(len(scene.places[left.key]), len(scene.places[right.key])), 1)
    if left.text[0].isupper() and right.text[0].isupper() and not left.opens:
        return n_both / rarer > _NAMES_TOGETHER
    is_mixed = (left.key in scene.names) != (right.key in scene.names)
    return n_both / rarer > _TOGETHER and (n_both > 1 or not is_mixed)
