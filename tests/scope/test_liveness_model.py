"""The state machine against a second reading of its rules: each status recomputed from the whole history, with no table."""

from functools import cache

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from builder.core.records import Entity
from builder.scope.liveness import UNTYPED, Horizons, step_slots
from builder.scope.shown import Slot

ENTITIES = (
    Entity("Dublin", "region"),
    Entity("Oregon", "region"),
    Entity("Frankfurt", "region"),
    Entity("billing export", "api"),
    Entity("reporting export", "api"),
    Entity("SLA", "acronym"),
    Entity("RPO", "acronym"),
)
Said = tuple[str, frozenset[Entity]]
History = tuple[Said, ...]


@cache
def status(entity: Entity, history: History, horizons: Horizons) -> str:
    """The status at the end of `history`; "" for an entity never named."""
    mentions = [n for n, (_, named) in enumerate(history, start=1) if entity in named]
    if not mentions:
        return ""
    last, now = mentions[-1], len(history)
    for turn in range(last + 1, now + 1):
        silent_before = turn - 1 - last
        if silent_before >= min(horizons.stale, horizons.evict):
            break
        role, named = history[turn - 1]
        rivals = [e for e in named if e.type == entity.type and entity.type not in UNTYPED]
        if (
            horizons.supersede
            and role == "user"
            and any(not is_open(e, history[: turn - 1], horizons) for e in rivals)
        ):
            return "superseded"
    silent = now - last
    return "evicted" if silent >= horizons.evict else "stale" if silent >= horizons.stale else "live"


def is_open(entity: Entity, history: History, horizons: Horizons) -> bool:
    return status(entity, history, horizons) in ("live", "stale")


def slot_of(entity: Entity, history: History, horizons: Horizons) -> Slot:
    mentions = [n for n, (_, named) in enumerate(history, start=1) if entity in named]
    introduced = max(n for n in mentions if not is_open(entity, history[: n - 1], horizons))
    return Slot(entity.name, entity.type, introduced, mentions[-1], status(entity, history, horizons))


class Liveness(RuleBasedStateMachine):
    @initialize(stale=st.integers(1, 6), evict=st.integers(1, 10), supersede=st.booleans())
    def start(self, stale: int, evict: int, supersede: bool) -> None:
        self.horizons = Horizons(stale, evict, supersede)
        self.history: History = ()
        self.slots: tuple[Slot, ...] = ()

    @rule(role=st.sampled_from(["user", "assistant"]), named=st.sets(st.sampled_from(ENTITIES), max_size=3))
    def say(self, role: str, named: set[Entity]) -> None:
        self.history = (*self.history, (role, frozenset(named)))
        listed = sorted(named, key=lambda entity: entity.name)
        self.slots = step_slots(self.slots, len(self.history), role, listed, self.horizons)

    @rule(turns=st.integers(1, 9))
    def keep_silent(self, turns: int) -> None:
        for _ in range(turns):
            self.say("assistant", set())

    @invariant()
    def the_table_agrees_with_the_whole_history(self) -> None:
        if not hasattr(self, "history"):
            return
        named = {entity for _, listed in self.history for entity in listed}
        expected = {slot_of(entity, self.history, self.horizons) for entity in named}
        assert set(self.slots) == expected
        assert len(self.slots) == len(expected)


TestLiveness = Liveness.TestCase
TestLiveness.settings = settings(max_examples=60, stateful_step_count=18, deadline=None)
