"""Does this term occur in this text: the one matcher for labels, validation and scoring alike."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise

# Scripts written without spaces between words: Thai, Lao, Myanmar, Khmer, kana, Han.
SPACELESS = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
)

# A capital term of up to three letters is matched by case only where its small form is an everyday
# word: the region US is not "us", but users do type "sla" for SLA.
EVERYDAY = frozenset(
    re.findall(
        r"\w+",
        "a ad ai al all am an and any are as at be but by can da das de del den der des die do does du each ein el"
        " en er es et fin for get go had has he her him his how i ich if il im in is ist it its je la le les lo los"
        " may me mi mit mon my ne no non not nos now o of ok on one or os our out por que said see she si so son"
        " su te the to tu um un und up us use was we who why will you zu",
    )
)

_SPACELESS_CHAR = re.compile(f"[{SPACELESS}]")
_WORD = re.compile(r"[^\W_]+")
# One rare letter stands for every character of SPACELESS while a term of another script is searched: with the ranges
# themselves in its pattern, compiling one term takes ten milliseconds instead of a fraction of one.
_STAND_IN = "\uab30"
_LETTER = f"[^\\W_{_STAND_IN}]"
_LETTER_ONLY = r"[^\W\d_]"
_APOSTROPHES = str.maketrans({"’": "'", "‘": "'", "ʼ": "'", "`": "'", "´": "'"})
_HYPHEN = re.compile(r"(?<=.)[-\u2010\u2011](?=.)", re.DOTALL)
_GROUPED = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_NUMERIC = re.compile(r"v?\d+")


def has_spaceless_script(text: str) -> bool:
    """Whether `text` holds a character of a script that is written without spaces."""
    return _SPACELESS_CHAR.search(text) is not None


Folded = tuple[str, tuple[tuple[int, int], ...]]
"""A text as it is compared, and for each of its characters the (start, end) it had in the text as written."""


_PLACES = tuple((at, at + 1) for at in range(4096))


def _own_places(length: int) -> tuple[tuple[int, int], ...]:
    """(0, 1), (1, 2), ...: the places of characters that stand for themselves; shared, since texts are many."""
    if length <= len(_PLACES):
        return _PLACES[:length]
    return _PLACES + tuple((at, at + 1) for at in range(len(_PLACES), length))


def _clusters(text: str) -> Iterator[tuple[int, int]]:
    """(start, end) of each character with the combining marks that follow it."""
    start = 0
    for i in range(1, len(text) + 1):
        if i == len(text) or not unicodedata.combining(text[i]):
            yield start, i
            start = i


@lru_cache(maxsize=8192)
def _folded(text: str) -> Folded:
    """`text` in compatibility form with plain apostrophes and ungrouped digits."""
    if unicodedata.is_normalized("NFKC", text):
        # Nearly every text: each character stands for itself.
        folded, places = text.translate(_APOSTROPHES), _own_places(len(text))
    else:
        folded, places = _unzip(
            (char, place)
            for place in _clusters(text)
            for char in unicodedata.normalize("NFKC", text[slice(*place)]).translate(_APOSTROPHES)
        )
    drop = {match.start() for match in _GROUPED.finditer(folded)}
    if drop:
        return _unzip(pair for i, pair in enumerate(zip(folded, places, strict=True)) if i not in drop)
    return folded, places


def _unzip(pairs: Iterable[tuple[str, tuple[int, int]]]) -> Folded:
    kept = list(pairs)
    return "".join(char for char, _ in kept), tuple(place for _, place in kept)


def normalise(text: str) -> str:
    """`text` as the matcher compares it, case apart: NFKC, plain apostrophes, 10,000 as 10000."""
    return _folded(text)[0]


def singular(word: str) -> str:
    """`word` without an English plural ending ("replicas" -> "replica", "policies" -> "policy")."""
    small = word.lower()
    if len(word) > 4 and small.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and small.endswith(("sses", "ches", "shes", "xes", "zes")):
        return word[:-2]
    if len(word) > 3 and small.endswith("s") and not small.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def _word_pattern(word: str) -> str:
    if any(char.isdigit() for char in word):
        return re.escape(word) + ("s?" if word.isdigit() and len(word) > 1 else "")
    base = singular(word)
    if len(base) < 3 and not (word.isupper() and len(word) > 1):
        return re.escape(word)
    if base.lower().endswith("y") and len(base) > 3:
        ending = f"{re.escape(base[:-1])}(?:y|ys|ies)"
    elif base.lower().endswith(("s", "x", "z", "ch", "sh", "o")):
        ending = f"{re.escape(base)}(?:e?s)?"
    else:
        ending = f"{re.escape(base)}s?"
    return ending


def _gap(before: str, between: str, after: str) -> str:
    if before[-1].isdigit() and after[0].isdigit():
        # Digits on both sides: "2.4" is not "2 4" nor "24", but 99,95 is 99.95.
        return r"[^\w\s]" if not between.isspace() else r"\s+"
    if between.isspace():
        return r"(?:'s?)?[\W_]+"
    return r"(?:'s?)?[\W_]{0,3}"


def _left_of_number(number: str) -> str:
    # A number glued to a longer one is part of another name: "4" in "2.4", "07" in "web-07"; 15 in "10-15" is not.
    glued = r"(?<!\d[._,:])"
    return glued + (f"(?<!{_LETTER_ONLY}[-._])" if number.isdigit() and len(number) < 3 else "")


def _is_case_sensitive(term: str) -> bool:
    return (
        term.isalpha() and term.isascii() and term.isupper() and len(term) <= 3 and term.lower() in EVERYDAY
    )


@lru_cache(maxsize=16384)
def _pattern(term: str) -> re.Pattern[str] | None:
    """The compiled form of `term`; None when it holds no letter or digit."""
    text = normalise(term).strip()
    words = list(_WORD.finditer(text))
    if not words:
        return None
    first, last = words[0].group(), words[-1].group()
    parts = [_word_pattern(words[0].group())]
    for left, right in pairwise(words):
        parts.append(_gap(left.group(), text[left.end() : right.start()], right.group()))
        parts.append(_word_pattern(right.group()))
    start, end = f"(?<!{_LETTER})", f"(?!{_LETTER})"
    if first[0].isdigit():
        start += _left_of_number(first)
        if len(words) > 1 and _NUMERIC.fullmatch(words[1].group()):
            start = f"(?:{start}|(?<=\\bv))"
    elif _NUMERIC.fullmatch(first.lower()) and len(words) > 1:
        parts[0] = f"v?{re.escape(first[1:])}"
    if last[-1].isdigit():
        end += r"(?![._]\d)"
    return re.compile(start + "".join(parts) + end, 0 if _is_case_sensitive(text) else re.IGNORECASE)


@lru_cache(maxsize=8192)
def _squeezed(text: str) -> Folded:
    """`text` in small letters without spaces and punctuation, for scripts written without spaces."""
    return _unzip(
        (char.lower()[:1], place) for char, place in zip(*_folded(text), strict=True) if char.isalnum()
    )


def _unhyphenated(text: str) -> Folded:
    """`text` without the hyphens that stand between letters: "e-mail" as "email"."""
    folded, places = _folded(text)
    drop = [
        match.start()
        for match in _HYPHEN.finditer(folded)
        if folded[match.start() - 1].isalpha() and folded[match.end()].isalpha()
    ]
    if not drop:
        return folded, places
    cuts = list(zip([-1, *drop], [*drop, len(folded)], strict=True))
    kept = "".join(folded[left + 1 : right] for left, right in cuts)
    return kept, tuple(place for left, right in cuts for place in places[left + 1 : right])


@lru_cache(maxsize=8192)
def _readings(text: str) -> tuple[tuple[str, Folded], ...]:
    """`text` as terms of scripts with spaces are searched in it: as written and, where it has any, without hyphens.

    Each with its small letters, in which most terms are ruled out at once.
    """
    written = _folded(text)
    bare = _unhyphenated(text) if "-" in text else written
    readings = [written] if bare[0] == written[0] else [written, bare]
    shown = ((_SPACELESS_CHAR.sub(_STAND_IN, folded), places) for folded, places in readings)
    return tuple((reading[0].lower(), reading) for reading in shown)


@lru_cache(maxsize=16384)
def _needle(term: str) -> str:
    """Small letters that every text with `term` holds: its first word without what an ending may change."""
    first = _WORD.search(normalise(term))
    if not first or not (first.group().isascii() and first.group().isalpha()):
        return ""
    return singular(first.group()).lower().removesuffix("y")


def _find(term: str, text: str) -> list[tuple[int, int]]:
    if has_spaceless_script(term):
        needle = _squeezed(term)[0]
        pattern = re.compile(re.escape(needle)) if needle else None
        readings = [_squeezed(text)]
    else:
        pattern, needle = _pattern(term), _needle(term)
        listed = _readings(text) if term.isalpha() else _readings(text)[:1]
        readings = [reading for small, reading in listed if needle in small]
    if pattern is None:
        return []
    for folded, places in readings:
        found = [(places[m.start()][0], places[m.end() - 1][1]) for m in pattern.finditer(folded)]
        if found:
            return found
    return []


def spans(term: str, text: str, aliases: Iterable[str] = ()) -> tuple[tuple[int, int], ...]:
    """Where `term` or one of its aliases stands in `text`, as (start, end) character offsets, in order."""
    return tuple(sorted({span for wording in (term, *aliases) for span in _find(wording, text)}))


@lru_cache(maxsize=65536)
def _occurs(term: str, text: str) -> bool:
    return bool(_find(term, text))


def occurs(term: str, text: str, aliases: Iterable[str] = ()) -> bool:
    """Whether `term`, or one of its aliases, occurs in `text`.

    Ignores case, punctuation, plural and possessive endings; never fires inside a longer word or number. In scripts
    written without spaces a term matches as a substring of the normalised text. A capital term of up to three
    letters whose small form is an everyday word (US, IT) is matched by case.
    """
    return any(_occurs(wording, text) for wording in (term, *aliases))


def which_occur(
    terms: Iterable[str], text: str, aliases: Mapping[str, Sequence[str]] | None = None
) -> tuple[str, ...]:
    """The terms that occur in `text`, by their own wording or an alias, in the order given."""
    known = aliases or {}
    return tuple(term for term in terms if occurs(term, text, known.get(term, ())))


def key(term: str) -> str:
    """One spelling for all wordings that the matcher cannot tell apart: small, singular, single spaces."""
    text = normalise(term)
    if has_spaceless_script(text):
        return _squeezed(text)[0]
    return " ".join(singular(word.lower()) for word in _WORD.findall(text))
