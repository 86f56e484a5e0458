"""Rows of cells as aligned text."""

from collections.abc import Sequence


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
