"""The set from labelled items: what fill needs from outside, the previous release above all."""

from collections.abc import Sequence

from builder.core.mix import Quotas
from builder.core.records import Dropped, Item
from builder.core.rot import Rot, find_rot
from builder.core.versions import item_digest
from builder.pipeline.snapshots import read_manifest
from builder.pipeline.sources import Sources
from builder.stages.fill import fill_seats

QUARANTINED = "quarantined: "
"""How the reason of an item starts that left because its gold passage moved or changed."""


def fill_set(sources: Sources, reviewed: Sequence[Item], quotas: Quotas) -> tuple[list[Item], list[Dropped]]:
    """Items of the set in the order of their strata, and every labelled item that has no seat."""
    settings = sources.settings
    rotten = {rot.id: rot for rot in quarantined(sources)}
    fresh = [item for item in reviewed if not _is_held(item, rotten)]
    held = [item.id for item in (*sources.previous_items, *reviewed) if _is_held(item, rotten)]
    results = list(
        fill_seats(
            fresh,
            kept_items(sources.previous_items, reviewed, rotten),
            quotas,
            settings.set.seed,
            frozenset(sources.passages) or None,
            settings.draw.per_conversation,
            settings.release.max_near_duplicate,
            settings.synthesize.share,
            settings.classify.long_range,
        )
    )
    items = [result for result in results if isinstance(result, Item)]
    left = [result for result in results if isinstance(result, Dropped)]
    return items, [
        *left,
        *(
            Dropped(name, "validate", QUARANTINED + rotten[name].reason, rotten[name].passage)
            for name in dict.fromkeys(held)
        ),
    ]


def quarantined(sources: Sources) -> tuple[Rot, ...]:
    """Items of the previous release whose gold is not what it was, and those that it held back already."""
    if not sources.previous or not sources.passages:
        return ()
    manifest = read_manifest(sources.previous)
    earlier = tuple(Rot(r["id"], r["passage"], r["reason"]) for r in manifest.get("quarantined", ()))
    return (*earlier, *find_rot(sources.previous_items, manifest.get("passages", {}), sources.passages))


def _is_held(item: Item, rotten: dict[str, Rot]) -> bool:
    """Whether an item must wait: its gold still names the passage that rotted, and no person has looked since."""
    rot = rotten.get(item.id)
    return rot is not None and item.review == "none" and rot.passage in item.gold


def kept_items(previous: Sequence[Item], reviewed: Sequence[Item], rotten: dict[str, Rot]) -> list[Item]:
    """Items of the previous release as they stay: bytes and all, unless a person has labelled them anew."""
    by_people = {i.id: i for i in reviewed if i.labelled_by == "human" or i.review != "none"}
    kept = []
    for item in previous:
        newer = by_people.get(item.id, item)
        now = item if item_digest(newer) == item_digest(item) else newer
        if not _is_held(now, rotten):
            kept.append(now)
    return kept
