"""The rewriter that asks a language model: strict JSON with the query, whether the subject changed, and the entities."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from builder.core.completion import Complete, Reply, Request
from builder.core.records import Entity
from builder.scope.rewriters import Asked, Rewritten
from builder.scope.shown import FindEntities, Report

ATTEMPTS = 2
"""Times that a question is asked before its answer counts as missing."""

SCHEMA: dict[str, Any] = {
    "title": "rewrite",
    "type": "object",
    "additionalProperties": False,
    "required": ["query", "topic_shift", "entities"],
    "properties": {
        "query": {"type": "string", "maxLength": 400},
        "topic_shift": {"type": "boolean"},
        "entities": {
            "type": "array",
            "maxItems": 12,
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["name", "type"],
                "properties": {
                    "name": {"type": "string", "maxLength": 80},
                    "type": {"type": "string", "maxLength": 30},
                },
            },
        },
    },
}


@dataclass(frozen=True, slots=True)
class Prompt:
    """The instructions, and the version that names them in caches and logs."""

    text: str
    version: str


def model_rewriter(
    complete: Complete, prompt: Prompt, find: FindEntities, sample: int = 0
) -> Callable[[Sequence[Asked]], list[Rewritten]]:
    """A rewriter over batches of (name, latest message, shown).

    An unusable answer is asked for once more; after that the rewrite is missing (query None), which counts as a failure.

    Args:
        complete: Asks the model; finished calls are its to keep.
        prompt: The instructions.
        find: Gives a reported entity the name and type that the extractor knows it by.
        sample: Number of the sample: the same question asked again, for the spread of the answers.
    """

    def rewrite(asked: Sequence[Asked]) -> list[Rewritten]:
        requests = [
            Request(name, prompt.text, shown.text, SCHEMA, prompt.version, sample) for name, _, shown in asked
        ]
        done: dict[int, Rewritten] = {}
        for attempt in range(ATTEMPTS):
            waiting = [
                place for place in range(len(requests)) if place not in done or done[place].query is None
            ]
            if not waiting:
                break
            replies = complete([replace(requests[place], attempt=attempt) for place in waiting])
            for place, reply in zip(waiting, replies, strict=True):
                done[place] = _added(done.get(place), reply, find)
        return [done[place] for place in range(len(requests))]

    return rewrite


def _added(before: Rewritten | None, reply: Reply, find: FindEntities) -> Rewritten:
    """What a reply says, with the cost of the attempt before it."""
    query, report = parse_reply(reply.text, find)
    calls, read, written = (before.calls, before.input_tokens, before.output_tokens) if before else (0, 0, 0)
    return Rewritten(query, report, calls + 1, read + reply.input_tokens, written + reply.output_tokens)


def parse_reply(text: str, find: FindEntities) -> tuple[str | None, Report]:
    """(query, report) of an answer; (None, an empty report) when it is not what was asked for."""
    try:
        value = json.loads(text)
        query, shift = value["query"], value["topic_shift"]
        pairs = [(str(entity["name"]), str(entity["type"])) for entity in value["entities"]]
    except (ValueError, KeyError, TypeError):
        return None, Report()
    if not isinstance(query, str) or not query.strip() or not isinstance(shift, bool):
        return None, Report()
    return query.strip(), Report(
        shift, tuple(_known(name, kind, find) for name, kind in pairs if name.strip())
    )


def _known(name: str, kind: str, find: FindEntities) -> Entity:
    found = find(name)
    return found[0] if len(found) == 1 else Entity(name, kind.lower())
