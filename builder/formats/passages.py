"""Passages that an export carries with its answers, under the ids that the answers cite."""

from collections.abc import Iterator, Mapping
from typing import Any

from builder.core.records import Passage
from builder.formats.search import cast_source

_ID_FIELDS = ("document_id", "passage_id", "doc_id", "id", "_id")
_LISTS = ("contexts", "documents", "passages", "sources", "citations")


def carried_passages(value: Any) -> Iterator[Passage]:
    """The passages inside one record: contexts of its messages (MTRAG), answers that are passages (CAsT 2021)."""
    if not isinstance(value, dict):
        return
    for message in _objects(value.get("messages")):
        for name in _LISTS:
            for entry in _objects(message.get(name)):
                yield from _passage(entry)
    for turn in _objects(value.get("turn")):
        if isinstance(turn.get("passage"), str) and turn.get("canonical_result_id"):
            yield Passage(cast_source(turn), "", turn["passage"])


def _objects(value: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(value, list):
        yield from (entry for entry in value if isinstance(entry, dict))


def _passage(entry: Mapping[str, Any]) -> Iterator[Passage]:
    name = next((entry[name] for name in _ID_FIELDS if isinstance(entry.get(name), str | int)), None)
    text, title = entry.get("text"), entry.get("title")
    if name is not None and isinstance(text, str) and text.strip():
        yield Passage(str(name), title if isinstance(title, str) else "", text)
