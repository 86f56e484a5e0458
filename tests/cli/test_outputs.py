"""What commands write: never over an input, never with a traceback, and with a code that tells of rejected records."""

import json
from pathlib import Path

import pytest

from builder.cli import run
from builder.core.errors import ERROR, INVALID_DATA, USAGE


def log(path: Path, *more: str) -> Path:
    turns = [("user", "What is the SLA?"), ("assistant", "99.9%."), ("user", "and the RPO?")]
    row = {"conversation_id": "c1", "messages": [{"role": r, "content": c} for r, c in turns]}
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join((json.dumps(row), *more)) + "\n")
    return path


@pytest.mark.parametrize(
    "command",
    [
        ["redact", "{log}", "--out", "{log}"],
        ["redact", "{folder}", "--out", "{log}"],
        ["classify", "{log}", "--fast", "--out", "{log}"],
        ["passages", "{log}", "--out", "{log}"],
        ["rewrite", "{log}", "--design", "window:2", "--out", "{log}"],
        ["export", "{log}", "--to", "promptfoo", "--out", "{log}"],
        ["upgrade", "{log}", "--out", "{log}"],
        ["compare", "{log}", "--out", "{log}"],
        ["ceiling", "{log}", "--html", "{log}"],
        ["train", "{log}", "--base", "{folder}", "--out", "{folder}"],
    ],
    ids=lambda command: f"{command[0]} {command[1]}",
)
def test_no_command_writes_over_what_it_reads(
    command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = log(tmp_path / "chats" / "log.jsonl")
    before = path.read_bytes()
    code = run([part.format(log=path, folder=path.parent) for part in command])
    assert path.read_bytes() == before
    said = capsys.readouterr().err
    assert code == USAGE, said
    assert "would overwrite an input" in said


def test_an_output_that_cannot_be_written_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = log(tmp_path / "log.jsonl")
    for out, why in ((tmp_path, "is a folder"), (path / "labels.jsonl", f"{path} is a file, not a folder")):
        assert run(["classify", str(path), "--fast", "--out", str(out)]) == ERROR
        assert f": cannot be written ({why}); " in capsys.readouterr().err.splitlines()[-1]


@pytest.mark.parametrize("command", ["redact", "classify"])
def test_rejected_records_end_with_invalid_data_and_stand_beside_the_output(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = log(tmp_path / "log.jsonl", '{"half": ')
    out = tmp_path / "made" / "out.jsonl"
    assert run([command, str(path), "--out", str(out), *(["--fast"] if command == "classify" else [])]) == (
        INVALID_DATA
    )
    assert len(out.read_text().splitlines()) == 1
    assert (tmp_path / "made" / "log.rejects.jsonl").is_file()
    assert not (tmp_path / "log.rejects.jsonl").exists()


@pytest.mark.parametrize(
    "command",
    [
        ["show", "fu_1", "--release", "{log}"],
        ["rewrite", "{log}", "--design", "window:2", "--out", "{out}"],
        ["export", "{log}", "--to", "promptfoo", "--out", "{out}"],
        ["compare", "{log}", "--out", "{out}"],
        ["compare", "{log}", "--transcripts", "{log}", "--out", "{out}"],
        ["review", "{log}", "--decisions", "{out}"],
        ["ceiling", "{log}"],
    ],
    ids=" ".join,
)
def test_a_log_in_the_place_of_a_release_is_named(
    command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, out = log(tmp_path / "log.jsonl"), tmp_path / "out"
    assert run([part.format(log=path, out=out) for part in command]) == INVALID_DATA
    assert capsys.readouterr().err.startswith(f"{path}:1: not a")
    assert not out.exists()
