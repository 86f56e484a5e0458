"""Required and forbidden terms of a follow-up whose other labels are known."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from builder.core.records import Aliases, Reading, Terms
from builder.core.taxonomy import LONG_RANGE, d_live
from builder.core.terms import has_spaceless_script, occurs
from builder.core.terms import key as key_of
from builder.text.boosted import load_trees, probabilities
from builder.text.contrasts import contrast_of
from builder.text.entities import COMMON, EntityIndex
from builder.text.phrases import phrase_at, words_of
from builder.text.place import Place, place
from builder.text.scene import Scene, frequency
from builder.text.term_features import (
    forbidden_candidates,
    forbidden_features,
    required_candidates,
    required_features,
)

REQUIRED_FROM = 0.45
"""Probability from which a word is required; the likeliest always is."""
SET_AGAINST = 0.9
"""Probability of the words that a follow-up chooses or sets itself against in so many words."""
MOST_REQUIRED = 4
LEFT_FROM = 0.35
"""Probability from which a word of a left subject, or a sibling of a required name, is forbidden."""
NEAR_FROM = 0.65
"""The same for a word of the follow-up's own thread: an old aspect, a corrected value."""
ONLY_FROM = 0.02
"""The same for the one forbidden term of a stratum that cannot do without."""
MOST_FORBIDDEN = 4
_PLAIN_TYPES = frozenset({COMMON, "name", "code", "acronym"})


@dataclass(frozen=True, slots=True)
class TermLabels:
    """The terms of one follow-up: required, forbidden, and other wordings of both."""

    required: Terms
    forbidden: Terms
    aliases: Aliases


def label_terms(scene: Scene, reading: Reading, threads: Mapping[int, int]) -> TermLabels:
    """The terms of the follow-up that `reading` is about, by the taxonomy's "Required and forbidden terms".

    Each word of the follow-up and its antecedent turns gets a probability of being required, each other word of the
    prefix one of being forbidden, by trees fitted to labelled follow-ups; words that stand together make one term.
    Every forbidden term occurs in the prefix, not in the follow-up, and shares no word with a required one.

    Args:
        scene: The conversation; the answer that followed is read as evidence where there is one.
        reading: The follow-up's other labels.
        threads: User turn -> thread.
    """
    if not (reading.is_query and reading.resolvable):
        return TermLabels((), (), ())
    spot = place(scene, reading, threads)
    required = required_terms(spot)
    forbidden = forbidden_terms(spot, required)
    aliases = {term: aliases_of(term, scene.index) for term in (*required, *forbidden)}
    return TermLabels(required, forbidden, tuple((t, a) for t, a in sorted(aliases.items()) if a))


def aliases_of(term: str, index: EntityIndex) -> Terms:
    """Other wordings of a term, by the catalogue and by co-mentions in the log."""
    entity = index.get(term)
    if entity is None:
        return ()
    return tuple(w for w in (entity.name, *entity.aliases) if key_of(w) != key_of(term))


def required_terms(spot: Place) -> Terms:
    """The terms that every correct rewrite must contain, the likeliest first."""
    keys = required_candidates(spot)
    rows = [required_features(spot, key) for key in keys]
    return assemble_required(
        spot, dict(zip(keys, probabilities(load_trees("required_terms"), rows), strict=True))
    )


def assemble_required(spot: Place, fitted: Mapping[str, float]) -> Terms:
    """Terms made of the chosen words: those from `REQUIRED_FROM`, and the likeliest.

    What the follow-up sets itself against is never required, what it chooses in so many words is.
    """
    contrast = contrast_of(spot)
    scores = {
        key: max(score, SET_AGAINST) if key in contrast.chosen else score
        for key, score in fitted.items()
        if key not in contrast.stale
    }
    order = sorted(scores, key=lambda key: -scores[key])
    chosen = {key for key in order if scores[key] >= REQUIRED_FROM} | set(order[:1])
    supplied = [key for key in order if key not in spot.follow_up.counts]
    terms, used = _spelled(spot, order, chosen)
    if supplied and not used & set(supplied):
        # A message that needs history lacks something: without it the message itself would pass for a rewrite.
        first = supplied[0]
        terms, _ = _spelled(spot, [first, *(key for key in order if key != first)], chosen | {first})
    return terms


def _spelled(spot: Place, order: Sequence[str], chosen: set[str]) -> tuple[Terms, set[str]]:
    """The terms that the chosen words make, in this order and as written, and the words that went into them."""
    terms: list[str] = []
    used: set[str] = set()
    for key in order:
        if key not in chosen or key in used or len(terms) >= MOST_REQUIRED:
            continue
        home = spot.follow_up
        if key not in home.counts:
            home = next(turn for turn in reversed(spot.antecedents) if key in turn.counts)
        span = phrase_at(spot.scene, home, key, chosen - used)
        used |= set(words_of(span))
        term = home.turn.content[span[0].start : span[-1].end]
        if not any(_names_the_same(term, other, spot) for other in terms):
            terms.append(term)
    return tuple(terms), used


def _names_the_same(term: str, other: str, spot: Place) -> bool:
    """Whether two terms overlap or are wordings of one entity."""
    if occurs(term, other) or occurs(other, term):
        return True
    return any(key_of(alias) == key_of(other) for alias in aliases_of(term, spot.scene.index))


def forbidden_terms(spot: Place, required: Sequence[str]) -> Terms:
    """The terms of the prefix that a correct rewrite must not contain, the likeliest first."""
    needed = frozenset(word for term in required for word in key_of(term).split())
    types = required_types(spot, required)
    keys = [key for key in forbidden_candidates(spot) if not needed & set(key.split())]
    rows = [forbidden_features(spot, key, types) for key in keys]
    return assemble_forbidden(
        spot, required, dict(zip(keys, probabilities(load_trees("forbidden_terms"), rows), strict=True))
    )


