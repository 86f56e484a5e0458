"""One release on the Hub: checks, one commit, a tag, and the proof that it loads back."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from builder.core.errors import INVALID_DATA, BuilderError, Problem
from builder.core.hashing import digest_bytes
from builder.core.rows import item_from_row
from builder.core.versions import parse_version, set_digest
from builder.io.hub import AGAIN, Hub, Remote, same_content
from builder.io.parquet import item_from_cells
from builder.pipeline.checking import check_release
from builder.pipeline.snapshots import read_manifest
from builder.stages.card import front_of, merge_cards
from builder.stages.publish import (
    DONE,
    LATEST,
    NEW,
    Sending,
    describe_sending,
    plan_sending,
    standing,
    unfit,
)

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Wish:
    """How to publish.

    Attributes:
        private: Whether a repository that is made now is private.
        dry_run: Say what would be sent and send nothing.
        create_pr: Open a pull request instead of committing to main.
        reviewed: A person takes responsibility for the redaction.
    """

    private: bool = True
    dry_run: bool = False
    create_pr: bool = False
    reviewed: bool = False


def publish_release(folder: Path, hub: Hub, wish: Wish, say: Say) -> str:
    """Publish the release in `folder`; returns the closing sentence.

    Each step is found done when it is done, so a run that was cut short is finished by the same command. The commit
    names its parent: when someone else has pushed since, the Hub refuses it and nothing is changed.

    Raises:
        BuilderError: The release is unfit, the repository has moved on, or the Hub cannot be reached.
    """
    manifest = _fit(folder, wish)
    tag = f"v{manifest['version']}"
    files = {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}
    own = digest_bytes(files["manifest.json"])
    if not wish.dry_run:
        say(f"token of {hub.who()}")
    remote = _look(hub, files, say) if wish.dry_run else hub.look()

    def digest_at(revision: str) -> str:
        return digest_bytes(hub.read("manifest.json", revision) or b"")

    state, problems = standing(manifest["version"], own, remote.tags, digest_at, remote.head, hub.repo)
    _raise(problems, "publish")
    if state == DONE:
        if not wish.dry_run and remote.branches.get(LATEST) != remote.tags[tag] and _is_newest(tag, remote):
            hub.point(LATEST, remote.tags[tag], LATEST in remote.branches)
        return f"{hub.repo}@{tag}: published already with the same digest; nothing to do"
    if wish.dry_run:
        sending = _sending(files, hub, remote)
        say("\n".join(describe_sending(sending, remote.files)))
        return f"{hub.repo}@{tag}: dry run, nothing was sent ({'to be created' if not remote.head else remote.head[:12]})"
    commit = remote.head
    if state == NEW:
        if not remote.head:
            hub.create(wish.private)
            remote = hub.look()
        sending = _sending(files, hub, remote)
        title = f"Release {tag}"
        commit, address = hub.commit(
            {**sending.add, **sending.change}, list(sending.delete), title, remote.head, wish.create_pr
        )
        if wish.create_pr:
            return f"{hub.repo}: pull request {address}; tag {tag} once it is merged by running this command again"
        say(f"committed {commit[:12]}")
    hub.tag(tag, commit)
    say(f"tagged {tag}")
    hub.point(LATEST, commit, LATEST in remote.branches)
    _prove(hub, tag, manifest, own)
    return f"{hub.repo}@{tag}: published; loaded back with datasets, digests agree"


def _look(hub: Hub, files: Mapping[str, bytes], say: Say) -> Remote:
    """What the repository holds; where that cannot be seen, at least what this release holds is said."""
    try:
        return hub.look()
    except BuilderError as error:
        say("\n".join(f"{path}  {len(data):,} bytes" for path, data in sorted(files.items())))
        what = (
            f"the repository could not be looked at ({error.problem.what}); listed is what the release holds"
        )
        raise BuilderError(hub.repo, what, error.problem.fix, error.code) from None


def _is_newest(tag: str, remote: Remote) -> bool:
    return parse_version(tag) == max(v for name in remote.tags if (v := parse_version(name)))


def _fit(folder: Path, wish: Wish) -> dict[str, Any]:
    """The manifest of a release that may be published."""
    problems = list(check_release(folder).problems)
    _raise(problems, "publish", INVALID_DATA)
    manifest = read_manifest(folder)
    front = front_of((folder / "README.md").read_text(encoding="utf-8"))
    _raise(list(unfit(manifest, front, str(folder), wish.reviewed)), "publish", INVALID_DATA)
    return manifest


def _raise(problems: list[Problem], where: str, code: int = 1) -> None:
    if problems:
        first = problems[0]
        if len(problems) == 1:
            raise BuilderError(first.where, first.what, first.fix, code)
        what = f"{len(problems)} things stand against publishing"
        raise BuilderError(where, what, "mend them and run the command again", code, problems)


def _sending(files: Mapping[str, bytes], hub: Hub, remote: Remote) -> Sending:
    """What the commit does, with the card merged with what people wrote into the one on the Hub."""
    sent = dict(files)
    earlier: dict[str, str] = {}
    if remote.head:
        card = hub.read("README.md", remote.head) if "README.md" in remote.files else None
        if card:
            sent["README.md"] = merge_cards(files["README.md"].decode(), card.decode()).encode()
        stated = hub.read("manifest.json", remote.head) if "manifest.json" in remote.files else None
        earlier = json.loads(stated)["digests"]["files"] if stated else {}
    return plan_sending(sent, remote.files, earlier, same_content)


def _prove(hub: Hub, tag: str, manifest: Mapping[str, Any], own: str) -> None:
    """Load the tag as a user would and compare with the manifest.

    Raises:
        BuilderError: What was loaded is not what was sent.
    """
    splits = manifest["splits"]
    items = [
        item_from_row(item_from_cells(cells)) for split in splits for cells in hub.load("items", split, tag)
    ]
    loaded = {"items": set_digest(items), "manifest": digest_bytes(hub.read("manifest.json", tag) or b"")}
    for name, stated in (("items", manifest["digests"]["set"]), ("manifest", own)):
        if loaded[name] != stated:
            what = f"{name} loaded from {tag} have digest {loaded[name][:12]}, sent were {stated[:12]}"
            raise BuilderError(hub.repo, what, f"do not use the tag; {AGAIN}")
