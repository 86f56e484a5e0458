"""Validate: every planted fault is found, at its line and field, with its remedy."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from builder.pipeline.checking import check_items, validate_path
from tests.pipeline.halyard_set import halyard_items, pick, release

Edit = Callable[[dict[str, Any]], object]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, root: Path) -> Path:
    return release(tmp_path_factory.mktemp("made"), root, pick(halyard_items(root)))[0]


def rows_of(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "items.jsonl").read_text().splitlines()]


def found(path: Path, rows: list[dict[str, Any]]) -> list[str]:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return [str(problem) for problem in check_items(path).problems]


def test_items_alone_validate(made: Path, tmp_path: Path) -> None:
    assert found(tmp_path / "items.jsonl", rows_of(made)) == []


@pytest.mark.parametrize(
    ("edit", "field", "says"),
    [
        (lambda r: r.update(d_live=r["d_live"] + 1), "d_live", "the antecedent turns give"),
        (lambda r: r.update(d_stale=17), "d_stale", "the forbidden terms give"),
        (lambda r: r.update(form="gesture"), "form", 'is "gesture"; one of ordinal, pronoun'),
        (lambda r: r.update(reference_type="ellipsis"), "reference_type", "the other labels give"),
        (lambda r: r.pop("gold"), "", 'lacks the field "gold"'),
        (lambda r: r.update(d_liv=1), "", "did you mean d_live?"),
        (lambda r: r.update(weight=-1), "weight", "give a number of at least 0"),
        (lambda r: r.update(follow_up="  "), "follow_up", "give some text"),
        (lambda r: r["required_in_rewrite"].append("zebra"), "required_in_rewrite", '"zebra" is in neither'),
        (
            lambda r: r["forbidden_in_rewrite"].append("zebra"),
            "forbidden_in_rewrite",
            "nowhere in the prefix",
        ),
        (lambda r: r.update(reference_rewrite="zebra"), "reference_rewrite", "lacks the required term"),
        (lambda r: r["prefix"].pop(0), "prefix", "number user and assistant turns"),
        (lambda r: r.update(origin="synthetic"), "origin", "synthetic with no synthesis"),
        (lambda r: r.update(aliases={"zebra": ["z"]}), "aliases", "neither required nor forbidden"),
    ],
    ids=lambda value: value if isinstance(value, str) and value.isidentifier() else None,
)
def test_a_planted_fault_is_named_at_its_line(
    made: Path, tmp_path: Path, edit: Edit, field: str, says: str
) -> None:
    rows = rows_of(made)
    edit(rows[4])
    path = tmp_path / "items.jsonl"
    problems = found(path, rows)
    place = f"{path}:5: {rows[4]['id']}" + (f": {field}" if field else "")
    assert any(line.startswith(place) and says in line for line in problems), problems
    assert all(line.startswith(f"{path}:5:") for line in problems)


def test_an_id_given_twice_and_an_item_said_twice_are_found(made: Path, tmp_path: Path) -> None:
    rows = rows_of(made)
    path = tmp_path / "items.jsonl"
    twin = {**rows[0], "id": "fu_twin", "conversation_id": "elsewhere"}
    problems = found(path, [*rows, rows[1], twin])
    assert any(f"{path}:25: {rows[1]['id']}: id" in line and f"also at {path}:2" in line for line in problems)
    assert any(
        "fu_twin: follow_up" in line and f"nearly repeats item {rows[0]['id']}" in line for line in problems
    )


def test_a_conversation_over_its_cap_is_found(made: Path, tmp_path: Path) -> None:
    rows = [{**row, "conversation_id": "one"} for row in rows_of(made)[:6]]
    problems = found(tmp_path / "items.jsonl", rows)
    assert sum("the cap is 4" in line for line in problems) == 2


def test_a_line_that_is_not_json_does_not_hide_the_others(made: Path, tmp_path: Path) -> None:
    path = tmp_path / "items.jsonl"
    rows = rows_of(made)
    rows[2]["turn"] = "seven"
    lines = [json.dumps(row) for row in rows]
    path.write_text("\n".join([lines[0], '{"id": ', *lines[1:]]) + "\n")
    problems = [str(problem) for problem in check_items(path).problems]
    assert any(line.startswith(f"{path}:2: not JSON") for line in problems)
    assert any(f"{path}:4: {rows[2]['id']}: turn: is " in line for line in problems)


@pytest.mark.parametrize(
    ("name", "edit", "says"),
    [
        ("items.jsonl", lambda t: "".join(t.splitlines(keepends=True)[1:]), "items for 3 seats"),
        ("corpus.jsonl", lambda t: "".join(t.splitlines(keepends=True)[:3]), "is not in the corpus"),
        ("quotas.json", lambda t: t.replace('"size": 24', '"size": 25'), "the seats sum to 24"),
        ("mix.json", lambda t: t.replace('"labels"', '"guess"'), "the manifest states"),
        ("items.jsonl", lambda t: t.replace('"weight":1.0', '"weight":2.0', 1), "share over set share"),
        ("items.jsonl", lambda t: t.replace('"language":"en"', '"language":"de"', 1), "the manifest states"),
    ],
    ids=["item gone", "passages gone", "size", "another file", "weight", "edited item"],
)
def test_a_release_that_was_tampered_with_is_not_valid(
    made: Path, tmp_path: Path, name: str, edit: Callable[[str], str], says: str
) -> None:
    import shutil

    copy = tmp_path / "v1.0.0"
    shutil.copytree(made, copy)
    path = copy / name
    text = path.read_text()
    assert edit(text) != text
    path.write_text(edit(text))
    assert any(says in str(problem) for problem in validate_path(copy).problems)


def test_label_rot_is_found_against_the_corpus_of_today(made: Path, tmp_path: Path) -> None:
    rows = [json.loads(line) for line in (made / "corpus.jsonl").read_text().splitlines()]
    items = rows_of(made)
    changed, gone = items[0]["gold"][0], items[5]["gold"][0]
    today = [{**r, "text": "rewritten"} if r["_id"] == changed else r for r in rows if r["_id"] != gone]
    corpus = tmp_path / "docs.jsonl"
    corpus.write_text(
        "".join(json.dumps({"id": r["_id"], "title": r["title"], "text": r["text"]}) + "\n" for r in today)
    )
    problems = [str(problem) for problem in validate_path(made, corpus).problems]
    assert any(items[0]["id"] in line and "has another text" in line for line in problems)
    assert any(items[5]["id"] in line and "is gone from the corpus" in line for line in problems)
