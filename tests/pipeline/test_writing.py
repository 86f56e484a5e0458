"""Releases: versions follow from the difference, bytes from the content, and files appear whole."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from builder.core.records import Item
from builder.core.versions import item_digest
from builder.io.parquet import item_from_cells
from builder.pipeline.checking import validate_path
from builder.pipeline.snapshots import read_items, read_manifest
from tests.pipeline.halyard_set import halyard_items, pick, release, weighed


@pytest.fixture(scope="module")
def items(root: Path) -> list[Item]:
    return halyard_items(root)


def contents(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_the_first_release_is_1_0_0_and_validates(tmp_path: Path, root: Path, items: list[Item]) -> None:
    folder, message = release(tmp_path, root, pick(items))
    assert folder == tmp_path / "dist" / "small" / "v1.0.0"
    assert "first release, 24 items" in message
    checked = validate_path(tmp_path / "dist")
    assert checked.problems == ()
    assert checked.n_items == 24


def test_equal_content_gives_equal_bytes_wherever_it_is_built(
    tmp_path: Path, root: Path, items: list[Item]
) -> None:
    first, _ = release(tmp_path / "here", root, pick(items))
    second, _ = release(tmp_path / "there", root, pick(items))
    assert contents(first) == contents(second)


def test_identical_content_makes_no_new_version(tmp_path: Path, root: Path, items: list[Item]) -> None:
    first, _ = release(tmp_path, root, pick(items))
    second, message = release(tmp_path, root, pick(items))
    assert second == first
    assert "no new version" in message
    assert [p.name for p in first.parent.iterdir()] == ["v1.0.0"]


def test_an_item_added_or_relabelled_is_minor_a_text_is_patch(
    tmp_path: Path, root: Path, items: list[Item]
) -> None:
    chosen = pick(items)
    release(tmp_path, root, chosen)
    worded = [replace(chosen[0], subject="another name"), *chosen[1:]]
    assert release(tmp_path, root, worded)[0].name == "v1.0.1"
    added = weighed([*worded, *pick(items, 1, skip=3)[:1]])
    assert release(tmp_path, root, added)[0].name == "v1.1.0"
    relabelled = [replace(added[0], gold=added[1].gold), *added[1:]]
    folder, message = release(tmp_path, root, relabelled)
    assert folder.name == "v1.2.0"
    assert "1 item relabelled" in message


def test_another_long_range_distance_is_major(tmp_path: Path, root: Path, items: list[Item]) -> None:
    release(tmp_path, root, pick(items))
    folder, _ = release(tmp_path, root, pick(items), lambda text: text + "[classify]\nlong_range = 3\n")
    assert folder.name == "v2.0.0"
    assert "do not compare" in (folder / "CHANGELOG.md").read_text()


def test_kept_items_keep_bytes_and_the_bridge_names_them(
    tmp_path: Path, root: Path, items: list[Item]
) -> None:
    chosen = pick(items)
    first, _ = release(tmp_path, root, chosen)
    second, _ = release(tmp_path, root, weighed([*chosen[1:], *pick(items, 1, skip=3)]))
    before = {item.id: item_digest(item) for item in read_items(first)}
    after = {item.id: item_digest(item) for item in read_items(second)}
    bridge = read_manifest(second)["bridge"]
    assert sorted(bridge) == sorted(item.id for item in chosen[1:])
    assert all(before[name] == after[name] for name in bridge)


def test_hand_written_notes_and_edited_sections_survive_the_next_release(
    tmp_path: Path, root: Path, items: list[Item]
) -> None:
    chosen = pick(items)
    first, _ = release(tmp_path, root, chosen)
    card, log = first / "README.md", first / "CHANGELOG.md"
    card.write_text(
        card.read_text().replace("## Known limits\n", "## Known limits\n\nOnly English, says Ada.\n")
    )
    log.write_text(log.read_text() + "\nA note by hand.\n")
    second, _ = release(tmp_path, root, weighed([*chosen[1:], *pick(items, 1, skip=3)]))
    assert "Only English, says Ada." in (second / "README.md").read_text()
    assert "A note by hand." in (second / "CHANGELOG.md").read_text()
    assert (second / "CHANGELOG.md").read_text().index("## v1.1.0") < (
        second / "CHANGELOG.md"
    ).read_text().index("## v1.0.0")


def test_parquet_gives_back_the_very_items(tmp_path: Path, root: Path, items: list[Item]) -> None:
    import pyarrow.parquet as pq

    folder, _ = release(tmp_path, root, pick(items))
    cells = pq.read_table(folder / "data" / "items" / "test.parquet").to_pylist()
    lines = [json.loads(line) for line in (folder / "items.jsonl").read_text().splitlines()]
    assert [item_from_cells(row) for row in cells] == lines


def test_a_column_that_is_null_throughout_keeps_its_type(
    tmp_path: Path, root: Path, items: list[Item]
) -> None:
    import datasets

    bare = [replace(item, gold=(), gold_source="none") for item in pick(items) if item.d_stale is None][:2]
    folder, _ = release(tmp_path, root, weighed(bare))
    table = datasets.load_dataset(
        "parquet",
        data_files=str(folder / "data" / "items" / "test.parquet"),
        cache_dir=str(tmp_path / "cache"),
    )["train"]
    assert table.features["d_stale"].dtype == "int32"
    assert table.features["gold"].feature.dtype == "string"
    assert set(table["d_stale"]) == {None}


def test_a_killed_build_leaves_nothing_that_looks_like_a_release(
    tmp_path: Path, root: Path, items: list[Item]
) -> None:
    left = tmp_path / "dist" / "small" / ".making-v1.0.0"
    left.mkdir(parents=True)
    (left / "manifest.json").write_text("{")
    folder, _ = release(tmp_path, root, pick(items))
    assert sorted(p.name for p in folder.parent.iterdir()) == ["v1.0.0"]
    assert validate_path(folder).problems == ()


def test_the_manifest_names_no_place_on_the_disk(tmp_path: Path, root: Path, items: list[Item]) -> None:
    folder, _ = release(tmp_path, root, pick(items))
    assert str(root) not in (folder / "manifest.json").read_text()
    assert str(tmp_path) not in (folder / "manifest.json").read_text()
