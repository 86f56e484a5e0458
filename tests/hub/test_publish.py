"""Publishing over HTTP with the real client: once, again, onwards, and against everything that can go wrong."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from builder.core.records import Item
from tests.hub.fake_hub import TOKEN, FakeHub, serving
from tests.pipeline.halyard_set import halyard_items, pick, release, weighed

REPO = "acme/small"


@pytest.fixture(scope="module")
def releases(tmp_path_factory: pytest.TempPathFactory, root: Path) -> tuple[Path, Path]:
    """v1.0.0, and v1.1.0 with one item retired and some added."""
    folder = tmp_path_factory.mktemp("releases")
    items: list[Item] = halyard_items(root)
    first, _ = release(folder, root, pick(items))
    second, _ = release(folder, root, weighed([*pick(items)[1:], *pick(items, 1, skip=3)[:2]]))
    return first, second


@pytest.fixture
def hub() -> FakeHub:
    return FakeHub()


@pytest.fixture
def address(hub: FakeHub) -> Iterator[str]:
    with serving(hub) as url:
        yield url


def settings_for(address: str, home: Path, token: str = TOKEN) -> dict[str, str]:
    # HF_ENDPOINT is read when the client is imported, so the client runs in a process of its own.
    kept = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
    own = {"HF_ENDPOINT": address, "HF_HOME": str(home), "HF_HUB_DISABLE_XET": "1", "HF_TOKEN": token}
    return {**kept, **own, "HF_HUB_DISABLE_TELEMETRY": "1"}


def publish(
    folder: Path, address: str, home: Path, *more: str, token: str = TOKEN
) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "builder", "publish", str(folder), "--repo", REPO, *more]
    environment = settings_for(address, home, token)
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)


def test_a_dry_run_names_every_file_and_sends_nothing(
    releases: tuple[Path, Path], hub: FakeHub, address: str, tmp_path: Path
) -> None:
    done = publish(releases[0], address, tmp_path, "--dry-run")
    assert done.returncode == 0, done.stderr
    for path in releases[0].rglob("*"):
        if path.is_file():
            assert (
                f"+ {path.relative_to(releases[0]).as_posix()}  {path.stat().st_size:,} bytes" in done.stdout
            )
    assert hub.repos == {}
    assert all(line.startswith(("GET", "HEAD")) for line in hub.log)


def test_a_dry_run_without_a_hub_lists_the_release_and_says_that_it_could_not_look(
    releases: tuple[Path, Path], tmp_path: Path
) -> None:
    done = publish(releases[0], "http://127.0.0.1:9", tmp_path, "--dry-run")
    assert done.returncode == 1
    for path in releases[0].rglob("*"):
        if path.is_file():
            name = path.relative_to(releases[0]).as_posix()
            assert f"{name}  {path.stat().st_size:,} bytes\n" in done.stdout
    assert f"{REPO}: the repository could not be looked at (" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_publish_again_onwards_and_never_over_a_tag(
    releases: tuple[Path, Path], hub: FakeHub, address: str, tmp_path: Path
) -> None:
    first, second = releases
    done = publish(first, address, tmp_path)
    assert done.returncode == 0, done.stderr
    assert "loaded back with datasets, digests agree" in done.stdout
    repo = hub.repos[REPO]
    assert repo.private
    assert len(repo.commits) == 2  # the Hub's first one, and ours
    assert repo.tags["v1.0.0"] == repo.heads["main"] == repo.heads["latest"]

    again = publish(first, address, tmp_path)
    assert (again.returncode, len(repo.commits)) == (0, 2)
    assert "published already with the same digest" in again.stdout

    repo.push("README.md", (repo.text("README.md") + "\n## Thanks\n\nTo Ada, by hand.\n").encode())
    onwards = publish(second, address, tmp_path)
    assert onwards.returncode == 0, onwards.stderr
    assert repo.tags["v1.1.0"] == repo.heads["main"] == repo.heads["latest"]
    assert "To Ada, by hand." in repo.text("README.md")
    assert repo.text("manifest.json", "v1.0.0") == (first / "manifest.json").read_text()

    repo.tags["v1.1.0"] = repo.tags["v1.0.0"]
    moved = publish(second, address, tmp_path)
    assert moved.returncode == 1
    assert "a tag is never moved" in moved.stderr

    repo.tags["v9.0.0"] = repo.tags.pop("v1.1.0")
    older = publish(second, address, tmp_path)
    assert older.returncode == 1
    assert "is older than the tag v9.0.0" in older.stderr


@pytest.mark.slow
def test_a_push_by_someone_else_in_between_stops_without_damage(
    releases: tuple[Path, Path], hub: FakeHub, address: str, tmp_path: Path
) -> None:
    assert publish(releases[0], address, tmp_path).returncode == 0
    repo = hub.repos[REPO]
    theirs: list[str] = []
    hub.before_commit = lambda: theirs.append(repo.push("notes.md", b"theirs"))
    done = publish(releases[1], address, tmp_path)
    assert done.returncode == 1
    assert "someone else pushed since this run looked (412); nothing was changed" in done.stderr
    assert repo.heads["main"] == theirs[0]
    assert "v1.1.0" not in repo.tags
    assert publish(releases[1], address, tmp_path).returncode == 0
    assert repo.text("notes.md") == "theirs"


def test_a_wrong_token_is_refused_and_never_printed(
    releases: tuple[Path, Path], hub: FakeHub, address: str, tmp_path: Path
) -> None:
    secret = "hf_wrongSecretToken"
    done = publish(releases[0], address, tmp_path, token=secret)
    assert done.returncode == 1
    assert "the Hub refused the token while checking the token (401)" in done.stderr
    assert secret not in done.stdout + done.stderr
    assert hub.repos == {}


@pytest.mark.slow
def test_a_pull_request_leaves_main_alone_and_is_tagged_once_merged(
    releases: tuple[Path, Path], hub: FakeHub, address: str, tmp_path: Path
) -> None:
    assert publish(releases[0], address, tmp_path).returncode == 0
    repo = hub.repos[REPO]
    before = repo.heads["main"]
    done = publish(releases[1], address, tmp_path, "--create-pr")
    assert done.returncode == 0, done.stderr
    assert "discussions/1" in done.stdout
    assert (repo.heads["main"], "v1.1.0" in repo.tags) == (before, False)
    repo.heads["main"] = repo.heads["refs/pr/1"]
    assert publish(releases[1], address, tmp_path).returncode == 0
    assert repo.tags["v1.1.0"] == repo.heads["main"]


def test_an_unfit_release_is_not_sent(hub: FakeHub, address: str, tmp_path: Path, root: Path) -> None:
    bare, _ = release(
        tmp_path / "bare", root, pick(halyard_items(root)), lambda t: t.replace('license = "Apache-2.0"', "")
    )
    done = publish(bare, address, tmp_path)
    assert done.returncode == 4
    assert "license: is not set" in done.stderr
    assert hub.log == []


LOOP = """
import contextlib, io, json, os, sys
from builder.cli import run
for line in sys.stdin:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run(json.loads(line))
    print(json.dumps([code, out.getvalue(), err.getvalue()]), flush=True)
