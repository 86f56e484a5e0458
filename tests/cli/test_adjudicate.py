import json
from pathlib import Path
from typing import Any

import pytest

from builder.cli import run
from tests.io.model_server import Answer, Script, serving
from tests.stages.second_reader import answers_by_message, asked_for, load


@pytest.fixture(scope="module")
def script(root: Path) -> Script:
    """A careful reader of Halyard's first log; it refuses what it does not know."""
    gold = answers_by_message(
        *load(root / "data/halyard/transcripts-a.jsonl", root / "data/halyard/labels-a.jsonl")
    )

    def answer(body: dict[str, Any], times: int) -> Answer:
        text = gold.get(asked_for(body["messages"][1]["content"]))
        return Answer(text) if text else Answer(refusal="I do not know this conversation.")

    return answer


def settings(folder: Path, url: str, **values: str) -> Path:
    lines = [f'base_url = "{url}"', 'name = "careful-reader"', "input_price = 0.25", "output_price = 2.0"]
    lines += [f"{name} = {value}" for name, value in values.items()]
    path = folder / "dataset.toml"
    path.write_text("[model]\n" + "\n".join(lines) + '\n[adjudicate]\nsource = "model"\nper_stratum = 12\n')
    return path


def test_adjudicate_writes_second_labels_and_says_what_they_cost(
    root: Path, tmp_path: Path, script: Script, capsys: pytest.CaptureFixture[str]
) -> None:
    log = str(root / "data/halyard/transcripts-a.jsonl")
    labels = tmp_path / "second.jsonl"
    with serving(script) as seen:
        config = str(settings(tmp_path, seen.url))
        command = [
            "adjudicate",
            log,
            "--config",
            config,
            "--fast",
            "--out",
            str(tmp_path),
            "--labels",
            str(labels),
        ]
        assert run(command) == 0
        first, n_asked = capsys.readouterr(), len(seen.bodies)
        assert run([*command, "--quiet"]) == 0
        assert len(seen.bodies) == n_asked
    rows = [json.loads(line) for line in labels.read_text().splitlines()]
    assert len(rows) > 40
    assert {row["labelled_by"] for row in rows} == {"llm"}
    assert "calls, about" in first.err
    assert "agreement with itself: kappa reference_type 1.00" in first.out
    assert capsys.readouterr().out == first.out


def test_a_reached_bound_ends_with_its_own_code(
    root: Path, tmp_path: Path, script: Script, capsys: pytest.CaptureFixture[str]
) -> None:
    log = str(root / "data/halyard/transcripts-a.jsonl")
    with serving(script) as seen:
        config = str(settings(tmp_path, seen.url))
        command = [
            "adjudicate",
            log,
            "--config",
            config,
            "--fast",
            "--out",
            str(tmp_path),
            "--max-cost",
            "0.02",
        ]
        assert run(command) == 6
    assert "finished calls are kept" in capsys.readouterr().err
    assert 0 < seen.cost(0.25, 2.0) <= 0.02


def test_the_prompt_is_shown_as_it_would_be_sent(
    root: Path, tmp_path: Path, script: Script, capsys: pytest.CaptureFixture[str]
) -> None:
    log = str(root / "data/halyard/transcripts-a.jsonl")
    assert run(["prompt", "hal-a-001#5", log, "--out", str(tmp_path)]) == 0
    shown = capsys.readouterr().out
    assert '{"turn": 5, "role": "user", "text": "and its rpo"}' in shown
    assert "1. not_a_query: nothing to retrieve" in shown
    with serving(script) as seen:
        config = str(settings(tmp_path, seen.url))
        assert run(["prompt", "hal-a-001#5", log, "--config", config, "--out", str(tmp_path), "--json"]) == 0
        body = json.loads(capsys.readouterr().out)
        command = [
            "adjudicate",
            log,
            "--config",
            config,
            "--fast",
            "--out",
            str(tmp_path),
            "--per-stratum",
            "400",
            "--quiet",
        ]
        assert run([*command, "--labels", str(tmp_path / "second.jsonl")]) == 0
    assert body in [json.loads(sent) for sent in seen.bodies]


def test_an_unknown_follow_up_names_the_nearest(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = str(root / "data/halyard/transcripts-a.jsonl")
    assert run(["prompt", "hal-a-001#4", log, "--out", str(tmp_path)]) == 2
    assert 'no follow-up "hal-a-001#4"; did you mean hal-a-0' in capsys.readouterr().err


def test_mix_says_its_method_and_what_is_missing(
    root: Path, tmp_path: Path, script: Script, capsys: pytest.CaptureFixture[str]
) -> None:
    log = str(root / "data/halyard/transcripts-a.jsonl")
    assert run(["mix", log, "--fast", "--out", str(tmp_path), "--quiet"]) == 0
    plain = capsys.readouterr().out
    assert "method uncorrected" in plain
    with serving(script) as seen:
        config = str(settings(tmp_path, seen.url))
        assert run(["mix", log, "--config", config, "--fast", "--out", str(tmp_path), "--quiet"]) == 0
    mended = capsys.readouterr().out
    assert "method two_phase" in mended
    assert "the widest interval (" in mended
    assert "long_range x returns" in mended


def test_mix_of_peoples_labels_is_their_count(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log, labels = (str(root / f"data/halyard/{name}-a.jsonl") for name in ("transcripts", "labels"))
    assert run(["mix", log, "--labels", labels, "--fast", "--out", str(tmp_path), "--json", "--quiet"]) == 0
    row = json.loads(capsys.readouterr().out)
    counts = {share["reference_type"]: share["count"] for share in row["shares"]}
    known = [json.loads(line)["reference_type"] for line in Path(labels).read_text().splitlines()]
    assert row["method"] == "labels"
    assert counts == {name: known.count(name) for name in counts}


@pytest.mark.slow
def test_a_build_with_second_labels_draws_what_the_model_read(
    root: Path, tmp_path: Path, script: Script, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "log.jsonl"
    lines = (root / "data/halyard/transcripts-a.jsonl").read_text().splitlines()
    log.write_text("\n".join(lines[:24]))
    with serving(script) as seen:
        config = settings(tmp_path, seen.url)
        config.write_text(config.read_text() + "[stratify]\nsize = 30\nfloor = 2\n")
        command = [
            "build",
            "--config",
            str(config),
            "--transcripts",
            str(log),
            "--out",
            str(tmp_path / "dist"),
        ]
        assert run([*command, "--fast", "--quiet"]) in (0, 5)
    items = next((tmp_path / "dist").glob("*/v*/items.jsonl"))
    by = [json.loads(line)["labelled_by"] for line in items.read_text().splitlines()]
    assert by.count("llm") > 0.6 * len(by)
    assert "two_phase" in capsys.readouterr().out
