from collections.abc import Sequence

import pytest

from builder.core.records import Turn
from builder.scope.segments import cosine, make_flag_segments, make_segments, unit, wording_decides
from builder.scope.shown import SAID_NOTHING, Report, State
from builder.scope.vectors import word_vectors
from builder.scope.wording import read_wording
from tests.scope.conversation import TURNS, find

VECTORS = {
    "RPO in Dublin?": (1.0, 0.0),
    "and the RTO in Dublin?": (0.8, 0.6),
    "is the billing export paginated?": (0.0, 1.0),
    "what about that one?": (0.0, 1.0),
}


def embed(texts: Sequence[str]) -> list[tuple[float, ...]]:
    return [VECTORS[text] for text in texts]


def after(*texts: str, wording: bool = False) -> tuple[State, tuple[Turn, ...]]:
    turns = tuple(Turn(n, "user", text) for n, text in enumerate(texts, start=1))
    design, state = make_segments("segments", embed, find=find if wording else None), State()
    for turn in turns:
        state = design.step(state, turn, SAID_NOTHING)
    return state, turns


def test_a_turn_near_the_centroid_stays_and_the_centroid_is_the_mean_of_the_segment() -> None:
    state, _ = after("RPO in Dublin?", "and the RTO in Dublin?")
    assert state.segment_start == 1
    assert state.total == pytest.approx((1.8, 0.6))
    # cos of (0, 1) with (1.8, 0.6) = 0.6 / sqrt(3.6)
    assert cosine(state.total, (0.0, 1.0)) == 0.316228


def test_a_turn_far_from_the_centroid_opens_a_segment_before_it_is_rewritten() -> None:
    state, turns = after("RPO in Dublin?", "and the RTO in Dublin?")
    shown = make_segments("segments", embed).show(turns, "is the billing export paginated?", state)
    assert shown.turns == ()
    assert shown.why == "cosine 0.32 against 0.55: a new segment opens here"
    assert (
        make_segments("segments:0.3", embed, 0.3).show(turns, "is the billing export paginated?", state).turns
        == turns
    )


def test_cosine_alone_strands_a_fragment_and_wording_keeps_it() -> None:
    for wording, kept in ((False, 0), (True, 2)):
        state, turns = after("RPO in Dublin?", "and the RTO in Dublin?", wording=wording)
        design = make_segments("segments", embed, find=find if wording else None)
        assert len(design.show(turns, "what about that one?", state).turns) == kept


@pytest.mark.parametrize(
    ("text", "decision"),
    [
        ("new topic: does the billing export API page its results?", True),
        ("what about the reporting one?", False),
        ("does it support CMK?", False),
        ("throughput per task", False),
        ("Is the Oregon region covered by the 99.95% uptime commitment of the Team plan?", None),
    ],
)
def test_wording_decides_where_it_says_something(text: str, decision: bool | None) -> None:
    assert wording_decides(read_wording(text, find)) is decision


def test_the_flag_cuts_for_the_turns_after_the_pivot() -> None:
    design, state = make_flag_segments("segments:flag"), State()
    for turn in TURNS[:6]:
        state = design.step(state, turn, SAID_NOTHING)
    assert [t.number for t in design.show(TURNS[:6], TURNS[6].content, state).turns] == [1, 2, 3, 4, 5, 6]
    state = design.step(state, TURNS[6], Report(topic_shift=True))
    state = design.step(state, TURNS[7], Report(topic_shift=True))
    assert [t.number for t in design.show(TURNS[:8], TURNS[8].content, state).turns] == [7, 8]


def test_word_vectors_see_shared_words_only() -> None:
    dublin, again, invoice = word_vectors(["RPO in Dublin?", "Dublin: the RPO", "when are invoices due"])
    assert cosine(dublin, again) == 1.0
    assert cosine(dublin, invoice) == 0.0
    assert unit((0.0, 0.0)) == (0.0, 0.0)
