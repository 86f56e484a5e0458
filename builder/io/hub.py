"""The Hugging Face Hub, as far as publishing needs it; every failure becomes one sentence that names no token."""

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from builder.core.errors import BuilderError

AGAIN = "run the same command again: what is done is found done"


@dataclass(frozen=True, slots=True)
class Remote:
    """What a dataset repository holds at one moment.

    Attributes:
        head: Commit of the main branch; "" when there is no repository.
        tags: Tag -> commit.
        branches: Branch -> commit.
        files: Path -> (size, digest) at the head; the digest is SHA-256 for large files, git's own for others.
    """

    head: str = ""
    tags: Mapping[str, str] = field(default_factory=dict)
    branches: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, tuple[int, str]] = field(default_factory=dict)


def same_content(data: bytes, stated: tuple[int, str]) -> bool:
    """Whether `data` is what the repository holds under a (size, digest): SHA-256, or git's blob digest."""
    size, known = stated
    if len(data) != size:
        return False
    if len(known) == 64:
        return hashlib.sha256(data).hexdigest() == known
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest() == known


@contextmanager
def _told(repo: str, doing: str) -> Iterator[None]:
    """Turn what the client raises while `doing` into one sentence; its own text may hold headers and is left out."""
    from httpx2 import HTTPError
    from huggingface_hub.errors import HfHubHTTPError, LocalTokenNotFoundError

    try:
        yield
    except LocalTokenNotFoundError:
        raise BuilderError(
            repo, "no token for the Hub", "set HF_TOKEN, or log in with `hf auth login`"
        ) from None
    except HfHubHTTPError as error:
        raise _refusal(repo, doing, error.response.status_code if error.response is not None else 0) from None
    except (HTTPError, OSError) as error:
        raise BuilderError(
            repo, f"the connection broke while {doing} ({type(error).__name__})", AGAIN
        ) from None


def _refusal(repo: str, doing: str, status: int) -> BuilderError:
    if status in (401, 403):
        fix = "check that HF_TOKEN is valid and may write to this repository"
        return BuilderError(repo, f"the Hub refused the token while {doing} ({status})", fix)
    if status == 412:
        fix = "look at what was pushed, then run the same command again"
        return BuilderError(repo, "someone else pushed since this run looked (412); nothing was changed", fix)
    if status == 409:
        return BuilderError(repo, f"the Hub reports a conflict while {doing} (409)", AGAIN)
    return BuilderError(repo, f"the Hub answered {status or 'nothing'} while {doing}", AGAIN)


class Hub:
    """A dataset repository on the Hub, under the token of the usual places (HF_TOKEN, or a stored login)."""

    def __init__(self, repo: str) -> None:
        from huggingface_hub import HfApi
        from huggingface_hub.utils.tqdm import disable_progress_bars

        disable_progress_bars()
        self.repo = repo
        self._api: Any = HfApi()

    def who(self) -> str:
        """The account that the token belongs to."""
        with _told(self.repo, "checking the token"):
            return str(self._api.whoami()["name"])

    def look(self) -> Remote:
        """What the repository holds now."""
        from huggingface_hub.errors import RepositoryNotFoundError

        with _told(self.repo, "looking at the repository"):
            try:
                refs = self._api.list_repo_refs(self.repo, repo_type="dataset")
            except RepositoryNotFoundError:
                return Remote()
            branches = {ref.name: ref.target_commit for ref in refs.branches}
            head = branches.get("main", "")
            return Remote(head, {r.name: r.target_commit for r in refs.tags}, branches, self._files(head))

    def _files(self, revision: str) -> dict[str, tuple[int, str]]:
        entries = self._api.list_repo_tree(self.repo, recursive=True, revision=revision, repo_type="dataset")
        files = [entry for entry in entries if hasattr(entry, "blob_id")]
        return {f.path: (f.size, f.lfs.sha256 if f.lfs else f.blob_id) for f in files}

    def read(self, path: str, revision: str) -> bytes | None:
        """The bytes of a file at a revision; None when it is not there."""
        from huggingface_hub.errors import EntryNotFoundError, LocalEntryNotFoundError, RevisionNotFoundError

        with _told(self.repo, f"reading {path}"), TemporaryDirectory() as cache:
            try:
                place = self._api.hf_hub_download(
                    self.repo, path, revision=revision, repo_type="dataset", cache_dir=cache
                )
            except LocalEntryNotFoundError:
                # The client's word for a broken connection when nothing is cached.
                raise ConnectionError from None
            except (EntryNotFoundError, RevisionNotFoundError):
                return None
            return Path(place).read_bytes()

    def create(self, private: bool) -> None:
        """Make the repository, unless it is there."""
        with _told(self.repo, "creating the repository"):
            self._api.create_repo(self.repo, repo_type="dataset", private=private, exist_ok=True)

    def commit(
        self, add: Mapping[str, bytes], delete: list[str], title: str, parent: str, as_pull_request: bool
    ) -> tuple[str, str]:
        """One commit on top of `parent`, or a pull request; returns (commit, address of the pull request or "")."""
        from huggingface_hub import CommitOperationAdd, CommitOperationDelete

        operations: list[Any] = [CommitOperationAdd(path, data) for path, data in sorted(add.items())]
        operations += [CommitOperationDelete(path) for path in sorted(delete)]
        with _told(self.repo, "committing"):
            done = self._api.create_commit(
                self.repo,
                operations,
                commit_message=title,
                repo_type="dataset",
                parent_commit=parent,
                create_pr=as_pull_request,
            )
        return done.oid, done.pr_url or ""

    def tag(self, name: str, commit: str) -> None:
        """Set a tag that does not exist yet."""
        with _told(self.repo, f"tagging {name}"):
            self._api.create_tag(self.repo, tag=name, revision=commit, repo_type="dataset")

    def point(self, branch: str, commit: str, exists: bool) -> None:
        """Let a branch stand at a commit; the Hub moves no branch, so an old one is removed first."""
        with _told(self.repo, f"moving {branch}"):
            if exists:
                self._api.delete_branch(self.repo, branch=branch, repo_type="dataset")
            self._api.create_branch(self.repo, branch=branch, revision=commit, repo_type="dataset")

    def load(self, config: str, split: str, revision: str) -> list[dict[str, Any]]:
        """The rows of one table at a revision, as a user's `datasets.load_dataset` gives them, from an empty cache."""
        import datasets

        datasets.disable_progress_bars()
        with _told(self.repo, f"loading {config} back"), TemporaryDirectory() as cache:
            table = datasets.load_dataset(self.repo, config, split=split, revision=revision, cache_dir=cache)
            return list(table)