def assemble_forbidden(spot: Place, required: Sequence[str], fitted: Mapping[str, float]) -> Terms:
    """Terms made of the likeliest words whose place in the conversation shows that they are stale.

    What the follow-up sets itself against in so many words is.
    """
    reading, needed = spot.reading, {word for term in required for word in key_of(term).split()}
    against = contrast_of(spot).stale - needed
    scores = {**fitted, **{key: max(fitted.get(key, 0.0), SET_AGAINST) for key in sorted(against)}}
    order = sorted(scores, key=lambda key: -scores[key])
    distance = d_live(reading.turn, reading.antecedent_turns)
    must_have = (reading.pivot and not distance) or distance >= LONG_RANGE
    types, shapes = required_types(spot, required), {shape_of(w) for t in required for w in t.split()}
    terms: list[str] = []
    used: set[str] = set()
    for key in order:
        if key in used or len(terms) >= MOST_FORBIDDEN:
            continue
        enough = _enough(spot, key, types, shapes)
        if scores[key] < enough and not (
            must_have and not terms and enough < NEAR_FROM and scores[key] > ONLY_FROM
        ):
            continue
        home = spot.scene.at(max(n for n in spot.scene.places[key] if n < reading.turn))
        span = phrase_at(spot.scene, home, key, _joinable(spot, scores, enough) - used)
        term = home.turn.content[span[0].start : span[-1].end]
        used |= set(words_of(span))
        if is_free(term, spot, required, terms):
            terms.append(term)
    return tuple(terms) if terms or not must_have else _last_resort(spot, required)


def _last_resort(spot: Place, required: Sequence[str]) -> Terms:
    """One plain word where no name is stale: of a left subject, else of what was asked since the antecedent.

    A name goes before other words, then a rare word, then one that the user typed, then the nearest.
    """
    scene, antecedents = spot.scene, spot.reading.antecedent_turns
    between = frozenset(range(min(antecedents, default=0) + 1, spot.reading.turn)) - set(antecedents)
    common = frequency(scene.lex.language)
    for numbers in (spot.other, between):
        ranked = []
        for number in numbers:
            kept = set(antecedents) | (spot.same - numbers)
            for key, word in scene.at(number).first.items():
                plain = key in scene.lex.generic or word.text.lower() in scene.lex.generic or word.is_number
                answered = spot.answer is not None and key in spot.answer.counts
                if plain or answered or kept & set(scene.places[key]):
                    continue
                typed = number in spot.users
                ranked.append((key not in scene.names, common.get(key, 0), not typed, -number, word.text))
        for *_, term in sorted(ranked):
            if is_free(term, spot, required, ()):
                return (term,)
    return ()


def _joinable(spot: Place, scores: Mapping[str, float], enough: float) -> set[str]:
    """The words that may join a forbidden term beside them."""
    answered = spot.answer.counts if spot.answer else {}
    return {key for key, score in scores.items() if score > 0.4 * enough and key not in answered}


def _enough(spot: Place, key: str, types: frozenset[str], shapes: Iterable[str]) -> float:
    """The probability from which a word is forbidden; above 1 for words that the answer needed."""
    scene, turn = spot.scene, spot.reading.turn
    with_key = [n for n in scene.places[key] if n < turn]
    if spot.answer is not None and key in spot.answer.counts:
        return 2.0
    mention = scene.mention(key, with_key)
    if mention and mention.entity.type == COMMON:
        return 2.0
    if mention and mention.entity.type in types:
        return LEFT_FROM
    word = scene.at(with_key[-1]).first[key]
    if word.is_code and shape_of(word.text) in shapes:
        return LEFT_FROM
    asked_here = any(n in spot.same and n in spot.users for n in with_key)
    needed_here = any(n in spot.reading.antecedent_turns for n in with_key)
    is_left = any(n in spot.other for n in with_key) and not asked_here and not needed_here
    return LEFT_FROM if is_left else NEAR_FROM


def is_free(term: str, spot: Place, required: Sequence[str], others: Sequence[str]) -> bool:
    """Whether neither `term` nor an alias of it is in the follow-up, a required term, or a term chosen before."""
    index = spot.scene.index
    wordings = (term, *aliases_of(term, index))
    asked = spot.follow_up.turn.content
    if any(occurs(wording, asked) for wording in wordings):
        return False
    for other in (*required, *others):
        for known in (other, *aliases_of(other, index)):
            if any(_overlap(wording, known) for wording in wordings):
                return False
    return True


def _overlap(one: str, other: str) -> bool:
    """Whether one of two wordings occurs in the other; most pairs are told apart by their letters alone."""
    return (_may_hold(other, one) and occurs(one, other)) or (_may_hold(one, other) and occurs(other, one))


def _may_hold(text: str, term: str) -> bool:
    return has_spaceless_script(term) or key_of(term)[:3].split(" ")[0] in key_of(text)


def required_types(spot: Place, required: Sequence[str]) -> frozenset[str]:
    """Types of the catalogue's names that the required terms belong to; types of mined names tell nothing."""
    return frozenset(
        mention.entity.type
        for turn in (spot.follow_up, *spot.antecedents)
        for mention in turn.mentions
        if mention.entity.type not in _PLAIN_TYPES
        and any(occurs(mention.entity.name, t) or occurs(t, mention.entity.name) for t in required)
    )


def shape_of(word: str) -> str:
    """The make of a code: KST-4221 and KST-4222 are both A-9."""
    return re.sub(r"[A-Z]+", "A", re.sub(r"[a-z]+", "a", re.sub(r"\d+", "9", word)))
