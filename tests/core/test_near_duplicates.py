"""Near-duplicates: what is asked and what it stands for, within a stratum."""

from dataclasses import replace
from pathlib import Path

import pytest

from builder.core.near_duplicates import jaccard, near_duplicates, shingles
from builder.core.records import Item
from tests.pipeline.halyard_set import halyard_items


@pytest.fixture(scope="module")
def item(root: Path) -> Item:
    return halyard_items(root)[0]


def asked(item: Item, name: str, follow_up: str, rewrite: str, stratum: str = "ellipsis") -> Item:
    return replace(item, id=name, follow_up=follow_up, reference_rewrite=rewrite, reference_type=stratum)


def test_short_follow_ups_are_told_apart_by_what_they_stand_for(item: Item) -> None:
    one = asked(item, "a", "why?", "why does Dublin pair with Frankfurt")
    two = asked(item, "b", "why?", "why are Team invoices due on receipt")
    assert near_duplicates([one, two], 0.85) == []
    assert near_duplicates([one, replace(one, id="c")], 0.85) == [(replace(one, id="c"), one)]


def test_case_and_plural_do_not_hide_a_repetition(item: Item) -> None:
    one = asked(item, "a", "what about the RTO in Dublin?", "RTO of the Dublin region")
    two = asked(item, "b", "What about the RTOs in dublin", "RTO of the Dublin regions")
    assert jaccard(shingles(one), shingles(two)) == 1.0


def test_a_synthesized_item_may_repeat_its_near_original(item: Item) -> None:
    near = asked(item, "a", "and its RTO?", "Dublin RTO")
    far = asked(item, "b", "and its RTO?", "Dublin RTO", stratum="long_range")
    assert near_duplicates([near, far], 0.85) == []


def test_scripts_without_spaces_are_compared_by_their_characters(item: Item) -> None:
    one = asked(item, "a", "它的价格是多少", "北京节点的价格是多少")
    two = asked(item, "b", "为什么不能删除", "企业版账户为什么不能删除")
    assert jaccard(shingles(one), shingles(two)) < 0.2
