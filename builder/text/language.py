"""The language of a conversation: decided once, over all that the user wrote."""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache

from builder.core.records import Transcript
from builder.text.lexicon import LANGUAGES

OTHERS: tuple[str, ...] = (
    *("it", "nl", "pl", "ru", "uk", "tr", "sv", "da", "no", "fi", "cs", "el", "ar", "he", "hi", "vi", "th"),
)
"""Languages that are told apart without having a lexicon; a text must be longer than `_SHORT` to be called one."""

_SHORT = 60
_KANA = re.compile(r"[\u3040-\u30ff]")
_HAN = re.compile(r"[\u4e00-\u9fff]")
_HANGUL = re.compile(r"[\uac00-\ud7af]")
# Codes, paths and numbers look like no language and mislead the model.
_NOISE = re.compile(r"https?://\S+|`[^`]*`|\S*[\d_/\\{}<>=@]\S*")


def language_of(transcript: Transcript, languages: Sequence[str] = LANGUAGES) -> str:
    """The language of a conversation, as a primary tag: the one it carries, else the one detected.

    User turns are read together, since a turn alone is too short to tell ("and eu?" looks German); kana and Han
    decide by themselves.
    """
    if transcript.language:
        return transcript.language
    text = " ".join(turn.content for turn in transcript.turns if turn.role == "user")
    return detect(text, tuple(languages))


@lru_cache(maxsize=4096)
def detect(text: str, languages: tuple[str, ...] = LANGUAGES) -> str:
    """The language of `text` among `languages` (and `OTHERS` when it is long enough); "" when it holds no letters."""
    letters = sum(c.isalpha() for c in text)
    if not letters:
        return ""
    han, kana = len(_HAN.findall(text)), len(_KANA.findall(text))
    if (han + kana) * 3 > letters:
        return "ja" if kana * 10 > han + kana else "zh"
    if len(_HANGUL.findall(text)) * 3 > letters:
        return "ko"
    plain = " ".join(_NOISE.sub(" ", text).split())[:2000] or text[:2000]
    return _classifier(languages if len(plain) <= _SHORT else (*languages, *OTHERS))(plain)


@lru_cache(maxsize=8)
def _classifier(languages: tuple[str, ...]) -> Callable[[str], str]:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    identifier = LanguageIdentifier.from_model_file(MODEL_FILE)
    identifier.set_languages([tag for tag in languages if tag])
    return lambda text: str(identifier.classify(text)[0])
