"""`followups validate RELEASE_OR_ITEMS`: every problem with its file, line, field, value and remedy."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from builder.core.errors import INVALID_DATA, OK


def validate(
    path: Annotated[Path, typer.Argument(help="A release, a folder of releases, or a JSONL file of items")],
    passages: Annotated[
        Path | None,
        typer.Option(help="The corpus of today: finds items whose gold passage moved or changed"),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object")] = False,
) -> None:
    """Check items, seats, weights, passages and digests; exit 4 when anything is wrong.

    Example: followups validate dist
    """
    from builder.io.store import to_json
    from builder.pipeline.checking import validate_path

    checked = validate_path(path, passages)
    if as_json:
        problems = [{"where": p.where, "what": p.what, "fix": p.fix} for p in checked.problems]
        print(to_json({"items": checked.n_items, "short": checked.short, "problems": problems}).decode())
    else:
        for problem in checked.problems:
            print(problem)
    n = len(checked.problems)
    found = "valid" if not n else f"{n} problem{'s' if n > 1 else ''}"
    short = f", {checked.short} seats declared short" if checked.short else ""
    print(f"{path}: {checked.n_items} items, {found}{short}", file=sys.stderr)
    raise typer.Exit(INVALID_DATA if n else OK)
