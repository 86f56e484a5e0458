"""The operator's corpus and entity catalogue: passages and entities out of their files."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from builder.core.errors import INVALID_DATA, BuilderError, Problem
from builder.core.records import Catalogue, Entity, Passage
from builder.io.shards import Shard, records
from builder.io.store import read_json
from builder.io.streams import kind_of

_MAX_BYTES = 64 << 20
_LISTED = 20


def load_passages(path: Path) -> tuple[Passage, ...]:
    """The passages of a JSONL file {id or _id, title?, text} (BEIR's corpus too), in its order.

    Raises:
        BuilderError: It cannot be read, has no passage, or a line is wrong (every such line is named).
    """
    if not path.is_file():
        raise BuilderError(str(path), "no such passage file", "correct [input] passages or --passages")
    found: dict[str, Passage] = {}
    problems: list[Problem] = []
    layout = {".parquet": "parquet", ".json": "array", ".csv": "table", ".tsv": "table"}.get(
        kind_of(path), "lines"
    )
    for record in records(Shard((path,), layout), _MAX_BYTES):
        value = getattr(record, "value", None)
        if value is None:
            detail = getattr(record, "detail", "not a passage; give {id, title, text}")
            problems.append(Problem(getattr(record, "id", str(path)), *detail.split("; ", 1)))
            continue
        passage = _passage(value)
        where = getattr(record, "where", str(path))
        if isinstance(passage, str):
            problems.append(Problem(where, passage, "give {id, title, text}"))
        elif found.setdefault(passage.id, passage) != passage:
            problems.append(
                Problem(
                    where,
                    f'passage id "{passage.id}" stands for another text too',
                    "give each passage its own id",
                )
            )
    if problems:
        first = problems[0]
        raise BuilderError(first.where, first.what, first.fix, INVALID_DATA, problems[:_LISTED])
    if not found:
        raise BuilderError(str(path), "no passages in the file", "give JSONL of {id, title, text}")
    return tuple(found.values())


def _passage(value: Any) -> Passage | str:
    """The passage in a record, or what is wrong with it."""
    if not isinstance(value, dict):
        return f"is no object ({value!r:.60})"
    name = value.get("id", value.get("_id"))
    if isinstance(name, bool) or not isinstance(name, str | int) or name == "":
        return f"has no id ({name!r:.60})"
    text = value.get("text")
    if not isinstance(text, str) or not text.strip():
        return f'passage "{name}" has no text ({text!r:.60})'
    title = value.get("title")
    return Passage(str(name), title if isinstance(title, str) else "", text)


def load_catalogue(path: Path) -> Catalogue:
    """The entities of a JSON file: {type: [{name, aliases}]}, also under "entity types", or a list of {name, type, aliases}.

    Raises:
        BuilderError: It cannot be read, names nothing, or an entry is wrong (every such entry is named).
    """
    value = read_json(path, "entity catalogue")
    problems: list[Problem] = []
    entities: dict[tuple[str, str], Entity] = {}
    for where, kind, entry in _entries(value, str(path)):
        entity = _entity(entry, kind)
        if isinstance(entity, str):
            problems.append(Problem(where, entity, 'give {"name": ..., "type": ..., "aliases": [...]}'))
        else:
            entities[entity.type, entity.name] = entity
    if problems:
        first = problems[0]
        raise BuilderError(first.where, first.what, first.fix, INVALID_DATA, problems[:_LISTED])
    if not entities:
        raise BuilderError(
            str(path), "names no entities", 'give {"region": [{"name": "Dublin", "aliases": ["eu-west-1"]}]}'
        )
    return Catalogue(tuple(entities.values()))


def _entries(value: Any, path: str) -> Iterator[tuple[str, str, Any]]:
    if isinstance(value, dict):
        value = value.get("entity types", value.get("entities", value))
    if isinstance(value, list):
        yield from ((f"{path}[{n}]", "", entry) for n, entry in enumerate(value))
    elif isinstance(value, dict):
        for kind, listed in value.items():
            if isinstance(listed, list):
                yield from ((f"{path}: {kind}[{n}]", kind, entry) for n, entry in enumerate(listed))


def _entity(entry: Any, kind: str) -> Entity | str:
    """The entity of an entry, or what is wrong with it."""
    if isinstance(entry, str):
        entry = {"name": entry}
    if not isinstance(entry, dict) or not isinstance(entry.get("name"), str) or not entry["name"].strip():
        return f"has no name ({entry!r:.60})"
    aliases = entry.get("aliases") or []
    if not isinstance(aliases, list) or not all(isinstance(alias, str) for alias in aliases):
        return f'"{entry["name"]}" has aliases {aliases!r:.60}, not a list of texts'
    return Entity(entry["name"], str(entry.get("type") or kind or "entity"), tuple(aliases))
