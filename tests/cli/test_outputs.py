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


def release(folder: Path) -> Path:
    """A release as far as commands that read its items look: one item and a manifest."""
    from builder.core.rows import item_to_row
    from tests.scoring.sample import PIVOT

    inside = folder / "set" / "v1.0.0"
    inside.mkdir(parents=True)
    (inside / "manifest.json").write_text("{}")
    (inside / "items.jsonl").write_text(json.dumps(item_to_row(PIVOT)) + "\n")
    return inside


@pytest.mark.parametrize(
    "command",
    [
        ["ceiling", "{dist}", "--html", "{items}"],
        ["rewrite", "{dist}", "--design", "window:2", "--out", "{items}"],
        ["compare", "{dist}", "--out", "{inside}"],
        ["export", "{dist}", "--to", "promptfoo", "--out", "{inside}"],
        ["score", "{dist}", "{run}", "--html", "{items}"],
    ],
    ids=lambda command: command[0],
)
def test_a_release_named_by_a_folder_above_is_not_written_over(
    command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    inside = release(tmp_path / "dist")
    (tmp_path / "run.jsonl").write_text('{"id": "fu_pivot", "rewrite": "x"}\n')
    before = {path.name: path.read_bytes() for path in inside.iterdir()}
    places = {
        "dist": tmp_path / "dist",
        "inside": inside,
        "items": inside / "items.jsonl",
        "run": tmp_path / "run.jsonl",
    }
    assert run([part.format(**places) for part in command]) == USAGE
    assert "would overwrite an input" in capsys.readouterr().err
    assert {path.name: path.read_bytes() for path in inside.iterdir()} == before


def write_bogus(path: Path) -> Path:
    rows = [
        {"conversation_id": f"c{n}", "messages": [{"role": "bogus", "content": "hi"}] * 3} for n in range(12)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_when_every_record_is_rejected_the_first_and_the_file_of_all_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, out = write_bogus(tmp_path / "log.jsonl"), tmp_path / "dist"
    assert run(["build", "--transcripts", str(path), "--fast", "--quiet", "--out", str(out)]) == INVALID_DATA
    said = capsys.readouterr().err
    rejects = out / "follow-ups.rejects.jsonl"
    assert f"12 records could not be read (unknown role 12); see {rejects}" in said
    assert f'the first: {path}:1: unknown role: message 1 has role "bogus"; map it under [read.roles]' in said
    places = [json.loads(line)["where"] for line in rejects.read_text().splitlines()]
    assert places == [f"{path}:{n}" for n in range(1, 13)]


def test_mix_tells_of_rejects_and_of_files_passed_over_beside_its_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = log(tmp_path / "chats" / "log.jsonl", '{"half": ', '{"conversation_id": "z", "messages": "foo"}')
    (path.parent / "tickets.jsonl").write_text('{"ticket": 1, "log": []}\n')
    command = ["mix", str(path.parent), "--fast", "--json", "--quiet", "--out", str(tmp_path / "dist")]
    assert run(command) == INVALID_DATA
    said = capsys.readouterr()
    assert json.loads(said.out)["n_follow_ups"] == 1
    assert "passed over, no known format: tickets.jsonl; " in said.err
    assert "2 records could not be read (no messages 1, not JSON 1); see " in said.err


def test_two_conversations_of_one_id_say_which_was_kept(tmp_path: Path) -> None:
    other = {
        "conversation_id": "c1",
        "messages": [{"role": "user", "content": t} for t in ("a?", "b?", "c?")],
    }
    path = log(tmp_path / "log.jsonl", json.dumps(other))
    run(["mix", str(path), "--fast", "--quiet", "--out", str(tmp_path / "dist")])
    (reject,) = map(json.loads, (tmp_path / "dist" / "follow-ups.rejects.jsonl").read_text().splitlines())
    assert reject["where"] == f"{path}:1"
    assert reject["detail"] == (
        f"the conversation at {path}:2 has the same id and was kept; give each conversation its own id"
    )


def test_faults_are_listed_in_the_order_of_their_lines(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_bogus(tmp_path / "log.jsonl")
    assert run(["evaluate", str(path), str(path)]) == INVALID_DATA
    places = [line.split(": ")[0] for line in capsys.readouterr().err.splitlines()]
    assert places == [f"{path}:{n}" for n in range(1, 13)]


def test_a_folder_in_the_place_of_the_settings_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["build", "--config", str(tmp_path)]) == USAGE
    assert capsys.readouterr().err == (
        f"{tmp_path}: cannot be read (is a directory); give the path of a dataset.toml\n"
    )
