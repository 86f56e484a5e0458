"""One page about a judgement that opens from disk: plots, tables, and every item with its terms marked."""

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from builder.core.taxonomy import STRATA, window_is_right
from builder.scoring.gate import FAIL, PASS, TOO_FEW, Verdict, passes
from builder.scoring.item_views import ItemView, Marked
from builder.scoring.judgement import Judged, Judgement, commonest_contaminants
from builder.scoring.metrics import METRICS, PLACE, Metric
from builder.scoring.outcomes import QUADRANTS, Outcome
from builder.scoring.plots import (
    MapCell,
    Span,
    Step,
    axis_track,
    distance_map,
    interval_track,
    stacked_track,
    waterfall_axis,
    waterfall_scale,
    waterfall_track,
)
from builder.scoring.strata import ALL, Cell
from builder.scoring.tables import (
    change_interval,
    change_table,
    decomposition_table,
    gate_sentence,
    is_change,
    label_of,
    movement_sentence,
    points,
    rule_text,
    set_lines,
    strata_table,
)

PLOTTED = ("recall", "contamination", "coverage")
_TILES = ("recall", "contamination", "coverage", "unusable")
_FARTHEST = 8
_URGENCY = (FAIL, TOO_FEW, PASS)


@dataclass(frozen=True, slots=True)
class Parts:
    """The files that a page is made of: template, style sheet and script, as text."""

    template: str
    style: str
    script: str


def render_report(judgement: Judgement, items: Sequence[ItemView], parts: Parts) -> str:
    """The page. Everything a person wrote is escaped; the policy in its head allows this style and script and nothing else."""
    from jinja2 import Environment, StrictUndefined

    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.from_string(parts.template).render(
        style=Marked(parts.style),
        script=Marked(parts.script),
        policy=content_policy(parts),
        **_context(judgement),
        items=items,
        quadrant_labels=QUADRANTS,
        strata_shown=sorted({view.item.reference_type for view in items}),
    )


