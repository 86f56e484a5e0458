"""sample: a uniform sample of the log's conversations, chosen by the hash of seed and id alone, duplicates out.

A scan of each shard keeps 40 bytes per conversation; the choice is made from all of them at once, so file order, line
order and the number of workers cannot matter; only the chosen conversations are then read again.
"""

import heapq
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil, sqrt
from struct import Struct
from typing import Any

from builder.core.hashing import rank
from builder.core.identity import Outline, outline_of
from builder.core.intervals import Z95
from builder.core.records import Dropped, Transcript
from builder.core.settings import SampleSettings
from builder.core.wording import counted

STAGE = "sample"
TOO_FEW = "too few follow-ups"
REPEATED = "duplicate conversation"
CLASH = "duplicate conversation id"
LISTED = 10_000
"""So many conversations of a kind that is dropped by the thousand are named one by one; all are counted."""
INTRACLASS = 0.05
"""How alike follow-ups of one conversation are in their stratum, for the design effect."""
_ENTRY = Struct("<QQQQII")
_FIELDS = [
    ("rank", "<u8"),
    ("high", "<u8"),
    ("low", "<u8"),
    ("position", "<u8"),
    ("shard", "<u4"),
    ("n", "<u4"),
]
_SPREAD = 0x9E3779B97F4A7C15


