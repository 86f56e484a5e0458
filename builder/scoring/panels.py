"""The plots of a report with their words: intervals, waterfall, quadrants, the map of distances."""

from collections.abc import Sequence
from typing import Any

from builder.core.tables import fixed
from builder.core.taxonomy import window_is_right
from builder.scoring.item_views import Marked
from builder.scoring.judgement import Judged, Judgement
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
from builder.scoring.tables import change_interval, decomposition_table, label_of, movement_sentence, points

_FARTHEST = 8


def low_end(cell: Cell) -> float:
    """The lower end that is shown: over conversations for `all`, Wilson for a stratum."""
    return cell.cluster_low if cell.group == ALL and cell.cluster_low is not None else cell.low


def high_end(cell: Cell) -> float:
    """The upper end that is shown."""
    return cell.cluster_high if cell.group == ALL and cell.cluster_high is not None else cell.high


def tone(difference: float, metric: Metric) -> str:
    """better, worse or same, whichever way is better."""
    if abs(difference) < 0.0005:
        return "same"
    return "better" if (difference > 0) == metric.higher_is_better else "worse"


def _span(cell: Cell | None) -> Span | None:
    return Span(low_end(cell), cell.mean, high_end(cell)) if cell else None


def interval_panel(judgement: Judgement, name: str) -> dict[str, Any] | None:
    """The plot of one metric: a stratum a row, the baseline beside it; None when nothing is measured."""
    table, k = judgement.judged.table, judgement.judged.k
    old = judgement.baseline.table if judgement.baseline else None
    rows = []
    for group in (*table.groups[1:], ALL):
        after, before = table.cell(group, name), old.cell(group, name) if old else None
        if not after:
            continue
        change = judgement.comparison.change(group, name) if judgement.comparison else None
        ends = change_interval(change) if change else (0.0, 0.0)
        said = f"{group}: {fixed(after.mean)} [{fixed(low_end(after))}, {fixed(high_end(after))}] on {after.n} items"
        if change:
            said += f"; {points(change.difference)} points [{points(ends[0])}, {points(ends[1])}]"
        rows.append(
            {
                "name": group,
                "n": after.n,
                "svg": Marked(interval_track(_span(before), _span(after), said)),
                "before": fixed(before.mean) if before else "",
                "after": fixed(after.mean),
                "change": points(change.difference) if change else "",
                "tone": tone(change.difference, METRICS[PLACE[name]]) if change else "",
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


def waterfall(judgement: Judgement, place: int) -> dict[str, Any]:
    """The plot of one decomposition, from the baseline through the strata to the run."""
    decomposition = judgement.decompositions[place]
    metric = METRICS[PLACE[decomposition.metric]]
    level, names, steps = float(decomposition.before), [], []
    names.append((judgement.baseline.run.name if judgement.baseline else "before", fixed(level, 3)))
    steps.append(Step(level, level, True, True))
    _, table_rows = decomposition_table(decomposition)
    for part, cells in zip(decomposition.parts, table_rows[:-1], strict=True):
        end = level + float(part.contribution)
        names.append((part.stratum, cells[-1]))
        steps.append(Step(level, end, False, (end >= level) == metric.higher_is_better))
        level = end
    after = float(decomposition.after)
    names.append((judgement.judged.run.name, fixed(after, 3)))
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


def quadrant_rows(judgement: Judgement) -> list[dict[str, Any]]:
    """The quadrants of every stratum as bars, the baseline above; empty without rewrites or retrieval."""
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


def distance_panel(judged: Judged, metric: str) -> dict[str, Any] | None:
    """The map of one metric over d_live and d_stale; None when nothing is measured."""
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
