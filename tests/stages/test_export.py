"""Exports: what other tools read says the same as the set; real libraries load it where they are installed."""

import json
import re
import uuid
from pathlib import Path
from types import ModuleType

import pytest
import yaml

from builder.core.records import Item, Passage
from builder.core.terms import occurs
from builder.stages.export import EXPORTS, term_regex
from tests.pipeline.halyard_set import halyard_items, pick


@pytest.fixture(scope="module")
def items(root: Path) -> list[Item]:
    return pick(halyard_items(root))


@pytest.fixture(scope="module")
def passages(root: Path) -> dict[str, Passage]:
    lines = (root / "data" / "halyard" / "docs.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    return {row["id"]: Passage(row["id"], row["title"], row["text"]) for row in rows}


def written(name: str, items: list[Item], passages: dict[str, Passage], folder: Path) -> Path:
    for path, data in EXPORTS[name](items, passages).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    return folder


def needs(library: str) -> ModuleType:
    """The real library that reads an export; without it the test is skipped with the reason."""
    reason = f"{library} cannot be imported; install the extra `exports` to load the export with it"
    module: ModuleType = pytest.importorskip(library, reason=reason, exc_type=ImportError)
    return module


@pytest.mark.parametrize(
    ("term", "text", "fires"),
    [
        ("SLA", "is it on the slate?", False),
        ("SLA", "which SLAs are there", True),
        ("billing export", "the Billing-Export's pages", True),
        ("export", "exported rows", False),
        ("eu-west-1", "moved to EU-WEST-1.", True),
        ("eu-west-1", "eu-west-12", False),
        ("US", "tell us more", False),
        ("US", "the US region", True),
        ("請求書", "次の請求書はいつ", True),
    ],
)
def test_a_term_as_a_regular_expression_fires_where_the_matcher_does(
    term: str, text: str, fires: bool
) -> None:
    assert occurs(term, text) is fires
    assert bool(re.search(term_regex(term), text)) is fires


def test_every_reference_rewrite_passes_its_own_promptfoo_test(items: list[Item]) -> None:
    tests = yaml.safe_load(EXPORTS["promptfoo"](items, {})["tests.yaml"])
    for item, test in zip(items, tests, strict=True):
        assert test["vars"]["follow_up"] == item.follow_up
        for check in test["assert"]:
            found = bool(re.search(check["value"], item.reference_rewrite or ""))
            assert found is (check["type"] == "regex"), (item.id, check["metric"])


def test_trec_and_beir_judge_the_same_pairs(items: list[Item], passages: dict[str, Passage]) -> None:
    trec = EXPORTS["trec"](items, passages)["qrels.txt"].decode().split("\n")[:-1]
    beir = EXPORTS["beir"](items, passages)["qrels/test.tsv"].decode().split("\n")[1:-1]
    assert [line.split(" ")[::2] for line in trec] == [line.split("\t")[:2] for line in beir]
    assert len(beir) == sum(len(item.gold) for item in items)


def test_trec_qrels_load_in_ir_measures(
    items: list[Item], passages: dict[str, Passage], tmp_path: Path
) -> None:
    import ir_measures

    folder = written("trec", items, passages, tmp_path)
    qrels = list(ir_measures.read_trec_qrels(str(folder / "qrels.txt")))
    assert {(q.query_id, q.doc_id) for q in qrels} == {(i.id, name) for i in items for name in i.gold}


def test_langsmith_ids_are_uuids_that_stay_and_differ(items: list[Item]) -> None:
    first, second = (json.loads(EXPORTS["langsmith"](items, {})["examples.json"]) for _ in range(2))
    ids = [uuid.UUID(row["id"]) for row in first]
    assert first == second
    assert len(set(ids)) == len(items)


def test_every_export_of_messages_ends_with_the_follow_up(items: list[Item]) -> None:
    inspect = [json.loads(line) for line in EXPORTS["inspect"](items, {})["samples.jsonl"].splitlines()]
    langfuse = json.loads(EXPORTS["langfuse"](items, {})["dataset_items.json"])
    ragas = [json.loads(line) for line in EXPORTS["ragas"](items, {})["samples.jsonl"].splitlines()]
    for item, a, b, c in zip(items, inspect, langfuse, ragas, strict=True):
        assert a["input"][-1] == {"role": "user", "content": item.follow_up}
        assert b["input"]["messages"][-1]["content"] == item.follow_up
        assert c["user_input"][-1] == {"content": item.follow_up, "type": "human"}


def test_inspect_loads_its_samples(items: list[Item], passages: dict[str, Passage], tmp_path: Path) -> None:
    dataset = needs("inspect_ai.dataset")
    loaded = dataset.json_dataset(str(written("inspect", items, passages, tmp_path) / "samples.jsonl"))
    assert [sample.id for sample in loaded] == [item.id for item in items]
    assert loaded[0].metadata["required_in_rewrite"] == list(items[0].required_in_rewrite)


def test_deepeval_loads_its_goldens(items: list[Item], passages: dict[str, Passage], tmp_path: Path) -> None:
    dataset = needs("deepeval.dataset").EvaluationDataset()
    path = written("deepeval", items, passages, tmp_path) / "goldens.json"
    dataset.add_goldens_from_json_file(
        str(path), input_key_name="input", expected_output_key_name="expected_output"
    )
    assert len(dataset.goldens) == len(items)


def test_ragas_loads_its_samples(items: list[Item], passages: dict[str, Passage], tmp_path: Path) -> None:
    dataset = needs("ragas").EvaluationDataset
    loaded = dataset.from_jsonl(str(written("ragas", items, passages, tmp_path) / "samples.jsonl"))
    assert len(loaded) == len(items)


def test_langsmith_accepts_its_examples(items: list[Item]) -> None:
    create = needs("langsmith.schemas").ExampleCreate
    made = [create(**row) for row in json.loads(EXPORTS["langsmith"](items, {})["examples.json"])]
    assert len(made) == len(items)
