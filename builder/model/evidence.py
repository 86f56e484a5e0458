"""What the encoder's scores say about a follow-up, as the numbers that the decisions weigh."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from builder.core.taxonomy import FORM_NAMES, LONG_RANGE, STRATUM_NAMES
from builder.model.rendering import Rendering
from builder.model.surface import Surface

Vector = NDArray[np.float64]

BINARY = ("needs", "pivot", "returns", "is_query", "resolvable", "long_range")
N_FORMS, N_STRATA = len(FORM_NAMES), len(STRATUM_NAMES)
N_WHOLE = len(BINARY) + N_FORMS + N_STRATA
ABSENT = -6.0
"""The logit of a turn that does not exist."""

TURN_WIDTH = 15
"""Numbers for one earlier turn."""

_LIMIT = 8.0


@dataclass(frozen=True, slots=True)
class Scores:
    """The encoder's logits for one follow-up.

    Attributes:
        whole: Six binary logits (`BINARY`), then the forms, then the strata.
        antecedent: One logit per seen turn, newest first.
        subject: One logit per seen turn: has the follow-up's subject (user turns only are trained).
    """

    whole: Vector
    antecedent: Vector
    subject: Vector


def evidence(scores: Scores, rendering: Rendering, surface: Surface) -> Vector:
    """The numbers for the decisions on the follow-up as a whole."""
    binary = np.clip(scores.whole[: len(BINARY)], -_LIMIT, _LIMIT)
    forms = _log_shares(scores.whole[len(BINARY) : len(BINARY) + N_FORMS])
    strata = _log_shares(scores.whole[len(BINARY) + N_FORMS :])
    distances = np.array([rendering.turn - number for number in rendering.seen])
    near, far = distances < LONG_RANGE, distances >= LONG_RANGE
    pointer = np.clip(scores.antecedent, -_LIMIT, _LIMIT)
    users = [n for n, facts in enumerate(rendering.turn_facts) if facts[0]]
    subject = np.clip(scores.subject, -_LIMIT, _LIMIT)
    pointers = [
        _highest(pointer[near]),
        _highest(pointer[far]),
        float(np.clip(np.sum(1 / (1 + np.exp(-pointer))), 0, 3)),
        float(subject[users[0]]) if users else ABSENT,
        _highest(subject[users[1:]]),
        float(len(users) > 1),
        float(far.any()),
    ]
    return np.concatenate([binary, forms, strata, pointers, rendering.global_facts, surface.facts])


def turn_evidence(scores: Scores, rendering: Rendering, surface: Surface) -> Vector:
    """The numbers for each seen turn's claim to be an antecedent, shape (turns, numbers)."""
    pointer = np.clip(scores.antecedent, -_LIMIT, _LIMIT)
    subject = np.clip(scores.subject, -_LIMIT, _LIMIT)
    if not len(pointer):
        return np.zeros((0, TURN_WIDTH))
    best = pointer.max()
    rows = []
    for n, facts in enumerate(rendering.turn_facts):
        distance = rendering.turn - rendering.seen[n]
        rows.append(
            (
                pointer[n],
                pointer[n] - best,
                subject[n] if facts[0] else 0.0,
                float(distance == 1),
                float(distance == 2),
                float(distance == 3),
                float(rendering.seen[n] in surface.pointed),
                *facts,
            )
        )
    return np.array(rows)


def _highest(logits: Vector) -> float:
    return float(logits.max()) if len(logits) else ABSENT


def _log_shares(logits: Vector) -> Vector:
    shifted = logits - logits.max()
    shares: Vector = np.clip(shifted - np.log(np.exp(shifted).sum()), -_LIMIT, 0)
    return shares