@dataclass(frozen=True, slots=True)
class Scan:
    """What a shard says about its conversations.

    Attributes:
        entries: 40 bytes per conversation with enough follow-ups: rank, digest of what was said, position, follow-ups.
        n_conversations: Conversations read.
        n_few: Of these, those with too few follow-ups.
        few: The lowest-ranked `LISTED` of them: (rank, id, follow-ups).
        rejected: Records that could not be read.
    """

    entries: bytes
    n_conversations: int
    n_few: int
    few: tuple[tuple[int, str, int], ...]
    rejected: tuple[Dropped, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """Which conversations are in the sample, by where they stand.

    Attributes:
        places: (shard, position) of those in the sample, by rank.
        keys: Their keys, by rank.
        repeated: (shard, position) of conversations that repeat another one word for word.
        clashing: (shard, position) of conversations whose id belongs to another conversation.
        holders: (shard, position) of that other conversation, for each of them.
        facts: Counts and what they mean for precision.
    """

    places: tuple[tuple[int, int], ...]
    keys: tuple[tuple[int, int, int], ...]
    repeated: tuple[tuple[int, int], ...]
    clashing: tuple[tuple[int, int], ...]
    holders: tuple[tuple[int, int], ...]
    facts: dict[str, Any]


def key_of(outline: Outline, seed: int) -> tuple[int, int, int]:
    """(rank of the id, two halves of the digest of what was said): equal keys are the same conversation."""
    return (
        rank(seed, outline.id),
        int.from_bytes(outline.said[:8], "big"),
        int.from_bytes(outline.said[8:], "big"),
    )


def scan_conversations(
    results: Iterable[tuple[int, Outline | Dropped]], settings: SampleSettings, seed: int, shard: int = 0
) -> Scan:
    """What the choice needs to know of one shard's conversations.

    Args:
        results: Position and outline, or what was dropped by `read`.
        settings: Fewest follow-ups of a conversation.
        seed: The set's seed.
        shard: Number of the shard.
    """
    entries = bytearray()
    few: list[tuple[int, str, int]] = []
    rejected: list[Dropped] = []
    n_conversations = n_few = 0
    for position, result in results:
        if isinstance(result, Dropped):
            rejected.append(result)
            continue
        n_conversations += 1
        n = result.n_questions - 1
        if n < max(settings.min_follow_ups, 1):
            n_few += 1
            few.append((rank(seed, result.id), result.id, max(n, 0)))
            if len(few) > 2 * LISTED:
                few = heapq.nsmallest(LISTED, few)
            continue
        first, high, low = key_of(result, seed)
        entries += _ENTRY.pack(first, high, low, position, shard, n)
    return Scan(bytes(entries), n_conversations, n_few, tuple(heapq.nsmallest(LISTED, few)), tuple(rejected))


def choose_conversations(scans: Sequence[Scan], settings: SampleSettings) -> Choice:
    """The sample: of the distinct conversations the lowest-ranked ones, as many as `wanted_conversations` says.

    Of conversations with one id the longest stays (an export may hold earlier states of it), then the one with the
    smallest digest; of conversations with the same words one stays, by a second hash of the id, so that a text which
    is often repeated is not drawn more often.
    Source: Cohen and Kaplan, Summarizing data using bottom-k sketches, 2007.
    """
    import numpy as np

    every = np.frombuffer(b"".join(scan.entries for scan in scans), dtype=np.dtype(_FIELDS))
    shortest_last = np.iinfo(np.uint32).max - every["n"]
    place = (every["position"], every["shard"])
    every = every[np.lexsort((*place, every["low"], every["high"], shortest_last, every["rank"]))]
    first = _firsts(every, "rank")
    head = np.maximum.accumulate(np.where(first, np.arange(len(every)), 0))
    same = (every["high"] == every["high"][head]) & (every["low"] == every["low"][head])
    clashing, holders = every[~first & ~same], every[head][~first & ~same]
    own = every[first]
    own = own[np.lexsort((own["rank"] * np.uint64(_SPREAD), own["low"], own["high"]))]
    distinct = _firsts(own, "high", "low")
    repeated = np.concatenate([every[~first & same], own[~distinct]])
    kept = np.sort(own[distinct], order="rank")
    sizes = kept["n"].astype(np.int64)
    total, squares = int(sizes.sum()), int((sizes * sizes).sum())
    wanted = wanted_conversations(len(kept), total, squares, settings)
    chosen = kept[:wanted]
    n_follow_ups = int(chosen["n"].sum())
    facts = {
        "conversations": sum(scan.n_conversations for scan in scans),
        "with_follow_ups": len(kept),
        "follow_ups": total,
        "sampled": len(chosen),
        "sampled_follow_ups": n_follow_ups,
        "half_width": round(half_width(n_follow_ups, total, squares), 4),
    }
    keys = tuple((int(e["rank"]), int(e["high"]), int(e["low"])) for e in chosen)
    return Choice(_places(chosen), keys, _places(repeated), _places(clashing), _places(holders), facts)


def _firsts(entries: Any, *names: str) -> Any:
    """Which entries differ in one of the fields from the entry before."""
    import numpy as np

    new = np.ones(len(entries), dtype=bool)
    if len(entries) > 1:
        new[1:] = np.logical_or.reduce([entries[name][1:] != entries[name][:-1] for name in names])
    return new


def _places(entries: Any) -> tuple[tuple[int, int], ...]:
    return tuple((int(entry["shard"]), int(entry["position"])) for entry in entries)


def design_effect(total: int, squares: int) -> float:
    """How many follow-ups of a log tell as much as one drawn alone: 1 + (m - 1) rho.

    m is the mean size of the conversation that a follow-up stands in, sum n^2 / sum n; rho is `INTRACLASS`.
    Source: Kish, Survey Sampling, 1965, section 5.4.

    Args:
        total: Follow-ups of all conversations, sum n.
        squares: Sum of their squares by conversation, sum n^2.
    """
    return 1 + (squares / total - 1) * INTRACLASS if total else 1.0


def half_width(n: int, total: int, squares: int) -> float:
    """Half-width of the 95% interval of a share of one half among `n` sampled follow-ups: z sqrt(deff / 4n); 1 for none."""
    return min(1.0, Z95 * sqrt(design_effect(total, squares) / (4 * n))) if n else 1.0


def wanted_conversations(n_conversations: int, total: int, squares: int, settings: SampleSettings) -> int:
    """Conversations whose follow-ups give the wanted precision: z^2 deff / (4 h^2) follow-ups, over the mean per conversation.

    Never more than `settings.conversations`, and never more than there are. A precision of 0 asks for as many as allowed.
    """
    most = min(settings.conversations, n_conversations)
    if not settings.precision or not total:
        return most
    follow_ups = Z95**2 * design_effect(total, squares) / (4 * settings.precision**2)
    return min(most, ceil(follow_ups * n_conversations / total))


def take_chosen(
    results: Iterable[tuple[int, Transcript | Dropped]], keys: Iterable[tuple[int, int, int]], seed: int
) -> Iterator[tuple[int, Transcript]]:
    """(rank, transcript) of each conversation whose key was chosen, once."""
    left = set(keys)
    for _, result in results:
        if isinstance(result, Transcript):
            key = key_of(outline_of(result), seed)
            if key in left:
                left.remove(key)
                yield key[0], result


def too_few(scans: Sequence[Scan]) -> list[Dropped]:
    """Conversations with too few follow-ups, the lowest-ranked `LISTED` by name."""
    named = heapq.nsmallest(LISTED, (entry for scan in scans for entry in scan.few))
    return [Dropped(name, STAGE, TOO_FEW, counted(n, "follow-up")) for _, name, n in named]
