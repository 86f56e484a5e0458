"""A confusion matrix as a picture that needs nothing but a browser: inline SVG."""

from collections.abc import Sequence
from html import escape

_CELL, _LEFT, _TOP, _BOTTOM = 44, 190, 30, 150


def heat_map(labels: Sequence[str], matrix: Sequence[Sequence[int]]) -> str:
    """The matrix as an SVG element: rows are true strata, columns predicted ones; a cell is as dark as its part of its row.

    Every cell carries its count as text and a title that says it in words, so that colour is never the only sign.
    """
    side = _CELL * len(labels)
    width, height = _LEFT + side + 10, _TOP + side + _BOTTOM
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        'role="img" aria-label="Confusion matrix: rows are true strata, columns predicted ones" '
        'font-family="system-ui, sans-serif" font-size="12">'
    ]
    for row, (name, counts) in enumerate(zip(labels, matrix, strict=True)):
        y = _TOP + row * _CELL
        parts.append(
            f'<text x="{_LEFT - 8}" y="{y + _CELL / 2 + 4:.0f}" text-anchor="end" fill="currentColor">{escape(name)}</text>'
        )
        total = sum(counts)
        for column, count in enumerate(counts):
            parts.append(_cell(name, labels[column], count, total, _LEFT + column * _CELL, y))
    for column, name in enumerate(labels):
        x, y = _LEFT + column * _CELL + _CELL / 2 + 4, _TOP + side + 10
        parts.append(
            f'<text x="{x:.0f}" y="{y}" text-anchor="end" fill="currentColor" transform="rotate(-55 {x:.0f} {y})">'
            f"{escape(name)}</text>"
        )
    parts.append("</svg>")
    return "".join(parts)


def _cell(true: str, said: str, count: int, total: int, x: int, y: int) -> str:
    part = count / total if total else 0.0
    ink = "#fff" if part > 0.5 else "#111"
    title = f"{count} of {total} {true} predicted {said}"
    return (
        f'<g><title>{escape(title)}</title><rect x="{x}" y="{y}" width="{_CELL - 2}" height="{_CELL - 2}" rx="3" '
        f'fill="{_shade(part)}"/><text x="{x + _CELL / 2 - 1:.0f}" y="{y + _CELL / 2 + 3:.0f}" text-anchor="middle" '
        f'fill="{ink}">{count or ""}</text></g>'
    )


def _shade(part: float) -> str:
    """From near white to dark blue."""
    pale, dark = (238, 242, 247), (16, 62, 122)
    red, green, blue = (round(a + (b - a) * part) for a, b in zip(pale, dark, strict=True))
    return f"#{red:02x}{green:02x}{blue:02x}"
