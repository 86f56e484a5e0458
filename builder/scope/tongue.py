"""Which word lists a single message is read with: a conversation's language is not at hand in the middle of it."""

import re
from functools import lru_cache

from builder.text.language import detect
from builder.text.lexicon import LANGUAGES, Lexicon, lexicon

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_SPACED = tuple(language for language in LANGUAGES if language not in ("zh", "ja"))


@lru_cache(maxsize=16384)
def lexicon_for(text: str) -> Lexicon:
    """The word lists of the language whose function words the text has most of; English on a tie.

    A language identifier mistakes short messages ("RPO in Dublin?"); function words say less and err less. Kana and Han
    decide by themselves.
    """
    if not text.isascii() and detect(text) in ("zh", "ja", "ko"):
        return lexicon(detect(text))
    words = [word.lower() for word in _WORD.findall(text)]
    counts = {language: sum(word in lexicon(language).stop for word in words) for language in _SPACED}
    return lexicon(max(_SPACED, key=lambda language: (counts[language], language == "en")))
