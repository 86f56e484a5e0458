"""Which words stand together in this log and its passages: the evidence for what a follow-up can be about."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from builder.core.records import Terms

COMMON = 0.05
"""A word in more than this part of all units is too common to tell two subjects apart."""


@dataclass(frozen=True, slots=True)
class Lexis:
    """How a text is read: its content words and the names in it.

    Attributes:
        content: (text, language) -> keys of its content words.
        names: text -> names of the entities in it, longest first.
        aliases: name -> its aliases.
        type_of: name -> its type in the operator's catalogue; "" when it has none of its own.
    """

    content: Callable[[str, str], frozenset[str]]
    names: Callable[[str], Terms]
    aliases: Callable[[str], Terms]
    type_of: Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Evidence:
    """In which units (turns and passages) each content word stands.

    Attributes:
        units: word -> numbers of the units that have it.
        size: Number of units.
    """

    units: dict[str, frozenset[int]]
    size: int

    def distinctive(self, words: Iterable[str]) -> frozenset[str]:
        """The words that stand in few enough units to belong to a subject."""
        most = max(2, int(COMMON * self.size))
        return frozenset(word for word in words if len(self.units.get(word, ())) <= most)

    def meet(self, some: Iterable[str], others: Iterable[str]) -> tuple[str, str] | None:
        """A word of `some` and a word of `others` that share a unit; None when none do."""
        listed = sorted(others)
        for word in sorted(some):
            where = self.units.get(word, frozenset())
            for other in listed:
                if not where.isdisjoint(self.units.get(other, frozenset())):
                    return word, other
        return None


def gather_evidence(texts: Iterable[tuple[str, str]], lexis: Lexis) -> Evidence:
    """Evidence from (text, language) units; their order does not matter."""
    units: dict[str, set[int]] = defaultdict(set)
    size = 0
    for text, language in texts:
        for word in lexis.content(text, language):
            units[word].add(size)
        size += 1
    return Evidence({word: frozenset(numbers) for word, numbers in units.items()}, size)
