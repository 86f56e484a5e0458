"""The gate: rules per stratum and metric, and a verdict on each: pass, fail, or too few to tell."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

from builder.core.errors import USAGE, BuilderError, nearest
from builder.core.intervals import wilson
from builder.core.taxonomy import ITEM_STRATA
from builder.scoring.metrics import PLACE, metric_named
from builder.scoring.outcomes import Outcome
from builder.scoring.paired import paired_interval
from builder.scoring.strata import ALL, design_effect, effective_size

PASS, FAIL, TOO_FEW = "pass", "fail", "too few to tell"

LIMITS: dict[str, str] = {
    "floor": "the metric is at least this",
    "ceiling": "the metric is at most this",
    "largest_drop": "against the baseline it has fallen by less than this",
    "largest_rise": "against the baseline it has risen by less than this",
}
"""Limits that a rule can set, and what has to hold."""

_KEYS = ("k", "confidence", "undecided", "each", "all", "strata")


@dataclass(frozen=True, slots=True)
class Rule:
    """One limit on one metric of one stratum (or of `all`)."""

    group: str
    metric: str
    limit: str
    value: float


@dataclass(frozen=True, slots=True)
class Gate:
    """A gate file.

    Attributes:
        rules: In the order of the file; `each` is spelled out over the strata.
        confidence: Of the intervals that verdicts are taken from.
        undecided_passes: Whether "too few to tell" lets a run through; only when the file says so.
        k: Cut-off that the limits were set for; None when the file does not say.
    """

    rules: tuple[Rule, ...]
    confidence: float = 0.95
    undecided_passes: bool = False
    k: int | None = None

    @property
    def needs_baseline(self) -> bool:
        """Whether a rule compares with a baseline."""
        return any(rule.limit in ("largest_drop", "largest_rise") for rule in self.rules)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of one rule.

    Attributes:
        rule: The rule.
        verdict: pass, fail or too few to tell.
        n: Items it was judged on.
        measured: The metric, or its change.
        low: Lower end of the interval it was judged by.
        high: Upper end.
        blocks: It fails, or is undecided and the file does not let that through.
    """

    rule: Rule
    verdict: str
    n: int
    measured: float
    low: float
    high: float
    blocks: bool


def gate_from_toml(table: Mapping[str, Any], where: str) -> Gate:
    """A gate from the parsed file.

    Raises:
        BuilderError: A key, stratum, metric or limit does not exist, a value is out of range, or there is no rule.
    """
    for key in table:
        if key not in _KEYS:
            raise _unknown(where, "key", key, _KEYS)
    rules = _rules_of(f"{where}: [all]", ALL, table.get("all", {}))
    for stratum in ITEM_STRATA:
        rules += _rules_of(f"{where}: [each]", stratum, table.get("each", {}))
    for stratum, metrics in table.get("strata", {}).items():
        if stratum not in ITEM_STRATA:
            raise _unknown(where, "stratum", stratum, ITEM_STRATA)
        rules += _rules_of(f"{where}: [strata.{stratum}]", stratum, metrics)
    if not rules:
        raise BuilderError(
            where, "no rule in the gate file", "set a limit under [each] or [strata.NAME]", USAGE
        )
    confidence, undecided, k = table.get("confidence", 0.95), table.get("undecided", "blocks"), table.get("k")
    if not isinstance(confidence, float) or not 0.5 <= confidence < 1:
        raise BuilderError(
            where, f"confidence is {confidence!r}", "give 0.5 up to below 1, such as 0.95", USAGE
        )
    if undecided not in ("blocks", "passes"):
        raise BuilderError(where, f"undecided is {undecided!r}", 'write "blocks" or "passes"', USAGE)
    if k is not None and (not isinstance(k, int) or k < 1):
        raise BuilderError(where, f"k is {k!r}", "give a cut-off of 1 or more", USAGE)
    return Gate(tuple(dict.fromkeys(rules)), confidence, undecided == "passes", k)


