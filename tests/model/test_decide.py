from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from builder.core.records import Transcript, Turn
from builder.core.taxonomy import FORM_NAMES, stratum_of
from builder.model.decide import (
    POINTING_FORMS,
    QUESTIONS,
    Decisions,
    Weigher,
    calibrated,
    chances,
    decide,
    decisions_from_json,
    decisions_to_json,
    stratum_chances,
)
from builder.model.evidence import N_WHOLE, TURN_WIDTH, Scores, evidence, turn_evidence
from builder.model.rendering import Rendering
from builder.model.surface import Surface, read_surfaces

TALK = Transcript(
    "t", (Turn(1, "user", "keys?"), Turn(2, "assistant", "Dublin."), Turn(3, "user", "and its RPO?"))
)
SURFACE = Surface(read_surfaces(TALK)[3].facts, (2,))


def rendering(turn: int) -> Rendering:
    """A follow-up at `turn` whose earlier turns, user and assistant by turns, were all read."""
    seen = tuple(range(turn - 1, 0, -1))
    facts = tuple((float(n % 2), *(0.0,) * 7) for n in seen)
    return Rendering(turn, (101, 102), (0, 0), 1, tuple(range(len(seen))), seen, facts, (0.0,) * 8, ())


def always(answers: Mapping[str, float], form: str = "pronoun") -> Decisions:
    """Decisions that answer each question with a fixed logit and follow the pointer logits of the turns."""

    def fixed(logits: list[float]) -> Weigher:
        width = len(evidence(scores([0.0] * 4), rendering(5), SURFACE))
        return Weigher(np.zeros(width), np.ones(width), np.zeros((len(logits), width)), np.array(logits))

    pointer = Weigher(np.zeros(TURN_WIDTH), np.ones(TURN_WIDTH), np.eye(1, TURN_WIDTH), np.zeros(1))
    forms = [3.0 if name == form else 0.0 for name in POINTING_FORMS]
    defaults = dict.fromkeys(QUESTIONS, -3.0) | {"is_query": 3.0, "resolvable": 3.0}
    return Decisions(
        {name: fixed([({**defaults, **answers})[name]]) for name in QUESTIONS},
        fixed(forms),
        pointer,
        dict.fromkeys((*QUESTIONS, "antecedent"), 0.5),
        np.zeros(len(POINTING_FORMS)),
        {},
    )


def scores(antecedent: list[float], subject: list[float] | None = None) -> Scores:
    return Scores(np.zeros(N_WHOLE), np.array(antecedent), np.array(subject or [0.0] * len(antecedent)))


@pytest.mark.parametrize(
    ("answers", "form", "stratum"),
    [
        ({"is_query": -3, "needs": 3, "pivot_needing": 3}, "pronoun", "not_a_query"),
        ({"resolvable": -3, "needs": 3}, "pronoun", "unresolvable"),
        ({"pivot_alone": 3}, "pronoun", "post_pivot_standalone"),
        ({"pivot_alone": -3}, "pronoun", "standalone"),
        ({"needs": 3, "far": 3}, "pronoun", "long_range"),
        ({"needs": 3}, "ordinal", "ordinal"),
        ({"needs": 3}, "pronoun", "pronoun"),
        ({"needs": 3}, "ellipsis", "ellipsis"),
        ({"needs": 3, "pivot_needing": 3}, "definite", "definite"),
        ({"needs": 3}, "carryover", "constraint_carryover"),
    ],
)
def test_the_stratum_is_the_first_row_that_holds(answers: dict[str, float], form: str, stratum: str) -> None:
    reading = decide(
        scores([2.0, 1.0, 0.0, -1.0]), rendering(5), SURFACE, always(answers, form), {1: 1, 3: 1}
    )
    assert stratum_of(reading) == stratum


def test_the_long_range_question_decides_on_which_side_the_antecedent_lies() -> None:
    pointing = scores([1.0, -1.0, -1.0, -2.0, 0.5, -3.0])
    near = decide(pointing, rendering(7), SURFACE, always({"needs": 3}), {1: 1, 3: 1, 5: 1})
    far = decide(pointing, rendering(7), SURFACE, always({"needs": 3, "far": 3}), {1: 1, 3: 1, 5: 1})
    assert near.antecedent_turns == (6,)
    assert far.antecedent_turns == (2, 6)


def test_a_return_gives_the_thread_of_the_likeliest_earlier_subject() -> None:
    answers = {"pivot_alone": 3.0, "returns": 3.0}
    reading = decide(
        scores([0.0] * 6, [0, -1, 0, -2, 0, 4]), rendering(7), SURFACE, always(answers), {1: 1, 3: 3, 5: 5}
    )
    assert (reading.pivot, reading.returns, reading.thread) == (True, True, 1)


def test_there_is_no_return_while_every_earlier_turn_is_of_the_current_thread() -> None:
    answers = {"pivot_alone": 3.0, "returns": 3.0}
    reading = decide(scores([0.0] * 4), rendering(5), SURFACE, always(answers), {1: 1, 3: 1})
    assert (reading.pivot, reading.returns, reading.thread) == (True, False, 5)


def test_no_pivot_stays_in_the_thread_of_the_user_turn_before() -> None:
    reading = decide(scores([0.0] * 6), rendering(7), SURFACE, always({}), {1: 1, 3: 3, 5: 1})
    assert (reading.pivot, reading.thread) == (False, 1)


@given(
    st.lists(st.floats(-5, 5), min_size=len(QUESTIONS), max_size=len(QUESTIONS)),
    st.sampled_from(POINTING_FORMS),
    st.lists(st.floats(-5, 5), min_size=4, max_size=4),
)
def test_labels_never_contradict_each_other(logits: list[float], form: str, pointer: list[float]) -> None:
    decisions = always(dict(zip(QUESTIONS, logits, strict=True)), form)
    reading = decide(scores(pointer), rendering(5), SURFACE, decisions, {1: 1, 3: 3})
    assert reading.form in FORM_NAMES
    if reading.is_query and reading.resolvable:
        assert (reading.form == "none") == (not reading.antecedent_turns)
    else:
        assert not reading.antecedent_turns
    assert reading.pivot or not reading.returns
    assert all(n < reading.turn for n in reading.antecedent_turns)
    shares = stratum_chances(chances(scores(pointer), rendering(5), SURFACE, decisions), True)
    assert sum(shares.values()) == pytest.approx(1)


def test_confidence_is_read_off_the_calibration_line() -> None:
    points = ((0.2, 0.1), (0.6, 0.5), (0.8, 0.9))
    assert calibrated(points, 0.7) == 0.7
    assert calibrated(points, 0.1) == 0.1
    assert calibrated(points, 1.0) == 0.9
    assert calibrated((), 0.43219) == 0.4322


def test_decisions_survive_json() -> None:
    decisions = always({"needs": 1.25})
    again = decisions_from_json(decisions_to_json(decisions))
    assert decisions_to_json(again) == decisions_to_json(decisions)


def test_every_seen_turn_has_a_row_of_evidence() -> None:
    assert turn_evidence(scores([0.0] * 4), rendering(5), SURFACE).shape == (4, TURN_WIDTH)
