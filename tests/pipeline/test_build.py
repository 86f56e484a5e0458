"""What a build takes from the settings file, the command line, and the world."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from builder.core.errors import BuilderError
from builder.core.settings import InputSettings, Settings
from builder.pipeline.build import Overrides, build_release, open_sources, with_overrides
from builder.pipeline.river import River


def write_log(path: Path, *conversations: tuple[str, list[str]]) -> Path:
    rows = [
        {
            "conversation_id": name,
            "messages": [
                {"role": "user" if n % 2 == 0 else "assistant", "content": text}
                for n, text in enumerate(texts)
            ],
        }
        for name, texts in conversations
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_another_log_replaces_the_log_and_nothing_else(tmp_path: Path) -> None:
    settings = replace(
        Settings(),
        input=InputSettings(("a.jsonl",), "docs.jsonl", "entities.json", ("l.jsonl",), "reviews.jsonl"),
    )
    changed = with_overrides(settings, Overrides(transcripts=(tmp_path / "b.jsonl",), floor=3))
    assert changed.input == replace(settings.input, transcripts=(str((tmp_path / "b.jsonl").resolve()),))
    assert changed.stratify.floor == 3


def test_nothing_private_is_stored_not_even_an_id_or_a_reject(tmp_path: Path) -> None:
    log = write_log(
        tmp_path / "log.jsonl",
        (
            "anna@corp.example",
            ["my mail is bob@corp.example, is the API paged?", "Yes.", "and sorted?", "No."],
        ),
    )
    with log.open("a") as file:
        file.write('{"conversation_id": "broken", "messages": "write to eve@corp.example"}\n')
    sources = open_sources(None, tmp_path / "out", Overrides(transcripts=(log,), fast=True), 1)
    River(sources, sources.work).run("sample")
    stored = b"".join(p.read_bytes() for p in (tmp_path / "out").rglob("*") if p.is_file())
    for name in (b"anna@", b"bob@", b"eve@"):
        assert name not in stored
    assert b"broken" in stored or b"[email]" in stored


LABEL = {
    "conversation_id": "other",
    "turn": 3,
    "form": "none",
    "pivot": False,
    "returns": False,
    "antecedent_turns": [],
}


def test_labels_of_another_log_are_spoken_of(tmp_path: Path) -> None:
    from builder.pipeline.build import _unused

    log = write_log(tmp_path / "log.jsonl", ("c1", ["is the API paged?", "Yes.", "and sorted?", "No."]))
    labels = tmp_path / "labels.jsonl"
    labels.write_text(json.dumps(LABEL) + "\n")
    sources = open_sources(None, tmp_path / "out", Overrides((log,), str(labels), fast=True), 1)
    river = River(sources, sources.work)
    river.run("classify")
    assert list(_unused(river)) == [
        "0 of 1 labels belong to follow-ups of the sample; check [input] labels if you expected more"
    ]


def test_a_set_name_cannot_leave_the_output_folder(tmp_path: Path) -> None:
    with pytest.raises(BuilderError, match="is no folder name"):
        open_sources(None, tmp_path, Overrides(name="../elsewhere"), 1)


def test_what_could_not_be_read_is_kept_also_when_no_item_comes_out(tmp_path: Path) -> None:
    log = write_log(tmp_path / "log.jsonl", ("c1", ["is the API paged?", "Yes.", "and sorted?", "No."]))
    with log.open("a") as file:
        file.write('{"conversation_id": "b", "mess\n')
    sources = open_sources(None, tmp_path / "out", Overrides((log,), size=20, floor=1, fast=True), 1)
    with pytest.raises(BuilderError, match="no item came out of 1 follow-ups"):
        build_release(sources)
    (reject,) = (tmp_path / "out" / "follow-ups.rejects.jsonl").read_text().splitlines()
    assert json.loads(reject)["where"].endswith("log.jsonl:2")
