"""What the wording of one message says about its tie to the history: markers, pronouns, lists, acknowledgements."""

import re
from dataclasses import dataclass
from functools import lru_cache

from builder.text.lexicon import Lexicon
from builder.text.words import content_words

NOT_A_QUERY = ("thanks", "acks", "greetings", "style", "abuse")
"""Lists whose wordings ask for nothing that could be retrieved."""

_QUESTION = re.compile(r"[?？]|(?:吗|呢|ですか|ますか)\W*$")
_ASKS_ON = re.compile(r"[:,]\s*(?:and|und|y|et|e) |[:\"“„]")
_NOISE = re.compile(r"^[\W_]*$|^\S*[bcdfghjklmnpqrstvwxz]{6,}\S*$")
# "it" and "there" that stand for nothing, and "that" as a conjunction or inside a question of its own.
_EXPLETIVE = re.compile(
    r"\b(?:is|are|was|were|will be|would) there\b|\b(?:is|was|will|would|does|can|could|should|may|has)(?:n't)? (?:it|there)\b(?= (?:possible|ok|okay|true|safe|worth|better|a |an |any |some |take|cost|matter|legal|normal|necessary|too|no |still a|ever|been))"
    r"|\bit (?:takes?|took|is|was|'s|seems?|looks?|says?)\b(?= (?:to|a|that|like|possible|not|been|worth))|\bit's (?:a|been|possible|not|worth|time)\b"
    r"|\bthere(?: is|'s| are| was| were| be| any)\b|\b(?:so|such|know|think|say|says|said|told|heard|means?|sure|fact|now|ensure|confirm|guess|hope|the \w+|one|ones|anything|something|those|people) that\b"
    r"|\bhow (?:long|far|much|many \w+) (?:does|do|will|would|did) it\b(?= (?:take|cost))|\bthis (?:week|month|year|morning|afternoon|evening|weekend|time|summer|winter|spring|autumn|fall|monday|tuesday|wednesday|thursday|friday|saturday|sunday)\b"
)


@dataclass(frozen=True, slots=True)
class Cues:
    """The cues of one message.

    Attributes:
        body: The message without the discourse openers in front.
        openers: The discourse openers.
        pivot_marker: A wording that announces another subject.
        return_marker: A wording that announces an earlier subject.
        not_a_query: The list of `NOT_A_QUERY` that covers the message; "" for a query.
        selector: A choice from a list by position or count ("the other one", "second").
        position: The position chosen, from 1; -1 the last, 0 unknown.
        pronoun: The pronoun, demonstrative or locative that points out of the message.
        pronoun_kind: pronouns, demonstratives or locatives.
        ellipsis: A wording that leaves its predicate to the history ("what about", "why?").
        is_bare: The message is nothing but such a wording.
        correction: It corrects what was said before.
        is_question: It ends in a question mark or particle, or opens with a question word.
        n_content: How many of its words carry content.
    """

    body: str
    openers: str
    pivot_marker: str
    return_marker: str
    not_a_query: str
    selector: str
    position: int
    pronoun: str
    pronoun_kind: str
    ellipsis: str
    is_bare: bool
    correction: bool
    is_question: bool
    n_content: int


def strip_openers(text: str, lexicon: Lexicon) -> tuple[str, str]:
    """(openers, rest): the discourse openers in front of a message, and what is left."""
    rest = text.strip()
    opener = lexicon.leading("openers")
    for _ in range(4):
        match = opener.match(rest.lower())
        if not match or match.end() >= len(rest):
            break
        rest = rest[match.end() :]
    return text.strip()[: len(text.strip()) - len(rest)].strip(), rest


