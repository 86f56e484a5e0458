import json
from pathlib import Path

import pytest

from builder.cli import run
from builder.core.rows import item_to_row
from builder.io.store import write_jsonl
from builder.stages.review import labels_of
from tests.stages.worked import worked_items


def write(folder: Path, decisions: list[dict[str, object]]) -> list[str]:
    write_jsonl(folder / "items.jsonl", [item_to_row(item) for item in worked_items()])
    (folder / "decisions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in decisions))
    return ["review", str(folder / "items.jsonl"), "--decisions", str(folder / "decisions.jsonl")]


def both_passes() -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for reading in (1, 2):
        for item in worked_items():
            rows.append({"id": item.id, "decision": "accept", "pass": reading, "labels": labels_of(item)})
    return rows


def test_agreement_of_two_passes_is_printed_field_by_field(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = both_passes()
    rows[-1] |= {
        "decision": "edit",
        "labels": labels_of(worked_items()[3]) | {"pivot": False, "returns": False},
    }
    assert run([*write(tmp_path, rows), "--agreement"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "4 items read twice"
    # Pivots 2 of 4 and 1 of 4, equal on 3 of 4: (.75 - .5) / (1 - .5).
    assert "  pivot                     kappa 0.500" in lines
    assert "  form                      kappa 1.000" in lines
    assert "  required_overlap          1.000" in lines


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--agreement"],
            "review: no item was read in both passes; read some again with --pass 2, by another person",
        ),
        (
            ["--pass", "2"],
            "review: nothing was read in the first pass; there is nothing to read in this pass",
        ),
        (
            ["--adjudicate"],
            "review: no item was read differently in two passes; there is nothing to read in this pass",
        ),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_a_pass_with_nothing_to_read_is_refused_in_words(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], message: str
) -> None:
    assert run([*write(tmp_path, []), *options]) == 1
    assert capsys.readouterr().err.splitlines()[-1] == message


def test_a_malformed_decisions_file_is_refused_with_exit_code_4(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = write(tmp_path, [{"id": "fu_0003", "decision": "maybe", "pass": 1}])
    assert run(command) == 4
    assert 'decisions:1: fu_0003: unknown decision "maybe"' in capsys.readouterr().err
