"""validate, upgrade, diff and export on the command line: results, remarks and exit codes."""

import json
import shutil
from pathlib import Path

import pytest

from builder.cli import run
from tests.pipeline.halyard_set import halyard_items, pick, release, weighed


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory, root: Path) -> Path:
    folder = tmp_path_factory.mktemp("cli")
    items = halyard_items(root)
    release(folder, root, pick(items))
    release(folder, root, weighed([*pick(items)[1:], *pick(items, 1, skip=3)[:1]]))
    return folder / "dist"


def test_a_valid_release_exits_with_0(dist: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["validate", str(dist)]) == 0
    told = capsys.readouterr()
    assert told.out == ""
    assert "24 items, valid" in told.err


def test_problems_go_to_stdout_and_exit_with_4(
    dist: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [json.loads(line) for line in (dist / "small" / "v1.0.0" / "items.jsonl").read_text().splitlines()]
    rows[1]["d_live"] = 40
    path = tmp_path / "items.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert run(["validate", str(path)]) == 4
    told = capsys.readouterr()
    assert told.out.startswith(f"{path}:2: {rows[1]['id']}: d_live: is 40, the antecedent turns give")
    assert run(["validate", str(path), "--json"]) == 4
    found = json.loads(capsys.readouterr().out)
    assert found["items"] == 24
    assert set(found["problems"][0]) == {"where", "what", "fix"}


def test_nothing_to_validate_is_not_a_success(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "empty.jsonl").write_text("\n")
    assert run(["validate", str(tmp_path / "empty.jsonl")]) == 4
    assert "no items (0 lines); build a release first" in capsys.readouterr().err
    assert run(["validate", str(tmp_path)]) == 1
    assert "no release here" in capsys.readouterr().err


def test_diff_tells_what_changed_and_what_compares(dist: Path, capsys: pytest.CaptureFixture[str]) -> None:
    older, newer = dist / "small" / "v1.0.0", dist / "small" / "v1.1.0"
    assert run(["diff", str(older), str(newer)]) == 0
    told = capsys.readouterr().out
    assert told.startswith("v1.0.0 to v1.1.0: minor change\n  1 item added\n  1 item retired\n")
    assert told.rstrip().endswith("23 items compare: same labels in both")
    assert run(["diff", str(newer), str(newer), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["level"] == "none"


def test_seven_fields_are_upgraded_to_items_that_validate(tmp_path: Path) -> None:
    row = {
        "id": "fu_0001",
        "prefix": ["what is the RPO of Dublin?", "In Dublin the documented RPO is 15 minutes."],
        "follow_up": "new topic: does the billing export API page its results?",
        "gold": ["docs/apis/billing-export#pagination"],
        "reference_type": "post_pivot_standalone",
        "forbidden_in_rewrite": ["Dublin", "RPO"],
        "required_in_rewrite": ["billing export"],
    }
    given, whole = tmp_path / "seven.jsonl", tmp_path / "whole.jsonl"
    given.write_text(json.dumps(row) + "\n")
    assert run(["validate", str(given)]) == 4
    assert run(["upgrade", str(given), "--out", str(whole)]) == 0
    assert run(["validate", str(whole)]) == 0


def test_an_upgrade_with_problems_writes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = tmp_path / "seven.jsonl"
    given.write_text('{"id": "fu_1"}\n')
    assert run(["upgrade", str(given), "--out", str(tmp_path / "whole.jsonl")]) == 4
    assert f"{given}:1: prefix: is missing" in capsys.readouterr().out
    assert not (tmp_path / "whole.jsonl").exists()


def test_an_unknown_tool_is_named_with_the_known_ones(
    dist: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["export", str(dist), "--to", "promptfo", "--out", str(tmp_path)]) == 2
    assert "did you mean promptfoo? one of inspect, promptfoo" in capsys.readouterr().err
    assert run(["export", str(dist), "--to", "trec", "--out", str(tmp_path)]) == 0
    assert (tmp_path / "qrels.txt").read_text().count("\n") >= 24


def test_a_release_without_its_manifest_is_told_from_no_release(
    dist: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lost = tmp_path / "dist" / "small" / "v1.0.0"
    shutil.copytree(dist / "small" / "v1.0.0", lost)
    (lost / "manifest.json").unlink()
    for path in (lost, lost.parent, tmp_path / "dist"):
        assert run(["validate", str(path)]) == 4
        assert capsys.readouterr().err == (
            f"{lost}: manifest.json is missing; restore it, or build the release again\n"
        )


def test_diff_of_two_sets_says_that_they_are_two(
    dist: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, other = dist / "small" / "v1.0.0", tmp_path / "v1.0.0"
    shutil.copytree(first, other)
    manifest = json.loads((other / "manifest.json").read_text())
    (other / "manifest.json").write_text(json.dumps({**manifest, "name": "large"}))
    assert run(["diff", str(first), str(other)]) == 0
    assert capsys.readouterr().out.startswith("different sets: small and large; their versions do not follow")
    assert run(["diff", str(first), str(other), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["sets"] == ["small", "large"]


def test_the_start_of_several_ids_lists_them(dist: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = dist / "small" / "v1.0.0"
    ids = sorted(json.loads(line)["id"] for line in (path / "items.jsonl").read_text().splitlines())
    assert run(["show", "fu_", "--release", str(path)]) == 2
    told = capsys.readouterr().err
    assert f'"fu_" is the start of 24 ids; give one of {", ".join(ids[:5])} and 19 more' in told
    starts = [name[:4] for name in ids]
    twice = next(start for start in starts if 1 < starts.count(start) <= 5)
    assert run(["show", twice, "--release", str(path)]) == 2
    assert (
        f"give one of {', '.join(name for name in ids if name.startswith(twice))}\n"
        in capsys.readouterr().err
    )


def test_an_export_without_a_folder_goes_beside_the_releases(
    dist: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["export", str(dist.resolve()), "--to", "trec"]) == 0
    assert any((tmp_path / "dist" / "export" / "trec").iterdir())
