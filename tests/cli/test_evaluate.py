import json
from pathlib import Path

import pytest

from builder.cli import run


def test_halyards_labels_against_themselves_are_perfect(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    labels = str(root / "data/halyard/labels-a.jsonl")
    assert run(["evaluate", labels, labels, "--json"]) == 0
    row = json.loads(capsys.readouterr().out)
    assert (row["n"], row["macro_f1"], row["kappa"], row["mix_error"]) == (319, 1.0, 1.0, 0.0)


def test_the_table_and_the_page_name_every_stratum(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    labels = str(root / "data/halyard/labels-b.jsonl")
    assert run(["evaluate", labels, labels, "--html", str(tmp_path / "page.html")]) == 0
    out = capsys.readouterr().out
    page = (tmp_path / "page.html").read_text()
    for stratum in ("post_pivot_standalone", "long_range", "ordinal", "constraint_carryover"):
        assert stratum in out
        assert stratum in page
    assert "pivot_f1_always_shift" in out
    assert "<svg" in page


def test_a_folder_of_labels_is_scored_as_a_whole_and_file_by_file(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = str(root / "data/halyard")
    assert run(["evaluate", folder, folder]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "614 follow-ups, 0 without a predicted label"
    assert [line.split()[:3] for line in lines[-2:]] == [
        ["labels-a", "319", "1.000"],
        ["labels-b", "295", "1.000"],
    ]


def test_bad_labels_are_all_listed_with_their_lines(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gold = tmp_path / "gold.jsonl"
    gold.write_text(
        '{"conversation_id": "a", "turn": 3, "reference_type": "pronouns"}\n'
        '{"conversation_id": "a"}\n'
        "{broken\n"
        '{"conversation_id": "a", "turn": 5, "reference_type": "pronoun"}\n'
        '{"conversation_id": "a", "turn": 5, "reference_type": "pronoun"}\n'
    )
    assert run(["evaluate", str(gold), str(gold)]) == 4
    err = capsys.readouterr().err
    assert f'{gold}:1: unknown reference_type "pronouns"; one of not_a_query' in err
    assert f"{gold}:2: no turn; give every label" in err
    assert f"{gold}:3: not JSON" in err
    assert f"{gold}:5: a#5 is labelled twice; keep one of the lines" in err


def test_labels_of_other_conversations_are_no_success(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("a", "b"):
        (tmp_path / name).write_text(
            json.dumps({"conversation_id": name, "turn": 3, "reference_type": "pronoun"})
        )
    assert run(["evaluate", str(tmp_path / "a"), str(tmp_path / "b")]) == 4
    assert "none of its labels (1) is for one of the follow-ups (1)" in capsys.readouterr().err


def test_an_empty_label_file_is_no_success(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "empty.jsonl").write_text("")
    assert run(["evaluate", str(tmp_path / "empty.jsonl"), str(tmp_path / "empty.jsonl")]) == 4
    assert "no labels (0 lines)" in capsys.readouterr().err
