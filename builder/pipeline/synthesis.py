"""Seats that real follow-ups cannot fill: bases, donors and evidence from the log; what was made is read again."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from builder.core.mix import Quotas
from builder.core.records import Catalogue, Dropped, FollowUp, Terms, Transcript
from builder.core.rows import Row, aliases_to_row
from builder.core.terms import key, occurs
from builder.io.resources import PACKAGE
from builder.io.store import read_json
from builder.pipeline.readers import read_follow_ups
from builder.pipeline.sources import Sources
from builder.stages.draw import draw_candidates
from builder.stages.synthesize import Uses, confirm_distance, synthesize_long_range
from builder.text.donors import Phrases, find_donors
from builder.text.evidence import Lexis, gather_evidence
from builder.text.obligations import Base, read_base

BATCH = 16
"""Synthetic transcripts read at a time, until enough are confirmed."""
UNTYPED = ("name", "code", "acronym", "common")
EVERYWHERE = 0.1
"""A name in more than this part of the conversations (the product's own) is no subject."""
ATTEMPTS = 3
"""Times that a base is tried with other donors before it is given up."""
MOST_DONOR_TERMS = 4
"""Forbidden terms that one item takes from its donors."""

Result = tuple[list[Transcript], list[FollowUp], list[Dropped]]


def fill_shortage(
    sources: Sources,
    transcripts: Sequence[Transcript],
    catalogue: Catalogue,
    follow_ups: Sequence[FollowUp],
    quotas: Quotas,
) -> Result:
    """Confirmed synthetic transcripts with their follow-ups, and what was tried and dropped."""
    settings = sources.settings
    long_range = next((q for q in quotas.quotas if q.reference_type == "long_range"), None)
    seats = long_range.seats if long_range else 0
    shortage = long_range.shortage if long_range else 0
    missing = max(shortage, math.ceil(settings.synthesize.share * seats))
    wanted = math.ceil(missing * settings.synthesize.surplus)
    if not wanted or not settings.synthesize.enabled:
        return [], [], []
    lexis = log_lexis(catalogue, transcripts)
    stock = _stock(sources, transcripts, follow_ups, quotas, lexis)
    base_of = {follow_up.id: follow_up for follow_up in follow_ups}
    kept: dict[str, tuple[Transcript, FollowUp]] = {}
    dropped: dict[str, Dropped] = {}
    uses = Uses()
    for attempt in range(ATTEMPTS):
        left = [base for base in stock.bases if base.follow_up.id not in kept]
        made = stock.make(left, settings.set.seed + attempt, uses)
        while len(kept) < wanted and (batch := list(islice(made, BATCH))):
            dropped |= {result.id: result for result in batch if isinstance(result, Dropped)}
            fresh = [result for result in batch if isinstance(result, Transcript)]
            for transcript, outcome in _confirm(sources, fresh, catalogue, base_of, lexis):
                base = _base_id(transcript)
                if isinstance(outcome, Dropped) or len(kept) >= wanted:
                    uses.give_back(transcript)
                if isinstance(outcome, Dropped):
                    dropped[base] = replace(outcome, id=base)
                elif len(kept) < wanted:
                    kept[base] = (transcript, outcome)
    lost = [reason for base, reason in dropped.items() if base not in kept]
    return [transcript for transcript, _ in kept.values()], [found for _, found in kept.values()], lost


def _base_id(transcript: Transcript) -> str:
    assert transcript.synthesis is not None
    return f"{transcript.synthesis.base}#{transcript.synthesis.base_turn}"


def log_lexis(catalogue: Catalogue, transcripts: Sequence[Transcript]) -> Lexis:
    """How this log's texts are read: content words by language, names by the catalogue and the log itself."""
    from builder.text.entities import COMMON, EntityIndex
    from builder.text.lexicon import lexicon
    from builder.text.words import content_words, words

    index = EntityIndex(catalogue)
    # Mined names have a type by their look only; two of them are not rivals for that.
    types = {key(e.name): e.type for e in catalogue.entities if e.type not in UNTYPED}
    any_language = lexicon("")

    def content(text: str, language: str) -> frozenset[str]:
        own = lexicon(language)
        return frozenset(w.key for w in content_words(text, own) if w.key not in own.generic)

    def found(text: str) -> Terms:
        mentions = index.find(words(text, any_language))
        named = [m for m in mentions if m.entity.type != COMMON and _looks_like_a_name(text[m.start : m.end])]
        return tuple(dict.fromkeys(mention.entity.name for mention in named))

    spread = Counter(
        name for t in transcripts for name in {name for turn in t.turns for name in found(turn.content)}
    )
    everywhere = {name for name, n in spread.items() if n > max(2, EVERYWHERE * len(transcripts))}

    def names(text: str) -> Terms:
        return tuple(name for name in found(text) if name not in everywhere)

    def aliases(name: str) -> Terms:
        entity = index.get(name)
        return entity.aliases if entity else ()

    def type_of(name: str) -> str:
        return types.get(key(name), "")

    return Lexis(content, names, aliases, type_of)


def _looks_like_a_name(wording: str) -> bool:
    """Whether it stands out as written; a small single word ("projects") may be a name only by accident."""
    if len(wording) == 2 and wording.isalpha() and wording.isupper():
        # GB, TB, EU: a unit or a word of everyday more often than a subject.
        return False
    return not (wording.isalpha() and wording.islower() and wording.isascii())


@dataclass(frozen=True, slots=True)
class Stock:
    """What synthetic transcripts are made of.

    Attributes:
        bases: Near references.
        make: (bases, seed, uses) -> transcripts and what was dropped.
    """

    bases: tuple[Base, ...]
    make: Callable[[Sequence[Base], int, Uses], Iterator[Transcript | Dropped]]


def _stock(
    sources: Sources,
    transcripts: Sequence[Transcript],
    follow_ups: Sequence[FollowUp],
    quotas: Quotas,
    lexis: Lexis,
) -> Stock:
    settings = sources.settings
    phrases: Mapping[str, Phrases] = read_json(PACKAGE / "lexicons" / "synthesis.json", "word list")
    by_id = {transcript.id: transcript for transcript in transcripts}
    labels: dict[str, dict[int, FollowUp]] = {}
    for follow_up in follow_ups:
        labels.setdefault(follow_up.conversation_id, {})[follow_up.turn] = follow_up
    units = [(turn.content, t.language) for t in transcripts for turn in t.turns]
    units += [(passage.text, transcripts[0].language) for passage in sources.passages.values()]
    drawn = draw_candidates(follow_ups, by_id, quotas, settings.draw, settings.set.seed)
    preferred = frozenset(
        c.follow_up.id
        for c in drawn
        if not isinstance(c, Dropped) and c.position < quotas.seats(c.follow_up.reference_type)
    )
    donors = list(find_donors(transcripts, labels, lexis, phrases))
    evidence = gather_evidence(units, lexis)

    def make(bases: Sequence[Base], seed: int, uses: Uses) -> Iterator[Transcript | Dropped]:
        return synthesize_long_range(
            bases, donors, settings.synthesize, evidence, phrases, seed, preferred, uses
        )

    return Stock(tuple(_bases(follow_ups, by_id, labels, lexis, phrases)), make)


def _bases(
    follow_ups: Iterable[FollowUp],
    transcripts: Mapping[str, Transcript],
    labels: Mapping[str, Mapping[int, FollowUp]],
    lexis: Lexis,
    phrases: Mapping[str, Phrases],
) -> Iterator[Base]:
    for follow_up in follow_ups:
        transcript = transcripts[follow_up.conversation_id]
        answer = transcript.turns[follow_up.turn : follow_up.turn + 1]
        gold = frozenset(passage for turn in answer for passage in turn.citations)
        standing = frozenset(turn for turn, label in labels[transcript.id].items() if not label.d_live)
        own = phrases.get(transcript.language, {})
        if 1 <= follow_up.d_live <= 3:
            yield read_base(follow_up, transcript, gold, lexis, own, standing)


def _confirm(
    sources: Sources,
    made: Sequence[Transcript],
    catalogue: Catalogue,
    base_of: Mapping[str, FollowUp],
    lexis: Lexis,
) -> Iterator[tuple[Transcript, FollowUp | Dropped]]:
    """Each synthetic transcript with its follow-up, or with the reason why it did not survive.

    It is read first without knowing how it was made. What survives carries the labels of its base: the antecedents
    where they stand now, the same required terms, the donors' entities among the forbidden ones.
    """
    read = {(f.conversation_id, f.turn): f for f in read_follow_ups(sources, made, catalogue, labels={})}
    for transcript in made:
        found = read[transcript.id, len(transcript.turns) - 1]
        problem = confirm_distance(transcript, found)
        if problem:
            yield transcript, problem
            continue
        assert transcript.synthesis is not None
        base = base_of[_base_id(transcript)]
        row = _carried(transcript, base, lexis)
        given = {(transcript.id, found.turn): row}
        (labelled,) = [
            f for f in read_follow_ups(sources, [transcript], catalogue, given) if f.turn == found.turn
        ]
        confidence = (
            min(base.confidence, found.confidence) if base.labelled_by != "human" else base.confidence
        )
        origin = replace(
            labelled, origin="synthetic", labelled_by=base.labelled_by, confidence=round(confidence, 4)
        )
        yield transcript, origin


def _carried(transcript: Transcript, base: FollowUp, lexis: Lexis) -> Row:
    """The base's labels where they stand in the synthetic transcript."""
    made = transcript.synthesis
    assert made is not None
    turn = len(transcript.turns) - 1
    aliases = aliases_to_row(base.aliases)
    forbidden = list(base.forbidden_in_rewrite)
    for name in _donor_terms(transcript, base, lexis):
        forbidden.append(name)
        if lexis.aliases(name):
            aliases.setdefault(name, list(lexis.aliases(name)))
    return {
        "conversation_id": transcript.id,
        "turn": turn,
        "subject": base.subject,
        "form": base.form,
        "pivot": True,
        "returns": True,
        "antecedent_turns": list(made.antecedent_turns),
        "required_in_rewrite": list(base.required_in_rewrite),
        "forbidden_in_rewrite": forbidden,
        "aliases": aliases,
        "reference_type": "long_range",
    }


def _donor_terms(transcript: Transcript, base: FollowUp, lexis: Lexis) -> Terms:
    """Names that the donors' users ask about and the query must not have, the nearest first."""
    made = transcript.synthesis
    assert made is not None
    known = dict(base.aliases)
    needed = [w for term in base.required_in_rewrite for w in (term, *known.get(term, ()))]
    follow_up = transcript.turns[-2].content
    own = {key(term) for term in base.forbidden_in_rewrite}
    found = []
    for name in made.terms:
        wordings = (name, *lexis.aliases(name))
        clashes = any(occurs(w, text) for w in wordings for text in (follow_up, *needed))
        if not clashes and not any(occurs(n, w) for n in needed for w in wordings) and key(name) not in own:
            found.append(name)
    return tuple(found)[:MOST_DONOR_TERMS]
