"""fill: seats from valid items in the order they were drawn, those of the previous release first; weights that add up."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from builder.core.hashing import rank
from builder.core.item_rules import item_problems
from builder.core.mix import Quotas, set_weights
from builder.core.near_duplicates import jaccard, shingles
from builder.core.records import Dropped, Item
from builder.core.taxonomy import ITEM_STRATA

INVALID = "breaks an item rule"
TWICE = "the set has this item already"
NEAR = "near-duplicate of an item of the set"
FULL = "conversation has its items"
SEATED = "every seat of its stratum is taken"
RETIRED = "retired: its stratum has fewer seats"


@dataclass(slots=True)
class _Set:
    """The set as it grows."""

    items: list[Item] = field(default_factory=list)
    ids: set[str] = field(default_factory=set)
    conversations: Counter[str] = field(default_factory=Counter)
    shingles: dict[str, list[frozenset[str]]] = field(default_factory=lambda: defaultdict(list))


def fill_seats(
    candidates: Sequence[Item],
    kept: Sequence[Item],
    quotas: Quotas,
    seed: int,
    passages: Collection[str] | None = None,
    per_conversation: int = 0,
    near_duplicate: float = 0.85,
    synthetic_share: float = 0.0,
    long_range: int = 4,
) -> Iterator[Item | Dropped]:
    """The items of the set, by stratum and place, and why every other candidate is not one.

    Kept items take seats first, the lowest-ranked retire when there are too many; then candidates in the order they
    were drawn. A near-duplicate has the same words in follow-up and reference (Jaccard over word triples, Broder 1997).
    Weights are production share over set share, so they sum to the size of the set.

    Args:
        candidates: Labelled items, each stratum in its queue's order.
        kept: Items of the previous release.
        quotas: Seats.
        seed: The set's seed: orders retirements.
        passages: Ids of the corpus; None when there is none.
        per_conversation: Most items of one conversation; 0 for no bound.
        near_duplicate: Similarity from which two items are near-duplicates.
        synthetic_share: Part of the long-range seats that synthesized items take before further real ones.
        long_range: Distance from which a reference is long-range.
    """
    chosen = _Set()
    for name in ITEM_STRATA:
        seats = quotas.seats(name)
        mine = sorted((i for i in kept if i.reference_type == name), key=lambda i: rank(seed, "keep", i.id))
        queue = [(item, True) for item in mine]
        fresh = [item for item in candidates if item.reference_type == name]
        reserved = round(synthetic_share * seats) if name == "long_range" else 0
        queue += [(item, False) for item in _with_reserved(fresh, seats, reserved)]
        taken = 0
        for item, was_kept in queue:
            if taken >= seats:
                yield Dropped(item.id, "validate", RETIRED if was_kept else SEATED)
                continue
            reason, detail = _refuse(
                item, chosen, passages, per_conversation, near_duplicate, long_range, was_kept
            )
            if reason:
                yield Dropped(item.id, "validate", reason, detail)
                continue
            taken += 1
            _add(item, chosen)
    yield from weigh(_paired(chosen.items), quotas)


def _with_reserved(queue: Sequence[Item], seats: int, reserved: int) -> list[Item]:
    """The queue with `reserved` synthesized items moved up to the last seats."""
    made = [item for item in queue if item.origin == "synthetic"]
    real = [item for item in queue if item.origin != "synthetic"]
    first = max(seats - reserved, 0)
    return [*real[:first], *made[:reserved], *real[first:], *made[reserved:]]


def _refuse(
    item: Item,
    chosen: _Set,
    passages: Collection[str] | None,
    per_conversation: int,
    near_duplicate: float,
    long_range: int,
    was_kept: bool,
) -> tuple[str, str]:
    problems = item_problems(item, passages, long_range=long_range)
    if problems:
        return INVALID, str(problems[0])
    if item.id in chosen.ids:
        return TWICE, ""
    if per_conversation and not was_kept and chosen.conversations[item.conversation_id] >= per_conversation:
        return FULL, ""
    if not was_kept:
        own = shingles(item)
        close = any(jaccard(own, other) >= near_duplicate for other in chosen.shingles[item.reference_type])
        if close:
            return NEAR, ""
    return "", ""


def _add(item: Item, chosen: _Set) -> None:
    chosen.items.append(item)
    chosen.ids.add(item.id)
    chosen.conversations[item.conversation_id] += 1
    chosen.shingles[item.reference_type].append(shingles(item))


def _paired(items: Iterable[Item]) -> list[Item]:
    """Items with each synthesized one and its near original, where both are in the set, linked by `pair`."""
    listed = list(items)
    by_place = {(i.conversation_id, i.turn): i.id for i in listed if not i.synthesis}
    partner: dict[str, str] = {}
    for item in listed:
        near = by_place.get((item.synthesis.base, item.synthesis.base_turn)) if item.synthesis else None
        if near:
            partner |= {item.id: near, near: item.id}
    return [replace(item, pair=partner.get(item.id, "")) for item in listed]


def weigh(items: Sequence[Item], quotas: Quotas) -> list[Item]:
    """Items with weight = production share over set share: the weighted mean estimates the production mean."""
    weights = set_weights(quotas, Counter(item.reference_type for item in items))
    return [replace(item, weight=weights[item.reference_type]) for item in items]
