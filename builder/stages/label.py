"""Follow-ups made whole: prefix, gold passages, reference rewrite; an item without proof is dropped."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from builder.core.identity import item_id
from builder.core.records import (
    Candidate,
    Catalogue,
    Dropped,
    FollowUp,
    Item,
    Passage,
    Terms,
    Transcript,
    Turn,
)
from builder.core.settings import LabelSettings
from builder.core.terms import key, occurs
from builder.text.lexicon import lexicon
from builder.text.rewriting import rewrite_by_rules

Retrieve = Callable[[str, int], list[str]]
"""(query, k) -> ids of the k best passages, best first."""

GivenLabels = Mapping[tuple[str, int], Mapping[str, Any]]

NO_REQUIRED = "no required term"
REQUIRED_NOWHERE = "a required term is in neither the follow-up nor an antecedent turn"
NOTHING_SUPPLIED = "no required term comes from an antecedent turn"
FORBIDDEN_NOWHERE = "a forbidden term is not in the prefix"
FORBIDDEN_ASKED = "a forbidden term is in the follow-up"
TERMS_CLASH = "a term is required and forbidden"
NO_FORBIDDEN = "no forbidden term to prove contamination by"
NOT_AN_ITEM = "a stratum that has no items"
_NEED_FORBIDDEN = ("post_pivot_standalone", "long_range")


def label_items(
    candidates: Iterable[Candidate],
    passages: Mapping[str, Passage],
    catalogue: Catalogue,
    settings: LabelSettings,
    retrieve: Retrieve | None = None,
    given: GivenLabels | None = None,
) -> Iterator[Item | Dropped]:
    """One Item per candidate, or the reason why it cannot be one; in the order of the candidates.

    Gold is that of a trusted label, else the passages that the answer to the follow-up cites, else pooled BM25 results
    (`gold_source` says which). The weight is left at 1 until the seats are filled.

    Args:
        candidates: Drawn follow-ups, each with its transcript.
        passages: The corpus by id; empty when there is none.
        catalogue: Known entities.
        settings: The [label] section.
        retrieve: A retriever over `passages`; None when there is no corpus.
        given: Trusted labels; their gold and reference rewrites win.
    """
    for candidate in candidates:
        follow_up, transcript = complete(candidate.follow_up, catalogue), candidate.transcript
        name = item_id(transcript.id, follow_up.turn, transcript.synthesis)
        row = _row_of(transcript, follow_up, given or {})
        reason = _fault(follow_up, transcript)
        if reason:
            yield Dropped(name, "label", reason[0], reason[1])
            continue
        rewrite, note = _rewrite(follow_up, transcript, row)
        gold, source = _gold(follow_up, transcript, row, passages, settings, retrieve, rewrite)
        yield _item(name, follow_up, candidate, gold, source, rewrite, note)


def complete(follow_up: FollowUp, catalogue: Catalogue) -> FollowUp:
    """The follow-up with the catalogue's aliases for terms that a model named without any; people's stand as given."""
    if follow_up.labelled_by == "human":
        return follow_up
    aliases = dict(follow_up.aliases)
    for term in (*follow_up.required_in_rewrite, *follow_up.forbidden_in_rewrite):
        listed = () if term in aliases else catalogue.aliases_of(term)
        if listed:
            aliases[term] = listed
    return replace(follow_up, aliases=tuple(sorted(aliases.items())))


def _row_of(transcript: Transcript, follow_up: FollowUp, given: GivenLabels) -> Mapping[str, Any]:
    """The trusted row of the follow-up, or of the base that a synthetic one was made of; empty when there is none."""
    made = transcript.synthesis
    place = (made.base, made.base_turn) if made else (transcript.id, follow_up.turn)
    return given.get(place, {})


def _fault(follow_up: FollowUp, transcript: Transcript) -> tuple[str, str] | None:
    """Why no item can be made of a follow-up: (fixed reason, the value); None when every term is proven."""
    aliases = dict(follow_up.aliases)
    turns = transcript.turns
    text = turns[follow_up.turn - 1].content
    prefix = [turn.content for turn in turns[: follow_up.turn - 1]]
    supplies = [text, *(turns[number - 1].content for number in follow_up.antecedent_turns)]
    required, forbidden = follow_up.required_in_rewrite, follow_up.forbidden_in_rewrite
    if follow_up.reference_type in ("not_a_query", "unresolvable"):
        return NOT_AN_ITEM, follow_up.reference_type
    if not required:
        return NO_REQUIRED, ""
    for term in required:
        if not any(occurs(term, each, aliases.get(term, ())) for each in supplies):
            return REQUIRED_NOWHERE, term
    is_machine = follow_up.labelled_by != "human"
    if follow_up.d_live and is_machine and all(occurs(t, text, aliases.get(t, ())) for t in required):
        # The message itself would pass for its rewrite.
        return NOTHING_SUPPLIED, ""
    for term in forbidden:
        if not any(occurs(term, each, aliases.get(term, ())) for each in prefix):
            return FORBIDDEN_NOWHERE, term
        if occurs(term, text, aliases.get(term, ())):
            return FORBIDDEN_ASKED, term
        if clash(term, required, aliases):
            return TERMS_CLASH, term
    if not forbidden and follow_up.reference_type in _NEED_FORBIDDEN:
        return NO_FORBIDDEN, ""
    return None


def clash(term: str, required: Iterable[str], aliases: Mapping[str, Terms]) -> bool:
    """Whether a forbidden term or an alias of it would fire on a required term's own wording."""
    wordings = aliases.get(term, ())
    return any(key(term) == key(needed) or occurs(term, needed, wordings) for needed in required)


