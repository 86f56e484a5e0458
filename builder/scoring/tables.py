"""A judgement as tables and sentences for people."""

from collections.abc import Sequence
from fractions import Fraction

from builder.core.tables import render_table
from builder.scoring.decompose import Decomposition, SetDecomposition, round_to_sum
from builder.scoring.gate import Verdict, passes
from builder.scoring.judgement import Judged, Judgement, count_quadrants
from builder.scoring.metrics import METRICS
from builder.scoring.outcomes import QUADRANTS
from builder.scoring.paired import Change
from builder.scoring.strata import ALL, Cell

_SHOWN = ("recall", "contamination", "coverage", "needless", "unusable")


def points(value: float | Fraction) -> str:
    """A change as signed percentage points: -8.2."""
    return f"{round(float(value) * 100, 1) + 0.0:+.1f}"


def label_of(metric: str, k: int) -> str:
    """A metric's name for people."""
    return next(m.label for m in METRICS if m.name == metric).format(k=k)


def judgement_lines(judgement: Judgement) -> list[str]:
    """The judgement as text: the strata, what changed and where from, the quadrants, the verdicts."""
    judged = judgement.judged
    lines = [f"{judged.run.name} on {judgement.set_name}: {len(judged.outcomes)} items, cut-off {judged.k}"]
    lines += ["", render_table(*strata_table(judged)), "", note_on_strata()]
    if judgement.comparison and judgement.baseline:
        lines += [
            "",
            f"against {judgement.baseline.run.name} (paired)",
            "",
            render_table(*change_table(judgement)),
        ]
        lines += [
            f"no evidence: {label_of(metric, judged.k)} of {group} is measured on one side only"
            for group, metric in judgement.comparison.no_evidence
        ]
    for decomposition in judgement.decompositions:
        head, rows = decomposition_table(decomposition)
        lines += [
            "",
            f"where the change of {label_of(decomposition.metric, judged.k)} comes from (points)",
            "",
        ]
        lines += [render_table(head, rows), movement_sentence(decomposition)]
    for split in judgement.set_decompositions:
        lines += ["", *set_lines(split, judged.k)]
    counts = count_quadrants(judged.outcomes)
    if counts:
        names = dict(QUADRANTS)
        lines += ["", "; ".join(f"{names[name]} {count}" for name, count in counts.items() if count)]
    if judgement.verdicts:
        lines += ["", render_table(*verdict_table(judgement.verdicts)), "", gate_sentence(judgement.verdicts)]
    return lines


def note_on_strata() -> str:
    """How to read the table of strata."""
    return (
        "mean [95% interval]; all: production weights, conversations resampled; "
        "visible: smallest drop that a paired test would see"
    )


def _interval(cell: Cell) -> str:
    if cell.group == ALL and cell.cluster_low is not None and cell.cluster_high is not None:
        return f"{cell.mean:.2f} [{cell.cluster_low:.2f}, {cell.cluster_high:.2f}]"
    return f"{cell.mean:.2f} [{cell.low:.2f}, {cell.high:.2f}]"


def strata_table(judged: Judged) -> tuple[list[str], list[list[str]]]:
    """Head and rows: a stratum a row, with the metrics that were measured."""
    table = judged.table
    metrics = [name for name in _SHOWN if any(cell.metric == name for cell in table.cells)]
    seats, share = dict(table.seats), dict(table.share)
    rows = []
    for group in table.groups:
        first = table.cell(group, metrics[0]) if metrics else None
        cells = [table.cell(group, name) for name in metrics]
        rows.append(
            [group, str(seats[group]), f"{share[group]:.1%}", *(_interval(c) if c else "-" for c in cells),
             f"{first.detectable:.2f}" if first else "-"]
        )  # fmt: skip
    return ["stratum", "n", "share", *(label_of(name, judged.k) for name in metrics), "visible"], rows


def change_table(judgement: Judgement) -> tuple[list[str], list[list[str]]]:
    """Head and rows: what changed against the baseline, per metric and stratum."""
    head = ["metric", "stratum", "before", "after", "change", "95% interval", "better/same/worse", "p (Holm)"]
    changes = judgement.comparison.changes if judgement.comparison else ()
    shown = [
        c for name in _SHOWN for c in changes if c.metric == name and (c.wins or c.losses or c.group == ALL)
    ]
    return head, [_change_row(change, judgement.judged.k) for change in shown]


