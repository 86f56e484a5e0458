"""Which pseudonym a conversation's private values get, and where else in it they must be replaced."""

import re
from collections.abc import Callable

from builder.core.hashing import rank
from builder.core.terms import has_spaceless_script
from builder.text.names import lexicon, names_in_email, neutral_names
from builder.text.pseudonyms import RENDER, sameness


def stand_ins(values: list[tuple[str, str]], seed: int, conversation_id: str) -> dict[tuple[str, str], str]:
    """(kind, value as written) -> pseudonym, for everything but names."""
    codes: dict[str, dict[str, int]] = {}
    written: dict[tuple[str, str], str] = {}
    for kind, value in values:
        if kind == "name":
            continue
        render, space = RENDER[kind]
        same = sameness(kind, value)
        known = codes.setdefault(kind, {})
        if same not in known:
            first = rank(seed, conversation_id, kind, same) % space if space else len(known)
            taken = set(known.values())
            steps = ((first + step) % space if space else first for step in range(len(known) + 1))
            known[same] = next((code for code in steps if code not in taken), first)
        written[kind, value] = render(value, known[same])
    return written


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
    forms: set[str] = {value for kind, value in values if kind == "name" and " " in value}
    for word in words:
        if word in lexicon()["everyday"] or (len(word) < 3 and not has_spaceless_script(word)):
            continue
        forms.add(word.capitalize())
        forms.add(word.upper())
        if word in lexicon()["given"]:
            forms.add(word)
    spaceless = {form for form in forms if has_spaceless_script(form)}
    alternatives = [
        rf"(?<![^\W_]){re.escape(form)}(?![^\W_])"
        for form in sorted((forms | set(exact)) - spaceless, key=lambda form: (-len(form), form))
    ] + [re.escape(form) for form in sorted(spaceless)]
    if not alternatives:
        return lambda text: text
    pattern = re.compile("|".join(alternatives))

    def put(match: re.Match[str]) -> str:
        found = match.group()
        if found in exact:
            return exact[found]
        return re.sub(r"[^\W_]+", lambda word: in_case(words, word.group()), found)

    return lambda text: pattern.sub(put, text)
