import json
from pathlib import Path

import pytest

from builder.cli import run
from builder.core.records import Transcript
from builder.core.rows import transcript_to_row
from builder.io.store import write_jsonl
from tests.evaluate.test_rewrite import BLANK, ROWS
from tests.scope.conversation import TURNS

LABELS = [
    {
        **BLANK,
        "forbidden_in_rewrite": ["reporting"] if r["turn"] == 11 else [],
        "d_stale": 1 if r["turn"] == 11 else None,
        **r,
    }
    for r in ROWS
]


def test_the_ceiling_of_labels_alone_has_windows_and_cuts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_jsonl(tmp_path / "labels.jsonl", LABELS)
    assert run(["ceiling", str(tmp_path / "labels.jsonl"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["n"] == 3
    assert found["windows"][0] == {"w": 0, "right": 0.333333, "short": 0.666667, "stale": 0.0, "both": 0.0}
    assert found["no_window"] == {"some": 0.666667, "same_turn": 0.0, "nearer_stale": 0.333333}
    assert found["grid"] == []


def test_transcripts_add_cuts_by_cosine_and_liveness_and_the_page_needs_no_network(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_jsonl(tmp_path / "labels.jsonl", LABELS)
    write_jsonl(tmp_path / "log.jsonl", [transcript_to_row(Transcript("c1", TURNS))])
    page = tmp_path / "ceiling.html"
    arguments = [
        "ceiling",
        str(tmp_path / "labels.jsonl"),
        "--transcripts",
        str(tmp_path / "log.jsonl"),
        "--html",
        str(page),
    ]
    assert run(arguments) == 0
    printed = capsys.readouterr().out
    assert "best window: " in printed
    assert "segments by cosine" in printed
    assert "liveness: share right by slots alone, superseding on" in printed
    assert "http" not in page.read_text().replace("http://www.w3.org/2000/svg", "")
    assert page.read_text().count("<svg") == 5


def test_an_empty_file_is_an_error_and_not_an_empty_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "labels.jsonl").write_text("")
    assert run(["ceiling", str(tmp_path / "labels.jsonl")]) == 4
    assert "no labels (0 lines)" in capsys.readouterr().err


def test_labels_of_other_transcripts_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_jsonl(tmp_path / "labels.jsonl", LABELS)
    write_jsonl(tmp_path / "log.jsonl", [transcript_to_row(Transcript("c2", TURNS))])
    assert run(["ceiling", str(tmp_path / "labels.jsonl"), "--transcripts", str(tmp_path / "log.jsonl")]) == 1
    assert "c1#3: no such turn in the transcripts" in capsys.readouterr().err
