"""The decisions, fitted on scores of follow-ups that the network did not see: logistic models, thresholds, calibration."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from builder.core.taxonomy import LONG_RANGE, STRATUM_NAMES, d_live
from builder.model.decide import (
    POINTING_FORMS,
    QUESTIONS,
    Decisions,
    Weigher,
    chances,
)
from builder.model.evidence import BINARY, Scores, Vector, evidence, turn_evidence
from builder.model.rendering import Rendering
from builder.model.surface import Surface
from builder.model.training.examples import Example

_STRENGTH = 0.05
"""Inverse regularisation of the logistic models, on standardised evidence."""

_LEANING = {
    "needs": (BINARY.index("needs"), 0.7),
    "pivot_needing": (BINARY.index("pivot"), 0.3),
    "far": (BINARY.index("long_range"), 0.3),
}
"""Column of the network's own answer in the evidence, and how far a question leans on it (see `lean`)."""

_POINTER_SHARE = 0.7


@dataclass(frozen=True, slots=True)
class Scored:
    """A fully labelled example with out-of-fold scores."""

    example: Example
    rendering: Rendering
    surface: Surface
    scores: Scores


def fit_decisions(scored: Sequence[Scored]) -> Decisions:
    """Decisions from out-of-fold scores; calibration is left empty (see `calibrate`)."""
    x = np.array([evidence(s.scores, s.rendering, s.surface) for s in scored])
    questions = {}
    for name in QUESTIONS:
        answers = [_answer(name, s.example) for s in scored]
        known = [n for n, answer in enumerate(answers) if answer is not None]
        fitted = _logistic(x[known], np.array([int(bool(answers[n])) for n in known]))
        column, share = _LEANING.get(name, (0, 0.0))
        questions[name] = lean(fitted, column, share)
    pointing = [n for n, s in enumerate(scored) if s.example.form in POINTING_FORMS]
    forms = np.array([POINTING_FORMS.index(str(scored[n].example.form)) for n in pointing])
    blank = Decisions(
        questions,
        _logistic(x[pointing], forms, len(POINTING_FORMS)),
        _antecedent_weigher(scored),
        dict.fromkeys((*QUESTIONS, "antecedent"), 0.5),
        np.zeros(len(POINTING_FORMS)),
        {},
    )
    return _tuned(blank, scored)


def lean(weigher: Weigher, column: int, share: float) -> Weigher:
    """The weigher whose logit is (1 - share) times its own plus `share` times the evidence in `column`.

    The network's own answer carries over to conversations unlike those that the weigher was fitted on (user turns
    alone, another share of dependent follow-ups) better than weights fitted on a few sources.
    """
    weights = (1 - share) * weigher.weights
    weights[..., column] += share * weigher.scale[column]
    bias = (1 - share) * weigher.bias + share * weigher.mean[column]
    return replace(weigher, weights=weights, bias=bias)


def _answer(name: str, example: Example) -> bool | None:
    """The gold answer to a question, None where the question does not arise."""
    if name == "is_query":
        return example.is_query
    if not example.is_query:
        return None
    if name == "resolvable":
        return example.resolvable
    if name == "needs":
        return bool(example.antecedent_turns) if example.resolvable else None
    if name == "pivot_alone":
        return example.pivot if not example.needs else None
    if name == "pivot_needing":
        return example.pivot if example.needs else None
    if name == "returns":
        return example.returns if example.pivot else None
    if not example.antecedent_turns:
        return None
    return d_live(example.turn, example.antecedent_turns) >= LONG_RANGE


def _antecedent_weigher(scored: Sequence[Scored]) -> Weigher:
    rows: list[Vector] = []
    hits: list[int] = []
    for s in scored:
        if s.example.antecedent_turns and s.rendering.seen:
            rows.append(turn_evidence(s.scores, s.rendering, s.surface))
            hits.extend(int(number in s.example.antecedent_turns) for number in s.rendering.seen)
    return lean(_logistic(np.concatenate(rows), np.array(hits)), 0, _POINTER_SHARE)


