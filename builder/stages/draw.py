"""Which follow-ups become items? A queue per stratum, ranked by hash, with every chance known."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor

from builder.core.hashing import rank, unit
from builder.core.mix import Quotas
from builder.core.records import Candidate, Dropped, FollowUp, Transcript
from builder.core.settings import DrawSettings
from builder.core.taxonomy import ITEM_STRATA

NO_ITEMS = "stratum never has items"
NO_SEATS = "stratum has no seats"
HELD_BACK = "least confident of its stratum, without a second label"
SECOND_OF_STRATUM = "conversation has its items of this stratum"
CONVERSATION_FULL = "conversation has its items"
BEYOND = "beyond seats and reserve"
NO_TRANSCRIPT = "no transcript with this id"


@dataclass(frozen=True, slots=True)
class _Chance:
    """A follow-up on its way through the draw, with its chance of having come so far."""

    follow_up: FollowUp
    chance: float


def draw_candidates(
    follow_ups: Iterable[FollowUp],
    transcripts: Mapping[str, Transcript],
    quotas: Quotas,
    settings: DrawSettings,
    seed: int,
    kept: frozenset[str] = frozenset(),
) -> Iterator[Candidate | Dropped]:
    """Candidates of each stratum in the order they are to be labelled, and every follow-up that is none.

    Every choice is a hash of seed and id, so neither input order nor workers matter, and the same follow-up gets the
    same luck in the next release (permanent random numbers: Ohlsson, 1995). In steps, each with a known chance:

    1. The least confident part of a stratum is held back unless it has a second label (chance 0).
    2. Of a conversation's m follow-ups in a stratum, the c = `per_conversation_and_stratum` of lowest rank stay: c / m.
    3. Of what a conversation then has, `per_conversation` stay, with chances in proportion to how scarce their strata
       are (systematic sampling with unequal chances: Madow, 1949).
    4. The rest queue by rank. Of M in the queue of a stratum with s seats, each has a seat with chance min(1, s / M).

    inclusion_probability is the product. Ids in `kept` come first in steps 2 to 4; having been drawn by the same
    rules, they keep the chance of a fresh draw. Synthetic follow-ups queue behind all real ones, one of each base
    before any second one; their chance is 0, since they stand for no share of the log.

    Args:
        follow_ups: Real and synthetic follow-ups.
        transcripts: Their conversations, by id.
        quotas: Seats per stratum.
        settings: Caps, reserve and the part held back.
        seed: Seed of every rank.
        kept: Follow-up ids of the previous release.
    """
    everything = sorted(follow_ups, key=lambda f: f.id)
    seats = {name: quotas.seats(name) for name in ITEM_STRATA}
    usable: list[FollowUp] = []
    for follow_up in everything:
        reason = _unusable(follow_up, seats, transcripts)
        if reason:
            yield Dropped(follow_up.id, "draw", reason)
        else:
            usable.append(follow_up)
    held = held_back(usable, settings, kept, seed)
    yield from (Dropped(f.id, "draw", HELD_BACK) for f in usable if f.id in held)
    stay, leave = _one_of_a_stratum([f for f in usable if f.id not in held], settings, seed, kept)
    yield from leave
    stay, leave = _some_of_a_conversation(stay, seats, settings, seed, kept)
    yield from leave
    for name in ITEM_STRATA:
        mine = [c for c in stay if c.follow_up.reference_type == name]
        yield from _queue(mine, transcripts, seats[name], settings, seed, kept)


def count_available(
    follow_ups: Iterable[FollowUp], settings: DrawSettings, seed: int, kept: frozenset[str] = frozenset()
) -> dict[str, int]:
    """Real follow-ups per stratum that could be drawn, before the cap per conversation over all strata."""
    real = sorted((f for f in follow_ups if f.origin == "sampled"), key=lambda f: f.id)
    held = held_back(real, settings, kept, seed)
    found = Counter((f.conversation_id, f.reference_type) for f in real if f.id not in held)
    available = dict.fromkeys(ITEM_STRATA, 0)
    for (_, name), n in found.items():
        if name in available:
            available[name] += min(n, settings.per_conversation_and_stratum)
    return available


def held_back(
    follow_ups: Sequence[FollowUp], settings: DrawSettings, kept: frozenset[str], seed: int
) -> frozenset[str]:
    """Ids of the least confident part of each stratum's machine-labelled real follow-ups."""
    strata: defaultdict[str, list[FollowUp]] = defaultdict(list)
    for follow_up in follow_ups:
        if follow_up.origin == "sampled" and follow_up.labelled_by not in ("human", "llm"):
            strata[follow_up.reference_type].append(follow_up)
    held: set[str] = set()
    for unsure in strata.values():
        unsure.sort(key=lambda f: (f.confidence, rank(seed, "hold", f.id)))
        held |= {f.id for f in unsure[: floor(settings.least_confident * len(unsure))]}
    return frozenset(held - kept)


def _unusable(follow_up: FollowUp, seats: Mapping[str, int], transcripts: Mapping[str, Transcript]) -> str:
    if follow_up.reference_type not in seats:
        return NO_ITEMS
    if not seats[follow_up.reference_type]:
        return NO_SEATS
    return "" if follow_up.conversation_id in transcripts else NO_TRANSCRIPT


