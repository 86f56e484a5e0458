"""The word lists of each language: read once from their data files, ready for matching."""

import json
import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).resolve().parent.parent / "lexicons"
LANGUAGES: tuple[str, ...] = ("en", "de", "es", "fr", "pt", "zh", "ja")
"""Languages with a lexicon of their own; others are read with the language-independent features only."""

_SPACELESS_LANGUAGES = frozenset({"zh", "ja", "th"})
_NEVER = re.compile(r"(?!)")


class Lexicon:
    """The cue words of one language.

    Attributes:
        language: BCP 47 primary tag; "" for the lexicon of no language.
        stop: Function words, in small letters.
        generic: Words with content that name nothing ("price", "limit").
        ordinals: Word of position -> position from 1, -1 for the last, 0 for the middle.
        stop_pattern: Function words as one pattern, longest first, for scripts without spaces.
    """

    def __init__(self, language: str, lists: Mapping[str, Iterable[str] | Mapping[str, int]]) -> None:
        """Compile the lists of a data file."""
        self.language = language
        self.stop = frozenset(lists.get("stop", ()))
        self.generic = frozenset(lists.get("generic", ()))
        ordinals = lists.get("ordinals", {})
        self.ordinals: dict[str, int] = dict(ordinals) if isinstance(ordinals, Mapping) else {}
        self._lists = lists
        self.is_spaceless = language in _SPACELESS_LANGUAGES
        self.stop_pattern = _alternation(self.stop, spaceless=True)
        self._all_stop = re.compile(f"(?:{self.stop_pattern.pattern})+")
        self._patterns: dict[str, re.Pattern[str]] = {}

    def pattern(self, name: str) -> re.Pattern[str]:
        """The wordings of one list as a pattern over small letters, longest first, whole words only."""
        if name not in self._patterns:
            self._patterns[name] = _alternation(self._lists.get(name, ()), self.is_spaceless)
        return self._patterns[name]

    def expression(self, name: str) -> re.Pattern[str]:
        """The regular expressions of one list as one."""
        if name not in self._patterns:
            listed = self._lists.get(name, ())
            self._patterns[name] = (
                re.compile("|".join(f"(?:{each})" for each in listed)) if listed else _NEVER
            )
        return self._patterns[name]

    def leading(self, name: str) -> re.Pattern[str]:
        """`pattern(name)` at the start of a text, with the punctuation that follows it."""
        return self._anchored(name, "leading", r"^\W*(?:{})(?:[\s,.:;!?\-–—…。，、！？：]+|$)")

    def whole(self, name: str) -> re.Pattern[str]:
        """`pattern(name)` as the whole text, punctuation apart."""
        return self._anchored(name, "whole", r"^\W*(?:{})\W*$")

    def _anchored(self, name: str, kind: str, form: str) -> re.Pattern[str]:
        known = f"{kind} {name}"
        if known not in self._patterns:
            inner = self.pattern(name).pattern
            loose = form.replace("+|$)", "*)") if self.is_spaceless and kind == "leading" else form
            self._patterns[known] = re.compile(loose.replace("{}", inner))
        return self._patterns[known]

    def is_all_stop(self, text: str) -> bool:
        """Whether `text` is made of function words only."""
        return self._all_stop.fullmatch(text) is not None


def _alternation(wordings: Iterable[str], spaceless: bool) -> re.Pattern[str]:
    longest_first = sorted({w for w in wordings if w}, key=lambda w: (-len(w), w))
    if not longest_first:
        return _NEVER
    joined = "|".join(map(re.escape, longest_first))
    return re.compile(f"(?:{joined})" if spaceless else rf"(?<!\w)(?:{joined})(?!\w)")


@cache
def lexicon(language: str) -> Lexicon:
    """The lexicon of a language (its primary tag counts); an empty one when there is none."""
    primary = language.lower().partition("-")[0]
    if primary not in LANGUAGES:
        return Lexicon("", {})
    lists = json.loads((_FOLDER / f"{primary}.json").read_text(encoding="utf-8"))
    return Lexicon(primary, lists)
