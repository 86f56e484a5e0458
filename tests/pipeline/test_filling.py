"""Items across releases: kept bytes and all, relabelled by people only, held back when their gold rots."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from builder.core.records import Item
from builder.core.rot import CHANGED, MOVED
from builder.core.versions import item_digest
from builder.pipeline.filling import QUARANTINED, fill_set
from builder.pipeline.snapshots import read_manifest
from builder.pipeline.writing import write_release
from tests.pipeline.halyard_set import FACTS, halyard_items, pick, quotas_of, release, sources_in, weighed


@pytest.fixture(scope="module")
def items(root: Path) -> list[Item]:
    return halyard_items(root)


def other_corpus(folder: Path, root: Path, changed: str, gone: str) -> str:
    rows = [json.loads(line) for line in (root / "data" / "halyard" / "docs.jsonl").read_text().splitlines()]
    path = folder / "today.jsonl"
    kept = [
        {**row, "text": "rewritten"} if row["id"] == changed else row for row in rows if row["id"] != gone
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in kept))
    return path.as_posix()


def test_an_unchanged_mix_changes_nothing(tmp_path: Path, root: Path, items: list[Item]) -> None:
    chosen = pick(items)
    release(tmp_path, root, chosen)
    sources = sources_in(tmp_path, root)
    filled, _ = fill_set(sources, items, quotas_of(chosen))
    assert {i.id: item_digest(i) for i in filled} == {i.id: item_digest(i) for i in chosen}
    folder, message = write_release(sources, filled, quotas_of(chosen), FACTS, [])
    assert (folder.name, "no new version" in message) == ("v1.0.0", True)


def test_fewer_seats_retire_and_more_seats_keep_what_is_there(
    tmp_path: Path, root: Path, items: list[Item]
) -> None:
    chosen = pick(items)
    release(tmp_path, root, chosen)
    wanted = [i for i in pick(items, 5) if i.reference_type in ("pronoun", "standalone")]
    wanted += [i for i in chosen if i.reference_type == "ellipsis"][:1]
    filled, _ = fill_set(sources_in(tmp_path, root), items, quotas_of(wanted))
    before = {i.id for i in chosen}
    counts = {
        name: sum(i.reference_type == name for i in filled) for name in ("pronoun", "standalone", "ellipsis")
    }
    assert counts == {"pronoun": 5, "standalone": 5, "ellipsis": 1}
    kept = {i.id for i in filled} & before
    assert len(kept) == 3 + 3 + 1
    assert sum(i.weight for i in filled) == pytest.approx(len(filled), abs=1e-3)


def test_a_machine_does_not_relabel_a_kept_item_but_a_person_does(
    tmp_path: Path, root: Path, items: list[Item]
) -> None:
    chosen = pick(items)
    release(tmp_path, root, chosen)
    sources = sources_in(tmp_path, root)
    machine = [replace(i, labelled_by="model", confidence=0.5) for i in chosen]
    filled, _ = fill_set(sources, machine, quotas_of(chosen))
    assert {i.labelled_by for i in filled} == {"human"}
    person = [replace(chosen[0], gold=chosen[1].gold), *chosen[1:]]
    filled, _ = fill_set(sources, person, quotas_of(chosen))
    assert next(i for i in filled if i.id == chosen[0].id).gold == chosen[1].gold


def test_items_whose_passage_moved_or_changed_are_quarantined_until_a_person_looks(
    tmp_path: Path, root: Path, items: list[Item]
) -> None:
    chosen = pick(items)
    release(tmp_path, root, chosen)
    changed, gone = chosen[0].gold[0], next(i.gold[0] for i in chosen if i.gold[0] != chosen[0].gold[0])
    corpus = other_corpus(tmp_path, root, changed, gone)
    docs = f"{(root / 'data' / 'halyard').as_posix()}/docs.jsonl"

    sources = sources_in(tmp_path, root, lambda text: text.replace(docs, corpus))
    filled, dropped = fill_set(sources, chosen, quotas_of(chosen))
    held = {d.id: d.reason for d in dropped if d.reason.startswith(QUARANTINED)}
    assert held[chosen[0].id] == QUARANTINED + CHANGED
    assert QUARANTINED + MOVED in held.values()
    assert not {i.id for i in filled} & held.keys()

    left = weighed(filled)
    folder, _ = write_release(sources, left, quotas_of(left), FACTS, dropped)
    stated = {row["id"]: row["reason"] for row in read_manifest(folder)["quarantined"]}
    assert stated[chosen[0].id] == CHANGED

    again = sources_in(tmp_path, root, lambda text: text.replace(docs, corpus))
    filled, _ = fill_set(again, chosen, quotas_of(chosen))
    assert chosen[0].id not in {i.id for i in filled}
    looked = [replace(chosen[0], review="accepted"), *chosen[1:]]
    filled, _ = fill_set(again, looked, quotas_of(chosen))
    assert chosen[0].id in {i.id for i in filled}
