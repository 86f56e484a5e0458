"""`followups diff A B`: items added, retired, relabelled, and what stays comparable."""

from pathlib import Path
from typing import Annotated

import typer

from builder.core.versions import Diff

_LISTED = 20


def diff(
    release_a: Annotated[Path, typer.Argument(help="The older release")],
    release_b: Annotated[Path, typer.Argument(help="The newer release")],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object")] = False,
) -> None:
    """Say what changed between two releases and which version step follows from it.

    Example: followups diff dist/support/v1.0.0 dist/support/v1.1.0
    """
    from builder.core.versions import compare, diff_to_row, next_version, write_version
    from builder.io.store import to_json
    from builder.pipeline.snapshots import read_manifest, read_snapshot
    from builder.pipeline.sources import find_release

    folders = find_release(release_a), find_release(release_b)
    old, new = map(read_snapshot, folders)
    sets = [str(read_manifest(folder)["name"]) for folder in folders]
    found = compare(old, new)
    follows = write_version(next_version(old.version, found.level))
    if as_json:
        versions = {"from": write_version(old.version), "to": write_version(new.version), "follows": follows}
        print(to_json({"sets": sets, **versions, **diff_to_row(found)}).decode())
        return
    if sets[0] != sets[1]:
        print(f"different sets: {sets[0]} and {sets[1]}; their versions do not follow from each other")
    print(f"v{write_version(old.version)} to v{write_version(new.version)}: {found.level or 'no'} change")
    print("\n".join(describe(found)))


def describe(diff: Diff) -> list[str]:
    """The lines that `diff` prints below its heading."""
    from builder.core.tables import render_table
    from builder.core.versions import reasons

    lines = [f"  {reason}" for reason in reasons(diff)]
    for title, ids in (("added", diff.added), ("retired", diff.retired), ("text changed", diff.reworded)):
        if ids:
            more = f" and {len(ids) - _LISTED} more (--json lists all)" if len(ids) > _LISTED else ""
            lines += ["", f"{title}: {', '.join(ids[:_LISTED])}{more}"]
    if diff.relabelled:
        lines += ["", "relabelled:"]
        for item in diff.relabelled:
            changes = "; ".join(f"{name} {before!r} -> {after!r}" for name, before, after in item.fields)
            lines.append(f"  {item.id}: {changes}"[:400])
    if diff.strata:
        table = [(name, str(before), str(after)) for name, before, after in diff.strata]
        lines += ["", render_table(("items", "before", "after"), table)]
    if diff.reweighted:
        table = [(name, f"{before:.3f}", f"{after:.3f}") for name, before, after in diff.reweighted]
        lines += ["", render_table(("weights", "before", "after"), table)]
    if diff.rules:
        return [*lines, "", f"nothing compares: {', '.join(diff.rules)} changed"]
    return [*lines, "", f"{len(diff.bridge)} items compare: same labels in both"]
