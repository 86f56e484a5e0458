"""Word vectors that need no model: what runs everywhere, and the floor that a model is compared with."""

import zlib
from collections.abc import Sequence

from builder.scope.tongue import lexicon_for
from builder.text.words import content_words

WIDTH = 1024


def word_vectors(texts: Sequence[str]) -> list[tuple[float, ...]]:
    """Counts of each text's words with content, hashed to 1024 places.

    Sees shared words only: two turns about one subject in different words are strangers to it (the cosine of their
    vectors is 0).
    """
    return [_counted(text) for text in texts]


def _counted(text: str) -> tuple[float, ...]:
    lex = lexicon_for(text)
    counts = [0.0] * WIDTH
    for word in content_words(text, lex):
        if word.key not in lex.generic:
            counts[zlib.crc32(word.key.encode()) % WIDTH] += 1.0
    return tuple(counts)
