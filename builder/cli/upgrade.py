"""`followups upgrade ITEMS --out FILE`: items of the seven basic fields made whole for the schema."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from builder.core.errors import INVALID_DATA, OK, BuilderError, Problem


def upgrade(
    items: Annotated[Path, typer.Argument(help="JSONL of items with at least the seven basic fields")],
    out: Annotated[Path, typer.Option(help="Where the whole items go")],
) -> None:
    """Fill in what the schema requires of items with id, prefix, follow_up, gold, reference_type and both term lists.

    Distances and antecedent turns are derived; conversation_id is the id, form follows from the stratum, origin is
    authored, labelled_by human, weight and confidence 1. Fields that are given stay; distances are always derived.

    Example: followups upgrade items.jsonl --out whole.jsonl
    """
    from builder.core.item_rules import item_problems
    from builder.core.rows import item_from_row, item_to_row
    from builder.core.wording import counted
    from builder.io.schemas import schema_problems
    from builder.io.store import iter_jsonl, refuse_overwrite, write_jsonl
    from builder.stages.upgrade import upgrade_row

    refuse_overwrite(out, [items])
    rows, problems = [], []
    for number, row in iter_jsonl(items, "item file"):
        where = f"{items}:{number}"
        if isinstance(row, Problem) or not isinstance(row, dict):
            problems.append(
                row if isinstance(row, Problem) else Problem(where, "is no object", "give one item a line")
            )
            continue
        whole, found = upgrade_row(row, where)
        found = found or schema_problems("item", whole, where)
        if not found:
            item = item_from_row(whole)
            rows.append(item_to_row(item))
            found = item_problems(item, None, where)
        problems += found
    if not rows and not problems:
        raise BuilderError(str(items), "no items (0 lines)", "give JSONL of items", INVALID_DATA)
    for problem in problems:
        print(problem)
    if problems:
        print(f"{items}: {counted(len(problems), 'problem')}, nothing written", file=sys.stderr)
        raise typer.Exit(INVALID_DATA)
    print(f"{out}: {counted(write_jsonl(out, rows), 'item')}", file=sys.stderr)
    raise typer.Exit(OK)
