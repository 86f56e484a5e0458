import json
from pathlib import Path

import pytest

from builder.cli import run


def write(path: Path, *texts: str) -> Path:
    roles = ("user", "assistant")
    messages = [{"role": roles[n % 2], "content": text} for n, text in enumerate(texts)]
    path.write_text(json.dumps({"conversation_id": "c1", "messages": messages}) + "\n")
    return path


def test_a_log_is_written_anew_without_its_private_values(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = write(
        tmp_path / "chats.jsonl", "I am at bo@acme.com", "Noted, bo@acme.com.", "and did Mrs Dalloway call?"
    )
    assert run(["redact", str(log), "--out", str(tmp_path / "clean.jsonl"), "--show"]) == 0
    text = (tmp_path / "clean.jsonl").read_text()
    assert "bo@acme.com" not in text
    assert text.count("person1@redacted.example") == 2
    said = capsys.readouterr()
    assert said.out.splitlines()[1:] == ["  email   2", "  1 left for a person to decide"]
    assert 'c1 turn 3: name at 12 "Dalloway"; under [redact], add it to names or to keep' in said.err


def test_settings_decide_about_what_was_left(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = write(tmp_path / "chats.jsonl", "hello", "Hi.", "and did Mrs Dalloway call?")
    for key in ("keep", "names"):
        (tmp_path / "dataset.toml").write_text(f'[redact]\n{key} = ["Dalloway"]\n')
        command = ["redact", str(log), "--config", str(tmp_path / "dataset.toml")]
        assert run([*command, "--out", str(tmp_path / "clean.jsonl")]) == 0
        assert "0 left for a person to decide" in capsys.readouterr().out
        assert ("Dalloway" in (tmp_path / "clean.jsonl").read_text()) == (key == "keep")


def test_rejected_records_are_written_down_without_their_addresses(tmp_path: Path) -> None:
    log = write(tmp_path / "chats.jsonl", "hello", "Hi.", "and the price?")
    log.write_text(log.read_text() + '{"id": "x", "messages": "write to eve@corp.example"}\n')
    assert run(["redact", str(log), "--out", str(tmp_path / "made" / "clean.jsonl")]) == 4
    rejects = (tmp_path / "made" / "chats.rejects.jsonl").read_text()
    assert "no messages" in rejects
    assert "eve@" not in rejects
