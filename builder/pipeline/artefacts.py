"""What stages leave behind: each artefact under a key of all it was made from, whole or not there at all."""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from builder import __version__
from builder.core.hashing import digest
from builder.core.mix import Mix, Quota, Quotas, Share
from builder.core.records import Candidate, Dropped, Entity, FollowUp, Transcript
from builder.core.rows import (
    Row,
    follow_up_from_row,
    follow_up_to_row,
    item_from_row,
    item_to_row,
    transcript_from_row,
    transcript_to_row,
)
from builder.io.resources import PACKAGE, schemas_folder
from builder.io.store import read_jsonl, write_jsonl


def mix_to_row(mix: Mix) -> Row:
    """A mix as a JSON object."""
    return {**asdict(mix), "facets": [[name, list(map(list, table))] for name, table in mix.facets]}


def mix_from_row(row: Row) -> Mix:
    """A mix from the shape of `mix_to_row`."""
    facets = tuple((name, tuple((r, c, n) for r, c, n in table)) for name, table in row["facets"])
    shares = tuple(Share(**share) for share in row["shares"])
    return Mix(**{**row, "shares": shares, "facets": facets, "notes": tuple(row["notes"])})


def quotas_to_row(quotas: Quotas) -> Row:
    """Quotas as a JSON object, with their mix."""
    listed = [asdict(quota) for quota in quotas.quotas]
    return {"size": quotas.size, "quotas": listed, "mix": mix_to_row(quotas.mix)}


def quotas_from_row(row: Row) -> Quotas:
    """Quotas from the shape of `quotas_to_row`."""
    return Quotas(row["size"], tuple(Quota(**quota) for quota in row["quotas"]), mix_from_row(row["mix"]))


@dataclass(frozen=True, slots=True)
class Pointer:
    """A candidate without its transcript, which is stored once, elsewhere."""

    follow_up: FollowUp
    position: int
    inclusion_probability: float
    kept: bool

    def resolve(self, transcripts: Mapping[str, Transcript]) -> Candidate:
        """The candidate with its transcript."""
        transcript = transcripts[self.follow_up.conversation_id]
        return Candidate(self.follow_up, transcript, self.position, self.inclusion_probability, self.kept)


def pointer_to_row(pointer: Pointer) -> Row:
    """A pointer as a JSON object."""
    return {
        "follow_up": follow_up_to_row(pointer.follow_up),
        "position": pointer.position,
        "inclusion_probability": pointer.inclusion_probability,
        "kept": pointer.kept,
    }


def pointer_from_row(row: Row) -> Pointer:
    """A pointer from the shape of `pointer_to_row`."""
    return Pointer(**{**row, "follow_up": follow_up_from_row(row["follow_up"])})


CODECS: dict[str, tuple[Callable[[Any], Row], Callable[[Row], Any]]] = {
    "transcripts": (transcript_to_row, transcript_from_row),
    "follow_ups": (follow_up_to_row, follow_up_from_row),
    "mix": (mix_to_row, mix_from_row),
    "quotas": (quotas_to_row, quotas_from_row),
    "candidates": (pointer_to_row, pointer_from_row),
    "items": (item_to_row, item_from_row),
    "entities": (asdict, lambda row: Entity(row["name"], row["type"], tuple(row["aliases"]))),
    "dropped": (asdict, lambda row: Dropped(**row)),
    "facts": (dict, dict),
}
"""Kind of artefact -> (record to row, row to record)."""


@cache
def code_digest() -> str:
    """Digest of the package's code and data: another version makes other artefacts."""
    files = [
        p for p in PACKAGE.rglob("*") if p.is_file() and p.suffix in (".py", ".json", ".txt", ".md", ".html")
    ]
    files += schemas_folder().glob("*.json")
    state = hashlib.sha256(__version__.encode())
    for path in sorted(files):
        state.update(path.name.encode())
        state.update(path.read_bytes())
    return state.hexdigest()


def stage_key(name: str, parts: Sequence[object]) -> str:
    """The key of what stage `name` makes from `parts` with this code."""
    return f"{name}-{digest([name, code_digest(), list(parts)])[:20]}"


def is_whole(folder: Path, key: str, kinds: Iterable[str]) -> bool:
    """Whether every artefact of the stage is there. Files appear by rename, so one that is there is whole."""
    return all((folder / key / f"{kind}.jsonl").is_file() for kind in kinds)


def store(folder: Path, key: str, made: Mapping[str, Sequence[Any]], kinds: Mapping[str, str]) -> None:
    """Write what a stage made; `kinds` names the codec of each artefact."""
    for name, records in made.items():
        encode = CODECS[kinds[name]][0]
        write_jsonl(folder / key / f"{name}.jsonl", map(encode, records))


def load(folder: Path, key: str, name: str, kind: str) -> list[Any]:
    """Read one artefact back."""
    decode = CODECS[kind][1]
    return [decode(row) for row in read_jsonl(folder / key / f"{name}.jsonl")]
