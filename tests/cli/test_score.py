from pathlib import Path

import orjson
import pytest

from builder.cli import run
from builder.core.rows import item_to_row
from builder.io.store import write_jsonl, write_text
from tests.scoring.sample import HALYARD, ORDINAL, PIVOT

GATE = "[strata.post_pivot_standalone]\ncontamination = { ceiling = 0.5 }\nrecall = { largest_drop = 0.9 }\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_jsonl(tmp_path / "items.jsonl", map(item_to_row, [PIVOT, ORDINAL]))
    good = ("docs/billing-export#pagination",)
    write_jsonl(
        tmp_path / "clean.jsonl",
        [
            {"id": "fu_pivot", "rewrite": "billing export API pages", "retrieved": list(good)},
            {"id": "fu_ordinal", "rewrite": "Dublin uptime commitment", "retrieved": ["docs/dublin#sla"]},
        ],
    )
    write_jsonl(
        tmp_path / "stale.jsonl",
        [
            {"id": "fu_pivot", "rewrite": "billing export API pages in Dublin", "retrieved": []},
            {"id": "fu_ordinal", "rewrite": None},
        ],
    )
    write_text(tmp_path / "gate.toml", GATE)
    return tmp_path


def test_a_run_is_scored_and_printed_by_stratum(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["score", str(folder / "items.jsonl"), str(folder / "clean.jsonl")]) == 0
    printed = capsys.readouterr().out
    assert "post_pivot_standalone" in printed
    assert "clean and found 2" in printed


def test_an_undecided_gate_ends_with_three_and_writes_every_file(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {name: folder / f"out.{name}" for name in ("html", "junit", "markdown")}
    arguments = ["score", str(folder / "items.jsonl"), str(folder / "stale.jsonl"), "--json"]
    arguments += ["--baseline", str(folder / "clean.jsonl"), "--gate", str(folder / "gate.toml")]
    for name, path in files.items():
        arguments += [f"--{name}", str(path)]
    assert run(arguments) == 3
    row = orjson.loads(capsys.readouterr().out)
    assert {verdict["verdict"] for verdict in row["gate"]["verdicts"]} == {"too few to tell"}
    assert files["html"].read_text().startswith("<!doctype html>")
    assert files["junit"].read_text().startswith("<?xml")
    assert "gate NOT passed" in files["markdown"].read_text()


def test_a_gate_that_lets_undecided_through_ends_with_zero(folder: Path) -> None:
    write_text(folder / "gate.toml", f'undecided = "passes"\n{GATE}')
    arguments = ["score", str(folder / "items.jsonl"), str(folder / "clean.jsonl")]
    both = ["--baseline", str(folder / "clean.jsonl"), "--gate", str(folder / "gate.toml")]
    assert run([*arguments, *both]) == 0


def test_the_markdown_summary_is_added_to_what_is_there(folder: Path) -> None:
    write_text(folder / "summary.md", "# Build\n")
    arguments = ["score", str(folder / "items.jsonl"), str(folder / "clean.jsonl")]
    assert run([*arguments, "--markdown", str(folder / "summary.md")]) == 0
    assert (folder / "summary.md").read_text().startswith("# Build\n## ")


@pytest.mark.parametrize(
    ("more", "code", "message"),
    [
        (["--gate", "gate.toml"], 2, "need a baseline; give --baseline RUN"),
        (["--junit", "x.xml"], 2, "--junit: there are no verdicts without a gate"),
        (["--k", "0"], 2, "--k: the cut-off is 0"),
        (["--baseline", "other.jsonl"], 4, "other.jsonl: fu_other: no item of the set has this id"),
        (["--retrieved", "rank.trec"], 4, "rank.trec: fu_other: ranks an id that the run has not"),
        (["--baseline", "nowhere.at_all:rewrite"], 2, "cannot import it"),
    ],
)
def test_misuse_and_bad_data_are_said_and_coded(
    folder: Path,
    more: list[str],
    code: int,
    message: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(folder)
    write_jsonl(folder / "other.jsonl", [{"id": "fu_other", "rewrite": "q"}])
    write_text(folder / "rank.trec", "fu_other Q0 a 1 1.0 t\n")
    assert run(["score", "items.jsonl", "clean.jsonl", *more]) == code
    assert message in capsys.readouterr().err


def test_a_cut_off_that_the_gate_was_not_set_for_is_refused(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_text(folder / "gate.toml", f"k = 5\n{GATE}")
    arguments = ["score", str(folder / "items.jsonl"), str(folder / "clean.jsonl"), "--k", "10"]
    assert run([*arguments, "--gate", str(folder / "gate.toml")]) == 2
    assert "--k: is 10, but the gate was set for 5" in capsys.readouterr().err


def test_a_run_without_rankings_is_searched_in_the_given_passages(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bare = [{"id": "fu_pivot", "rewrite": "billing export"}, {"id": "fu_ordinal", "rewrite": "Dublin uptime"}]
    write_jsonl(folder / "bare.jsonl", bare)
    arguments = ["score", str(folder / "items.jsonl"), str(folder / "bare.jsonl")]
    assert run(arguments) == 0
    captured = capsys.readouterr()
    assert "no passages: retrieval is not measured" in captured.err
    assert "recall@5" not in captured.out
    assert run([*arguments, "--passages", str(HALYARD / "docs.jsonl")]) == 0
    assert "recall@5" in capsys.readouterr().out


def test_another_version_of_the_set_is_split_into_mix_and_within(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_jsonl(folder / "old.jsonl", [item_to_row(PIVOT)])
    write_jsonl(folder / "older.jsonl", [{"id": "fu_pivot", "rewrite": "billing export", "retrieved": []}])
    arguments = ["score", str(folder / "items.jsonl"), str(folder / "clean.jsonl")]
    both = ["--baseline", str(folder / "older.jsonl"), "--baseline-release", str(folder / "old.jsonl")]
    assert run([*arguments, *both]) == 0
    assert "no evidence, only one version of the set measures ordinal" in capsys.readouterr().out
