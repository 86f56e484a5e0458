"""Each stage with what it needs from outside: records of earlier stages in, records out."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from builder.core.errors import BuilderError
from builder.core.hashing import digest
from builder.core.mix import Confusion, Mix, Quotas, confusion_from_card
from builder.core.records import Catalogue, Dropped, FollowUp, Transcript
from builder.core.rows import transcript_to_row
from builder.core.wording import counted
from builder.pipeline.artefacts import Pointer
from builder.pipeline.readers import log_catalogue, read_follow_ups
from builder.pipeline.sources import Sources

Made = dict[str, list[Any]]
Given = Mapping[str, list[Any]]


def sample(sources: Sources, _: Given) -> Made:
    """A uniform sample of the log's conversations, without private values: none is stored before they are out."""
    from builder.io.rejects import first_of
    from builder.pipeline.reading import remarks_on, sample_log
    from builder.stages.redact import mask

    kept, dropped, facts = sample_log(sources)
    dropped = [replace(d, id=mask(d.id), detail=mask(d.detail), excerpt=mask(d.excerpt)) for d in dropped]
    if not any(transcript.follow_up_turns for transcript in kept):
        why = "".join(f"; {remark}" for remark in remarks_on(sources, dropped, facts))
        first = first_of(d for d in dropped if d.stage == "read")
        why += f"; the first: {first}" if first else ""
        raise BuilderError(
            ", ".join(str(path) for path in sources.transcript_files[:3]),
            f"no follow-ups among {counted(facts['conversations'], 'conversation')}{why}",
            "give a log whose conversations have two or more user turns, or set [read] format, fields and roles",
            code=4,
        )
    # Known by content: neither the order of files nor that of lines changes it.
    known = digest(sorted(digest(transcript_to_row(transcript)) for transcript in kept))
    transcripts, found = _redact(sources, kept)
    return {
        "transcripts": transcripts,
        "sample_dropped": dropped,
        "sample_facts": [{**facts, "digest": known}],
        "redact_facts": [found],
    }


def _redact(sources: Sources, sampled: Sequence[Transcript]) -> tuple[list[Transcript], dict[str, Any]]:
    """The same transcripts without private values, their languages, and what was found by kind."""
    from builder.stages.redact import redact_transcripts
    from builder.text.findings import SURE
    from builder.text.language import language_of

    settings = sources.settings
    names = {n for e in sources.catalogue.entities for n in (e.name, *e.aliases)}
    terms = {t for row in sources.labels.values() for t in _label_terms(row)}
    found: Counter[str] = Counter()
    unsure = 0
    transcripts = []
    keep = frozenset(names | terms)
    for transcript, findings in redact_transcripts(sampled, settings.redact, keep, settings.set.seed):
        transcripts.append(
            replace(transcript, id=_impersonal(transcript.id), language=language_of(transcript))
        )
        found.update(finding.kind for finding in findings)
        unsure += sum(finding.confidence < SURE for finding in findings)
    facts = {"enabled": settings.redact.enabled, "found": dict(sorted(found.items())), "unreviewed": unsure}
    return transcripts, facts


def _impersonal(conversation_id: str) -> str:
    """The id, or one made of its digest when it is somebody's address."""
    return f"c_{digest(conversation_id)[:12]}" if "@" in conversation_id else conversation_id


def _label_terms(row: Mapping[str, Any]) -> list[str]:
    aliases = row.get("aliases") or {}
    listed = [*row.get("required_in_rewrite", ()), *row.get("forbidden_in_rewrite", ())]
    return [*listed, *(wording for wordings in aliases.values() for wording in wordings)]


def classify(sources: Sources, given: Given) -> Made:
    """Labels for every follow-up."""
    catalogue = log_catalogue(sources, given["transcripts"])
    follow_ups = read_follow_ups(sources, given["transcripts"], catalogue)
    labelled = Counter(f.labelled_by for f in follow_ups)
    facts = {
        "method": sources.settings.classify.method,
        "model": sources.digest("model")[:16] if sources.settings.classify.method == "encoder" else "",
        "labelled_by": dict(sorted(labelled.items())),
        "labels_given": len(sources.labels),
        "labels_used": sum((f.conversation_id, f.turn) in sources.labels for f in follow_ups),
        "unseen_turns": sum(len(f.unseen_turns) for f in follow_ups),
    }
    return {"follow_ups": follow_ups, "catalogue": list(catalogue.entities), "classify_facts": [facts]}


def adjudicate(sources: Sources, given: Given) -> Made:
    """Second labels for a random part of each predicted stratum; none when no source of them was named."""
    if sources.settings.adjudicate.source == "none":
        return {"second": [], "adjudicate_dropped": [], "adjudicate_facts": []}
    from builder.pipeline.second_labels import second_labels

    return second_labels(sources, given["transcripts"], given["follow_ups"])