def _change_row(change: Change, k: int) -> list[str]:
    low, high = change_interval(change)
    return [
        label_of(change.metric, k), change.group, f"{change.before:.2f}", f"{change.after:.2f}",
        points(change.difference), f"{points(low)} to {points(high)}",
        f"{change.wins}/{change.ties}/{change.losses}",
        "<.001" if change.p_holm < 0.001 else f"{change.p_holm:.3f}",
    ]  # fmt: skip


def change_interval(change: Change) -> tuple[float, float]:
    """The interval that is shown: over conversations for `all`, the paired one for a stratum."""
    if change.group == ALL and change.cluster_low is not None and change.cluster_high is not None:
        return change.cluster_low, change.cluster_high
    return change.low, change.high


def decomposition_table(decomposition: Decomposition) -> tuple[list[str], list[list[str]]]:
    """Head and rows: share x change of each stratum, in points that add up to the last line."""
    head = ["stratum", "share", "before", "after", "change", "contribution"]
    shown = round_to_sum({p.stratum: p.contribution for p in decomposition.parts}, decomposition.change, 4)
    rows = [
        [p.stratum, f"{float(p.share):.1%}", f"{float(p.before):.2f}", f"{float(p.after):.2f}",
         points(p.after - p.before), f"{float(shown[p.stratum]) * 100:+.2f}"]
        for p in decomposition.parts
    ]  # fmt: skip
    change = float(sum(shown.values(), Fraction(0))) * 100
    rows.append(
        [ALL, "100.0%", f"{float(decomposition.before):.2f}", f"{float(decomposition.after):.2f}",
         points(decomposition.change), f"{change:+.2f}"]
    )  # fmt: skip
    return head, rows


def movement_sentence(decomposition: Decomposition) -> str:
    """How much moved beneath the mean."""
    return (
        f"the mean moved {points(decomposition.change)} points; the strata moved "
        f"{float(decomposition.movement) * 100:.1f} points in all, up and down together"
    )


def set_lines(split: SetDecomposition, k: int) -> list[str]:
    """The split of a change between two set versions; or why there is none."""
    name = label_of(split.metric, k)
    if split.no_evidence:
        return [f"{name}: no evidence, only one version of the set measures {', '.join(split.no_evidence)}"]
    rows = [[p.stratum, f"{float(p.mix) * 100:+.2f}", f"{float(p.within) * 100:+.2f}"] for p in split.parts]
    rows.append([ALL, f"{float(split.mix) * 100:+.2f}", f"{float(split.within) * 100:+.2f}"])
    return [
        f"{name} between two versions of the set: {points(split.after - split.before)} points",
        "",
        render_table(["stratum", "by the mix", "within"], rows),
    ]


def verdict_table(verdicts: Sequence[Verdict]) -> tuple[list[str], list[list[str]]]:
    """Head and rows: a rule a row."""
    head = ["rule", "n", "measured", "interval", "verdict"]
    return head, [
        [rule_text(v), str(v.n), f"{v.measured:+.3f}" if is_change(v) else f"{v.measured:.3f}",
         f"[{v.low:.3f}, {v.high:.3f}]" if v.n else "-", v.verdict]
        for v in verdicts
    ]  # fmt: skip


def is_change(verdict: Verdict) -> bool:
    """Whether the rule is about a change against the baseline."""
    return verdict.rule.limit in ("largest_drop", "largest_rise")


def rule_text(verdict: Verdict) -> str:
    """A rule in a few words: `long_range recall floor 0.6`."""
    rule = verdict.rule
    return f"{rule.group} {rule.metric} {rule.limit} {rule.value:g}"


def gate_sentence(verdicts: Sequence[Verdict]) -> str:
    """Whether the run may pass, and how many rules stand in its way."""
    blocking = [v for v in verdicts if v.blocks]
    if passes(verdicts):
        return f"gate passed: {len(verdicts)} rules"
    failed = sum(v.verdict == "fail" for v in blocking)
    undecided = len(blocking) - failed
    return f"gate NOT passed: of {len(verdicts)} rules {failed} failed, {undecided} could not be told"
