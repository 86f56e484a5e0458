"""A judgement as tables and sentences for people."""

from collections.abc import Sequence
from fractions import Fraction

from builder.core.tables import fixed, render_table
from builder.scoring.decompose import Decomposition, SetDecomposition, round_to_sum
from builder.scoring.gate import TOO_FEW, Verdict, passes
from builder.scoring.judgement import Judged, Judgement, count_quadrants
from builder.scoring.metrics import METRICS
from builder.scoring.outcomes import QUADRANTS
from builder.scoring.paired import Change
from builder.scoring.strata import ALL, Cell

_SHOWN = ("recall", "contamination", "coverage", "needless", "unusable")


def points(value: float | Fraction) -> str:
    """A change as signed percentage points: -8.2."""
    return fixed(value * 100, 1, sign=True)


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
        lines += left_out_lines(judgement)
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
        return f"{fixed(cell.mean)} [{fixed(cell.cluster_low)}, {fixed(cell.cluster_high)}]"
    return f"{fixed(cell.mean)} [{fixed(cell.low)}, {fixed(cell.high)}]"


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
             fixed(first.detectable) if first else "-"]
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


def left_out_lines(judgement: Judgement) -> list[str]:
    """Why strata of the set have no row in the table of changes: nothing changed, or nothing was measured."""
    comparison, judged = judgement.comparison, judgement.judged
    if comparison is None:
        return []
    lines = []
    for metric in _SHOWN:
        changes = {c.group: c for c in comparison.changes if c.metric == metric}
        still = [g for g, c in changes.items() if g != ALL and not (c.wins or c.losses)]
        silent = {group for group, name in comparison.no_evidence if name == metric}
        bare = [g for g in judged.table.groups if changes and g not in changes and g not in silent]
        label = label_of(metric, judged.k)
        if still:
            whose = ", ".join(still) if len(still) < len(changes) - 1 else "every stratum"
            lines.append(f"no row: {label} of {whose} changed in no item")
        if bare:
            lines.append(f"no row: no item of {', '.join(bare)} can show {label}")
    return lines + [
        f"no evidence: {label_of(metric, judged.k)} of {group} is measured on one side only"
        for group, metric in comparison.no_evidence
    ]


def _change_row(change: Change, k: int) -> list[str]:
    low, high = change_interval(change)
    return [
        label_of(change.metric, k), change.group, fixed(change.before), fixed(change.after),
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
        [p.stratum, f"{float(p.share):.1%}", fixed(p.before), fixed(p.after),
         points(p.after - p.before), fixed(shown[p.stratum] * 100, sign=True)]
        for p in decomposition.parts
    ]  # fmt: skip
    change = sum(shown.values(), Fraction(0)) * 100
    rows.append(
        [ALL, "100.0%", fixed(decomposition.before), fixed(decomposition.after),
         points(decomposition.change), fixed(change, sign=True)]
    )  # fmt: skip
    return head, rows


def movement_sentence(decomposition: Decomposition) -> str:
    """How much moved beneath the mean."""
    return (
        f"the mean moved {points(decomposition.change)} points; the strata moved "
        f"{fixed(decomposition.movement * 100, 1)} points in all, up and down together"
    )


def set_lines(split: SetDecomposition, k: int) -> list[str]:
    """The split of a change between two set versions; or why there is none."""
    name = label_of(split.metric, k)
    if split.no_evidence:
        return [f"{name}: no evidence, only one version of the set measures {', '.join(split.no_evidence)}"]
    rows = [[p.stratum, fixed(p.mix * 100, sign=True), fixed(p.within * 100, sign=True)] for p in split.parts]
    rows.append([ALL, fixed(split.mix * 100, sign=True), fixed(split.within * 100, sign=True)])
    return [
        f"{name} between two versions of the set: {points(split.after - split.before)} points",
        "",
        render_table(["stratum", "by the mix", "within"], rows),
    ]


def verdict_table(verdicts: Sequence[Verdict]) -> tuple[list[str], list[list[str]]]:
    """Head and rows: a rule a row."""
    head = ["rule", "n", "measured", "interval", "verdict"]
    return head, [
        [rule_text(v), str(v.n), fixed(v.measured, 3, is_change(v)),
         f"[{fixed(v.low, 3)}, {fixed(v.high, 3)}]" if v.n else "-", v.verdict]
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
        undecided = sum(v.verdict == TOO_FEW for v in verdicts)
        let_through = f", {undecided} of them undecided and let through" if undecided else ""
        return f"gate passed: {len(verdicts)} rules{let_through}"
    failed = sum(v.verdict == "fail" for v in blocking)
    undecided = len(blocking) - failed
    return f"gate NOT passed: of {len(verdicts)} rules {failed} failed, {undecided} could not be told"
