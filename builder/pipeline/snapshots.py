"""A release as it lies on disk, read back: manifest, items, rules, quotas."""

from pathlib import Path
from typing import Any

from builder.core.errors import INVALID_DATA, BuilderError
from builder.core.hashing import digest
from builder.core.records import Item
from builder.core.versions import Rules, Snapshot, parse_version, taxonomy_digest
from builder.io.items import iter_items
from builder.io.schemas import schema
from builder.io.store import read_json


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest of the release in `folder`.

    Raises:
        BuilderError: It is missing, or is no manifest.
    """
    path = folder / "manifest.json"
    manifest = read_json(path, "manifest")
    if not isinstance(manifest, dict) or "version" not in manifest or "digests" not in manifest:
        raise BuilderError(str(path), "is no manifest of a release", "build the release again", INVALID_DATA)
    return manifest


def read_items(folder: Path) -> tuple[Item, ...]:
    """The items of the release in `folder`, in its order."""
    return tuple(iter_items(folder / "items.jsonl"))


def read_snapshot(folder: Path) -> Snapshot:
    """What the next version depends on, as the release in `folder` states it."""
    manifest = read_manifest(folder)
    version = parse_version(manifest["version"])
    if version is None:
        what = f'version "{manifest["version"]}" is not of the form 1.2.3'
        raise BuilderError(str(folder / "manifest.json"), what, "build the release again", INVALID_DATA)
    taxonomy = manifest["taxonomy"]
    rules = Rules(manifest["schema_version"], taxonomy["digest"], taxonomy["long_range"])
    return Snapshot(version, read_items(folder), rules, manifest["digests"].get("text", ""))


def rules_in_use(long_range: int) -> Rules:
    """The rules that this version of the package builds by."""
    return Rules(digest(schema("item")), taxonomy_digest(), long_range)
