"""Versions follow from the difference."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builder.core.records import Item
from builder.core.versions import (
    Rules,
    Snapshot,
    compare,
    diff_to_row,
    item_digest,
    next_version,
    parse_version,
    reasons,
    set_digest,
    write_version,
)
from tests.pipeline.halyard_set import halyard_items

RULES = Rules("schema", "taxonomy", 4)


@pytest.fixture(scope="module")
def items(root: Path) -> tuple[Item, ...]:
    return tuple(halyard_items(root)[:6])


def snapshot(items: tuple[Item, ...], rules: Rules = RULES, text: str = "t") -> Snapshot:
    return Snapshot((1, 2, 3), items, rules, text)


@pytest.mark.parametrize(
    ("level", "version"),
    [("major", (2, 0, 0)), ("minor", (1, 3, 0)), ("patch", (1, 2, 4)), ("", (1, 2, 3))],
)
def test_the_step_for_each_level(level: str, version: tuple[int, int, int]) -> None:
    assert next_version((1, 2, 3), level) == version


def test_each_kind_of_change_has_its_level(items: tuple[Item, ...]) -> None:
    first, *rest = items
    changes = {
        "": snapshot(items),
        "patch": snapshot((replace(first, confidence=0.5), *rest)),
        "minor": snapshot(tuple(replace(item, weight=2.0) for item in items)),
        "major": snapshot(items, replace(RULES, taxonomy="another")),
    }
    for level, new in changes.items():
        assert compare(snapshot(items), new).level == level
    assert compare(snapshot(items), snapshot(items, text="u")).level == "patch"
    assert compare(snapshot(items), snapshot(items[1:])).level == "minor"


def test_a_relabelled_item_leaves_the_bridge_and_names_its_fields(items: tuple[Item, ...]) -> None:
    changed = replace(items[0], gold=("docs/other",))
    diff = compare(snapshot(items), snapshot((changed, *items[1:-1])))
    (relabelled,) = diff.relabelled
    assert [name for name, _, _ in relabelled.fields] == ["gold"]
    assert diff.bridge == tuple(item.id for item in items[1:-1])
    assert diff.retired == (items[-1].id,)
    assert reasons(diff)[:2] == ["1 item retired", "1 item relabelled"]
    assert diff_to_row(diff)["comparable"] == "bridge"


def test_digests_ignore_order_and_an_items_ignores_its_weight(items: tuple[Item, ...]) -> None:
    assert set_digest(items) == set_digest(tuple(reversed(items)))
    heavier = replace(items[0], weight=3.0)
    assert item_digest(heavier) == item_digest(items[0])
    assert set_digest((heavier, *items[1:])) != set_digest(items)


@given(st.tuples(st.integers(0, 99), st.integers(0, 99), st.integers(0, 99)))
def test_versions_are_read_as_they_are_written(version: tuple[int, int, int]) -> None:
    assert parse_version(write_version(version)) == version
    assert parse_version("v" + write_version(version)) == version


@pytest.mark.parametrize("text", ["1.2", "latest", "v1.2.x", "1.2.3-rc1", ""])
def test_what_is_no_version_is_none(text: str) -> None:
    assert parse_version(text) is None
