"""What any liveness horizon could reach, from labels alone: the labelled terms are the entities, no extractor errs."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from builder.core.records import Entity, Turn
from builder.core.terms import occurs
from builder.scope.ceiling import Case, Verdict, verdict
from builder.scope.liveness import LIVE, RECENT_TURNS, Horizons, hear, step_slots
from builder.scope.shown import FindEntities, Slot

STALE_HORIZONS = range(1, 7)
EVICT_HORIZONS = range(3, 21)


@dataclass(frozen=True, slots=True)
class Need:
    """What one follow-up asks of a table of slots.

    Attributes:
        turn: Its turn number.
        weight: Its weight towards production.
        needed: Required terms that an antecedent turn names and the message does not.
        forbidden: Forbidden terms.
        recent: Terms that the last turns name.
        is_near: Everything needed stands in the last turns; decides where no term names what is needed.
        needs_nothing: The message stands alone.
    """

    turn: int
    weight: float
    needed: frozenset[str]
    forbidden: frozenset[str]
    recent: frozenset[str]
    is_near: bool
    needs_nothing: bool

    def judge(self, live: frozenset[str], with_recent: bool) -> tuple[bool, bool, float]:
        """(reaches, shows stale, weight) when the `live` terms are shown, and the last turns beside them or not."""
        visible = live | self.recent if with_recent else live
        nameless = self.needs_nothing or (with_recent and self.is_near)
        reaches = self.needed <= visible if self.needed else nameless
        return reaches, not visible.isdisjoint(self.forbidden), self.weight


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation as slots see it: who speaks, the labelled terms each turn names, and what is asked of them."""

    roles: tuple[str, ...]
    named: tuple[tuple[Entity, ...], ...]
    needs: tuple[Need, ...]


def conversation_of(turns: Sequence[Turn], cases: Sequence[Case], find: FindEntities) -> Conversation:
    """A conversation with its own labelled terms as the entities; their types come from a catalogue, by `find`."""
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
    names = [frozenset(entity.name for entity in listed) for listed in named]
    return Conversation(
        tuple(turn.role for turn in turns), named, tuple(_need(case, names) for case in cases)
    )


def _type_of(term: str, find: FindEntities) -> str:
    found = find(term)
    return found[0].type if len(found) == 1 else ""


def _need(case: Case, names: Sequence[frozenset[str]]) -> Need:
    supplied = frozenset[str]().union(*(names[number - 1] for number in case.antecedent_turns))
    recent = frozenset[str]().union(*names[max(0, case.turn - 1 - RECENT_TURNS) : case.turn - 1])
    needed = (frozenset(case.required) & supplied) - names[case.turn - 1]
    return Need(
        case.turn,
        case.weight,
        needed,
        frozenset(case.forbidden),
        recent,
        case.d_live <= RECENT_TURNS,
        not case.antecedent_turns,
    )


def best_choice(conversations: Sequence[Conversation]) -> Verdict:
    """What a perfect choice per entity shows: short only where no term names what is needed."""
    needs = [need for conversation in conversations for need in conversation.needs]
    return verdict(need.judge(need.needed - need.forbidden, with_recent=False) for need in needs)


def liveness_verdicts(conversations: Sequence[Conversation], horizons: Horizons) -> tuple[Verdict, Verdict]:
    """(slots alone, slots and the last two turns): what slots over the labelled terms show under these horizons.

    A thing that no required term names (the wording of a question, say) is in no slot: it counts as reached only by a
    turn that is shown.
    """
    alone, beside = [], []
    for conversation in conversations:
        by_turn = {need.turn: need for need in conversation.needs}
        slots: tuple[Slot, ...] = ()
        for number, (role, named) in enumerate(
            zip(conversation.roles, conversation.named, strict=True), start=1
        ):
            need = by_turn.get(number)
            if need:
                heard = hear(slots, number, role, named, horizons)
                live = frozenset(slot.name for slot in heard if slot.status == LIVE)
                alone.append(need.judge(live, with_recent=False))
                beside.append(need.judge(live, with_recent=True))
            slots = step_slots(slots, number, role, named, horizons)
    return verdict(alone), verdict(beside)


@dataclass(frozen=True, slots=True)
class GridRow:
    """What liveness shows under one pair of horizons: by its slots alone, and with the last two turns beside them."""

    horizons: Horizons
    slots: Verdict
    beside: Verdict


def liveness_grid(
    conversations: Sequence[Conversation],
    stale: Iterable[int] = STALE_HORIZONS,
    evict: Iterable[int] = EVICT_HORIZONS,
    progress: Callable[[], object] = lambda: None,
) -> list[GridRow]:
    """A row for every pair of horizons, superseding on and off.

    The labelled terms are revived by name only, so a later eviction changes little: whether a name that comes back
    supersedes the others of its type.
    """
    evicts, rows = list(evict), []
    longest = max((len(conversation.roles) for conversation in conversations), default=0)
    for supersede in (True, False):
        for s in stale:
            known: dict[int, tuple[Verdict, Verdict]] = {}
            for e in evicts:
                # Hidden is hidden, and no silence is longer than the conversation: equal tables are made once.
                effective = min(e, longest if supersede else s)
                if effective not in known:
                    known[effective] = liveness_verdicts(conversations, Horizons(s, effective, supersede))
                progress()
                rows.append(GridRow(Horizons(s, e, supersede), *known[effective]))
    return rows
