"""What any window, any segmentation and any liveness horizon could reach, from labels alone: no model is asked."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from builder.core.records import Aliases, Entity, FollowUp, Item, Terms, Turn
from builder.core.taxonomy import ITEM_STRATA, right_windows, window_is_right
from builder.core.terms import occurs
from builder.scope.liveness import LIVE, RECENT_TURNS, Horizons, hear, step_slots
from builder.scope.shown import FindEntities, Slot

STALE_HORIZONS = range(1, 7)
EVICT_HORIZONS = range(3, 21)


@dataclass(frozen=True, slots=True)
class Case:
    """One labelled follow-up as the ceiling sees it.

    Attributes:
        conversation_id: Its conversation.
        turn: Its turn number.
        reference_type: Its stratum.
        antecedent_turns: Turns it needs.
        d_live: Distance of the farthest of them.
        d_stale: Distance of the nearest turn with a forbidden term; None when there is none.
        pivot: Whether its subject differs from the previous user turn's.
        required: Required terms.
        forbidden: Forbidden terms.
        aliases: Further wordings of both.
        weight: Its weight towards production; 1 in a uniform sample.
    """

    conversation_id: str
    turn: int
    reference_type: str
    antecedent_turns: tuple[int, ...]
    d_live: int
    d_stale: int | None
    pivot: bool
    required: Terms = ()
    forbidden: Terms = ()
    aliases: Aliases = ()
    weight: float = 1.0


def case_of(labelled: Item | FollowUp) -> Case:
    """The case of an item, with its weight, or of a labelled follow-up, with weight 1."""
    return Case(
        labelled.conversation_id,
        labelled.turn,
        labelled.reference_type,
        labelled.antecedent_turns,
        labelled.d_live,
        labelled.d_stale,
        labelled.pivot,
        labelled.required_in_rewrite,
        labelled.forbidden_in_rewrite,
        labelled.aliases,
        labelled.weight if isinstance(labelled, Item) else 1.0,
    )


def queries(cases: Iterable[Case]) -> list[Case]:
    """The cases that ask for something an earlier turn supplies or that stand alone, by conversation and turn."""
    kept = [case for case in cases if case.reference_type in ITEM_STRATA]
    return sorted(kept, key=lambda case: (case.conversation_id, case.turn))


@dataclass(frozen=True, slots=True)
class Verdict:
    """Shares of production under one rule of scope; they sum to 1.

    Attributes:
        right: Everything needed is shown and nothing stale.
        short: Something needed is not shown; nothing stale is.
        stale: Everything needed is shown, and something stale.
        both: Something needed is not shown, yet something stale is.
    """

    right: float
    short: float
    stale: float
    both: float

    @property
    def reaches_too_little(self) -> float:
        """Share where something needed is not shown."""
        return self.short + self.both

    @property
    def shows_stale(self) -> float:
        """Share where something stale is shown."""
        return self.stale + self.both


def verdict(seen: Iterable[tuple[bool, bool, float]]) -> Verdict:
    """Shares over (reaches all that is needed, shows something stale, weight)."""
    sums: dict[tuple[bool, bool], float] = defaultdict(float)
    for reaches, stale, weight in seen:
        sums[reaches, stale] += weight
    total = sum(sums.values()) or 1.0
    shares = [
        round(sums[pair] / total, 6) for pair in ((True, False), (False, False), (True, True), (False, True))
    ]
    return Verdict(*shares)


def window_verdict(cases: Sequence[Case], length: int) -> Verdict:
    """What a window of `length` turns shows, over all cases: right exactly when the taxonomy says so."""
    return verdict(
        (case.d_live <= length, case.d_stale is not None and length >= case.d_stale, case.weight)
        for case in cases
    )


def window_table(cases: Sequence[Case]) -> list[tuple[int, Verdict]]:
    """(length, shares) for every window length that differs from the next: 0 to the farthest distance in the labels."""
    longest = max((max(case.d_live, case.d_stale or 0) for case in cases), default=0)
    return [(length, window_verdict(cases, length)) for length in range(longest + 1)]


def right_by_stratum(cases: Sequence[Case], length: int) -> dict[str, float]:
    """Share of each stratum for which a window of `length` turns is right; strata without cases are left out."""
    found = {}
    for name in ITEM_STRATA:
        inside = [case for case in cases if case.reference_type == name]
        if inside:
            right = sum(c.weight for c in inside if window_is_right(length, c.d_live, c.d_stale))
            found[name] = round(right / sum(c.weight for c in inside), 6)
    return found


def no_window(cases: Sequence[Case]) -> dict[str, float]:
    """Shares of production by why no window is right: {some, same_turn, nearer_stale}."""
    sums = dict.fromkeys(("some", "same_turn", "nearer_stale"), 0.0)
    for case in cases:
        sums[right_windows(case.d_live, case.d_stale).verdict] += case.weight
    total = sum(sums.values()) or 1.0
    return {name: round(value / total, 6) for name, value in sums.items()}


@dataclass(frozen=True, slots=True)
class Segmentation:
    """The best that cutting could do, as shares of production.

    Attributes:
        contiguous: Some stretch of turns that ends at the message is right (the scope is an interval).
        consistent: Right under the best cuts of each conversation, where a cut made for one turn binds later ones.
        at_pivots: What cuts at the labelled pivots show; None when not every follow-up is labelled.
        early_at_pivots: Share for which such a cut falls behind a turn that is still needed.
    """

    contiguous: float
    consistent: float
    at_pivots: Verdict | None
    early_at_pivots: float | None


def starting_at(case: Case, start: int) -> tuple[bool, bool, float]:
    """(reaches, shows stale, weight) of a case shown the turns from `start` on: a window of turn - start turns."""
    length = case.turn - start
    return case.d_live <= length, case.d_stale is not None and length >= case.d_stale, case.weight


def segmentation(cases: Sequence[Case], pivots: Mapping[str, Sequence[int]] | None) -> Segmentation:
    """The ceiling of segmentation.

    Args:
        cases: The cases.
        pivots: User turns that pivot, by conversation, when every follow-up is labelled.
    """
    total = sum(case.weight for case in cases) or 1.0
    by_conversation: dict[str, list[Case]] = defaultdict(list)
    for case in cases:
        by_conversation[case.conversation_id].append(case)
    best = sum(_best_cuts(sorted(group, key=lambda c: c.turn)) for group in by_conversation.values())
    contiguous = no_window(cases)["some"]
    if pivots is None:
        return Segmentation(contiguous, round(best / total, 6), None, None)
    starts = [
        max((cut for cut in pivots.get(c.conversation_id, ()) if cut <= c.turn), default=1) for c in cases
    ]
    shown = [starting_at(case, start) for case, start in zip(cases, starts, strict=True)]
    early = sum(weight for reaches, _, weight in shown if not reaches)
    return Segmentation(contiguous, round(best / total, 6), verdict(shown), round(early / total, 6))


def _best_cuts(group: Sequence[Case]) -> float:
    """Most weight that one set of cuts gets right: by dynamic programming over the start of the current segment."""
    best: dict[int, float] = {1: 0.0}
    previous = 1
    for case in group:
        # A start behind the previous case and up to this one can be opened by a fresh cut; an older one must be kept.
        highest = max(best.values())
        fresh = dict.fromkeys(range(previous + 1, case.turn + 1), highest)
        best = {**best, **fresh}
        for start in best:
            reaches, stale, weight = starting_at(case, start)
            best[start] += weight if reaches and not stale else 0.0
        previous = case.turn
    return max(best.values())


@dataclass(frozen=True, slots=True)
class Conversation:
    """The turns of one conversation with the cases in it, and what each turn names of the labelled terms."""

    turns: tuple[Turn, ...]
    cases: tuple[Case, ...]
    named: tuple[tuple[Entity, ...], ...]


def conversation_of(turns: Sequence[Turn], cases: Sequence[Case], find: FindEntities) -> Conversation:
    """A conversation read with its own labelled terms as the entities; types come from a catalogue, by `find`."""
    wordings: dict[str, dict[str, None]] = defaultdict(dict)
    for case in cases:
        aliases = dict(case.aliases)
        for term in (*case.required, *case.forbidden):
            wordings[term] |= dict.fromkeys(aliases.get(term, ()))
    entities = [
        Entity(term, _type_of(term, find), tuple(others)) for term, others in sorted(wordings.items())
    ]
    named = tuple(
        tuple(entity for entity in entities if occurs(entity.name, turn.content, entity.aliases))
        for turn in turns
    )
    return Conversation(tuple(turns), tuple(cases), named)


def _type_of(term: str, find: FindEntities) -> str:
    found = find(term)
    return found[0].type if len(found) == 1 else ""


def liveness_verdicts(conversations: Sequence[Conversation], horizons: Horizons) -> tuple[Verdict, Verdict]:
    """(slots alone, slots and the last two turns): what slots over the labelled terms would show.

    A thing that no required term names (the wording of a question, say) is in no slot: it counts as reached only by a
    turn that is shown.
    """
    alone, with_recent = [], []
    for conversation in conversations:
        by_turn = {case.turn: case for case in conversation.cases}
        slots: tuple[Slot, ...] = ()
        for turn, named in zip(conversation.turns, conversation.named, strict=True):
            case = by_turn.get(turn.number)
            if case:
                heard = hear(slots, turn.number, turn.role, named, horizons)
                live = {slot.name for slot in heard if slot.status == LIVE} - {
                    entity.name for entity in named
                }
                alone.append(_judge(case, conversation, live, 0))
                with_recent.append(_judge(case, conversation, live, RECENT_TURNS))
            slots = step_slots(slots, turn.number, turn.role, named, horizons)
    return verdict(alone), verdict(with_recent)


def _judge(case: Case, conversation: Conversation, live: set[str], n_recent: int) -> tuple[bool, bool, float]:
    supplied = {e.name for number in case.antecedent_turns for e in conversation.named[number - 1]}
    said = {e.name for e in conversation.named[case.turn - 1]}
    needed = (set(case.required) & supplied) - said
    recent = range(max(1, case.turn - n_recent), case.turn)
    visible = live | {e.name for number in recent for e in conversation.named[number - 1]}
    reaches = needed <= visible if needed else case.d_live <= n_recent
    return reaches, not visible.isdisjoint(case.forbidden), case.weight


def liveness_grid(
    conversations: Sequence[Conversation],
    stale: Iterable[int] = STALE_HORIZONS,
    evict: Iterable[int] = EVICT_HORIZONS,
) -> list[tuple[Horizons, Verdict, Verdict]]:
    """(horizons, slots alone, slots and the last two turns) for every pair of horizons, superseding on and off.

    The labelled terms are revived by name only, so a later eviction changes little: whether a name that comes back
    supersedes the others of its type.
    """
    evicts, rows = list(evict), []
    for supersede in (True, False):
        for s in stale:
            known: dict[int, tuple[Verdict, Verdict]] = {}
            for e in evicts:
                # Hidden is hidden: eviction later than that matters only to whether a returning name is a new rival.
                effective = e if supersede else min(e, s)
                if effective not in known:
                    known[effective] = liveness_verdicts(conversations, Horizons(s, effective, supersede))
                rows.append((Horizons(s, e, supersede), *known[effective]))
    return rows
