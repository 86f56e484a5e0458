"""From files to a sample of transcripts: shards are scanned, the sample is chosen from all, and only it is read again."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from tqdm import tqdm

from builder.core.records import Dropped, Transcript
from builder.core.settings import ReadSettings, SampleSettings
from builder.core.wording import counted
from builder.io.engine import run
from builder.io.rejects import rejects_path, summarise, write_rejects
from builder.io.shards import Shard, records
from builder.io.source import Plan, plan_shards
from builder.pipeline.sources import Sources
from builder.stages.read import detect_format, read_outlines, read_placed
from builder.stages.sample import (
    CLASH,
    LISTED,
    REPEATED,
    Choice,
    Scan,
    choose_conversations,
    scan_conversations,
    take_chosen,
    too_few,
)

Sample = tuple[list[Transcript], list[Dropped], dict[str, Any]]
LISTED_FILES = 20
_SERIAL_BYTES = 16 << 20
"""Below this a second process costs more than it brings."""


def sample_log(sources: Sources) -> Sample:
    """The sampled transcripts of the log by rank, what was dropped, and the counts."""
    settings = sources.settings
    return sample_files(
        sources.transcript_files,
        settings.read,
        settings.sample,
        settings.set.seed,
        sources.workers,
        sources.progress,
    )


def sample_files(
    files: Sequence[Path],
    read: ReadSettings,
    sample: SampleSettings,
    seed: int,
    workers: int = 1,
    progress: bool = False,
) -> Sample:
    """A uniform sample of the conversations in `files`.

    Args:
        files: Exports, from `find_files`.
        read: How they are read.
        sample: How many conversations are kept.
        seed: The set's seed.
        workers: Processes.
        progress: Whether progress is shown on stderr.

    Raises:
        BuilderError: No file has a record of a known format.
    """
    plan = plan_shards(files, read, partial(detect_format, settings=read))
    n = workers if sum(shard.size for shard in plan.shards) > _SERIAL_BYTES else 1
    scans = _scan_all(plan, read, sample, seed, n, progress)
    choice = choose_conversations(scans, sample)
    transcripts = _fetch(plan, choice, read, seed, n)
    dropped = [*plan.dropped, *(d for scan in scans for d in scan.rejected), *_duplicates(plan, choice)]
    facts = {
        **choice.facts,
        "rejected": len(plan.dropped) + sum(len(scan.rejected) for scan in scans) + len(choice.clashing),
        "duplicates": len(choice.repeated),
        "too_few_follow_ups": sum(scan.n_few for scan in scans),
        "formats": sorted(set(plan.formats.values())),
        "not_transcripts": sorted(path.name for path in plan.unknown)[:LISTED_FILES],
    }
    return transcripts, [*dropped, *too_few(scans)], facts


def remarks_on(sources: Sources, dropped: Sequence[Dropped], facts: Mapping[str, Any]) -> list[str]:
    """What could not be read, in sentences; the rejected records are written down beside the releases."""
    remarks = []
    skipped = facts.get("not_transcripts") or ()
    if skipped:
        fix = "set [read] format, name its fields under [read.fields], or take it out of the folder"
        remarks.append(f"passed over, no known format: {', '.join(skipped)}; {fix}")
    rejects = [d for d in dropped if d.stage == "read"]
    if rejects:
        path = rejects_path(sources.out, sources.settings.set.name)
        write_rejects(path, rejects)
        said = f"{counted(len(rejects), 'record')} could not be read ({summarise(rejects)})"
        remarks.append(f"{said}; see {path}")
    return remarks


def _scan_all(
    plan: Plan, read: ReadSettings, sample: SampleSettings, seed: int, workers: int, progress: bool
) -> list[Scan]:
    work = partial(scan_shard, read=read, sample=sample, seed=seed)
    scans = []
    total = sum(shard.size for shard in plan.shards)
    with tqdm(total=total, desc="reading", unit="B", unit_scale=True, disable=not progress) as bar:
        for shard, scan in zip(plan.shards, run(work, list(enumerate(plan.shards)), workers), strict=True):
            bar.update(shard.size)
            scans.append(scan)
    return scans


def scan_shard(numbered: tuple[int, Shard], read: ReadSettings, sample: SampleSettings, seed: int) -> Scan:
    """What one shard says about its conversations."""
    number, shard = numbered
    opened = records(shard, read.max_record_mb << 20)
    return scan_conversations(read_outlines(opened, shard.kind, read, shard.part), sample, seed, number)


def _fetch(plan: Plan, choice: Choice, read: ReadSettings, seed: int, workers: int) -> list[Transcript]:
    """The chosen transcripts, by rank."""
    positions: dict[int, set[int]] = defaultdict(set)
    for number, position in choice.places:
        positions[number].add(position)
    tasks = [(plan.shards[number], frozenset(wanted)) for number, wanted in sorted(positions.items())]
    keys = frozenset(choice.keys)
    work = partial(fetch_shard, keys=keys, read=read, seed=seed)
    # Lines that are not wanted are passed over unread, which is quicker than starting processes.
    workers = 1 if all(shard.layout == "lines" for shard, _ in tasks) else workers
    found = [pair for pairs in run(work, tasks, workers) for pair in pairs]
    # The same conversation may stand in two shards: the first one is as good as the other.
    by_rank = dict(reversed(found))
    return [by_rank[rank] for rank, _, _ in choice.keys]


def fetch_shard(
    task: tuple[Shard, frozenset[int]], keys: frozenset[tuple[int, int, int]], read: ReadSettings, seed: int
) -> list[tuple[int, Transcript]]:
    """The chosen transcripts of one shard with their ranks."""
    shard, wanted = task
    # Rows of a conversation stand anywhere, so a table is read whole again; elsewhere only the wanted records are.
    opened = records(shard, read.max_record_mb << 20, None if shard.kind == "rows" else wanted)
    return list(take_chosen(read_placed(opened, shard.kind, read, shard.part), keys, seed))


def _duplicates(plan: Plan, choice: Choice) -> Iterator[Dropped]:
    for (number, position), (other, place) in sorted(zip(choice.clashing, choice.holders, strict=True)):
        kept = f"the conversation at {plan.shards[other].where(place)} has the same id and was kept"
        detail = f"{kept}; give each conversation its own id"
        yield Dropped(plan.shards[number].where(position), "read", CLASH, detail)
    for number, position in choice.repeated[:LISTED]:
        yield Dropped(plan.shards[number].where(position), "sample", REPEATED)
