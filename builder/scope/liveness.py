"""Liveness: which entities are in scope, each by what happened to itself. The state machine is a table."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from builder.core.records import Entity, Turn
from builder.core.terms import occurs
from builder.scope.shown import Design, FindEntities, Report, Shown, Slot, State, lay_out
from builder.text.entities import COMMON

LIVE, STALE, SUPERSEDED, EVICTED = "live", "stale", "superseded", "evicted"
NAMED, REPLACED, QUIET, FORGOTTEN = "named", "replaced", "quiet", "forgotten"

TRANSITIONS: dict[tuple[str, str], str] = {
    (LIVE, NAMED): LIVE,
    (LIVE, REPLACED): SUPERSEDED,
    (LIVE, QUIET): STALE,
    (LIVE, FORGOTTEN): EVICTED,
    (STALE, NAMED): LIVE,
    (STALE, FORGOTTEN): EVICTED,
}
"""(status, event) -> status. A pair that is not listed changes nothing; superseded and evicted have no way out.

named: a turn refers to the entity. replaced: the user brings in another entity of its type. quiet: it has been silent
for the stale horizon. forgotten: it has been silent for the evict horizon. An entity whose slot is closed gets a fresh
slot when somebody names it again."""

OPEN = frozenset({LIVE, STALE})
UNTYPED = frozenset({"", "name", "code", "acronym", "entity", COMMON})
"""Types that only say how a name looks: such entities are no replacement for each other."""

RECENT_TURNS = 2
"""Turns shown beside the live slots."""


@dataclass(frozen=True, slots=True)
class Horizons:
    """When silence counts, in turns since the slot's own last mention.

    Attributes:
        stale: Silent turns after which a live slot is hidden; the next mention brings it back.
        evict: Silent turns after which a slot is closed for good.
        supersede: Whether a new entity of the same type closes live slots.
    """

    stale: int = 3
    evict: int = 8
    supersede: bool = True


def move(slot: Slot, event: str) -> Slot:
    """The slot after an event, by `TRANSITIONS`."""
    status = TRANSITIONS.get((slot.status, event), slot.status)
    return slot if status == slot.status else replace(slot, status=status)


def hear(
    slots: Sequence[Slot], turn: int, role: str, entities: Iterable[Entity], horizons: Horizons
) -> tuple[Slot, ...]:
    """The slots after a turn referred to `entities`: named ones live, new ones opened, rivals replaced.

    Only a user replaces: an assistant that lists the siblings of a thing has not changed what the user is after.
    Entities that one turn names together do not replace each other.
    """
    named = {entity.name: entity for entity in entities if entity.type != COMMON}
    known = {slot.name for slot in slots if slot.status in OPEN}
    new = [entity for name, entity in named.items() if name not in known]
    arriving = {e.type for e in new} - UNTYPED if horizons.supersede and role == "user" else set()
    heard = []
    for slot in slots:
        if slot.name in named:
            if slot.status in OPEN:
                heard.append(replace(move(slot, NAMED), mentioned=turn))
        elif slot.type in arriving:
            heard.append(move(slot, REPLACED))
        else:
            heard.append(slot)
    heard += [Slot(entity.name, entity.type, turn, turn, LIVE) for entity in new]
    return tuple(heard)


def age(slots: Sequence[Slot], turn: int, horizons: Horizons) -> tuple[Slot, ...]:
    """The slots at the end of `turn`: each silent one by its own silence, the longer horizon first."""
    aged = []
    for slot in slots:
        silent = turn - slot.mentioned
        event = FORGOTTEN if silent >= horizons.evict else QUIET if silent >= horizons.stale else ""
        aged.append(move(slot, event))
    return tuple(aged)


def step_slots(
    slots: Sequence[Slot], turn: int, role: str, entities: Iterable[Entity], horizons: Horizons
) -> tuple[Slot, ...]:
    """The slots after one whole turn: what it refers to, then what its passing does to the silent ones."""
    return age(hear(slots, turn, role, entities, horizons), turn, horizons)


def referred(text: str, slots: Sequence[Slot], find: FindEntities) -> tuple[Entity, ...]:
    """The entities that a text refers to: by name, or by type alone ("in that region") the open slot named last.

    A type counts when the text names no entity of it; one that several open slots share is theirs by recency.
    """
    named = find(text)
    taken = {entity.type for entity in named} | UNTYPED
    by_type: dict[str, Slot] = {}
    for slot in slots:
        if slot.status in OPEN and slot.type not in taken:
            best = by_type.get(slot.type)
            if best is None or slot.mentioned >= best.mentioned:
                by_type[slot.type] = slot
    described = [
        Entity(slot.name, slot.type) for kind, slot in by_type.items() if occurs(kind.replace("_", " "), text)
    ]
    return (*named, *described)


def make_liveness(
    name: str, horizons: Horizons, find: FindEntities, listens: bool = False, n_recent: int = RECENT_TURNS
) -> Design:
    """The design that shows live slots and the last turns.

    Args:
        name: Name of the design.
        horizons: When silence counts.
        find: The extractor.
        listens: Fill slots from user turns by the rewriter's own report instead of the extractor.
        n_recent: Turns shown beside the slots.
    """

    def step(state: State, turn: Turn, report: Report) -> State:
        entities = referred(turn.content, state.slots, find)
        if turn.role == "user":
            entities = report.entities if listens else (*entities, *report.entities)
        slots = step_slots(state.slots, turn.number, turn.role, entities, horizons)
        return replace(state, turn=turn.number, slots=slots)

    def show(prefix: Sequence[Turn], latest: str, state: State) -> Shown:
        entities = referred(latest, state.slots, find)
        slots = hear(state.slots, state.turn + 1, "user", entities, horizons)
        live = tuple(slot for slot in slots if slot.status == LIVE)
        recent = tuple(prefix[-n_recent:]) if n_recent else ()
        counted = ", ".join(
            f"{n} {status}" for status in (LIVE, STALE, SUPERSEDED, EVICTED) if (n := _count(slots, status))
        )
        return Shown(recent, live, lay_out(latest, recent, live), f"slots: {counted or 'none'}")

    summary = f"live slots and the last {n_recent} turns; stale after {horizons.stale}, evicted after {horizons.evict}"
    return Design(name, show, step, listens, summary)


def _count(slots: Sequence[Slot], status: str) -> int:
    return sum(slot.status == status for slot in slots)
