import pytest

from builder.core.records import Entity, Turn
from builder.scope.liveness import (
    EVICTED,
    FORGOTTEN,
    LIVE,
    NAMED,
    QUIET,
    REPLACED,
    STALE,
    SUPERSEDED,
    Horizons,
    age,
    hear,
    make_liveness,
    move,
    referred,
    step_slots,
)
from builder.scope.shown import SAID_NOTHING, Report, Slot, State
from tests.scope.conversation import TURNS, find

DUBLIN = Entity("Dublin", "region")
OREGON = Entity("Oregon", "region")
BILLING = Entity("billing export", "api")


def slot(status: str, mentioned: int = 1) -> Slot:
    return Slot("Dublin", "region", 1, mentioned, status)


@pytest.mark.parametrize(
    ("before", "event", "after"),
    [
        (LIVE, NAMED, LIVE),
        (LIVE, REPLACED, SUPERSEDED),
        (LIVE, QUIET, STALE),
        (LIVE, FORGOTTEN, EVICTED),
        (STALE, NAMED, LIVE),
        (STALE, REPLACED, STALE),
        (STALE, QUIET, STALE),
        (STALE, FORGOTTEN, EVICTED),
        (SUPERSEDED, NAMED, SUPERSEDED),
        (SUPERSEDED, REPLACED, SUPERSEDED),
        (SUPERSEDED, QUIET, SUPERSEDED),
        (SUPERSEDED, FORGOTTEN, SUPERSEDED),
        (EVICTED, NAMED, EVICTED),
        (EVICTED, REPLACED, EVICTED),
        (EVICTED, QUIET, EVICTED),
        (EVICTED, FORGOTTEN, EVICTED),
    ],
)
def test_every_pair_of_status_and_event_has_one_outcome(before: str, event: str, after: str) -> None:
    assert move(slot(before), event).status == after


@pytest.mark.parametrize(("silent", "status"), [(0, LIVE), (2, LIVE), (3, STALE), (7, STALE), (8, EVICTED)])
def test_silence_counts_from_the_slots_own_last_mention(silent: int, status: str) -> None:
    (aged,) = age((slot(LIVE, mentioned=5),), 5 + silent, Horizons())
    assert aged.status == status


def test_a_stale_entity_comes_back_when_it_is_named() -> None:
    (back,) = hear((slot(STALE),), 6, "assistant", (DUBLIN,), Horizons())
    assert back == Slot("Dublin", "region", 1, 6, LIVE)


@pytest.mark.parametrize("closed", [SUPERSEDED, EVICTED])
def test_a_closed_slot_is_not_revived_but_opened_anew(closed: str) -> None:
    assert hear((slot(closed),), 9, "user", (DUBLIN,), Horizons()) == (Slot("Dublin", "region", 9, 9, LIVE),)


def test_a_new_region_from_the_user_supersedes_the_old_one_and_leaves_the_api_alone() -> None:
    api = Slot("billing export", "api", 1, 1, LIVE)
    heard = hear((slot(LIVE), api), 3, "user", (OREGON,), Horizons())
    assert [s.status for s in heard] == [SUPERSEDED, LIVE, LIVE]
    assert heard[1] == api


def test_an_answer_that_names_a_sibling_supersedes_nothing() -> None:
    assert hear((slot(LIVE),), 2, "assistant", (OREGON,), Horizons())[0].status == LIVE


def test_a_sibling_that_is_already_known_supersedes_nothing() -> None:
    known = (slot(LIVE), Slot("Oregon", "region", 2, 2, LIVE))
    assert [s.status for s in hear(known, 3, "user", (OREGON,), Horizons())] == [LIVE, LIVE]


def test_entities_named_together_do_not_supersede_each_other() -> None:
    heard = hear((), 1, "user", (DUBLIN, OREGON), Horizons())
    assert [s.status for s in heard] == [LIVE, LIVE]


def test_superseding_can_be_switched_off_and_needs_a_type_that_says_something() -> None:
    assert hear((slot(LIVE),), 3, "user", (OREGON,), Horizons(supersede=False))[0].status == LIVE
    acronym = Slot("SLA", "acronym", 1, 1, LIVE)
    assert hear((acronym,), 3, "user", (Entity("RPO", "acronym"),), Horizons())[0].status == LIVE


def test_eviction_wins_where_it_is_the_shorter_horizon() -> None:
    assert age((slot(LIVE),), 4, Horizons(stale=6, evict=3))[0].status == EVICTED


def test_a_type_alone_refers_to_the_open_slot_of_that_type_named_last() -> None:
    slots = (Slot("Frankfurt", "region", 2, 2, STALE), Slot("Dublin", "region", 2, 4, STALE))
    assert referred("what is the RTO in that region?", slots, find) == (DUBLIN,)
    assert referred("what is the RTO in Oregon, which region?", slots, find) == (OREGON,)
    closed = (Slot("Dublin", "region", 2, 4, EVICTED),)
    assert referred("what is the RTO in that region?", closed, find) == ()


def test_the_design_shows_live_slots_and_the_last_two_turns() -> None:
    design = make_liveness("liveness", Horizons(), find)
    state = State()
    for turn in TURNS[:6]:
        state = design.step(state, turn, SAID_NOTHING)
    shown = design.show(TURNS[:6], TURNS[6].content, state)
    assert [turn.number for turn in shown.turns] == [5, 6]
    assert [s.name for s in shown.entities] == ["Dublin", "billing export"]
    assert shown.text == (
        "Entities in scope:\n- Dublin (region), last named in turn 6\n- billing export (api), last named in turn 7\n\n"
        "Recent turns:\n[5] user: And Dublin's RPO?\n[6] assistant: In Dublin the documented RPO is 15 minutes.\n\n"
        "Latest message: new topic: does the billing export API page its results?"
    )
    assert shown.why == "slots: 2 live, 1 stale"


def test_a_design_that_listens_fills_slots_from_the_report_and_not_from_the_message() -> None:
    design = make_liveness("liveness:3,8,report", Horizons(), find, listens=True)
    told = design.step(State(), Turn(1, "user", "and its RPO?"), Report(entities=(DUBLIN,)))
    assert [s.name for s in told.slots] == ["Dublin"]
    deaf = design.step(State(), Turn(1, "user", "Dublin's RPO?"), SAID_NOTHING)
    assert deaf.slots == ()


def test_showing_changes_no_state() -> None:
    slots = step_slots((), 1, "user", (DUBLIN,), Horizons())
    state = State(turn=1, slots=slots)
    make_liveness("liveness", Horizons(), find).show((), "and Oregon?", state)
    assert state.slots == slots
