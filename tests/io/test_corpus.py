from pathlib import Path

import pytest

from builder.core.errors import INVALID_DATA, BuilderError
from builder.core.records import Entity, Passage
from builder.io.corpus import load_catalogue, load_passages

RPO = '{"id": "docs/dublin#rpo", "title": "Dublin", "text": "The RPO is 5 minutes."}\n'


def test_passages_are_read_in_order_and_beir_ids_too(tmp_path: Path) -> None:
    path = tmp_path / "docs.jsonl"
    path.write_text(RPO + '{"_id": "d2", "text": "By cursor."}\n')
    assert load_passages(path) == (
        Passage("docs/dublin#rpo", "Dublin", "The RPO is 5 minutes."),
        Passage("d2", "", "By cursor."),
    )


def test_every_bad_passage_is_named(tmp_path: Path) -> None:
    path = tmp_path / "docs.jsonl"
    path.write_text(
        RPO + '{"text": "no id"}\n{"id": "d3", "text": " "}\n{"id": "d4"\n' + RPO.replace("5", "6")
    )
    with pytest.raises(BuilderError) as caught:
        load_passages(path)
    assert caught.value.code == INVALID_DATA
    assert [str(problem) for problem in caught.value.problems] == [
        f"{path}:2: has no id (None); give {{id, title, text}}",
        f"{path}:3: passage \"d3\" has no text (' '); give {{id, title, text}}",
        f"{path}:4: not JSON (unexpected end of data at column 12); correct or remove the record",
        f'{path}:5: passage id "docs/dublin#rpo" stands for another text too; give each passage its own id',
    ]


def test_the_same_passage_twice_is_one_passage(tmp_path: Path) -> None:
    path = tmp_path / "docs.jsonl"
    path.write_text(RPO + RPO)
    assert len(load_passages(path)) == 1


def test_no_passages_are_an_error(tmp_path: Path) -> None:
    (tmp_path / "docs.jsonl").write_text("")
    with pytest.raises(BuilderError, match="no passages in the file; give JSONL of"):
        load_passages(tmp_path / "docs.jsonl")
    with pytest.raises(BuilderError, match="no such passage file; correct"):
        load_passages(tmp_path / "other.jsonl")


@pytest.mark.parametrize(
    "text",
    [
        '{"entity types": {"region": [{"name": "Dublin", "aliases": ["eu-west-1"]}], "plan": ["Team"]}}',
        '{"region": [{"name": "Dublin", "aliases": ["eu-west-1"]}], "plan": [{"name": "Team"}]}',
        '[{"name": "Dublin", "type": "region", "aliases": ["eu-west-1"]}, {"name": "Team", "type": "plan"}]',
    ],
    ids=["under a heading", "by type", "flat"],
)
def test_a_catalogue_may_be_by_type_or_flat(tmp_path: Path, text: str) -> None:
    (tmp_path / "entities.json").write_text(text)
    assert load_catalogue(tmp_path / "entities.json").entities == (
        Entity("Dublin", "region", ("eu-west-1",)),
        Entity("Team", "plan"),
    )


def test_every_bad_entity_is_named(tmp_path: Path) -> None:
    path = tmp_path / "entities.json"
    path.write_text('{"region": [{"name": ""}, {"name": "Dublin", "aliases": "eu-west-1"}]}')
    with pytest.raises(BuilderError) as caught:
        load_catalogue(path)
    assert [problem.what for problem in caught.value.problems] == [
        "has no name ({'name': ''})",
        "\"Dublin\" has aliases 'eu-west-1', not a list of texts",
    ]


def test_the_sample_catalogue_is_read(root: Path) -> None:
    catalogue = load_catalogue(root / "data" / "halyard" / "entities.json")
    assert catalogue.aliases_of("dublin") == ("eu-west-1",)