def _logistic(x: Vector, y: Vector, classes: int = 2) -> Weigher:
    """A logistic model on standardised columns; a class that never occurs keeps a low, constant score."""
    from sklearn.linear_model import LogisticRegression

    mean, scale = x.mean(0), np.maximum(x.std(0), 0.05)
    present = np.unique(y)
    rows = 1 if classes == 2 else classes
    weights, bias = np.zeros((rows, x.shape[1])), np.full(rows, -6.0)
    if len(present) == 1:
        bias = np.full(rows, 6.0 if classes == 2 and present[0] else -6.0)
        return Weigher(mean, scale, weights, bias)
    model = LogisticRegression(C=_STRENGTH, max_iter=2000).fit(np.clip((x - mean) / scale, -6, 6), y)
    if classes == 2:
        return Weigher(mean, scale, model.coef_, model.intercept_)
    if len(present) == 2:
        weights[present[0]], weights[present[1]] = -model.coef_[0] / 2, model.coef_[0] / 2
        bias[present[0]], bias[present[1]] = -model.intercept_[0] / 2, model.intercept_[0] / 2
    else:
        weights[present], bias[present] = model.coef_, model.intercept_
    return Weigher(mean, scale, weights, bias)


def _tuned(decisions: Decisions, scored: Sequence[Scored]) -> Decisions:
    """Thresholds by the F1 of each question's rarer answer, needs by accuracy; forms lifted by their rarity."""
    found = [chances(s.scores, s.rendering, s.surface, decisions) for s in scored]
    limits = dict(decisions.thresholds)
    for name, rare in (("is_query", False), ("resolvable", False), ("returns", True), ("far", True)):
        pairs = [
            (f.yes[name], a)
            for f, s in zip(found, scored, strict=True)
            if (a := _answer(name, s.example)) is not None
        ]
        limits[name] = _best_limit(pairs, rare, 0.2 if name == "returns" else 0.4)
    counts = np.array([max(1, sum(s.example.form == form for s in scored)) for form in POINTING_FORMS])
    return replace(decisions, thresholds=limits, form_bias=-0.3 * np.log(counts / counts.max()))


def _best_limit(pairs: Sequence[tuple[float, bool]], rare: bool, least: float) -> float:
    """The threshold from `least` to 0.6 with the best F1 of the answer `rare`; ties go to the one nearest 0.5."""
    steps = (round(least + 0.05 * n, 2) for n in range(round((0.6 - least) / 0.05) + 1))
    grid = sorted(steps, key=lambda limit: abs(limit - 0.5))

    def f1(limit: float) -> float:
        told = [(p >= limit) == rare for p, _ in pairs]
        gold = [a == rare for _, a in pairs]
        both = sum(t and g for t, g in zip(told, gold, strict=True))
        return 2 * both / max(1, sum(told) + sum(gold))

    return max(grid, key=lambda limit: round(f1(limit), 4))


def calibrate(
    told: Sequence[tuple[str, float, bool]], least: int = 40
) -> dict[str, tuple[tuple[float, float], ...]]:
    """Per stratum, points of a rising line from raw confidence to the share that was right (isotonic regression).

    Strata with fewer than `least` follow-ups share one line. Shares are shrunk towards the stratum's own mean by one
    follow-up, so that no confidence is exactly 0 or 1. Source: Zadrozny and Elkan, Transforming classifier scores
    into accurate multiclass probability estimates, 2002.

    Args:
        told: (stratum decided, its raw probability, whether it was right), out of fold.
        least: See above.
    """
    pooled = [(raw, right) for _, raw, right in told]
    lines = {}
    for stratum in STRATUM_NAMES:
        own = [(raw, right) for name, raw, right in told if name == stratum]
        lines[stratum] = _line(own if len(own) >= least else pooled)
    return lines


def _line(pairs: Sequence[tuple[float, bool]]) -> tuple[tuple[float, float], ...]:
    from sklearn.isotonic import IsotonicRegression

    raw, right = np.array([p for p, _ in pairs]), np.array([float(r) for _, r in pairs])
    edges = np.quantile(raw, np.linspace(0, 1, max(3, min(9, len(raw) // 25 + 1))))
    bins = np.clip(np.searchsorted(edges[1:-1], raw, side="right"), 0, len(edges) - 2)
    sizes = np.array([(bins == b).sum() for b in range(len(edges) - 1)])
    used = [b for b in range(len(edges) - 1) if sizes[b]]
    xs = np.array([raw[bins == b].mean() for b in used])
    ys = np.array([(right[bins == b].sum() + right.mean()) / (sizes[b] + 1) for b in used])
    rising = IsotonicRegression().fit(xs, ys, sample_weight=sizes[used]).predict(xs)
    return tuple((round(float(a), 4), round(float(b), 4)) for a, b in zip(xs, rising, strict=True))
