"""From evidence to labels, in the taxonomy's order, so that no two labels can contradict each other."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from builder.core.records import Reading
from builder.core.taxonomy import FORM_NAMES, LONG_RANGE, STRATUM_NAMES, Facts, d_live, reference_type
from builder.model.evidence import Scores, Vector, evidence, turn_evidence
from builder.model.rendering import Rendering
from builder.model.surface import Surface

POINTING_FORMS = tuple(name for name in FORM_NAMES if name != "none")
QUESTIONS = ("is_query", "resolvable", "needs", "pivot_alone", "pivot_needing", "returns", "far")
"""The yes-no decisions on a follow-up; pivot is asked apart for those that need history and those that do not."""


@dataclass(frozen=True, slots=True)
class Weigher:
    """A logistic model over standardised evidence: p = 1 / (1 + exp(-(w (x - mean) / scale + b)))."""

    mean: Vector
    scale: Vector
    weights: Vector
    bias: Vector

    def logits(self, x: Vector) -> Vector:
        """One logit per class (one in all for a yes-no decision)."""
        standard = np.clip((x - self.mean) / self.scale, -6, 6)
        found: Vector = (standard[..., None, :] * self.weights).sum(-1) + self.bias
        return found

    def chance(self, x: Vector) -> float:
        """Probability of yes."""
        return float(1 / (1 + np.exp(-self.logits(x)[..., 0])))


@dataclass(frozen=True, slots=True)
class Decisions:
    """Everything between logits and labels; plain arrays, read from JSON.

    Attributes:
        questions: One weigher per name in `QUESTIONS`.
        form: Weigher over `POINTING_FORMS`.
        antecedent: Weigher over a turn's evidence.
        thresholds: Probability from which each question is answered yes, and `antecedent` for further antecedents.
        form_bias: Added to the log-probability of each pointing form before the largest is taken.
        calibration: Per stratum, (raw confidence, calibrated confidence) pairs, ascending.
    """

    questions: Mapping[str, Weigher]
    form: Weigher
    antecedent: Weigher
    thresholds: Mapping[str, float]
    form_bias: Vector
    calibration: Mapping[str, tuple[tuple[float, float], ...]]


@dataclass(frozen=True, slots=True)
class Chances:
    """Probabilities of every decision on one follow-up."""

    yes: Mapping[str, float]
    forms: tuple[float, ...]
    turns: tuple[float, ...]


def chances(scores: Scores, rendering: Rendering, surface: Surface, decisions: Decisions) -> Chances:
    """Every decision's probability."""
    x = evidence(scores, rendering, surface)
    logits = decisions.form.logits(x)
    shares = np.exp(logits - logits.max())
    each = (
        decisions.antecedent.logits(turn_evidence(scores, rendering, surface))[..., 0]
        if rendering.seen
        else np.zeros(0)
    )
    return Chances(
        {name: decisions.questions[name].chance(x) for name in QUESTIONS},
        tuple(float(share) for share in shares / shares.sum()),
        tuple(float(p) for p in 1 / (1 + np.exp(-each))),
    )


def stratum_chances(found: Chances, can_be_far: bool) -> dict[str, float]:
    """Probability of each stratum, by the chain of the taxonomy's rows; they sum to 1."""
    yes = found.yes
    query, known = yes["is_query"], yes["is_query"] * yes["resolvable"]
    alone, needing = known * (1 - yes["needs"]), known * yes["needs"]
    far = yes["far"] if can_be_far else 0.0
    near = {
        form: needing * (1 - far) * share for form, share in zip(POINTING_FORMS, found.forms, strict=True)
    }
    return {
        "not_a_query": 1 - query,
        "unresolvable": query - known,
        "post_pivot_standalone": alone * yes["pivot_alone"],
        "long_range": needing * far,
        "ordinal": near["ordinal"],
        "pronoun": near["pronoun"],
        "ellipsis": near["ellipsis"],
        "definite": near["definite"],
        "constraint_carryover": near["carryover"],
        "standalone": alone * (1 - yes["pivot_alone"]),
    }


