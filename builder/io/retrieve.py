"""The built-in retriever: BM25 over the passages, deterministic.

Its tokenizer takes words in small letters without plural endings, so that singular and plural meet. Runs of a script
without spaces (Chinese, Japanese, Thai) become overlapping pairs of characters, since there are no words to take; a
single character stands for itself. Names with separators (eu-west-1) count whole and in parts.
"""

import re
from collections.abc import Iterable, Sequence

from builder.core.records import Passage
from builder.core.terms import SPACELESS, normalise, singular

_PIECE = re.compile(rf"([{SPACELESS}]+)|([^\W{SPACELESS}]+(?:[-.@&+]+[^\W{SPACELESS}]+)*)")
_PART = re.compile(r"[^\W_]+")


def tokens(text: str) -> list[str]:
    """The tokens of a text: words, parts of names, and pairs of characters in scripts without spaces."""
    found: list[str] = []
    for match in _PIECE.finditer(normalise(text).lower()):
        run, word = match.groups()
        if run:
            found.extend(run[at : at + 2] for at in range(max(len(run) - 1, 1)))
            continue
        parts = _PART.findall(word)
        found.extend(singular(part) for part in parts)
        if len(parts) > 1:
            found.append(word)
    return found


class Retriever:
    """BM25 over a list of passages (title and text); call it with (query, k) for the ids of the k best.

    Source: Robertson and Zaragoza, The probabilistic relevance framework: BM25 and beyond, 2009 (k1 1.5, b 0.75).
    """

    def __init__(self, passages: Iterable[Passage]) -> None:
        """Index the passages in order of id, so that the order they come in changes nothing."""
        import bm25s

        listed = sorted(passages, key=lambda passage: passage.id)
        self._ids = [passage.id for passage in listed]
        self._places: dict[str, int] = {}
        corpus = [tokens(f"{passage.title}\n{passage.text}") for passage in listed]
        for document in corpus:
            for token in document:
                self._places.setdefault(token, len(self._places))
        self._index = bm25s.BM25()
        if self._ids:
            self._index.index(
                bm25s.tokenization.Tokenized(
                    ids=[[self._places[token] for token in document] for document in corpus],
                    vocab=dict(self._places),
                ),
                show_progress=False,
            )

    def __call__(self, query: str, k: int) -> list[str]:
        """Ids of the `k` passages that score best, ties by id; only passages that share a token with the query."""
        return [name for name, _ in self.scores(query)[:k]]

    def scores(self, query: str) -> list[tuple[str, float]]:
        """(id, score) of every passage that shares a token with the query, best first."""
        known = [self._places[token] for token in tokens(query) if token in self._places]
        if not known or not self._ids:
            return []
        values: Sequence[float] = self._index.get_scores_from_ids(known)
        ranked = sorted(range(len(self._ids)), key=lambda at: (-round(float(values[at]), 4), self._ids[at]))
        return [(self._ids[at], round(float(values[at]), 4)) for at in ranked if values[at] > 0]


def index_passages(passages: Iterable[Passage]) -> Retriever:
    """A retriever over `passages`."""
    return Retriever(passages)
