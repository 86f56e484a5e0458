"""A reference rewrite by rules: the follow-up with its missing things resolved, or the reason why there is none."""

import re
from collections.abc import Mapping, Sequence

from builder.core.terms import occurs
from builder.text.cues import read_cues, strip_openers
from builder.text.lexicon import Lexicon

NO_QUERY = "the follow-up asks for nothing"
MISSING = "a required term could not be placed"
STALE = "the follow-up's own words hold a forbidden term"
_SHORT = re.compile(r"^\W*|[\s?？!.。！]+$")


def rewrite_by_rules(
    follow_up: str,
    form: str,
    required: Sequence[str],
    forbidden: Sequence[str],
    aliases: Mapping[str, Sequence[str]],
    lexicon: Lexicon,
) -> tuple[str | None, str]:
    """(a standalone query, "") that holds every required term and no forbidden one, or (None, the reason).

    Discourse openers and topic markers go, a pronoun or locative makes room for the first missing term, and what is
    still missing is put in front. Terms stay as they are labelled, in the language of the follow-up.
    """
    if not required:
        return None, NO_QUERY
    body = _body(follow_up, lexicon)
    missing = [t for t in required if not occurs(t, body, aliases.get(t, ()))]
    if missing and form == "pronoun":
        body, missing = _substitute(body, missing, lexicon)
    text = body
    if missing:
        joined = "、".join(missing) if lexicon.is_spaceless else " ".join(missing)
        text = f"{joined}: {body}" if body else joined
    if any(not occurs(t, text, aliases.get(t, ())) for t in required):
        return None, MISSING
    if any(occurs(t, text, aliases.get(t, ())) for t in forbidden):
        return None, STALE
    return (text, "") if text.strip() else (None, NO_QUERY)


def _body(follow_up: str, lexicon: Lexicon) -> str:
    """The message without discourse openers and topic markers in front."""
    body = strip_openers(follow_up, lexicon)[1]
    marker = lexicon.leading("pivot_markers").match(body.lower())
    if marker and marker.end() < len(body):
        body = strip_openers(body[marker.end() :], lexicon)[1]
    return body.strip()


def _substitute(body: str, missing: Sequence[str], lexicon: Lexicon) -> tuple[str, list[str]]:
    """The body with its pronoun replaced by the first missing term; the terms still missing."""
    cues = read_cues(body, lexicon)
    if (
        not cues.pronoun
        or cues.pronoun_kind == "demonstratives"
        or lexicon.language not in ("en", "zh", "ja")
    ):
        return body, list(missing)
    edge = "" if lexicon.is_spaceless else r"\b"
    possessive = "'s" if cues.pronoun in ("its", "their", "his", "her") else ""
    new = re.sub(
        rf"{edge}{re.escape(cues.pronoun)}{edge}",
        lambda _: missing[0] + possessive,
        body,
        count=1,
        flags=re.IGNORECASE,
    )
    return (new, list(missing[1:])) if new != body else (body, list(missing))
