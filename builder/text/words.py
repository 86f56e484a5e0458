"""Turns as words with their places: what counts as one word, and which words carry content."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from builder.core.terms import SPACELESS, key
from builder.text.lexicon import Lexicon

_LETTERS = rf"[^\W_{SPACELESS}]"
# A name with separators is one word: eu-west-1, db.medium, max_connections, --project, C++, 99.95.
_SPACED = rf"(?:--?(?=[a-z]))?{_LETTERS}+(?:[-._@&+:]+{_LETTERS}+|(?<=\d),(?=\d)\d+)*(?:\+\+|#(?!\w))?"
_KATAKANA = r"[\u30a0-\u30ff\u31f0-\u31ff]+"
_HAN = r"[\u3005\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+"
_HIRAGANA = r"[\u3040-\u309f]+"
_OTHER = rf"[{SPACELESS}]+"
_WORD = re.compile(rf"({_SPACED})|({_KATAKANA})|({_HAN})|({_HIRAGANA})|({_OTHER})")
_KANA = re.compile(r"[\u3040-\u30ff]")
_SENTENCE_END = re.compile(r"[.!?:;。！？：；\n\"“(]\s*$|(?:^|\n)\s*[-*•>]\s*$")
_DASH_ENDS = "-._:"


class Word(NamedTuple):
    """One word of a text; a tuple, since a log has millions and a tuple is made four times faster than a dataclass.

    Attributes:
        text: As written.
        key: The spelling that all its wordings share.
        start: Offset of its first character.
        end: Offset behind its last character.
        opens: It stands first in its sentence, so a capital says nothing.
        is_spaceless: It is written in a script without spaces.
    """

    text: str
    key: str
    start: int
    end: int
    opens: bool = False
    is_spaceless: bool = False

    @property
    def is_name(self) -> bool:
        """It looks like a name or a code: a capital inside a sentence, a digit beside letters, several capitals."""
        if self.is_spaceless:
            return False
        return looks_like_code(self.text) or (self.text[0].isupper() and not self.opens)

    @property
    def is_code(self) -> bool:
        """It holds a digit beside letters, a separator of code, or more than one capital."""
        return looks_like_code(self.text)

    @property
    def is_number(self) -> bool:
        """It holds digits and no letter."""
        return any(c.isdigit() for c in self.text) and not any(c.isalpha() for c in self.text)


@lru_cache(maxsize=32768)
def looks_like_code(text: str) -> bool:
    """Whether a word holds a digit beside letters, a separator of code, or more than one capital."""
    if not any(c.isalpha() for c in text):
        return False
    marked = any(c.isdigit() or c in "_.@" for c in text)
    return marked or text.startswith("-") or sum(c.isupper() for c in text) > 1


_key = lru_cache(maxsize=32768)(key)


@lru_cache(maxsize=8192)
def words(text: str, lexicon: Lexicon) -> tuple[Word, ...]:
    """The words of `text`, in order; scripts without spaces are cut at function words and changes of script."""
    is_kana = bool(_KANA.search(text))
    found: list[Word] = []
    last_end = 0
    for match in _WORD.finditer(text):
        gap = text[last_end : match.start()]
        opens = not found or (gap != " " and bool(_SENTENCE_END.search(gap)))
        spaced = match.group(1)
        if spaced:
            bare, start = spaced.rstrip(_DASH_ENDS), match.start()
            found.append(Word(bare, _key(bare), start, start + len(bare), opens, False))
        elif match.group(3) and not is_kana:
            found.extend(_cut(match.group(3), match.start(), lexicon))
        else:
            piece = match.group()
            found.append(Word(piece, _key(piece), match.start(), match.end(), opens, is_spaceless=True))
        last_end = match.end()
    return tuple(found)


def _cut(run: str, start: int, lexicon: Lexicon) -> Iterator[Word]:
    """The parts of a run of Han characters between function words; the function words are words too."""
    at = 0
    for match in lexicon.stop_pattern.finditer(run):
        if match.start() > at:
            yield Word(
                run[at : match.start()],
                run[at : match.start()],
                start + at,
                start + match.start(),
                False,
                True,
            )
        yield Word(match.group(), match.group(), start + match.start(), start + match.end(), False, True)
        at = match.end()
    if at < len(run):
        yield Word(run[at:], run[at:], start + at, start + len(run), False, True)


def is_content(word: Word, lexicon: Lexicon) -> bool:
    """Whether `word` carries content: no function word, no single letter."""
    small = word.text.lower()
    if small in lexicon.stop or word.key in lexicon.stop:
        return word.text.isupper() and len(word.text) == 2 and word.text.isalpha() and not word.opens
    if word.is_spaceless:
        return len(word.text) > 1 and not lexicon.is_all_stop(word.text)
    if not lexicon.language and word.text.isalpha() and not word.text.isupper():
        # No list of function words: they are the short ones.
        return len(small) > 3
    return len(small) > 1 or small.isdigit()


@lru_cache(maxsize=8192)
def content_words(text: str, lexicon: Lexicon) -> tuple[Word, ...]:
    """The words of `text` that carry content, in order."""
    return tuple(word for word in words(text, lexicon) if is_content(word, lexicon))
