"""A year of a set in small: September gives v1.0.0, October is found drifted, update and build give v1.1.0."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

SETTINGS = """
[set]
name = "halyard"
license = "Apache-2.0"
[input]
transcripts = ["{halyard}/transcripts-{month}.jsonl"]
passages = "{halyard}/docs.jsonl"
entities = "{halyard}/entities.json"
labels = ["{halyard}/labels-{month}.jsonl"]
[classify]
method = "rules"
[stratify]
size = 150
floor = 10
"""


def followups(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "builder", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


@pytest.mark.slow
def test_september_october_drift_update_and_build(tmp_path: Path, root: Path) -> None:
    configs = {}
    for name, month in (("september", "a"), ("october", "b")):
        configs[name] = tmp_path / f"{name}.toml"
        halyard = (root / "data" / "halyard").as_posix()
        configs[name].write_text(SETTINGS.format(halyard=halyard, month=month))
    out = tmp_path / "dist"
    quiet = ("--out", out, "--quiet")

    built = followups("build", "--config", configs["september"], *quiet)
    assert built.returncode in (0, 5), built.stderr
    first = out / "halyard" / "v1.0.0"
    assert first.is_dir()

    same = followups("quotas", "check", "--config", configs["september"], *quiet)
    assert same.returncode == 0, same.stdout
    plot = tmp_path / "months.svg"
    drifted = followups(
        "quotas", "check", "--config", configs["october"], "--json", "--by", "month", "--plot", plot, *quiet
    )
    assert drifted.returncode == 5, drifted.stderr
    found = json.loads(drifted.stdout)
    assert found["drifted"] == ["post_pivot_standalone"]
    assert list(found["months"]) == ["2026-10"]
    assert plot.read_text().count("<rect") == 10

    unchanged = followups("quotas", "update", "--config", configs["september"], "--dry-run", "--json", *quiet)
    assert all(row["kept"] == row["before"] for row in json.loads(unchanged.stdout)["plan"])
    updated = followups("quotas", "update", "--config", configs["october"], "--json", *quiet)
    plan = json.loads(updated.stdout)["plan"]
    assert sum(row["seats"] for row in plan) == 150
    again = followups("quotas", "update", "--config", configs["october"], "--json", *quiet)
    assert json.loads(again.stdout)["changed"] is False

    rebuilt = followups("build", "--config", configs["october"], *quiet)
    assert rebuilt.returncode in (0, 5), rebuilt.stderr
    second = out / "halyard" / "v1.1.0"
    difference = json.loads(followups("diff", first, second, "--json").stdout)
    kept = sum(row["kept"] for row in plan)
    assert difference["follows"] == "1.1.0"
    assert len(difference["bridge"]) == kept
    assert kept >= 0.8 * sum(row["before"] for row in plan)
    assert len(difference["retired"]) == sum(row["retired"] for row in plan)
    for name in (*difference["added"], *difference["retired"]):
        assert name in (second / "CHANGELOG.md").read_text()
    for folder in (first, second):
        assert followups("validate", folder).returncode == 0
        rows = [json.loads(line) for line in (folder / "items.jsonl").read_text().splitlines()]
        assert sum(row["weight"] for row in rows) == pytest.approx(len(rows), abs=1e-3)

    before = {p.name: p.read_bytes() for p in second.iterdir() if p.is_file()}
    frozen = followups("build", "--config", configs["september"], "--freeze-items", *quiet)
    assert frozen.returncode in (0, 5), frozen.stderr
    assert {p.name: p.read_bytes() for p in second.iterdir() if p.is_file()} == before
    newest = sorted((out / "halyard").glob("v*"))[-1]
    assert followups("validate", newest).returncode == 0
    items = [json.loads(line)["id"] for line in (newest / "items.jsonl").read_text().splitlines()]
    assert items == [json.loads(line)["id"] for line in (second / "items.jsonl").read_text().splitlines()]
