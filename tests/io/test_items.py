import json
from pathlib import Path

import pytest

from builder.core.errors import INVALID_DATA, BuilderError
from builder.core.rows import item_to_row
from builder.io.items import iter_transcripts, read_items, read_items_or_labels, read_labels
from tests.scoring.sample import ORDINAL, PIVOT

CHAT = {"conversation_id": "c1", "messages": [{"role": "user", "content": "What is the SLA?"}]}
LABEL = {
    "conversation_id": "c1",
    "turn": 3,
    "reference_type": "ellipsis",
    "form": "ellipsis",
    "pivot": False,
    "returns": False,
    "antecedent_turns": [1],
}


def file(path: Path, *rows: object) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_items_and_labels_are_told_apart(tmp_path: Path) -> None:
    items = file(tmp_path / "items.jsonl", item_to_row(PIVOT), item_to_row(ORDINAL))
    labels = file(tmp_path / "labels.jsonl", LABEL)
    assert read_items(items) == [PIVOT, ORDINAL]
    assert read_items_or_labels(items) == ([PIVOT, ORDINAL], [])
    assert read_items_or_labels(labels) == ([], [LABEL])
    assert read_labels(labels) == [LABEL]


def test_a_log_in_the_place_of_items_or_labels_is_named(tmp_path: Path) -> None:
    log = file(tmp_path / "log.jsonl", CHAT)
    with pytest.raises(BuilderError) as caught:
        read_items(log)
    assert caught.value.code == INVALID_DATA
    assert str(caught.value) == (
        f"{log}:1: not an item (no field prefix); "
        "give a release or its items.jsonl, or run `followups validate` on the file"
    )
    with pytest.raises(BuilderError, match=r"log.jsonl:1: not a label \(no field turn\)"):
        read_labels(log)
    with pytest.raises(BuilderError, match=r"log.jsonl:1: not an item or label \(no field turn\)"):
        read_items_or_labels(log)


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ({"colour": "red"}, "unknown field colour"),
        ({"prefix": 3}, "a field holds a value of another type"),
        ({"aliases": ["x"]}, "a field holds a value of another type"),
    ],
)
def test_a_line_that_only_looks_like_an_item_is_named(
    row: dict[str, object], why: str, tmp_path: Path
) -> None:
    path = file(tmp_path / "items.jsonl", item_to_row(PIVOT), item_to_row(ORDINAL) | row)
    with pytest.raises(BuilderError) as caught:
        read_items(path)
    assert f"items.jsonl:2: not an item ({why}); " in str(caught.value)


def test_a_line_that_is_no_transcript_is_named(tmp_path: Path) -> None:
    path = file(tmp_path / "log.jsonl", CHAT, {"conversation_id": "c2", "messages": "foo"}, ["x"])
    read = iter_transcripts(path)
    assert next(read).id == "c1"
    with pytest.raises(BuilderError, match=r"log.jsonl:2: not a transcript"):
        next(read)
