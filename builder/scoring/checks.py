"""What a rewrite holds that it must, what it holds that it must not, and whether it is a query at all."""

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass

from builder.core.records import Item, Terms
from builder.core.taxonomy import mentions
from builder.core.terms import normalise, occurs, which_occur

ContentKeys = Callable[[str, str], Collection[str]]
"""(text, language) -> one key per word that carries content, however it is inflected."""

STANDALONE = ("post_pivot_standalone", "standalone")
"""Strata whose items need nothing from history."""

OVER_EXPANSION = 2.0
"""A rewrite is over-expanded from this many times the content words of the longer of follow-up and reference ..."""

OVER_EXPANSION_WORDS = 6
"""... and at least this many words more, so that a fragment of two words may be spelled out."""

ANSWER_WORDS = 15
"""Several sentences without a question are an answer only from this many words."""

_ANSWER = re.compile(
    r"""^\W*(?:
      (?:yes|no|yeah|yep|nope|sure|ja|nein|oui|non|sí|sim|não|certainly|absolutely)\s*[,.!:;—–-](?!\w)
    | (?:i(?:'|\s+a)m\s+(?:sorry|unable|afraid|not\s+sure)|sorry\b|unfortunately\b|as\s+an\s+ai\b)
    | i\s+(?:do\s+not|don't|cannot|can't|could\s+not|couldn't|found)\b
    | (?:here\s+(?:is|are)|according\s+to\s+the|the\s+answer\s+is)\b
    | (?:could|can|would)\s+you\s+(?:please\s+)?(?:clarify|specify|tell\s+me|provide)\b
    | please\s+(?:clarify|specify|provide)\b
    | (?:leider|entschuldigung|laut\s+der|lo\s+siento|según\s+la|désolée?|selon\s+la|desculpe|infelizmente)\b
    | 是的|抱歉|对不起|根据|はい|いいえ|申し訳
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_SENTENCE = re.compile(r"[.!。！](?=\s|$)|[。！]")
_QUESTION = re.compile(r"[?？]")


@dataclass(frozen=True, slots=True)
class Contaminant:
    """A forbidden term that stands in a rewrite, and the prefix turns that it can have come from."""

    term: str
    turns: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Checks:
    """What reading one rewrite beside its item shows.

    Attributes:
        kind: missing, answered, unchanged or rewritten.
        absent: Required terms that the rewrite lacks.
        contaminants: Forbidden terms that it holds.
        brought_in: Words from the prefix in a rewrite of a message that needs none; None where history is needed.
        is_over_expanded: It is far longer than the query it stands for.
    """

    kind: str
    absent: Terms
    contaminants: tuple[Contaminant, ...]
    brought_in: Terms | None
    is_over_expanded: bool


def is_answer(follow_up: str, rewrite: str) -> bool:
    """Whether the rewriter answered, refused or asked back instead of writing a query.

    Judged by how the text opens, or by several sentences with no question among them. A text that holds the message
    itself is a query with history around it, however long.
    """
    if normalise(follow_up).lower().strip() in normalise(rewrite).lower():
        return False
    if _ANSWER.search(normalise(rewrite)) and not _ANSWER.search(normalise(follow_up)):
        return True
    statements = len(_SENTENCE.findall(rewrite))
    return statements > 1 and len(rewrite.split()) > ANSWER_WORDS and not _QUESTION.search(rewrite)


def check_rewrite(item: Item, rewrite: str | None, content_keys: ContentKeys) -> Checks:
    """The checks of one rewrite; None is a missing one, which holds nothing."""
    if rewrite is None:
        return Checks("missing", item.required_in_rewrite, (), () if needs_none(item) else None, False)
    aliases = dict(item.aliases)
    found = which_occur(item.forbidden_in_rewrite, rewrite, aliases)
    is_unchanged = normalise(rewrite).strip().lower() == normalise(item.follow_up).strip().lower()
    words = content_keys(rewrite, item.language)
    return Checks(
        "answered" if is_answer(item.follow_up, rewrite) else "unchanged" if is_unchanged else "rewritten",
        tuple(term for term in item.required_in_rewrite if not occurs(term, rewrite, aliases.get(term, ()))),
        tuple(Contaminant(term, mentions((term,), item.prefix, aliases)) for term in found),
        _brought_in(item, words, content_keys) if needs_none(item) else None,
        _is_over_expanded(item, words, content_keys),
    )


def needs_none(item: Item) -> bool:
    """Whether the item's follow-up is to be left alone."""
    return item.reference_type in STANDALONE


def _brought_in(item: Item, words: Collection[str], content_keys: ContentKeys) -> Terms:
    """Content words of the rewrite that stand in the prefix and in no wording of the query itself."""
    wordings = [item.reference_rewrite or "", item.follow_up]
    for term in item.required_in_rewrite:
        wordings += [term, *dict(item.aliases).get(term, ())]
    added = set(words)
    for wording in wordings:
        if not added:
            return ()
        added.difference_update(content_keys(wording, item.language))
    history = {key for turn in item.prefix for key in content_keys(turn.content, item.language)}
    return tuple(sorted(added & history))


def _is_over_expanded(item: Item, words: Collection[str], content_keys: ContentKeys) -> bool:
    # The reference alone rules most rewrites out; the follow-up is read only where it does not.
    for text in (item.reference_rewrite or "", item.follow_up):
        needed = len(content_keys(text, item.language))
        if len(words) < max(OVER_EXPANSION * needed, needed + OVER_EXPANSION_WORDS):
            return False
    return True