def content_policy(parts: Parts) -> str:
    """A content security policy under which the page can fetch nothing and run nothing but its own script."""
    style, script = (
        b64encode(sha256(text.encode()).digest()).decode() for text in (parts.style, parts.script)
    )
    return (
        f"default-src 'none'; style-src 'sha256-{style}'; script-src 'sha256-{script}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _context(judgement: Judgement) -> dict[str, Any]:
    judged = judgement.judged
    verdicts = judgement.verdicts
    return {
        "judgement": judgement,
        "run": judged.run.name,
        "baseline": judgement.baseline.run.name if judgement.baseline else "",
        "n": len(judged.outcomes),
        "k": judged.k,
        "tiles": _tiles(judgement),
        "gate": {
            "passed": passes(verdicts),
            "sentence": gate_sentence(verdicts),
            "rows": [_verdict_row(v) for v in sorted(verdicts, key=lambda v: _URGENCY.index(v.verdict))],
        }
        if verdicts
        else None,
        "panels": [panel for name in PLOTTED if (panel := _interval_panel(judgement, name))],
        "waterfalls": [_waterfall(judgement, place) for place in range(len(judgement.decompositions))],
        "set_lines": ["\n".join(set_lines(split, judged.k)) for split in judgement.set_decompositions],
        "quadrants": _quadrant_rows(judgement),
        "contaminants": commonest_contaminants(judged.outcomes),
        "maps": [drawn for drawn in (_map(judged, "recall"), _map(judged, "contamination")) if drawn],
        "strata": strata_table(judged),
        "changes": change_table(judgement) if judgement.comparison else None,
        "facets": _facet_rows(judged),
        "conditions": {s.name: (s.condition, s.catches) for s in STRATA},
        "no_evidence": judgement.comparison.no_evidence if judgement.comparison else (),
        "metrics": [
            (metric.label.format(k=judged.k), metric.definition.format(k=judged.k)) for metric in METRICS
        ],
    }


def _tiles(judgement: Judgement) -> list[dict[str, Any]]:
    tiles = []
    for name in _TILES:
        cell = judgement.judged.table.cell(ALL, name)
        if cell:
            change = judgement.comparison.change(ALL, name) if judgement.comparison else None
            metric = METRICS[PLACE[name]]
            tiles.append(
                {
                    "label": metric.label.format(k=judgement.judged.k),
                    "value": f"{cell.mean:.2f}",
                    "interval": f"{_low(cell):.2f} to {_high(cell):.2f}",
                    "change": points(change.difference) if change else "",
                    "tone": _tone(change.difference, metric) if change else "",
                }
            )
    return tiles


def _low(cell: Cell) -> float:
    return cell.cluster_low if cell.group == ALL and cell.cluster_low is not None else cell.low


def _high(cell: Cell) -> float:
    return cell.cluster_high if cell.group == ALL and cell.cluster_high is not None else cell.high


def _tone(difference: float, metric: Metric) -> str:
    if abs(difference) < 0.0005:
        return "same"
    return "better" if (difference > 0) == metric.higher_is_better else "worse"


def _verdict_row(verdict: Verdict) -> dict[str, str]:
    sign = "+" if is_change(verdict) else ""
    return {
        "rule": rule_text(verdict),
        "n": str(verdict.n),
        "measured": f"{verdict.measured:{sign}.3f}",
        "interval": f"{verdict.low:{sign}.3f} to {verdict.high:{sign}.3f}" if verdict.n else "no items",
        "verdict": verdict.verdict,
        "tone": "better" if verdict.verdict == "pass" else "worse" if verdict.verdict == "fail" else "unsure",
    }


def _span(cell: Cell | None) -> Span | None:
    return Span(_low(cell), cell.mean, _high(cell)) if cell else None


def _interval_panel(judgement: Judgement, name: str) -> dict[str, Any] | None:
    table, k = judgement.judged.table, judgement.judged.k
    old = judgement.baseline.table if judgement.baseline else None
    rows = []
    for group in (*table.groups[1:], ALL):
        after, before = table.cell(group, name), old.cell(group, name) if old else None
        if not after:
            continue
        change = judgement.comparison.change(group, name) if judgement.comparison else None
        ends = change_interval(change) if change else (0.0, 0.0)
        said = f"{group}: {after.mean:.2f} [{_low(after):.2f}, {_high(after):.2f}] on {after.n} items"
        if change:
            said += f"; {points(change.difference)} points [{points(ends[0])}, {points(ends[1])}]"
        rows.append(
            {
                "name": group,
                "n": after.n,
                "svg": Marked(interval_track(_span(before), _span(after), said)),
                "before": f"{before.mean:.2f}" if before else "",
                "after": f"{after.mean:.2f}",
                "change": points(change.difference) if change else "",
                "tone": _tone(change.difference, METRICS[PLACE[name]]) if change else "",
                "is_sure": bool(change) and (ends[0] > 0 or ends[1] < 0),
                "detectable": f"{100 * after.detectable:.0f}",
            }
        )
    if not rows:
        return None
    axis = axis_track([(at, f"{at:g}") for at in (0, 0.25, 0.5, 0.75, 1)])
    metric = METRICS[PLACE[name]]
    return {
        "label": metric.label.format(k=k),
        "definition": metric.definition.format(k=k),
        "way": "right is better" if metric.higher_is_better else "left is better",
        "rows": rows,
        "axis": Marked(axis),
    }


def _waterfall(judgement: Judgement, place: int) -> dict[str, Any]:
    decomposition = judgement.decompositions[place]
    metric = METRICS[PLACE[decomposition.metric]]
    level, names, steps = float(decomposition.before), [], []
    names.append((judgement.baseline.run.name if judgement.baseline else "before", f"{level:.3f}"))
    steps.append(Step(level, level, True, True))
    _, table_rows = decomposition_table(decomposition)
    for part, cells in zip(decomposition.parts, table_rows[:-1], strict=True):
        end = level + float(part.contribution)
        names.append((part.stratum, cells[-1]))
        steps.append(Step(level, end, False, (end >= level) == metric.higher_is_better))
        level = end
    after = float(decomposition.after)
    names.append((judgement.judged.run.name, f"{after:.3f}"))
    steps.append(Step(after, after, True, True))
    scale = waterfall_scale(steps)
    rows = [
        {
            "name": name,
            "svg": Marked(waterfall_track(step, scale, f"{name}: {value}")),
            "value": value,
            "is_total": step.is_total,
        }
        for (name, value), step in zip(names, steps, strict=True)
    ]
    return {
        "label": label_of(decomposition.metric, judgement.judged.k),
        "rows": rows,
        "axis": Marked(waterfall_axis(scale)),
        "sentence": movement_sentence(decomposition),
        "table": decomposition_table(decomposition),
    }


def _quadrant_rows(judgement: Judgement) -> list[dict[str, Any]]:
    rows = []
    old = judgement.baseline.outcomes if judgement.baseline and judgement.comparison else ()
    for group in (*judgement.judged.table.groups[1:], ALL):
        after = _quadrant_counts(judgement.judged.outcomes, group)
        before = _quadrant_counts(old, group)
        if sum(count for _, _, count in after):
            rows.append(
                {
                    "name": group,
                    "n": sum(count for _, _, count in after),
                    "after": Marked(stacked_track(after, f"{group}, this run")),
                    "before": Marked(stacked_track(before, f"{group}, baseline", 10)) if old else None,
                }
            )
    return rows


def _quadrant_counts(outcomes: Sequence[Outcome], group: str) -> list[tuple[str, str, int]]:
    members = [o.quadrant for o in outcomes if group in (ALL, o.reference_type)]
    return [(name, label, members.count(name)) for name, label in QUADRANTS]


def _map(judged: Judged, metric: str) -> dict[str, Any] | None:
    sums: dict[tuple[int, int], list[float]] = {}
    stale_rows: list[int | None] = [None, *range(1, _FARTHEST + 1)]
    for outcome in judged.outcomes:
        value = outcome.values[PLACE[metric]]
        if value is not None:
            stale = None if outcome.d_stale is None else min(outcome.d_stale, _FARTHEST)
            sums.setdefault((stale_rows.index(stale), min(outcome.d_live, _FARTHEST)), []).append(value)
    if not sums:
        return None
    cells = {place: MapCell(len(values), sum(values) / len(values)) for place, values in sums.items()}
    columns = [*map(str, range(_FARTHEST)), f"{_FARTHEST}+"]
    rows = ["none", *map(str, range(1, _FARTHEST)), f"{_FARTHEST}+"]
    hopeless = {
        (row, column)
        for row, stale in enumerate(stale_rows)
        for column in range(_FARTHEST + 1)
        if stale is not None
        and not window_is_right(column, column, stale)
        and (row, column) != (_FARTHEST, _FARTHEST)
    }
    label = label_of(metric, judged.k)
    return {
        "label": label,
        "svg": Marked(distance_map(columns, rows, cells, hopeless, label)),
        "metric": metric,
    }


def _facet_rows(judged: Judged) -> list[tuple[str, str, list[str]]]:
    rows = []
    seats = dict(judged.table.seats)
    for facet in judged.table.facets:
        cells = [judged.table.cell(facet, name) for name in PLOTTED]
        texts = [f"{c.mean:.2f} [{c.low:.2f}, {c.high:.2f}]" if c else "-" for c in cells]
        rows.append((facet, str(seats[facet]), texts))
    return rows