@lru_cache(maxsize=8192)
def read_cues(text: str, lexicon: Lexicon) -> Cues:
    """The cues of a message, by the lexicon of its language."""
    openers, body = strip_openers(text, lexicon)
    small = body.lower()
    whole = text.lower().strip()
    content = content_words(text, lexicon)
    selector, position = _selector(body, lexicon)
    pronoun, kind = _pronoun(small, lexicon)
    starts = lexicon.leading("ellipsis_starts")
    ellipsis = _first(starts, whole) or _first(starts, small) or _ending(lexicon, small)
    bare = lexicon.whole("bare_ellipsis")
    joined = lexicon.leading("conjunctions").match(whole)
    if joined and not ellipsis and len(content) <= 2 and not lexicon.leading("questions").match(small):
        ellipsis = joined.group().strip()
    is_bare = bool(bare.match(small) or bare.match(whole))
    return Cues(
        body=body,
        openers=openers,
        pivot_marker=_first(lexicon.pattern("pivot_markers"), whole[:90]),
        return_marker=_first(lexicon.pattern("return_markers"), whole),
        not_a_query=not_a_query(text, lexicon),
        selector=selector,
        position=position,
        pronoun=pronoun,
        pronoun_kind=kind,
        ellipsis=ellipsis or (small.strip() if is_bare else ""),
        is_bare=is_bare,
        correction=bool(lexicon.pattern("corrections").search(whole[:60])),
        is_question=bool(_QUESTION.search(text) or lexicon.leading("questions").match(small)),
        n_content=len(content),
    )


def not_a_query(text: str, lexicon: Lexicon) -> str:
    """Which list of `NOT_A_QUERY` covers the whole message; "" when something is left that can be asked for."""
    whole = text.lower().strip()
    if _NOISE.match(whole):
        return "acks"
    found = [name for name in NOT_A_QUERY if lexicon.pattern(name).search(whole)]
    if not found:
        return ""
    if found == ["style"] or ("style" in found and "?" not in whole):
        return "style"
    if "?" in whole or "？" in whole:
        return found[0] if "greetings" in found and len(content_words(text, lexicon)) <= 1 else ""
    rest = whole
    for name in (*found, "openers"):
        rest = lexicon.pattern(name).sub(" ", rest)
    left = content_words(rest, lexicon)
    opens = lexicon.leading("questions").match(rest.strip())
    if lexicon.is_spaceless and (_QUESTION.search(whole) or sum(map(str.isalnum, rest)) > 8):
        return ""
    # "thanks, that fixed my import" asks for nothing; "thanks, and the price: ..." does.
    room = 3 if found[0] == "thanks" and len(whole) < 90 and not _ASKS_ON.search(whole) else 1
    return found[0] if len(left) <= room and not opens else ""


def _first(pattern: re.Pattern[str], text: str) -> str:
    match = pattern.search(text)
    return match.group().strip(" \t,.:;!?-–—…。，、！？：") if match else ""


def _ending(lexicon: Lexicon, small: str) -> str:
    if not lexicon.is_spaceless:
        return ""
    bare = small.rstrip(" ?？。!！")
    return next(
        (m.group() for m in lexicon.pattern("ellipsis_ends").finditer(bare) if m.end() == len(bare)), ""
    )


def _selector(body: str, lexicon: Lexicon) -> tuple[str, int]:
    """A choice by position or count, and the position; ("", 0) when there is none."""
    small = body.lower()
    match = lexicon.pattern("selectors").search(small)
    place = lexicon.pattern("ordinals").search(small)
    position = lexicon.ordinals.get(place.group(), 0) if place else 0
    if match:
        return match.group(), position
    if not place:
        return "", 0
    # German writes a position that stands for a thing with a capital: "das Zweite".
    is_noun = lexicon.language == "de" and place.start() > 0 and body[place.start()].isupper()
    if lexicon.is_spaceless or is_noun:
        return place.group(), position
    # "the second?", "the first one", "the last of them" choose; "the first month" describes.
    rest = small[place.end() :].strip(" ?!.,;:")
    next_word = rest.split(" ", 1)[0] if rest else ""
    if not next_word or next_word in lexicon.stop or next_word in ("one", "ones", "option"):
        return place.group(), position
    return "", 0


def _pronoun(small: str, lexicon: Lexicon) -> tuple[str, str]:
    """The word that points out of the message, and the list it stands in; ("", "") when there is none."""
    text = _EXPLETIVE.sub(lambda m: " " * len(m.group()), small) if lexicon.language == "en" else small
    for kind in ("pronouns", "locatives", "demonstratives"):
        match = lexicon.pattern(kind).search(text)
        if match:
            return match.group(), kind
    clitic = lexicon.expression("clitics").search(text)
    return (clitic.group().strip(), "pronouns") if clitic else ("", "")
