"""CHANGELOG.md of a set: each release's section is written from the difference; what people wrote stays."""

import re

from builder.core.versions import Diff, reasons

TITLE = "# Changelog\n"
UNRELEASED = "## Unreleased"
_LISTED = 200


def extend_changelog(earlier: str, version: str, date: str, diff: Diff | None, size: int) -> str:
    """The change log with a section for `version` on top; everything below stays as it is, hand-written notes included.

    Notes under `## Unreleased` move into the new section.

    Args:
        earlier: CHANGELOG.md of the previous release; "" before the first.
        version: The new version, such as 1.1.0.
        date: ISO date; "" when none is known.
        diff: What changed; None for the first release.
        size: Items in the set.
    """
    body = earlier.removeprefix(TITLE).strip()
    notes, body = _take_unreleased(body)
    heading = f"## v{version}" + (f" ({date})" if date else "")
    lines = [heading, "", *(_first(size) if diff is None else _section(diff))]
    if notes:
        lines += ["", "### Notes", "", notes]
    return "\n".join([TITLE, *lines, *(["", body] if body else [])]) + "\n"


def _take_unreleased(body: str) -> tuple[str, str]:
    match = re.search(rf"^{UNRELEASED}\s*\n(.*?)(?=^## |\Z)", body, re.MULTILINE | re.DOTALL)
    if not match:
        return "", body
    return match[1].strip(), (body[: match.start()] + body[match.end() :]).strip()


def _first(size: int) -> list[str]:
    return [f"First release: {size} items."]


def _section(diff: Diff) -> list[str]:
    lines = [f"{'; '.join(reasons(diff)).capitalize()}."]
    if diff.rules:
        lines += ["", "Scores do not compare with earlier releases."]
    else:
        lines += ["", f"{len(diff.bridge)} items are the same in both releases: scores on them compare."]
    if diff.strata:
        lines += ["", "| stratum | items before | items after |", "|---|---|---|"]
        lines += [f"| {name} | {before} | {after} |" for name, before, after in diff.strata]
    if diff.reweighted:
        lines += ["", "| stratum | weight before | weight after |", "|---|---|---|"]
        lines += [f"| {name} | {before:.3f} | {after:.3f} |" for name, before, after in diff.reweighted]
    for title, ids in (("Added", diff.added), ("Retired", diff.retired), ("Reworded", diff.reworded)):
        if ids:
            more = f", and {len(ids) - _LISTED} more" if len(ids) > _LISTED else ""
            lines += ["", f"### {title}", "", ", ".join(ids[:_LISTED]) + more]
    if diff.relabelled:
        lines += ["", "### Relabelled", ""]
        lines += [f"- {item.id}: {', '.join(name for name, _, _ in item.fields)}" for item in diff.relabelled]
    return lines
