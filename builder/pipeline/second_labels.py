"""Second labels of one build: by a model or by people, how far they agree, and what they cost."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from builder.core.agreement import agreement_to_row, measure_agreement
from builder.core.completion import Complete, Reply, Request
from builder.core.decisions import Decision, settle, standing_decisions
from builder.core.errors import unknown_name
from builder.core.hashing import rank
from builder.core.identity import item_id
from builder.core.records import Dropped, FollowUp, Transcript
from builder.core.rows import Row, follow_up_to_row
from builder.io.budget import price
from builder.io.llm import make_complete
from builder.io.resources import PACKAGE
from builder.io.store import read_bytes, read_json
from builder.pipeline.artefacts import Pointer
from builder.pipeline.readers import log_catalogue, read_follow_ups
from builder.pipeline.sources import Sources
from builder.stages.adjudicate import (
    adjudicate_follow_ups,
    choose_for_agreement,
    choose_for_second_labels,
)
from builder.text.prompting import Prompt, render_prompt

PROMPT = "second_label.1"
SOURCES = ("none", "model", "review")
Made = dict[str, list[Any]]


class Tally:
    """A `Complete` that counts what its answers cost, whether they were asked now or before."""

    def __init__(self, complete: Complete) -> None:
        self._complete = complete
        self.calls = 0
        self.input_tokens = 0
        self.output_tokens = 0

    def __call__(self, requests: Sequence[Request]) -> Sequence[Reply]:
        """Pass the questions on and count the answers."""
        replies = self._complete(requests)
        self.calls += len(replies)
        self.input_tokens += sum(reply.input_tokens for reply in replies)
        self.output_tokens += sum(reply.output_tokens for reply in replies)
        return replies


def load_prompt(long_range: int) -> Prompt:
    """The prompt for second labels, rendered from the taxonomy."""
    folder = PACKAGE / "prompts"
    template = read_bytes(folder / f"{PROMPT}.md", "prompt file").decode()
    rules = read_json(folder / "second_label.rules.json", "prompt rules")
    return render_prompt(PROMPT, template, rules, long_range)


def open_model(sources: Sources, announce: Callable[[str], None] | None = None) -> Tally:
    """The model in the settings, with its finished calls in the work folder."""
    folder = sources.work / "calls"
    return Tally(make_complete(sources.settings.model, folder, announce, sources.progress))


def second_labels(
    sources: Sources,
    transcripts: Sequence[Transcript],
    follow_ups: Sequence[FollowUp],
    announce: Callable[[str], None] | None = None,
) -> Made:
    """Second labels for a random part of each predicted stratum: {second, adjudicate_dropped, adjudicate_facts}."""
    source = sources.settings.adjudicate.source
    if source not in SOURCES:
        raise unknown_name("[adjudicate] source", "source", source, SOURCES)
    if source == "review":
        second = reviewed_follow_ups(sources, transcripts, follow_ups)
        counted = {"source": source, "labelled": len(second)}
        return {"second": second, "adjudicate_dropped": [], "adjudicate_facts": [counted]}
    settings, seed = sources.settings.adjudicate, sources.settings.set.seed
    long_range = sources.settings.classify.long_range
    by_id = {transcript.id: transcript for transcript in transcripts}
    tally, prompt = open_model(sources, announce), load_prompt(long_range)
    chosen = choose_for_second_labels(follow_ups, settings, seed)
    results = list(adjudicate_follow_ups(chosen, by_id, tally, prompt, long_range))
    second = [result for result in results if isinstance(result, FollowUp)]
    dropped = [result for result in results if isinstance(result, Dropped)]
    again = choose_for_agreement(second, settings, seed)
    resampled = list(adjudicate_follow_ups(again, by_id, tally, prompt, long_range, sample=1))
    people = _labelled_by_people(follow_ups, settings.per_stratum, seed)
    of_people = list(adjudicate_follow_ups(people, by_id, tally, prompt, long_range))
    model = sources.settings.model
    facts = {
        "source": source,
        "model": model.name,
        "prompt": prompt.version,
        "chosen": len(chosen),
        "labelled": len(second),
        "abstained": dict(sorted(Counter(d.reason for d in dropped).items())),
        "agreement_with_itself": _agreement(second, resampled),
        "agreement_with_people": _agreement(people, of_people),
        "calls": tally.calls,
        "input_tokens": tally.input_tokens,
        "output_tokens": tally.output_tokens,
        "cost": round(price(model, tally.input_tokens, tally.output_tokens), 6),
    }
    return {"second": second, "adjudicate_dropped": dropped, "adjudicate_facts": [facts]}


def label_drawn(
    sources: Sources, transcripts: Mapping[str, Transcript], pointers: Sequence[Pointer]
) -> tuple[list[Pointer], list[Dropped]]:
    """The drawn candidates with the model's labels, each read once; one on which the model abstains is dropped.

    Candidates that have a second label or a label by people keep it. A candidate whose stratum changes keeps its place
    and its chance of being drawn: the seats are filled by what an item is.
    """
    if sources.settings.adjudicate.source != "model":
        return list(pointers), []
    open_ones = [
        p.follow_up
        for p in pointers
        if p.follow_up.labelled_by not in ("human", "llm") and p.follow_up.origin == "sampled"
    ]
    long_range = sources.settings.classify.long_range
    results = adjudicate_follow_ups(
        open_ones, transcripts, open_model(sources), load_prompt(long_range), long_range
    )
    found = {result.id: result for result in results}
    dropped = [result for result in found.values() if isinstance(result, Dropped)]
    kept = []
    for pointer in pointers:
        result = found.get(pointer.follow_up.id, pointer.follow_up)
        if isinstance(result, FollowUp):
            kept.append(replace(pointer, follow_up=result))
    return kept, dropped


def reviewed_follow_ups(
    sources: Sources, transcripts: Sequence[Transcript], follow_ups: Sequence[FollowUp]
) -> list[FollowUp]:
    """Follow-ups that people decided about in review, with the labels they gave."""
    standing = standing_decisions(sources.reviews)
    rows: dict[tuple[str, int], Row] = {}
    for follow_up in follow_ups:
        final = settle(standing.get(item_id(follow_up.conversation_id, follow_up.turn), {}))
        labels = _labels_of(final) if isinstance(final, Decision) else None
        if labels is not None:
            rows[follow_up.conversation_id, follow_up.turn] = labels
    named = {name for name, _ in rows}
    part = [transcript for transcript in transcripts if transcript.id in named]
    read = read_follow_ups(sources, part, log_catalogue(sources, transcripts), rows)
    return [follow_up for follow_up in read if (follow_up.conversation_id, follow_up.turn) in rows]


def _labels_of(decision: Decision) -> Row | None:
    """The labels that a decision stands for; None for a rejection that says nothing about the stratum."""
    if decision.decision in ("accept", "edit"):
        return decision.labels
    if decision.reason not in ("not_a_query", "unresolvable"):
        return None
    blank = {"form": "none", "pivot": False, "returns": False, "antecedent_turns": []}
    return {"reference_type": decision.reason, **blank}


def _labelled_by_people(follow_ups: Sequence[FollowUp], most: int, seed: int) -> list[FollowUp]:
    people = [f for f in follow_ups if f.labelled_by == "human" and f.origin == "sampled"]
    return sorted(people, key=lambda f: rank(seed, "people", f.id))[:most]


def _agreement(first: Sequence[FollowUp], second: Sequence[FollowUp | Dropped]) -> Row | None:
    """How far two readings agree; None when there is nothing that both read."""
    a = {f.id: follow_up_to_row(f) for f in first}
    b = {f.id: follow_up_to_row(f) for f in second if isinstance(f, FollowUp)}
    return agreement_to_row(measure_agreement(a, b)) if a.keys() & b.keys() else None
