"""Turns as word pieces: which pieces carry content, and how a long turn is shortened without losing what matters."""

import json
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_SENTENCE_ENDS = frozenset(".?!;。？！；:：")


class Vocabulary:
    """A tokenizer with what the rendering asks of a piece: is it content, does it end a sentence."""

    def __init__(self, tokenizer: "Tokenizer", stop_words: Iterable[str]) -> None:
        """Read the pieces once; `stop_words` are never content."""
        stops = frozenset(stop_words)
        self._tokenizer = tokenizer
        self.content: frozenset[int] = frozenset(
            number for piece, number in tokenizer.get_vocab().items() if _is_content(piece, stops)
        )
        self.ends: frozenset[int] = frozenset(
            number for piece, number in tokenizer.get_vocab().items() if piece in _SENTENCE_ENDS
        )
        self.encode = lru_cache(maxsize=8192)(self._encode)

    def _encode(self, text: str) -> tuple[int, ...]:
        return tuple(self._tokenizer.encode(text, add_special_tokens=False).ids)


def load_vocabulary(tokenizer_file: Path, stop_words_file: Path) -> Vocabulary:
    """The vocabulary of a model folder."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(tokenizer_file))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return Vocabulary(tokenizer, json.loads(stop_words_file.read_text(encoding="utf-8")))


def _is_content(piece: str, stops: frozenset[str]) -> bool:
    """Letters or digits that are neither a stop word nor a short fragment; each character of CJK counts."""
    bare = piece.removeprefix("##")
    if not any(c.isalnum() for c in bare) or bare.startswith("[") or bare in stops:
        return False
    return len(bare) >= 3 or bare.isdigit() or any("\u3040" <= c <= "\u9fff" for c in bare)


def shorten(ids: Sequence[int], room: int, wanted: frozenset[int], ends: frozenset[int]) -> tuple[int, ...]:
    """At most `room` pieces of a turn: its opening, then the sentences that share most `wanted` pieces, in order.

    The opening names the subject of most answers and is always kept. Sentences keep their order. A sentence that does
    not fit whole is cut, so the room is always used.
    """
    if len(ids) <= room:
        return tuple(ids)
    sentences = _sentences(ids, ends)
    order = sorted(
        range(len(sentences)),
        key=lambda n: (n != 0, -sum(ids[i] in wanted for i in sentences[n]), n),
    )
    kept: list[int] = []
    for n in order:
        left = room - len(kept)
        if left <= 0:
            break
        kept.extend(list(sentences[n])[:left])
    return tuple(ids[i] for i in sorted(kept))


def shorten_message(ids: Sequence[int], room: int) -> tuple[int, ...]:
    """At most `room` pieces of a user's message: two thirds from its start, the rest from its end."""
    if len(ids) <= room:
        return tuple(ids)
    head = room * 2 // 3
    return tuple(ids[:head]) + tuple(ids[len(ids) - (room - head) :])


def _sentences(ids: Sequence[int], ends: frozenset[int]) -> list[range]:
    bounds = [0, *(i + 1 for i, number in enumerate(ids) if number in ends)]
    if bounds[-1] != len(ids):
        bounds.append(len(ids))
    return [range(a, b) for a, b in pairwise(bounds)]