def _rewrite(follow_up: FollowUp, transcript: Transcript, row: Mapping[str, Any]) -> tuple[str | None, str]:
    """The reference rewrite and, when there is none, why: the trusted one if it passes, else by rules."""
    aliases = dict(follow_up.aliases)
    trusted = row.get("reference_rewrite") or follow_up.reference_rewrite
    required, forbidden = follow_up.required_in_rewrite, follow_up.forbidden_in_rewrite
    if (
        isinstance(trusted, str)
        and all(occurs(t, trusted, aliases.get(t, ())) for t in required)
        and not any(occurs(t, trusted, aliases.get(t, ())) for t in forbidden)
    ):
        return trusted, ""
    text = transcript.turns[follow_up.turn - 1].content
    return rewrite_by_rules(text, follow_up.form, required, forbidden, aliases, lexicon(follow_up.language))


def _gold(
    follow_up: FollowUp,
    transcript: Transcript,
    row: Mapping[str, Any],
    passages: Mapping[str, Passage],
    settings: LabelSettings,
    retrieve: Retrieve | None,
    rewrite: str | None,
) -> tuple[Terms, str]:
    """(gold passage ids, where they come from: label, cited, pooled or none)."""
    answer = answer_to(follow_up.turn, transcript)
    listed = tuple(row.get("gold") or ())
    if listed:
        return listed, "label"
    cited = tuple(
        p for p in dict.fromkeys(answer.citations if answer else ()) if not passages or p in passages
    )
    if cited:
        return cited, "cited"
    if not settings.pooled_gold or retrieve is None or not passages:
        return (), "none"
    text = transcript.turns[follow_up.turn - 1].content
    queries = [rewrite or text, *([answer.content] if answer else [])]
    return pool([retrieve(query, settings.pool_depth) for query in queries], settings.pool_depth), "pooled"


def answer_to(turn: int, transcript: Transcript) -> Turn | None:
    """The assistant turn that followed the follow-up at `turn`; None at the end of a conversation."""
    after = transcript.turns[turn : turn + 1]
    return after[0] if after and after[0].role == "assistant" else None


def pool(rankings: Iterable[list[str]], depth: int) -> Terms:
    """The `depth` ids that several rankings place best: sum of 1 / (60 + rank), ties by id.

    Source: Cormack, Clarke and Buettcher, Reciprocal rank fusion, SIGIR 2009.
    """
    scores: dict[str, float] = {}
    for ranking in rankings:
        for place, name in enumerate(ranking, start=1):
            scores[name] = scores.get(name, 0.0) + 1 / (60 + place)
    return tuple(sorted(scores, key=lambda name: (-round(scores[name], 9), name))[:depth])


def _item(
    name: str,
    follow_up: FollowUp,
    candidate: Candidate,
    gold: Terms,
    source: str,
    rewrite: str | None,
    note: str,
) -> Item:
    transcript = candidate.transcript
    turns = transcript.turns
    return Item(
        id=name,
        conversation_id=transcript.id,
        turn=follow_up.turn,
        prefix=turns[: follow_up.turn - 1],
        follow_up=turns[follow_up.turn - 1].content,
        gold=gold,
        reference_type=follow_up.reference_type,
        forbidden_in_rewrite=follow_up.forbidden_in_rewrite,
        required_in_rewrite=follow_up.required_in_rewrite,
        aliases=follow_up.aliases,
        reference_rewrite=rewrite,
        form=follow_up.form,
        pivot=follow_up.pivot,
        returns=follow_up.returns,
        antecedent_turns=follow_up.antecedent_turns,
        d_live=follow_up.d_live,
        d_stale=follow_up.d_stale,
        d_introduced=follow_up.d_introduced,
        intervening_turns=follow_up.intervening_turns,
        language=follow_up.language,
        origin=follow_up.origin,
        weight=1.0,
        inclusion_probability=candidate.inclusion_probability,
        labelled_by=follow_up.labelled_by,
        confidence=follow_up.confidence,
        subject=follow_up.subject,
        correction=follow_up.correction,
        drift=follow_up.drift,
        answers_clarification=follow_up.answers_clarification,
        gold_source=source,
        rewrite_note=note,
        synthesis=transcript.synthesis,
    )
