"""One build: settings and overrides to sources, the river, a release, and the table that closes it."""

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from builder.config import check_settings, load_settings
from builder.core.errors import INVALID_DATA, BuilderError
from builder.core.hashing import digest
from builder.core.mix import Quotas
from builder.core.records import Item
from builder.core.settings import Settings
from builder.io.store import read_json, write_json
from builder.pipeline.artefacts import stage_key
from builder.pipeline.reading import remarks_on
from builder.pipeline.river import River
from builder.pipeline.sources import Sources
from builder.pipeline.writing import write_release
from builder.stages.fill import weigh


@dataclass(frozen=True, slots=True)
class Overrides:
    """What the command line says in place of the settings file; empty values say nothing."""

    transcripts: tuple[Path, ...] = ()
    labels: str = ""
    passages: Path | None = None
    entities: Path | None = None
    size: int | None = None
    floor: int | None = None
    seed: int | None = None
    name: str = ""
    fast: bool = False


@dataclass(frozen=True, slots=True)
class Built:
    """What a build came to.

    Attributes:
        release: Its folder.
        table: The closing table.
        message: Where the release is and what is new in it.
        remarks: What a person should look at: rejected records, shortages.
        rejected: Records that could not be read.
        short: Seats that stayed empty.
    """

    release: Path
    table: str
    message: str
    remarks: tuple[str, ...]
    rejected: int
    short: int


def open_sources(
    config: Path | None, out: Path, overrides: Overrides, workers: int = 0, progress: bool = False
) -> Sources:
    """The inputs of a build, every setting checked before anything is read."""
    settings = with_overrides(load_settings(config), overrides)
    check_settings(settings, str(config) if config else "settings")
    base = config.parent if config else Path()
    return Sources(
        settings,
        base.resolve(),
        out,
        out / ".work",
        workers or len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else workers or 1,
        progress,
    )


def with_overrides(settings: Settings, overrides: Overrides) -> Settings:
    """`settings` with what the command line said."""
    chosen = settings.input
    if overrides.transcripts:
        # Only the log is another one: what the settings file names beside it (passages, catalogue, reviews) stays.
        chosen = replace(chosen, transcripts=tuple(str(path.resolve()) for path in overrides.transcripts))
    if overrides.labels:
        listed = () if overrides.labels == "none" else (str(Path(overrides.labels).resolve()),)
        chosen = replace(chosen, labels=listed)
    if overrides.passages:
        chosen = replace(chosen, passages=str(overrides.passages.resolve()))
    if overrides.entities:
        chosen = replace(chosen, entities=str(overrides.entities.resolve()))
    changed = replace(settings, input=chosen)
    if overrides.size is not None:
        changed = replace(changed, stratify=replace(changed.stratify, size=overrides.size))
    if overrides.floor is not None:
        changed = replace(changed, stratify=replace(changed.stratify, floor=overrides.floor))
    if overrides.seed is not None:
        changed = replace(changed, set=replace(changed.set, seed=overrides.seed))
    if overrides.name:
        changed = replace(changed, set=replace(changed.set, name=overrides.name))
    if overrides.fast:
        changed = replace(changed, classify=replace(changed.classify, method="rules"))
    return changed


def build_release(
    sources: Sources, announce: Callable[[str], None] | None = None, freeze_items: bool = False
) -> Built:
    """Run the river and write the release that its items make; an unchanged input is found done and left alone.

    Raises:
        BuilderError: Nothing could be read, a setting is impossible, or no item came out.
    """
    key = _run_key(sources, freeze_items)
    note = sources.work / "done" / f"{key}.json"
    done = read_json(note) if note.is_file() else None
    if done and sources.previous and sources.previous.name == done["version"]:
        return Built(
            sources.previous,
            done["table"],
            f"{sources.previous}: unchanged, {done['items']} items",
            tuple(done["remarks"]),
            done["rejected"],
            done["short"],
        )
    river = River(sources, sources.work, announce)
    river.run()
    built = _release(sources, river, freeze_items)
    write_json(
        note,
        {
            "version": built.release.name,
            "table": built.table,
            "remarks": list(built.remarks),
            "rejected": built.rejected,
            "short": built.short,
            "items": len(river.artefact("items")),
        },
    )
    return built


def _run_key(sources: Sources, freeze_items: bool) -> str:
    """The key of a whole build: settings, inputs and code; the previous release is not part of it."""
    kinds = ("transcripts", "passages", "entities", "labels", "reviews", "model", "pinned")
    settings = digest(repr(replace(sources.settings, input=Settings().input)))
    return stage_key("build", [settings, freeze_items, [sources.digest(kind) for kind in kinds]])


def _release(sources: Sources, river: River, freeze_items: bool) -> Built:
    from builder.stages.closing_table import closing_table

    quotas: Quotas = river.artefact("quotas")[0]
    items: list[Item] = river.artefact("items")
    dropped = river.dropped()
    if not items:
        # What could not be read is kept also when nothing comes of the rest.
        remarks, _, _ = _remarks(sources, river, quotas, {})
        reasons = Counter(d.reason for d in dropped if d.stage != "read").most_common(1)
        why = f"; most were dropped as: {reasons[0][0]} ({reasons[0][1]})" if reasons else ""
        n = quotas.mix.n_follow_ups
        fix = "give a longer log, lower [draw] least_confident, or give passages and labels"
        raise BuilderError(
            "build", f"no item came out of {n} follow-ups{why}; {'; '.join(remarks)}", fix, INVALID_DATA
        )
    if freeze_items and sources.previous_items:
        items = weigh(sources.previous_items, quotas)
    release, message = write_release(sources, items, quotas, river.facts(), dropped)
    real = Counter(item.reference_type for item in items if item.origin != "synthetic")
    made = Counter(item.reference_type for item in items if item.origin == "synthetic")
    weights = {item.reference_type: item.weight for item in items}
    remarks, rejected, short = _remarks(sources, river, quotas, real + made)
    return Built(release, closing_table(quotas, real, made, weights), message, remarks, rejected, short)


def _unused(river: River) -> Iterator[str]:
    """A sentence for labels and decisions that were given and belong to nothing here: a wrong file looks like that."""
    facts = river.facts().get("classify", {})
    given, used = facts.get("labels_given", 0), facts.get("labels_used", 0)
    if used < given:
        yield f"{used} of {given} labels belong to follow-ups of the sample; check [input] labels if you expected more"


def _remarks(
    sources: Sources, river: River, quotas: Quotas, filled: Mapping[str, int]
) -> tuple[tuple[str, ...], int, int]:
    """What a person should look at, the number of rejected records, and of empty seats."""
    rejects = [d for d in river.dropped() if d.stage == "read"]
    remarks = [*_unused(river), *remarks_on(sources, rejects, river.facts().get("sample", {}))]
    short = {
        q.reference_type: q.seats - filled.get(q.reference_type, 0)
        for q in quotas.quotas
        if filled.get(q.reference_type, 0) < q.seats
    }
    if short:
        listed = ", ".join(f"{name} {n}" for name, n in short.items())
        remarks.append(
            f"{sum(short.values())} of {quotas.size} seats stayed empty ({listed}); give a longer log or a smaller --size"
        )
    return tuple(remarks), len(rejects), sum(short.values())
