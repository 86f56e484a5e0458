"""Is this release, or this file of items, valid? Every problem with its file, line, field, value and remedy."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from builder.core.errors import INVALID_DATA, BuilderError, Problem
from builder.core.item_rules import item_problems
from builder.core.records import Item, Passage
from builder.core.rot import find_rot
from builder.core.rows import item_from_row
from builder.core.set_rules import seat_problems, set_problems
from builder.core.settings import DrawSettings, ReleaseSettings
from builder.core.taxonomy import ITEM_STRATA, LONG_RANGE
from builder.core.versions import item_digest, set_digest
from builder.io.schemas import schema_problems
from builder.io.store import digest_file, iter_jsonl, read_json
from builder.pipeline.artefacts import quotas_from_row
from builder.pipeline.snapshots import read_items, read_manifest

FILES = ("README.md", "CHANGELOG.md", "items.jsonl", "mix.json", "quotas.json")
"""Files that every release has beside its manifest."""


@dataclass(frozen=True, slots=True)
class Checked:
    """What a check found.

    Attributes:
        problems: Every problem, in order of place.
        n_items: Items that were checked.
        short: Seats that the manifest owns up to as empty.
    """

    problems: tuple[Problem, ...]
    n_items: int
    short: int = 0


def validate_path(path: Path, corpus: Path | None = None) -> Checked:
    """Check the release that `path` means, or the items of a JSONL file alone.

    Args:
        path: A release, a folder of releases, or a file of items.
        corpus: The passages of today, to look gold up in and to find label rot by.

    Raises:
        BuilderError: There is no release or file there, or the file holds no item.
    """
    from builder.io.corpus import load_passages
    from builder.pipeline.sources import find_release

    today = {passage.id: passage for passage in load_passages(corpus)} if corpus else None
    if path.is_file():
        return check_items(path, passages=frozenset(today) if today else None)
    folder = find_release(path)
    checked = check_release(folder)
    return replace(checked, problems=(*checked.problems, *_rot(folder, today))) if today else checked


def _rot(folder: Path, passages: Mapping[str, Passage]) -> list[Problem]:
    """Items of a release whose gold is not what it was in the corpus of today."""
    stated = read_manifest(folder).get("passages", {})
    fix = "build with this corpus: the item is quarantined until a person reviews it"
    return [
        Problem(f"{folder / 'items.jsonl'}: {rot.id}: gold", f'{rot.reason} ("{rot.passage}")', fix)
        for rot in find_rot(read_items(folder), stated, passages)
    ]


def check_items(path: Path, long_range: int = LONG_RANGE, passages: frozenset[str] | None = None) -> Checked:
    """Check the items of a JSONL file: schema, rules between fields, and what must hold of them together."""
    placed, problems, n = _read_items(path, long_range, passages)
    problems += set_problems(placed, DrawSettings().per_conversation, ReleaseSettings().max_near_duplicate)
    return Checked(tuple(problems), n)


def _read_items(
    path: Path, long_range: int, passages: frozenset[str] | None
) -> tuple[list[tuple[str, Item]], list[Problem], int]:
    placed: list[tuple[str, Item]] = []
    problems: list[Problem] = []
    n = 0
    for number, row in iter_jsonl(path, "item file"):
        n += 1
        where = f"{path}:{number}"
        if isinstance(row, Problem):
            problems.append(row)
            continue
        named = f"{where}: {row['id']}" if isinstance(row, dict) and isinstance(row.get("id"), str) else where
        faults = schema_problems("item", row, named)
        if not faults:
            item = item_from_row(row)
            faults = item_problems(item, passages, where, long_range)
            placed.append((where, item))
        problems += faults
    if not n:
        raise BuilderError(str(path), "no items (0 lines)", "build a release first", INVALID_DATA)
    return placed, problems, n


def check_release(folder: Path) -> Checked:
    """Check a release folder: its items, its seats and weights, its passages, and every digest of its manifest."""
    manifest = read_json(folder / "manifest.json", "manifest")
    problems = schema_problems("manifest", manifest, str(folder / "manifest.json"))
    missing = [name for name in FILES if not (folder / name).is_file()]
    problems += [Problem(str(folder / name), "is missing", "build the release again") for name in missing]
    if problems:
        return Checked(tuple(problems), 0)
    settings = manifest["settings"]
    placed, faults, n = _read_items(
        folder / "items.jsonl", manifest["taxonomy"]["long_range"], _passage_ids(folder / "corpus.jsonl")
    )
    problems += faults
    draw, release = settings.get("draw", {}), settings.get("release", {})
    problems += set_problems(
        placed,
        draw.get("per_conversation", DrawSettings().per_conversation),
        release.get("max_near_duplicate", ReleaseSettings().max_near_duplicate),
    )
    if len(placed) == n:
        problems += _quota_problems(folder, placed, manifest)
        problems += _digest_problems(folder, [item for _, item in placed], manifest)
    problems += _file_problems(folder, manifest)
    return Checked(tuple(problems), n, sum(manifest.get("short", {}).values()))


def _passage_ids(path: Path) -> frozenset[str] | None:
    """Ids of the corpus of a release; None when it has none."""
    if not path.is_file():
        return None
    rows = [row for _, row in iter_jsonl(path, "corpus")]
    return frozenset(row["_id"] for row in rows if isinstance(row, dict) and "_id" in row)


def _quota_problems(
    folder: Path, placed: Sequence[tuple[str, Item]], manifest: Mapping[str, Any]
) -> list[Problem]:
    path = folder / "quotas.json"
    row = read_json(path, "quotas")
    faults = schema_problems("quotas", row, str(path))
    if faults:
        return faults
    return seat_problems(placed, quotas_from_row(row), manifest.get("short", {}), str(path), ITEM_STRATA)


def _digest_problems(folder: Path, items: Sequence[Item], manifest: Mapping[str, Any]) -> list[Problem]:
    """Where the items are not those that the manifest names."""
    path = folder / "manifest.json"
    fix = "a release is never edited: build a new one from corrected labels or review decisions"
    found = {item.id: item_digest(item) for item in items}
    stated: dict[str, str] = manifest["items"]
    problems = []
    for name in sorted(found.keys() | stated.keys()):
        if found.get(name) != stated.get(name):
            kind = (
                "is not in the manifest" if name not in stated
                else "is missing from items.jsonl" if name not in found
                else f"has digest {found[name][:12]}, the manifest states {stated[name][:12]}"
            )  # fmt: skip
            problems.append(Problem(f"{path}: items.{name}", kind, fix))
    whole = set_digest(items)
    if whole != manifest["digests"]["set"]:
        stated_set = manifest["digests"]["set"]
        what = f"items give {whole[:12]}, the manifest states {stated_set[:12]}"
        problems.append(Problem(f"{path}: digests.set", what, fix))
    if manifest["size"] != len(items):
        what = f"is {manifest['size']}, items.jsonl has {len(items)}"
        problems.append(Problem(f"{path}: size", what, fix))
    return problems


def _file_problems(folder: Path, manifest: Mapping[str, Any]) -> list[Problem]:
    """Files of a release that changed, are missing, or were added after it was made."""
    stated: dict[str, str] = manifest["digests"]["files"]
    fix = "restore the file or build the release again"
    present = {
        path.relative_to(folder).as_posix(): path
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path != folder / "manifest.json" and not path.name.startswith(".")
    }
    problems = []
    for name in sorted(stated.keys() | present.keys()):
        where = str(folder / name)
        if name not in present:
            problems.append(Problem(where, "is missing", fix))
        elif name not in stated:
            problems.append(Problem(where, "is not in the manifest", "remove it from the release"))
        elif name not in EDITABLE and digest_file(present[name]) != stated[name]:
            what = f"has digest {digest_file(present[name])[:12]}, the manifest states {stated[name][:12]}"
            problems.append(Problem(where, what, fix))
    return problems


EDITABLE = frozenset({"README.md", "CHANGELOG.md"})
"""Files with parts that people write; their digests tell of edits but do not forbid them."""