def decide(
    scores: Scores,
    rendering: Rendering,
    surface: Surface,
    decisions: Decisions,
    threads: Mapping[int, int],
) -> Reading:
    """The labels of one follow-up; `threads` holds the thread of every earlier user turn.

    Order: is it a query, can it be resolved, does it need history, has it pivoted, does it return, which turns supply
    what it needs; the stratum is the taxonomy's first row that then holds.
    """
    found = chances(scores, rendering, surface, decisions)
    limit = decisions.thresholds
    yes = {name: found.yes[name] >= limit[name] for name in QUESTIONS}
    needs = yes["is_query"] and yes["resolvable"] and yes["needs"]
    pivot = yes["is_query"] and yes["pivot_needing" if yes["needs"] else "pivot_alone"]
    form = _form(found, decisions) if needs or (yes["is_query"] and not yes["resolvable"]) else "none"
    antecedents = _antecedents(found, rendering, yes["far"], limit["antecedent"]) if needs else ()
    if needs and not antecedents:
        needs, form = False, "none"  # nothing of the history was seen, so nothing can be pointed at
    before = max(threads)
    back = _returned_to(scores, rendering, threads, threads[before]) if pivot and yes["returns"] else None
    thread = threads[before] if not pivot else rendering.turn if back is None else back
    facts = Facts(form, pivot, d_live(rendering.turn, antecedents), yes["is_query"], yes["resolvable"])
    stratum = reference_type(facts)
    shares = stratum_chances(found, any(rendering.turn - n >= LONG_RANGE for n in rendering.seen))
    return Reading(
        turn=rendering.turn,
        thread=thread,
        is_query=facts.is_query,
        resolvable=facts.resolvable or not facts.is_query,
        form=form,
        pivot=pivot,
        returns=back is not None,
        antecedent_turns=antecedents,
        confidence=calibrated(decisions.calibration.get(stratum, ()), shares[stratum]),
        probabilities=tuple((name, round(shares[name], 4)) for name in STRATUM_NAMES),
        unseen_turns=rendering.unseen,
    )


def calibrated(points: Sequence[tuple[float, float]], raw: float) -> float:
    """Confidence after calibration: linear between the points, rounded to 4 places."""
    if not points:
        return round(raw, 4)
    xs, ys = zip(*points, strict=True)
    return round(float(np.interp(raw, xs, ys)), 4)


def _form(found: Chances, decisions: Decisions) -> str:
    scores = np.log(np.maximum(found.forms, 1e-9)) + decisions.form_bias
    return POINTING_FORMS[int(scores.argmax())]


def _antecedents(found: Chances, rendering: Rendering, far: bool, limit: float) -> tuple[int, ...]:
    """The likeliest turn on the decided side of the long-range distance, and further ones that are likely enough."""
    distances = [rendering.turn - number for number in rendering.seen]
    sides = [n for n, distance in enumerate(distances) if (distance >= LONG_RANGE) == far] or list(
        range(len(distances))
    )
    if not sides:
        return ()
    first = max(sides, key=lambda n: (found.turns[n], -distances[n]))
    more = [n for n, p in enumerate(found.turns) if p >= limit and (far or distances[n] < LONG_RANGE)]
    return tuple(sorted({rendering.seen[n] for n in {first, *more}}))


def _returned_to(
    scores: Scores, rendering: Rendering, threads: Mapping[int, int], current: int
) -> int | None:
    """The thread of the likeliest earlier user turn that is not in the current thread; None when there is none."""
    earlier = [
        (float(score), threads[number])
        for number, score in zip(rendering.seen, scores.subject, strict=True)
        if number in threads and threads[number] != current
    ]
    return max(earlier, key=lambda pair: (pair[0], -pair[1]))[1] if earlier else None


def decisions_to_json(decisions: Decisions) -> dict[str, Any]:
    """The decisions as plain JSON, rounded to 6 places."""
    return {
        "questions": {name: _weigher_to_json(decisions.questions[name]) for name in QUESTIONS},
        "form": _weigher_to_json(decisions.form),
        "antecedent": _weigher_to_json(decisions.antecedent),
        "thresholds": dict(decisions.thresholds),
        "form_bias": _rounded(decisions.form_bias),
        "calibration": {
            name: [list(pair) for pair in points] for name, points in decisions.calibration.items()
        },
    }


def decisions_from_json(row: Mapping[str, Any]) -> Decisions:
    """The decisions from the shape of `decisions_to_json`."""
    return Decisions(
        {name: _weigher_from_json(row["questions"][name]) for name in QUESTIONS},
        _weigher_from_json(row["form"]),
        _weigher_from_json(row["antecedent"]),
        dict(row["thresholds"]),
        np.array(row["form_bias"]),
        {name: tuple((a, b) for a, b in points) for name, points in row["calibration"].items()},
    )


def _weigher_to_json(weigher: Weigher) -> dict[str, Any]:
    return {name: _rounded(getattr(weigher, name)) for name in ("mean", "scale", "weights", "bias")}


def _weigher_from_json(row: Mapping[str, Any]) -> Weigher:
    return Weigher(*(np.array(row[name]) for name in ("mean", "scale", "weights", "bias")))


def _rounded(values: Vector) -> Any:
    return np.round(values, 6).tolist()
