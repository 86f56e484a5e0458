"""Figures of the second trip as inline SVG, and the page that holds them: nothing is fetched, everything is escaped."""

from collections.abc import Sequence
from html import escape

_STYLE = (
    ":root{color-scheme:light dark}body{font:15px/1.55 system-ui,sans-serif;margin:2rem auto;max-width:66rem;padding:0 1rem}"
    "h1{font-size:1.5rem}h2{font-size:1.15rem;margin-top:2.2rem}.wide{overflow-x:auto}"
    "table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:13px}"
    "th,td{padding:.25rem .55rem;text-align:right;border-bottom:1px solid #8884;white-space:nowrap}"
    "th:first-child,td:first-child{text-align:left;position:sticky;left:0;background:Canvas}"
    ".best{font-weight:700}.note{max-width:46rem}svg{min-width:30rem;max-width:100%;height:auto}svg text{fill:currentColor}"
)
COLOURS = ("#1b7f5c", "#d9a21b", "#b8442e", "#6b4c8f", "#2f6fb2", "#7a7a7a")

_LEFT, _TOP, _WIDTH, _HEIGHT = 46, 16, 620, 240


def page(title: str, sections: Sequence[tuple[str, str]]) -> str:
    """A whole page: sections of (heading, HTML that is already safe)."""
    body = "".join(f"<section><h2>{escape(heading)}</h2>{html}</section>" for heading, html in sections)
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head><body><h1>{escape(title)}</h1>{body}</body></html>\n"
    )


def html_table(
    head: Sequence[str], rows: Sequence[Sequence[str]], best: frozenset[tuple[int, int]] = frozenset()
) -> str:
    """A table that scrolls sideways by itself; cells at (row, column) in `best` stand out."""
    top = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    lines = []
    for place, row in enumerate(rows):
        marks = ['class="best"' if (place, column) in best else "" for column in range(len(row))]
        cells = "".join(f"<td {mark}>{escape(cell)}</td>" for mark, cell in zip(marks, row, strict=True))
        lines.append(f"<tr>{cells}</tr>")
    return (
        f'<div class="wide"><table><thead><tr>{top}</tr></thead><tbody>{"".join(lines)}</tbody></table></div>'
    )


def paragraphs(lines: Sequence[str]) -> str:
    """Lines of prose, each its own paragraph."""
    return "".join(f'<p class="note">{escape(line)}</p>' for line in lines)


def stacked_bars(labels: Sequence[str], parts: Sequence[tuple[str, Sequence[float]]], axis: str) -> str:
    """Bars of shares that sum to 1, one a label; each part of a bar says its share in its title."""
    step = _WIDTH / max(1, len(labels))
    drawn = []
    for column, label in enumerate(labels):
        x, base = _LEFT + column * step, float(_TOP + _HEIGHT)
        for place, (name, values) in enumerate(parts):
            height = values[column] * _HEIGHT
            base -= height
            drawn.append(
                f'<rect x="{x:.1f}" y="{base:.1f}" width="{step * 0.82:.1f}" height="{height:.1f}" fill="{COLOURS[place]}">'
                f"<title>{escape(f'{axis} {label}: {name} {values[column]:.1%}')}</title></rect>"
            )
        drawn.append(_text(x + step * 0.41, _TOP + _HEIGHT + 16, label, "middle"))
    return _picture(drawn, [name for name, _ in parts], axis)


def lines(ticks: Sequence[str], series: Sequence[tuple[str, Sequence[float | None]]], axis: str) -> str:
    """One line for each series of shares over the same ticks; a missing share leaves a gap."""
    step = _WIDTH / max(1, len(ticks) - 1)
    drawn = []
    for place, (name, values) in enumerate(series):
        colour = COLOURS[place % len(COLOURS)]
        points = [
            (_LEFT + column * step, _TOP + (1 - value) * _HEIGHT, value)
            for column, value in enumerate(values)
            if value is not None
        ]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y, _ in points)
        drawn.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2.2"/>')
        drawn += [
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.4" fill="{colour}"><title>{escape(f"{name}: {value:.3f}")}</title></circle>'
            for x, y, value in points
        ]
    drawn += [
        _text(_LEFT + column * step, _TOP + _HEIGHT + 16, tick, "middle") for column, tick in enumerate(ticks)
    ]
    return _picture(drawn, [name for name, _ in series], axis)


def shaded_grid(
    rows: Sequence[str], columns: Sequence[str], values: Sequence[Sequence[float]], title: str
) -> str:
    """Shares as a grid, darker for more; each cell carries its number."""
    cell_w, cell_h, left, top = 42, 26, 74, 34
    low, high = min(map(min, values)), max(map(max, values))
    drawn = [_text(left, 14, title, "start")]
    for place, row in enumerate(rows):
        drawn.append(_text(left - 8, top + place * cell_h + 17, row, "end"))
        for column, value in enumerate(values[place]):
            depth = (value - low) / (high - low) if high > low else 0.0
            x, y = left + column * cell_w, top + place * cell_h
            drawn.append(
                f'<rect x="{x}" y="{y}" width="{cell_w - 2}" height="{cell_h - 2}" fill="#1b7f5c" '
                f'fill-opacity="{0.08 + 0.6 * depth:.2f}"/>'
                + _text(x + cell_w / 2 - 1, y + 16, f"{value:.2f}", "middle")
            )
    drawn += [_text(left + c * cell_w + 20, 28, name, "middle") for c, name in enumerate(columns)]
    return _svg(drawn, left + cell_w * len(columns) + 8, top + cell_h * len(rows) + 8, title)


def _picture(drawn: Sequence[str], names: Sequence[str], axis: str) -> str:
    frame = []
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        y = _TOP + (1 - share) * _HEIGHT
        frame.append(
            f'<line x1="{_LEFT}" x2="{_LEFT + _WIDTH}" y1="{y:.1f}" y2="{y:.1f}" stroke="currentColor" stroke-opacity=".18"/>'
        )
        frame.append(_text(_LEFT - 8, y + 4, f"{share:.0%}", "end"))
    legend, x, y = [], float(_LEFT), float(_TOP + _HEIGHT + 56)
    for place, name in enumerate(names):
        width = 30 + 6.7 * len(name)
        if x + width > _LEFT + _WIDTH:
            x, y = float(_LEFT), y + 20
        legend.append(
            f'<rect x="{x:.0f}" y="{y - 10:.0f}" width="11" height="11" fill="{COLOURS[place % len(COLOURS)]}"/>'
        )
        legend.append(_text(x + 16, y, name, "start"))
        x += width
    label = _text(_LEFT + _WIDTH / 2, _TOP + _HEIGHT + 34, axis, "middle")
    return _svg([*frame, *drawn, label, *legend], _LEFT + _WIDTH + 24, y + 14, axis)


def _svg(parts: Sequence[str], width: float, height: float, title: str) -> str:
    return (
        f'<div class="wide"><svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
        f'height="{height:.0f}" role="img" aria-label="{escape(title)}" font-family="system-ui,sans-serif" font-size="12">'
        f"{''.join(parts)}</svg></div>"
    )


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'
