"""Plots as inline SVG that keeps its letter size on a narrow screen: positions in percent, heights in pixels.

Colours and strokes come from the page's style sheet by class name, so one drawing serves light and dark.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

_TRACK = 30


@dataclass(frozen=True, slots=True)
class Span:
    """A point with its interval, each 0 to 1."""

    low: float
    middle: float
    high: float


def percent(value: float) -> str:
    """A share as a coordinate."""
    return f"{100 * value:.2f}%"


def _svg(height: int, title: str, inner: str) -> str:
    return f'<svg class="plot" width="100%" height="{height}" role="img" aria-label="{escape(title)}">{inner}</svg>'


def _line(x1: float, x2: float, y1: float, y2: float, name: str) -> str:
    return f'<line class="{name}" x1="{percent(x1)}" x2="{percent(x2)}" y1="{y1}" y2="{y2}"/>'


def _text(x: float, y: float, text: str, anchor: str = "middle", name: str = "") -> str:
    return f'<text class="{name}" x="{percent(x)}" y="{y}" text-anchor="{anchor}">{escape(text)}</text>'


def _grid(marks: Sequence[float], height: int) -> str:
    return "".join(_line(mark, mark, 0, height, "grid") for mark in marks)


def interval_track(before: Span | None, after: Span | None, title: str) -> str:
    """One stratum's interval on a scale from 0 to 1: the baseline above, hollow; the run below, filled."""
    parts = [_grid((0, 0.25, 0.5, 0.75, 1), _TRACK)]
    places = ((before, 9, "before"), (after, 21 if before else 15, "after"))
    for span, y, name in places:
        if span:
            parts.append(_line(span.low, span.high, y, y, f"whisker {name}"))
            parts.append(f'<circle class="dot {name}" cx="{percent(span.middle)}" cy="{y}" r="4.5"/>')
    return _svg(_TRACK, title, f"<title>{escape(title)}</title>" + "".join(parts))


def axis_track(labels: Sequence[tuple[float, str]]) -> str:
    """The scale below a column of tracks."""
    parts = []
    for place, label in labels:
        anchor = "start" if place < 0.05 else "end" if place > 0.95 else "middle"
        parts.append(_text(place, 12, label, anchor, "axis"))
    return _svg(16, "scale", "".join(parts))


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a waterfall, from one level to the next; a level itself where both are equal and `is_total`."""

    start: float
    end: float
    is_total: bool
    is_better: bool


def waterfall_scale(steps: Sequence[Step]) -> tuple[float, float]:
    """(low, high) of the levels, with a little room on both sides."""
    levels = [level for step in steps for level in (step.start, step.end)]
    low, high = min(levels), max(levels)
    room = max((high - low) * 0.08, 0.005)
    return max(0.0, low - room), min(1.0, high + room)


def waterfall_track(step: Step, scale: tuple[float, float], title: str) -> str:
    """One step drawn on the waterfall's scale; totals are a mark, contributions a bar."""
    low, high = scale
    width = (high - low) or 1.0
    start, end = (step.start - low) / width, (step.end - low) / width
    inner = f"<title>{escape(title)}</title>" + _grid((0, 0.25, 0.5, 0.75, 1), 26)
    if step.is_total:
        inner += _line(end, end, 3, 23, "total")
        inner += f'<circle class="dot total" cx="{percent(end)}" cy="13" r="4.5"/>'
    else:
        left, size = min(start, end), abs(end - start)
        inner += _line(start, start, 0, 13, "link") + _line(end, end, 13, 26, "link")
        name = "better" if step.is_better else "worse"
        size = max(size, 0.003) if size else 0.0
        inner += (
            f'<rect class="bar {name}" x="{percent(left)}" width="{percent(size)}" y="6" height="14" rx="2"/>'
        )
    return _svg(26, title, inner)


def waterfall_axis(scale: tuple[float, float]) -> str:
    """The waterfall's scale in words."""
    low, high = scale
    return axis_track([(at, f"{low + at * (high - low):.3f}") for at in (0, 0.5, 1)])


def stacked_track(counts: Sequence[tuple[str, str, int]], title: str, height: int = 22) -> str:
    """Counts of (class name, label, count) as one bar; a part wide enough carries its count."""
    total = sum(count for _, _, count in counts)
    inner, left = [f"<title>{escape(title)}</title>"], 0.0
    for name, label, count in counts:
        if count:
            width = count / total
            inner.append(
                f'<rect class="part {name}" x="{percent(left)}" width="{percent(width)}" y="1" height="{height - 2}">'
                f"<title>{escape(f'{label}: {count} of {total}')}</title></rect>"
            )
            if width > 0.06 and height > 16:
                inner.append(_text(left + width / 2, height / 2 + 4, str(count), "middle", f"on-{name}"))
            left += width
    return _svg(height, title, "".join(inner))


@dataclass(frozen=True, slots=True)
class MapCell:
    """Items at one pair of distances: how many, and the mean of the metric there."""

    n: int
    mean: float


def distance_map(
    columns: Sequence[str],
    rows: Sequence[str],
    cells: dict[tuple[int, int], MapCell],
    hopeless: set[tuple[int, int]],
    metric: str,
) -> str:
    """A grid of d_stale (rows) by d_live (columns): shade and number are the metric, small number the items.

    Cells in `hopeless` (row, column), where no window is right, are hatched.
    """
    step, height = 1 / (len(columns) + 1), 36
    inner = [
        '<defs><pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
        '<line class="hatch" x1="0" y1="0" x2="0" y2="6"/></pattern></defs>'
    ]
    inner += [_text((at + 1.5) * step, 16, name, "middle", "axis") for at, name in enumerate(columns)]
    for row, name in enumerate(rows):
        y = 24 + row * height
        inner.append(_text(step * 0.85, y + 22, name, "end", "axis"))
        for column in range(len(columns)):
            x, place = (column + 1) * step, (row, column)
            inner.append(
                _map_cell(
                    cells.get(place), x, y, step, height, place in hopeless, (columns[column], name, metric)
                )
            )
    return _svg(26 + len(rows) * height, f"{metric} by d_live and d_stale", "".join(inner))


def _map_cell(
    cell: MapCell | None,
    x: float,
    y: int,
    step: float,
    height: int,
    is_hopeless: bool,
    words: tuple[str, str, str],
) -> str:
    box = f'x="{percent(x)}" y="{y}" width="{percent(step * 0.97)}" height="{height - 2}" rx="3"'
    drawn = [f'<rect class="cell empty" {box}/>']
    if cell:
        column, row, metric = words
        said = f"d_live {column}, d_stale {row}: {metric} {cell.mean:.2f} over {cell.n} items"
        shade = min(4, int(cell.mean * 5))
        drawn = [f'<rect class="cell shade-{shade}" {box}><title>{escape(said)}</title></rect>']
    if is_hopeless:
        drawn.append(f'<rect class="no-window" fill="url(#hatch)" {box}/>')
    if cell:
        middle = x + step / 2
        drawn.append(_text(middle, y + 16, f"{100 * cell.mean:.0f}", "middle", f"value on-shade-{shade}"))
        drawn.append(_text(middle, y + 28, f"n {cell.n}", "middle", f"count on-shade-{shade}"))
    return "".join(drawn)
