"""A new log against the quotas of a set: its mix, the shares by month, and what new quotas would cost."""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from builder.core.errors import BuilderError
from builder.core.mix import Mix, Quotas
from builder.core.records import FollowUp, Transcript
from builder.io.store import read_json, write_json
from builder.pipeline.artefacts import mix_from_row, quotas_from_row, quotas_to_row
from builder.pipeline.river import River
from builder.pipeline.sources import Sources
from builder.pipeline.steps import best_labels, confusion_in_use, kept_ids
from builder.stages.draw import count_available
from builder.stages.drift import Change, plan_changes
from builder.stages.stratify import allot_quotas


@dataclass(frozen=True, slots=True)
class Log:
    """A measured log.

    Attributes:
        mix: Its mix.
        follow_ups: Every follow-up with its best label.
        transcripts: Its sampled conversations.
    """

    mix: Mix
    follow_ups: tuple[FollowUp, ...]
    transcripts: tuple[Transcript, ...]


def measure_log(sources: Sources, announce: Callable[[str], None] | None = None) -> Log:
    """The log that `sources` names, run through the river as far as the mix."""
    river = River(sources, sources.work, announce)
    river.run("measure")
    given = {name: river.artefact(name) for name in ("follow_ups", "second")}
    return Log(river.artefact("mix")[0], tuple(best_labels(given)), tuple(river.artefact("transcripts")))


def quotas_in_force(sources: Sources, path: Path | None = None) -> tuple[Quotas, Path]:
    """The quotas that the set goes by, and their file: the one named, else the pinned ones, else the newest release's.

    Raises:
        BuilderError: There are none.
    """
    previous = sources.previous / "quotas.json" if sources.previous else None
    found = next((p for p in (path, sources.pinned_path, previous) if p and (p == path or p.is_file())), None)
    if found is None:
        where = str(sources.out / sources.settings.set.name)
        raise BuilderError(
            where, "no quotas and no release here", "give --quotas FILE, or build a release first"
        )
    row = read_json(found, "quotas")
    if not isinstance(row, dict) or "quotas" not in row or "mix" not in row:
        raise BuilderError(str(found), "are no quotas", "give the quotas.json of a release")
    return quotas_from_row(row), found


def read_mix(path: Path) -> Mix:
    """A mix from the JSON of `followups mix --json` or of a release's mix.json."""
    row = read_json(path, "mix")
    if not isinstance(row, dict) or "shares" not in row:
        raise BuilderError(str(path), "is no mix", "give the output of `followups mix --json`")
    return mix_from_row(row)


def mixes_by_month(sources: Sources, log: Log) -> dict[str, Mix]:
    """Month (YYYY-MM) -> mix of the conversations that began in it; conversations without a date are left out."""
    from builder.stages.measure import measure_mix

    month_of = {transcript.id: _month(transcript) for transcript in log.transcripts}
    groups: defaultdict[str, list[FollowUp]] = defaultdict(list)
    for follow_up in log.follow_ups:
        if month_of.get(follow_up.conversation_id):
            groups[month_of[follow_up.conversation_id]].append(follow_up)
    settings = sources.settings
    confusion = confusion_in_use(sources)
    return {
        month: measure_mix(group, settings.measure, settings.set.seed, confusion)
        for month, group in sorted(groups.items())
    }


def _month(transcript: Transcript) -> str:
    dated = transcript.started_at or next((turn.at for turn in transcript.messages if turn.at), "")
    return dated[:7]


@dataclass(frozen=True, slots=True)
class Update:
    """What new quotas come to.

    Attributes:
        quotas: The new quotas.
        path: Where they are, or would be, written.
        plan: What they cost, per stratum.
        changed: Whether they differ from those in force.
    """

    quotas: Quotas
    path: Path
    plan: tuple[Change, ...]
    changed: bool


def update_quotas(sources: Sources, log: Log, write: bool) -> Update:
    """Allot seats by the log's mix, say what that costs the newest release, and pin the quotas for builds to come.

    An unchanged mix leaves the file as it is.
    """
    settings = sources.settings
    kept = kept_ids(sources)
    available = count_available(log.follow_ups, settings.draw, settings.set.seed, kept)
    quotas = allot_quotas(log.mix, available, settings.stratify)
    fresh = [f for f in log.follow_ups if f.id not in kept]
    free = count_available(fresh, settings.draw, settings.set.seed)
    plan = plan_changes(sources.previous_items, quotas, free, settings.synthesize.enabled)
    path = sources.pinned_path
    row = quotas_to_row(quotas)
    changed = not path.is_file() or _seats(quotas_from_row(read_json(path))) != _seats(quotas)
    if write and changed:
        write_json(path, row)
    return Update(quotas, path, plan, changed)


def _seats(quotas: Quotas) -> list[tuple[str, int, float]]:
    return [(q.reference_type, q.seats, q.share) for q in quotas.quotas]