"""


@pytest.mark.slow
@pytest.mark.parametrize("after_acting", [False, True], ids=["request lost", "answer lost"])
def test_cut_at_every_request_in_turn_the_same_command_finishes(
    releases: tuple[Path, Path], hub: FakeHub, address: str, tmp_path: Path, after_acting: bool
) -> None:
    client = subprocess.Popen(
        [sys.executable, "-c", LOOP],
        env=settings_for(address, tmp_path),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert client.stdin
    assert client.stdout

    def ask() -> tuple[int, str, str]:
        assert client.stdin
        assert client.stdout
        print(json.dumps(["publish", str(releases[0]), "--repo", REPO]), file=client.stdin, flush=True)
        code, out, err = json.loads(client.stdout.readline())
        return code, out, err

    def start(cut_at: int) -> None:
        hub.repos.clear()
        hub.large.clear()
        hub.log.clear()
        hub.cut_at, hub.cut_after_acting = cut_at, after_acting

    start(0)
    assert ask()[0] == 0
    n_requests = len(hub.log)
    assert n_requests > 20
    for cut_at in range(1, n_requests + 1):
        start(cut_at)
        code, _, err = ask()
        hub.cut_at = 0
        assert code in (0, 1), err
        assert "Traceback" not in err
        if code == 1:
            assert "run the same command again" in err
            code, _, err = ask()
        repo = hub.repos[REPO]
        assert code == 0, (cut_at, err)
        assert len(repo.commits) == 2, f"cut at request {cut_at}"
        assert repo.tags["v1.0.0"] == repo.heads["main"] == repo.heads["latest"]
    client.stdin.close()
    client.wait(timeout=30)