def _rules_of(where: str, group: str, metrics: Any) -> list[Rule]:
    rules = []
    for name, limits in _table(where, metrics).items():
        metric = metric_named(name, where)
        for limit, value in _table(f"{where} {name}", limits).items():
            if limit not in LIMITS:
                raise _unknown(where, "limit", limit, LIMITS)
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
                raise BuilderError(where, f"{name} {limit} is {value!r}", "give a number from 0 to 1", USAGE)
            if metric.higher_is_better != (limit in ("floor", "largest_drop")):
                fix = "floor or largest_drop" if metric.higher_is_better else "ceiling or largest_rise"
                raise BuilderError(where, f"{limit} on {name} would let it get worse", f"set {fix}", USAGE)
            rules.append(Rule(group, name, limit, float(value)))
    return rules


def _table(where: str, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise BuilderError(
            where, f"is {value!r:.40}", "write a table, such as recall = { floor = 0.6 }", USAGE
        )
    return value


def _unknown(where: str, kind: str, name: str, known: Iterable[str]) -> BuilderError:
    names = list(known)
    close = nearest(name, names)
    hint = f"did you mean {close}? " if close else ""
    return BuilderError(where, f'unknown {kind} "{name}"', f"{hint}one of {', '.join(names)}", USAGE)


def judge_gate(
    gate: Gate, outcomes: Sequence[Outcome], baseline: Sequence[Outcome] | None = None
) -> tuple[Verdict, ...]:
    """A verdict for every rule, from the whole interval and never from the point alone.

    A level passes when its whole interval keeps the limit, fails when none of it does; a change passes when it is not
    inferior (the interval stays above -limit), fails when all of it lies below. Between the two there are too few
    items to tell. Levels are judged by Wilson, changes by the paired interval, both at the effective number of items:
    fewer where weights differ or where items of one conversation go together. A stratum without items cannot be told.

    Raises:
        BuilderError: A rule compares with a baseline and there is none.
    """
    if gate.needs_baseline and baseline is None:
        raise BuilderError(
            "gate", "largest_drop and largest_rise need a baseline", "give --baseline RUN", USAGE
        )
    levels = sorted(outcomes, key=lambda outcome: outcome.id)
    old = {outcome.id: outcome for outcome in baseline or ()}
    return tuple(_verdict(gate, rule, levels, old) for rule in gate.rules)


def _verdict(gate: Gate, rule: Rule, listed: Sequence[Outcome], old: Mapping[str, Outcome]) -> Verdict:
    place, is_change = PLACE[rule.metric], rule.limit in ("largest_drop", "largest_rise")
    pairs = []
    for outcome in listed:
        value = outcome.values[place]
        if rule.group in (ALL, outcome.reference_type) and value is not None:
            past = old[outcome.id].values[place] if is_change and outcome.id in old else None
            if past is not None or not is_change:
                pairs.append((outcome.weight, value - (past or 0.0), outcome.conversation_id))
    if not pairs:
        return Verdict(rule, TOO_FEW, 0, 0.0, -1.0 if is_change else 0.0, 1.0, not gate.undecided_passes)
    measured, low, high = _interval(pairs, is_change, gate.confidence)
    keeps, breaks = {
        "floor": (low >= rule.value, high < rule.value),
        "ceiling": (high <= rule.value, low > rule.value),
        "largest_drop": (low > -rule.value, high < -rule.value),
        "largest_rise": (high < rule.value, low > rule.value),
    }[rule.limit]
    verdict = PASS if keeps else FAIL if breaks else TOO_FEW
    blocks = verdict == FAIL or (verdict == TOO_FEW and not gate.undecided_passes)
    return Verdict(rule, verdict, len(pairs), measured, low, high, blocks)


def _interval(
    shown: Sequence[tuple[float, float, str]], is_change: bool, confidence: float
) -> tuple[float, float, float]:
    """Weighted mean of (weight, value, conversation) and its interval at the effective number of items."""
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    weights, values, conversations = zip(*shown, strict=True)
    total = sum(weights)
    mean = sum(weight * value for weight, value, _ in shown) / total
    n = effective_size(weights) / design_effect(weights, values, conversations)
    if not is_change:
        return (mean, *wilson(mean * n, n, z))
    square = sum(weight * value * value for weight, value, _ in shown) / total
    return (mean, *paired_interval(mean, square, n, z))


def passes(verdicts: Iterable[Verdict]) -> bool:
    """Whether nothing blocks."""
    return not any(verdict.blocks for verdict in verdicts)
