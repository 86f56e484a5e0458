"""The river as a whole: same bytes for any order, worker count and interruption."""

import hashlib
import json
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

SETTINGS = """
[set]
name = "sample"
license = "Apache-2.0"
seed = 5
[input]
transcripts = ["log"]
passages = "docs.jsonl"
entities = "entities.json"
labels = ["labels-a.jsonl", "labels-b.jsonl"]
[stratify]
size = 60
floor = 4
[synthesize]
share = 0.5
"""


def digest_of(folder: Path) -> str:
    """One digest over every file of a folder, names and bytes."""
    state = hashlib.sha256()
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        state.update(str(path.relative_to(folder)).encode() + b"\0" + path.read_bytes())
    return state.hexdigest()


def lay_out(folder: Path, root: Path, shuffle: int = 0, files: int = 2) -> Path:
    """A settings file with a part of the Halyard log beside it, its lines and files in an order of its own."""
    halyard = root / "data" / "halyard"
    lines = [
        line
        for name in ("transcripts-a.jsonl", "transcripts-b.jsonl")
        for line in (halyard / name).read_text().splitlines()[:24]
    ]
    random.Random(shuffle).shuffle(lines)
    (folder / "log").mkdir(parents=True)
    for number in range(files):
        (folder / "log" / f"{(number * 7 + shuffle) % 10}.jsonl").write_text(
            "\n".join(lines[number::files]) + "\n"
        )
    for name in ("docs.jsonl", "entities.json", "labels-a.jsonl", "labels-b.jsonl"):
        shutil.copy(halyard / name, folder)
    (folder / "dataset.toml").write_text(SETTINGS)
    return folder / "dataset.toml"


def command(config: Path, out: Path, *more: str) -> list[str]:
    return [
        sys.executable,
        "-m",
        "builder",
        "build",
        "--config",
        str(config),
        "--out",
        str(out),
        "--quiet",
        *more,
    ]


def release_of(out: Path) -> Path:
    return out / "sample" / "v1.0.0"


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory, root: Path) -> Path:
    folder = tmp_path_factory.mktemp("undisturbed")
    config = lay_out(folder, root)
    done = subprocess.run(command(config, folder / "dist", "--workers", "1"), capture_output=True, text=True)
    assert done.returncode in (0, 5), done.stderr
    return release_of(folder / "dist")


def test_a_build_ends_in_a_release_that_validates(undisturbed: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "builder", "validate", str(undisturbed)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    items = [json.loads(line) for line in (undisturbed / "items.jsonl").read_text().splitlines()]
    assert len({item["id"] for item in items}) == len(items) > 40
    assert any(item["origin"] == "synthetic" for item in items)


@pytest.mark.slow
def test_shuffled_files_and_lines_and_two_workers_give_the_same_bytes(
    undisturbed: Path, tmp_path: Path, root: Path
) -> None:
    for shuffle, files, workers in ((3, 3, "2"), (8, 1, "1")):
        config = lay_out(tmp_path / str(shuffle), root, shuffle, files)
        out = tmp_path / str(shuffle) / "dist"
        subprocess.run(command(config, out, "--workers", workers), capture_output=True, check=False)
        assert digest_of(release_of(out)) == digest_of(undisturbed)


@pytest.mark.slow
def test_killed_at_twenty_moments_it_ends_with_the_same_digest(
    undisturbed: Path, tmp_path: Path, root: Path
) -> None:
    config = lay_out(tmp_path, root)
    out = tmp_path / "dist"
    moments = random.Random(1)
    started = time.monotonic()
    subprocess.run(
        command(lay_out(tmp_path / "timed", root), tmp_path / "timed" / "dist"), capture_output=True
    )
    whole = time.monotonic() - started
    killed = 0
    while killed < 20:
        process = subprocess.Popen(command(config, out), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            process.wait(moments.uniform(0.05, 0.6) * whole)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            killed += 1
            continue
        # It came to its end between two kills: start over, so that all twenty hit a running build.
        assert digest_of(release_of(out)) == digest_of(undisturbed)
        shutil.rmtree(out)
    done = subprocess.run(command(config, out), capture_output=True, text=True)
    assert done.returncode in (0, 5), done.stderr
    assert digest_of(release_of(out)) == digest_of(undisturbed)


@pytest.mark.slow
def test_an_unchanged_second_run_does_nothing_and_says_so(undisturbed: Path) -> None:
    out = undisturbed.parent.parent
    before = digest_of(undisturbed)
    done = subprocess.run(command(out.parent / "dataset.toml", out), capture_output=True, text=True)
    assert "unchanged" in done.stdout
    assert digest_of(undisturbed) == before
    assert [p.name for p in undisturbed.parent.iterdir()] == ["v1.0.0"]
