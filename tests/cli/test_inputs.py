import json
from pathlib import Path

import pytest

from builder.cli import run
from builder.cli.inputs import load_log
from builder.core.errors import INVALID_DATA, OK, BuilderError
from builder.core.settings import ReadSettings


def log(path: Path, *conversations: tuple[str, list[str]]) -> Path:
    rows = [
        {"conversation_id": name, "messages": [{"role": "user", "content": text} for text in texts]}
        for name, texts in conversations
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_good_records_go_on_and_the_others_are_written_down(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = log(tmp_path / "log.jsonl", ("a", ["SLA?", "and RPO?"]), ("a", ["price?", "and Team?"]))
    path.write_text(path.read_text() + '{"half": \n')
    loaded = load_log([path], ReadSettings(), tmp_path)
    assert (len(loaded.transcripts), loaded.code) == (1, INVALID_DATA)
    rejects = tmp_path / "log.rejects.jsonl"
    assert sorted(json.loads(line)["reason"] for line in rejects.read_text().splitlines()) == [
        "duplicate conversation id",
        "not JSON",
    ]
    assert capsys.readouterr().err == (
        f"2 records rejected (duplicate conversation id 1, not JSON 1): {rejects}\n1 conversation, 1 follow-up\n"
    )


def test_a_clean_log_ends_with_ok(tmp_path: Path) -> None:
    path = log(tmp_path / "log.jsonl", ("a", ["SLA?", "and RPO?"]), ("b", ["hello"]))
    loaded = load_log([path], ReadSettings(), tmp_path)
    assert (len(loaded.transcripts), loaded.code) == (2, OK)
    assert not (tmp_path / "log.rejects.jsonl").exists()


def test_a_log_without_follow_ups_is_an_error(tmp_path: Path) -> None:
    path = log(tmp_path / "log.jsonl", ("a", ["SLA?"]), ("b", ["hello"]))
    with pytest.raises(BuilderError) as caught:
        load_log([path], ReadSettings(), tmp_path)
    assert caught.value.code == INVALID_DATA
    assert str(caught.value) == (
        f"{path}: no follow-ups among 2 conversations; give a log whose conversations have two or more user turns, "
        "or set [read] format, fields and roles"
    )


def test_passages_carried_by_an_export_become_a_corpus_under_the_cited_ids(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    contexts = [{"document_id": "d1", "title": "Arizona", "text": "They play in Glendale."}]
    answer = {"speaker": "agent", "text": "In Glendale.", "contexts": contexts}
    question = {"speaker": "user", "text": "where do they play?"}
    (tmp_path / "clapnq.json").write_text(json.dumps([{"messages": [question, answer, question, answer]}]))
    out = tmp_path / "passages.jsonl"
    assert run(["passages", str(tmp_path / "clapnq.json"), "--out", str(out)]) == OK
    assert capsys.readouterr().out == f"1 passage: {out}\n"
    assert json.loads(out.read_text()) == {"id": "d1", "title": "Arizona", "text": "They play in Glendale."}


def test_an_export_that_carries_no_passages_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = log(tmp_path / "log.jsonl", ("a", ["SLA?", "and RPO?"]))
    assert run(["passages", str(path), "--out", str(tmp_path / "p.jsonl")]) == INVALID_DATA
    assert capsys.readouterr().err == (
        f"{path}: carries no passages; answers need contexts with a document_id and a text; "
        "otherwise give your corpus with --passages\n"
    )
