"""Required and forbidden terms of a follow-up whose other labels are known."""

from collections.abc import Mapping
from dataclasses import dataclass

from builder.core.records import Aliases, Reading, Terms, Transcript
from builder.core.terms import key, occurs
from builder.text.entities import COMMON, EntityIndex
from builder.text.language import language_of
from builder.text.lexicon import lexicon
from builder.text.subjects import thread_at
from builder.text.words import content_words


@dataclass(frozen=True, slots=True)
class TermLabels:
    """The terms of one follow-up: required, forbidden, and other wordings of both."""

    required: Terms
    forbidden: Terms
    aliases: Aliases


def label_terms(
    transcript: Transcript, reading: Reading, threads: Mapping[int, int], index: EntityIndex
) -> TermLabels:
    """The terms of the follow-up that `reading` is about, by the taxonomy's "Required and forbidden terms"."""
    lex = lexicon(language_of(transcript))
    turns = transcript.turns
    follow_up = turns[reading.turn - 1].content
    required: list[str] = []
    if reading.is_query and reading.resolvable:
        for number in (reading.turn, *reading.antecedent_turns):
            text = turns[number - 1].content
            content = content_words(text, lex)
            names = [m.entity.name for m in index.find(content) if m.entity.type != COMMON]
            names = [n for n in names if occurs(n, text)] or [
                w.text for w in content if w.key not in lex.generic
            ][:1]
            required += [n for n in names[:2] if not any(occurs(n, r) or occurs(r, n) for r in required)]
    forbidden: list[str] = []
    for turn in reversed(turns[: reading.turn - 1]):
        if (
            thread_at(turn.number, threads) == threads[reading.turn]
            or turn.number in reading.antecedent_turns
        ):
            continue
        content = content_words(turn.content, lex)
        for mention in index.find(content):
            name = mention.entity.name
            if mention.entity.type == COMMON or not occurs(name, turn.content) or len(forbidden) >= 4:
                continue
            wordings = (name, *mention.entity.aliases)
            if occurs(name, follow_up, wordings) or any(
                occurs(name, r) or occurs(r, name) for r in (*required, *forbidden)
            ):
                continue
            forbidden.append(name)
    aliases = {term: _aliases(term, index) for term in (*required, *forbidden)}
    return TermLabels(
        tuple(required), tuple(forbidden), tuple((t, a) for t, a in sorted(aliases.items()) if a)
    )


def _aliases(term: str, index: EntityIndex) -> Terms:
    entity = index.get(term)
    return tuple(w for w in (entity.name, *entity.aliases) if key(w) != key(term)) if entity else ()
