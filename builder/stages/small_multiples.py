"""Shares of the strata over time as small panels, one a stratum, in one SVG that needs nothing from outside."""

from collections.abc import Mapping
from html import escape

from builder.core.mix import Mix
from builder.core.taxonomy import STRATUM_NAMES

_WIDTH, _HEIGHT, _GAP, _COLUMNS = 200, 90, 34, 5


def draw_small_multiples(months: Mapping[str, Mix], quotas_mix: Mix) -> str:
    """The plot: per stratum its share by month with 95% intervals, and the share behind the quotas as a dashed line."""
    top = max([s.high for mix in (*months.values(), quotas_mix) for s in mix.shares] or [1.0])
    rows = -(-len(STRATUM_NAMES) // _COLUMNS)
    width, height = _COLUMNS * (_WIDTH + _GAP), rows * (_HEIGHT + 2 * _GAP)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
        'aria-label="Shares of the strata by month" font-family="sans-serif" font-size="11">'
    ]
    for place, name in enumerate(STRATUM_NAMES):
        x = (place % _COLUMNS) * (_WIDTH + _GAP) + _GAP / 2
        y = (place // _COLUMNS) * (_HEIGHT + 2 * _GAP) + _GAP
        parts += _panel(name, months, quotas_mix.share(name), top, x, y)
    return "\n".join([*parts, "</svg>", ""])


def _panel(name: str, months: Mapping[str, Mix], behind: float, top: float, x: float, y: float) -> list[str]:
    def level(share: float) -> float:
        return round(y + _HEIGHT * (1 - share / top), 2)

    lines = [
        f'<text x="{x}" y="{y - 6}" font-weight="bold">{escape(name)}</text>',
        f'<rect x="{x}" y="{y}" width="{_WIDTH}" height="{_HEIGHT}" fill="none" stroke="#bbb"/>',
        f'<line x1="{x}" x2="{x + _WIDTH}" y1="{level(behind)}" y2="{level(behind)}" stroke="#666" '
        f'stroke-dasharray="4 3"><title>share behind the quotas: {behind:.1%}</title></line>',
    ]
    step = _WIDTH / max(len(months), 1)
    for place, (month, mix) in enumerate(months.items()):
        share = next(s for s in mix.shares if s.reference_type == name)
        at = round(x + step * (place + 0.5), 2)
        lines += [
            f'<line x1="{at}" x2="{at}" y1="{level(share.low)}" y2="{level(share.high)}" stroke="#0b5394"/>',
            f'<circle cx="{at}" cy="{level(share.share)}" r="3" fill="#0b5394"><title>{escape(month)}: '
            f"{share.share:.1%} ({share.low:.1%} to {share.high:.1%})</title></circle>",
            f'<text x="{at}" y="{y + _HEIGHT + 13}" text-anchor="middle">{escape(month[2:])}</text>',
        ]
    return lines
