"""What publishing a release takes, decided before anything is sent: what stands against it, and what is sent."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from builder.core.errors import Problem
from builder.core.versions import parse_version

NEW, RESUME, DONE = "new", "resume", "done"
LATEST = "latest"


def unfit(
    manifest: Mapping[str, Any], front: Mapping[str, Any], where: str, reviewed: bool
) -> Iterator[Problem]:
    """What in a release itself stands against publishing it.

    Args:
        manifest: Its manifest.
        front: The metadata of its card.
        where: Its folder.
        reviewed: Whether a person takes responsibility for redaction findings that nobody looked at.
    """
    settings = manifest["settings"]
    if not front.get("license"):
        yield Problem(
            f"{where}/README.md: license", "is not set", "set [set] license to an SPDX id and build again"
        )
    if not settings["set"]["source_statement"]:
        fix = "say in one sentence where the transcripts come from, and build again"
        yield Problem(f"{where}: [set] source_statement", "is empty", fix)
    for key in ("pretty_name", "configs", "dataset_info", "tags"):
        if not front.get(key):
            yield Problem(f"{where}/README.md: {key}", "is missing from the card", "build the release again")
    redacted = manifest["counts"].get("redact") or {}
    if not redacted.get("enabled", False) and not reviewed:
        fix = "build with [redact] enabled, or pass --redaction-reviewed when the log holds nothing private"
        yield Problem(f"{where}: redact", "the log was not redacted", fix)
    unsure = redacted.get("unreviewed", 0)
    if unsure and not reviewed:
        fix = "look at them with `followups redact`, then pass --redaction-reviewed"
        yield Problem(f"{where}: redact", f"{unsure} findings are unsure and nobody looked at them", fix)


def standing(
    version: str, digest: str, tags: Mapping[str, str], digest_at: Callable[[str], str], head: str, repo: str
) -> tuple[str, list[Problem]]:
    """Where a publication stands: new, resume (committed, not tagged), or done; and what stands against it.

    Args:
        version: The release's version, such as 1.1.0.
        digest: Digest of its manifest.
        tags: Tags of the repository.
        digest_at: Revision -> digest of the manifest there; "" when it has none.
        head: Commit of the main branch; "" when the repository is not there.
        repo: Its name.
    """
    tag = f"v{version}"
    if tag in tags:
        if digest_at(tag) == digest:
            return DONE, []
        fix = "a tag is never moved: build a new version"
        return NEW, [Problem(f"{repo}@{tag}", "the tag is there with another content", fix)]
    mine = parse_version(version)
    taken = sorted((known, name) for name in tags if (known := parse_version(name)))
    if taken and mine and mine < taken[-1][0]:
        fix = "build on the newest release: put it into the output folder first"
        return NEW, [Problem(f"{repo}@{tag}", f"is older than the tag {taken[-1][1]}", fix)]
    return (RESUME if head and digest_at(head) == digest else NEW), []


@dataclass(frozen=True, slots=True)
class Sending:
    """What one commit would do.

    Attributes:
        add: Path -> bytes of files that are new.
        change: Path -> bytes of files that differ.
        same: Paths that are there already.
        delete: Paths of the previous release that this one no longer has.
    """

    add: Mapping[str, bytes]
    change: Mapping[str, bytes]
    same: tuple[str, ...]
    delete: tuple[str, ...]


def plan_sending(
    files: Mapping[str, bytes],
    there: Mapping[str, tuple[int, str]],
    earlier: Mapping[str, str],
    same: Callable[[bytes, tuple[int, str]], bool],
) -> Sending:
    """Which files a commit adds, changes and removes. Files that no release made are left alone.

    Args:
        files: Path -> bytes of the release.
        there: Path -> (size, digest) in the repository.
        earlier: Files that the manifest in the repository states.
        same: Whether bytes are those of a (size, digest).
    """  # fmt: skip
    add = {path: data for path, data in files.items() if path not in there}
    unchanged = tuple(path for path, data in files.items() if path in there and same(data, there[path]))
    change = {path: data for path, data in files.items() if path in there and path not in unchanged}
    delete = tuple(sorted(path for path in earlier if path in there and path not in files))
    return Sending(add, change, unchanged, delete)


def describe_sending(sending: Sending, there: Mapping[str, tuple[int, str]]) -> list[str]:
    """The exact list of files with sizes, one a line: + new, ~ changed (size before), - removed, = the same."""
    lines = [f"+ {path}  {len(data):,} bytes" for path, data in sorted(sending.add.items())]
    for path, data in sorted(sending.change.items()):
        lines.append(f"~ {path}  {len(data):,} bytes (was {there[path][0]:,})")
    lines += [f"- {path}  (was {there[path][0]:,} bytes)" for path in sending.delete]
    return lines + [f"= {path}" for path in sorted(sending.same)]
