"""Which items ask the same thing again? Similarity of what they say and what it stands for."""

from collections.abc import Iterable

from builder.core.records import Item
from builder.core.terms import has_spaceless_script, key

SHINGLE = 3


def shingles(item: Item) -> frozenset[str]:
    """Word triples of the follow-up and what it stands for: "why?" in two conversations is not one item twice."""
    stands_for = item.reference_rewrite or " ".join(item.required_in_rewrite)
    words = [*_words(item.follow_up), "|", *_words(stands_for)]
    return frozenset(" ".join(words[n : n + SHINGLE]) for n in range(max(1, len(words) - SHINGLE + 1)))


def _words(text: str) -> list[str]:
    """Words in one spelling; single characters where a script has no spaces."""
    spelled = key(text)
    return list(spelled) if has_spaceless_script(spelled) else spelled.split()


def jaccard(some: frozenset[str], others: frozenset[str]) -> float:
    """Shared members over all members; 1 for two empty sets.

    Source: Broder, On the resemblance and containment of documents, 1997.
    """
    return len(some & others) / len(some | others) if some or others else 1.0


def near_duplicates(items: Iterable[Item], threshold: float) -> list[tuple[Item, Item]]:
    """Each item that is near an earlier one of its stratum, with that one.

    Items of two strata are never near: a synthesized long-range item is meant to repeat its near original.
    """
    earlier: dict[str, list[tuple[Item, frozenset[str]]]] = {}
    found = []
    for item in items:
        own = shingles(item)
        others = earlier.setdefault(item.reference_type, [])
        near = next((other for other, words in others if jaccard(own, words) >= threshold), None)
        if near:
            found.append((item, near))
        others.append((item, own))
    return found
