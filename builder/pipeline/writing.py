"""The release folder: whole and under its computed version, or not there at all."""

import os
import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from builder.core.errors import BuilderError
from builder.core.mix import Quotas, set_weights
from builder.core.records import Dropped, Item
from builder.core.versions import FIRST, Diff, Snapshot, compare, next_version, reasons, write_version
from builder.core.wording import counted
from builder.io.store import write_bytes
from builder.pipeline.filling import QUARANTINED
from builder.pipeline.release_files import Contents, release_files, text_digest
from builder.pipeline.snapshots import read_snapshot, rules_in_use
from builder.pipeline.sources import Sources


def write_release(
    sources: Sources,
    items: Sequence[Item],
    quotas: Quotas,
    facts: Mapping[str, Any],
    dropped: Sequence[Dropped],
) -> tuple[Path, str]:
    """Write the set as `<out>/<name>/vX.Y.Z`; returns its folder and what is new in it, in words.

    The version follows from the difference to the previous release. Identical content makes no new version: the
    previous folder is returned. The folder is written beside its place and renamed, so it is there whole or not at all.

    Args:
        sources: Settings, inputs and the previous release.
        items: The set.
        quotas: Its seats and the mix.
        facts: What stages noted, by stage.
        dropped: Every record that left the river.
    """
    contents = Contents(
        tuple(items),
        as_filled(quotas, items),
        facts,
        _count(dropped),
        newest_date(facts),
        tuple(
            (d.id, d.reason.removeprefix(QUARANTINED), d.detail)
            for d in dropped
            if d.reason.startswith(QUARANTINED)
        ),
    )
    version, diff = _version(sources, contents)
    if diff is not None and not diff.level and sources.previous:
        return (
            sources.previous,
            f"{sources.previous}: unchanged, {counted(len(items), 'item')}; no new version",
        )
    folder = sources.out / sources.settings.set.name / f"v{write_version(version)}"
    if folder.exists():
        raise BuilderError(str(folder), "exists but is no whole release", "move it away and build again")
    _write_whole(folder, release_files(sources, contents, write_version(version), diff))
    if diff is None:
        return folder, f"{folder}: first release, {counted(len(items), 'item')}"
    return (
        folder,
        f"{folder}: {counted(len(items), 'item')}, {diff.level} change ({'; '.join(reasons(diff))})",
    )


def _version(sources: Sources, contents: Contents) -> tuple[tuple[int, int, int], Diff | None]:
    if sources.previous is None:
        return FIRST, None
    old = read_snapshot(sources.previous)
    rules = rules_in_use(sources.settings.classify.long_range)
    new = Snapshot(old.version, contents.items, rules, text_digest(sources, contents))
    diff = compare(old, new)
    return next_version(old.version, diff.level), diff


def as_filled(quotas: Quotas, items: Sequence[Item]) -> Quotas:
    """The quotas with the seats that the set really has, where it has more than it was allotted (frozen items)."""
    filled = Counter(item.reference_type for item in items)
    if all(filled[quota.reference_type] <= quota.seats for quota in quotas.quotas):
        return quotas
    weights = set_weights(quotas, filled)
    changed = tuple(
        replace(q, seats=filled[q.reference_type], shortage=0, weight=weights.get(q.reference_type, 0.0))
        for q in quotas.quotas
    )
    return Quotas(len(items), changed, quotas.mix)


def _count(dropped: Sequence[Dropped]) -> dict[str, dict[str, int]]:
    """Stage -> reason -> records, in order of name."""
    counted = Counter((d.stage, d.reason) for d in dropped)
    table: dict[str, dict[str, int]] = {}
    for (stage, reason), n in sorted(counted.items()):
        table.setdefault(stage, {})[reason] = n
    return table


def newest_date(facts: Mapping[str, Any]) -> str:
    """The date of the newest message of the log, else of SOURCE_DATE_EPOCH, else ""; never the clock's."""
    newest: str = (facts.get("sample") or {}).get("newest", "")
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    if newest:
        return newest
    return datetime.fromtimestamp(int(epoch), UTC).date().isoformat() if epoch.isdecimal() else ""


def _write_whole(folder: Path, files: Mapping[str, bytes]) -> None:
    """Put every file under a temporary name beside `folder`, then rename it into place."""
    making = folder.parent / f".making-{folder.name}"
    # What a killed build left here is no release; it is made again from the start.
    shutil.rmtree(making, ignore_errors=True)
    for name, data in files.items():
        write_bytes(making / name, data)
    making.replace(folder)
