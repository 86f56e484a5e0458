"""Which pseudonym a conversation's private values get, and where else in it they must be replaced."""

import re
from collections.abc import Callable

from builder.core.hashing import rank
from builder.core.terms import has_spaceless_script
from builder.text.names import lexicon, names_in_email, neutral_names
from builder.text.pseudonyms import RENDER, sameness


def stand_ins(values: list[tuple[str, str]], seed: int, conversation_id: str) -> dict[tuple[str, str], str]:
    """(kind, value as written) -> pseudonym, for everything but names."""
    codes: dict[tuple[str, str], int] = {}
    taken: dict[str, set[int]] = {}
    written: dict[tuple[str, str], str] = {}
    for kind, value in values:
        if kind == "name":
            continue
        render, space = RENDER[kind]
        known = kind, sameness(kind, value)
        if known not in codes:
            used = taken.setdefault(kind, set())
            codes[known] = _free_code(rank(seed, conversation_id, *known), space, used)
            used.add(codes[known])
        written[kind, value] = render(value, codes[known])
    return written


def _free_code(at: int, space: int, used: set[int]) -> int:
    """The code at a place drawn by hash, or the next free one; without a space, and when it is full, they count up."""
    if not space:
        return len(used)
    if len(used) >= space:
        return at % space
    code = at % space
    while code in used:
        code = (code + 1) % space
    return code


def name_words(
    values: list[tuple[str, str]], text: str, kept_words: frozenset[str], seed: int, conversation_id: str
) -> dict[str, str]:
    """Each word of a name, in small letters -> the word that stands for it; none that the conversation uses."""
    words: dict[str, str] = {}
    used = text.casefold()
    for kind, value in values:
        if kind == "email":
            # marta.klein@... signs as Marta: her name goes wherever it is written.
            parts = [(part, place) for place, part in enumerate(names_in_email(value.partition("@")[0]))]
        elif kind == "name":
            parts = [(part, place) for place, part in enumerate(re.findall(r"[^\W_]+", value))]
        else:
            continue
        for part, place in parts:
            small = part.casefold()
            if small in words or small in lexicon()["particles"] or small in kept_words or len(small) < 2:
                continue
            family = place > 0 or small not in lexicon()["given"]
            pool = neutral_names(
                "spaceless" if has_spaceless_script(part) else "family" if family else "given"
            )
            first = rank(seed, conversation_id, "name", small)
            order = [pool[(first + step) % len(pool)] for step in range(len(pool))]
            free = (name for name in order if name.casefold() not in used and name not in words.values())
            words[small] = next(free, f"{order[0]}{len(words)}")
    return words


def in_case(words: dict[str, str], word: str) -> str:
    """The word that stands for `word`, in capitals or small letters like it; itself when it is no name."""
    name = words.get(word.casefold(), word)
    return name.upper() if word.isupper() and len(word) > 1 else name.lower() if word.islower() else name


def repeats(
    stand_in: dict[tuple[str, str], str], words: dict[str, str], values: list[tuple[str, str]]
) -> Callable[[str], str]:
    """Replaces, in text where nothing was found, what was found elsewhere in the conversation.

    A name that is also an everyday word (Will, May) is replaced only where the whole name stands.
    """
    exact = {value: pseudonym for (_, value), pseudonym in stand_in.items() if len(value) > 5}
    names = {value for kind, value in values if kind == "name"}
    spaceless = {name for name in names if has_spaceless_script(name)}
    whole = _longest_first({*exact, *(name for name in names if " " in name)})
    alternatives = [rf"(?<![^\W_]){re.escape(form)}(?![^\W_])" for form in whole]
    alternatives += map(re.escape, _longest_first(spaceless))
    pattern = re.compile("|".join(alternatives)) if alternatives else None
    single = _single_forms(words, names)

    def put_word(match: re.Match[str]) -> str:
        return in_case(words, match.group()) if match.group() in single else match.group()

    def put(match: re.Match[str]) -> str:
        found = match.group()
        return exact.get(found) or _WORD.sub(lambda word: in_case(words, word.group()), found)

    def replace(text: str) -> str:
        text = pattern.sub(put, text) if pattern else text
        return _WORD.sub(put_word, text) if single else text

    return replace


_WORD = re.compile(r"[^\W_]+")
_MOST = 512
"""Values of one conversation that are looked for again: a pasted list of addresses must not stop the river."""


def _longest_first(forms: set[str]) -> list[str]:
    return sorted(forms, key=lambda form: (-len(form), form))[:_MOST]


def _single_forms(words: dict[str, str], names: set[str]) -> frozenset[str]:
    """How the words of names are written where they stand alone."""
    forms = set()
    for word in words:
        if word in lexicon()["everyday"] or len(word) < 3 or has_spaceless_script(word):
            continue
        forms |= {word.capitalize(), word.upper()}
        if word in lexicon()["given"]:
            forms.add(word)
    as_written = {part for name in names for part in _WORD.findall(name)}
    return frozenset(forms | {part for part in as_written if part.capitalize() in forms})