def _one_of_a_stratum(
    follow_ups: Sequence[FollowUp], settings: DrawSettings, seed: int, kept: frozenset[str]
) -> tuple[list[_Chance], list[Dropped]]:
    """Step 2: the cap per conversation and stratum."""
    groups: defaultdict[tuple[str, str], list[FollowUp]] = defaultdict(list)
    for follow_up in follow_ups:
        groups[follow_up.conversation_id, follow_up.reference_type].append(follow_up)
    stay, leave = [], []
    cap = settings.per_conversation_and_stratum
    for group in groups.values():
        group.sort(key=lambda f: (f.id not in kept, rank(seed, "draw", f.id)))
        stay += [_Chance(f, min(1.0, cap / len(group))) for f in group[:cap]]
        leave += [Dropped(f.id, "draw", SECOND_OF_STRATUM) for f in group[cap:]]
    return stay, leave


def _some_of_a_conversation(
    chances: Sequence[_Chance],
    seats: Mapping[str, int],
    settings: DrawSettings,
    seed: int,
    kept: frozenset[str],
) -> tuple[list[_Chance], list[Dropped]]:
    """Step 3: the cap per conversation."""
    conversations: defaultdict[str, list[_Chance]] = defaultdict(list)
    for chance in chances:
        conversations[chance.follow_up.conversation_id].append(chance)
    queued = Counter(chance.follow_up.reference_type for chance in chances)
    need = {name: min(1.0, seats[name] / n) for name, n in queued.items()}
    stay: list[_Chance] = []
    leave: list[Dropped] = []
    for name, group in conversations.items():
        group.sort(key=lambda c: (c.follow_up.id not in kept, rank(seed, "conversation", c.follow_up.id)))
        parts = capped_chances([need[c.follow_up.reference_type] for c in group], settings.per_conversation)
        chosen = _systematic(parts, unit(seed, "start", name))
        n_kept = sum(c.follow_up.id in kept for c in group)
        if n_kept:
            # What a release already has stays in it: its luck was settled by the same rules before.
            first = sorted(chosen | set(range(n_kept)), key=lambda place: (place >= n_kept, place))
            chosen = set(first[: settings.per_conversation])
        for place, chance in enumerate(group):
            if place in chosen:
                stay.append(_Chance(chance.follow_up, chance.chance * parts[place]))
            else:
                leave.append(Dropped(chance.follow_up.id, "draw", CONVERSATION_FULL))
    return stay, leave


def capped_chances(sizes: Sequence[float], n: int) -> list[float]:
    """Chances in proportion to `sizes`, none above 1, that sum to `n` (all 1 when there are no more than `n`)."""
    if len(sizes) <= n:
        return [1.0] * len(sizes)
    certain: set[int] = set()
    while True:
        rest = sum(size for place, size in enumerate(sizes) if place not in certain)
        scale = (n - len(certain)) / rest
        over = {p for p, size in enumerate(sizes) if p not in certain and size * scale >= 1.0}
        if not over:
            return [1.0 if p in certain else size * scale for p, size in enumerate(sizes)]
        certain |= over


def _systematic(chances: Sequence[float], start: float) -> set[int]:
    """Places hit by the points start, start + 1, start + 2 ... on the line of summed chances."""
    start = 1e-6 + start * (1 - 2e-6)  # clear of whole numbers, where rounding could hit twice or never
    hit: set[int] = set()
    below = 0.0
    for place, chance in enumerate(chances):
        above = below + chance
        if ceil(above - start) > ceil(below - start):
            hit.add(place)
        below = above
    return hit


def _queue(
    chances: Sequence[_Chance],
    transcripts: Mapping[str, Transcript],
    seats: int,
    settings: DrawSettings,
    seed: int,
    kept: frozenset[str],
) -> Iterator[Candidate | Dropped]:
    """Step 4: one stratum's queue, real follow-ups first.

    Its ranks are fresh ones: whoever won step 2 against many would otherwise come first here too.
    """
    real = [c for c in chances if c.follow_up.origin == "sampled"]
    made = [c for c in chances if c.follow_up.origin != "sampled"]
    real.sort(key=lambda c: (c.follow_up.id not in kept, rank(seed, "queue", c.follow_up.id)))
    made.sort(key=lambda c: (c.follow_up.id not in kept, rank(seed, "queue", c.follow_up.id)))
    length = ceil(seats * max(1.0, settings.reserve))
    seat_chance = min(1.0, seats / len(real)) if real else 0.0
    for chance in real[length:]:
        yield Dropped(chance.follow_up.id, "draw", BEYOND)
    # What was synthesized was made for this set: all of it queues, so that fill can give it the seats kept for it.
    for position, chance in enumerate([*real[:length], *_bases_first(made, transcripts)]):
        follow_up = chance.follow_up
        synthetic = follow_up.origin != "sampled"
        probability = 0.0 if synthetic else round(chance.chance * seat_chance, 6)
        transcript = transcripts[follow_up.conversation_id]
        yield Candidate(follow_up, transcript, position, probability, follow_up.id in kept)


def _bases_first(made: Sequence[_Chance], transcripts: Mapping[str, Transcript]) -> list[_Chance]:
    """Synthetic follow-ups so that every base comes once before any comes twice."""
    times: Counter[tuple[str, int]] = Counter()
    rounds = []
    for chance in made:
        synthesis = transcripts[chance.follow_up.conversation_id].synthesis
        base = (synthesis.base, synthesis.base_turn) if synthesis else (chance.follow_up.id, 0)
        rounds.append(times[base])
        times[base] += 1
    return [
        chance
        for _, _, chance in sorted(zip(rounds, range(len(made)), made, strict=True), key=lambda r: r[:2])
    ]
