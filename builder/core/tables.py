"""Rows of cells as aligned text."""

from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction


def fixed(value: float | Fraction, digits: int = 2, sign: bool = False) -> str:
    """`value` with `digits` decimals, halves away from zero: a mean reads the same wherever it stands.

    Floats carry noise in their last bits (0.875 as 0.87499999999999989), so the tenth decimal and on is let go first.
    """
    noiseless = Decimal(repr(round(float(value), 9)))
    shown = noiseless.quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP)
    return f"{shown + 0 if shown else abs(shown):{'+' if sign else ''}f}"


def render_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """`head` and `rows` in columns: the first flush left, the others flush right, two spaces apart."""
    widths = [max(len(row[column]) for row in (head, *rows)) for column in range(len(head))]
    lines = []
    for row in (head, *rows):
        cells = [
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)