def confusion_in_use(sources: Sources) -> Confusion | None:
    """The classifier's confusion matrix, from its card."""
    return confusion_from_card(sources.model_card)


def measure(sources: Sources, given: Given) -> Made:
    """The production mix."""
    from builder.stages.measure import measure_mix

    settings = sources.settings
    second = {follow_up.id: follow_up for follow_up in given["second"]}
    mix = measure_mix(
        given["follow_ups"], settings.measure, settings.set.seed, confusion_in_use(sources), second or None
    )
    return {"mix": [mix]}


def best_labels(given: Given) -> list[FollowUp]:
    """Every follow-up with its best label: the second one where there is one."""
    second: dict[str, FollowUp] = {follow_up.id: follow_up for follow_up in given["second"]}
    first: list[FollowUp] = given["follow_ups"]
    return [second.get(follow_up.id, follow_up) for follow_up in first]


def stratify(sources: Sources, given: Given) -> Made:
    """Seats per stratum, by the mix that `followups quotas update` settled on, else by that of this log."""
    from builder.stages.draw import count_available
    from builder.stages.stratify import allot_quotas

    settings = sources.settings
    kept = kept_ids(sources)
    available = count_available(best_labels(given), settings.draw, settings.set.seed, kept)
    mix: Mix = sources.pinned_mix or given["mix"][0]
    return {"quotas": [allot_quotas(mix, available, settings.stratify)]}


def kept_ids(sources: Sources) -> frozenset[str]:
    """Ids of the follow-ups that the previous release has items of."""
    return frozenset(f"{item.conversation_id}#{item.turn}" for item in sources.previous_items)


def synthesize(sources: Sources, given: Given) -> Made:
    """Long-range transcripts for the seats that real follow-ups cannot fill."""
    from builder.pipeline.synthesis import fill_shortage

    quotas: Quotas = given["quotas"][0]
    transcripts, follow_ups, dropped = fill_shortage(
        sources, given["transcripts"], Catalogue(tuple(given["catalogue"])), best_labels(given), quotas
    )
    return {"synthetic": transcripts, "synthetic_follow_ups": follow_ups, "synthesize_dropped": dropped}


def draw(sources: Sources, given: Given) -> Made:
    """Candidates per stratum, ranked by hash, with a reserve."""
    from builder.stages.draw import draw_candidates

    settings = sources.settings
    transcripts = {t.id: t for t in (*given["transcripts"], *given["synthetic"])}
    follow_ups = [*best_labels(given), *given["synthetic_follow_ups"]]
    quotas: Quotas = given["quotas"][0]
    kept = kept_ids(sources)
    results = list(draw_candidates(follow_ups, transcripts, quotas, settings.draw, settings.set.seed, kept))
    pointers = [
        Pointer(r.follow_up, r.position, r.inclusion_probability, r.kept)
        for r in results
        if not isinstance(r, Dropped)
    ]
    dropped = [r for r in results if isinstance(r, Dropped)]
    if settings.adjudicate.source == "model":
        from builder.pipeline.second_labels import label_drawn

        pointers, abstained = label_drawn(sources, transcripts, pointers)
        dropped += abstained
    return {"candidates": pointers, "draw_dropped": dropped}


def label(sources: Sources, given: Given) -> Made:
    """Items: candidates with prefix, terms, gold and reference rewrite."""
    from builder.io.retrieve import index_passages
    from builder.stages.label import label_items

    transcripts = {t.id: t for t in (*given["transcripts"], *given["synthetic"])}
    candidates = [pointer.resolve(transcripts) for pointer in given["candidates"]]
    passages = sources.passages
    retrieve = index_passages(passages.values()) if passages else None
    catalogue = Catalogue(tuple(given["catalogue"]))
    results = list(
        label_items(candidates, passages, catalogue, sources.settings.label, retrieve, sources.labels)
    )
    return {
        "labelled": [r for r in results if not isinstance(r, Dropped)],
        "label_dropped": [r for r in results if isinstance(r, Dropped)],
    }


def review(sources: Sources, given: Given) -> Made:
    """Items after the decisions of people."""
    if not sources.reviews:
        return {"reviewed": given["labelled"], "review_dropped": []}
    from builder.stages.review import apply_decisions

    long_range = sources.settings.classify.long_range
    results = list(apply_decisions(given["labelled"], sources.reviews, long_range))
    return {
        "reviewed": [r for r in results if not isinstance(r, Dropped)],
        "review_dropped": [r for r in results if isinstance(r, Dropped)],
    }


def validate(sources: Sources, given: Given) -> Made:
    """The set: seats filled from valid items in the order they were drawn, those of the previous release first."""
    from builder.pipeline.filling import fill_set

    items, dropped = fill_set(sources, given["reviewed"], given["quotas"][0])
    return {"items": items, "validate_dropped": dropped}
