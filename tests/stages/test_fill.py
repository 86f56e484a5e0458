"""Seats from valid items in queue order: kept first, no item twice, weights that add up."""

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builder.core.mix import Mix, Quota, Quotas, Share
from builder.core.records import Dropped, Item, Synthesis, Turn
from builder.core.taxonomy import ITEM_STRATA
from builder.stages.fill import FULL, INVALID, NEAR, RETIRED, SEATED, TWICE, fill_seats

SHARES = {"post_pivot_standalone": 0.25, "standalone": 0.75}


def quotas(seats: dict[str, int], shares: dict[str, float] = SHARES) -> Quotas:
    mix = Mix(tuple(Share(n, 10, shares.get(n, 0.0), 0.0, 1.0) for n in ITEM_STRATA), 100, 20, "labels")
    listed = tuple(Quota(n, seats.get(n, 0), 9, 0, shares.get(n, 0.0), 1.0, 0.2) for n in ITEM_STRATA)
    return Quotas(sum(seats.values()), listed, mix)


def item(number: int, stratum: str = "standalone", asks: str = "", conversation: str = "") -> Item:
    """A valid item that asks about something of its own."""
    thing = asks or f"thing{number} colour{number} size{number}"
    pivot = stratum == "post_pivot_standalone"
    return Item(
        id=f"fu_{number:012d}",
        conversation_id=conversation or f"c{number}",
        turn=3,
        prefix=(
            Turn(1, "user", f"what does lamp{number} cost?"),
            Turn(2, "assistant", f"lamp{number} costs 9 euros"),
        ),
        follow_up=f"what is {thing}?",
        gold=(),
        reference_type=stratum,
        forbidden_in_rewrite=(f"lamp{number}",) if pivot else (),
        required_in_rewrite=(thing.split()[0],),
        aliases=(),
        reference_rewrite=thing,
        form="none",
        pivot=pivot,
        returns=False,
        antecedent_turns=(),
        d_live=0,
        d_stale=1 if pivot else None,
        d_introduced=0,
        intervening_turns=0,
        language="en",
        origin="sampled",
        weight=1.0,
        inclusion_probability=0.5,
        labelled_by="human",
        confidence=1.0,
    )


def fill(
    candidates: list[Item], kept: list[Item], wanted: Quotas, **more: int
) -> tuple[list[Item], Counter[str]]:
    results = list(fill_seats(candidates, kept, wanted, 13, **more))  # type: ignore[arg-type]
    dropped = Counter(r.reason for r in results if isinstance(r, Dropped))
    return [r for r in results if isinstance(r, Item)], dropped


def test_seats_go_to_the_first_of_each_queue() -> None:
    items, dropped = fill([item(n) for n in range(5)], [], quotas({"standalone": 3}))
    assert [i.id for i in items] == [item(n).id for n in range(3)]
    assert dropped == {SEATED: 2}


def test_kept_items_come_first_and_the_surplus_retires() -> None:
    kept = [item(n) for n in range(4)]
    items, dropped = fill([item(9), item(1)], kept, quotas({"standalone": 5}))
    assert {i.id for i in items} == {k.id for k in kept} | {item(9).id}
    assert dropped == {SEATED: 1}
    items, dropped = fill([item(9)], kept, quotas({"standalone": 3}))
    assert {i.id for i in items} < {k.id for k in kept}
    assert dropped == {RETIRED: 1, SEATED: 1}


def test_the_same_item_or_nearly_the_same_words_enter_once() -> None:
    same = item(7, asks="delivery time to the island of Sylt in winter")
    near = replace(
        item(8, asks="delivery time to the island of Sylt in winter"), follow_up=f"{same.follow_up}!"
    )
    items, dropped = fill([same, same, near], [], quotas({"standalone": 3}))
    assert [i.id for i in items] == [same.id]
    assert dropped == {TWICE: 1, NEAR: 1}


def test_a_conversation_gives_no_more_than_its_cap() -> None:
    crowd = [item(n, conversation="busy") for n in range(3)]
    items, dropped = fill(crowd, [], quotas({"standalone": 3}), per_conversation=2)
    assert len(items) == 2
    assert dropped == {FULL: 1}


def test_an_item_that_breaks_a_rule_is_dropped_with_the_rule() -> None:
    broken = replace(item(1), required_in_rewrite=("penguin",))
    (dropped,) = fill_seats([broken], [], quotas({"standalone": 1}), 13)
    assert isinstance(dropped, Dropped)
    assert dropped.reason == INVALID
    assert 'term "penguin" is in neither the follow-up nor an antecedent turn' in dropped.detail


def test_a_synthesized_item_and_its_near_original_are_linked() -> None:
    near = item(1)
    made = replace(
        item(2), origin="synthetic", synthesis=Synthesis("c1", 3, ("d",), (2, 3), 1, 5, "plain", (1,))
    )
    items, _ = fill([near, made], [], quotas({"standalone": 2}))
    assert [(i.id, i.pair) for i in items] == [(near.id, made.id), (made.id, near.id)]


def test_weights_are_production_share_over_set_share() -> None:
    candidates = [item(n, "post_pivot_standalone") for n in range(2)] + [item(n) for n in range(10, 12)]
    items, _ = fill(candidates, [], quotas({"post_pivot_standalone": 2, "standalone": 2}))
    assert {i.reference_type: i.weight for i in items} == {"post_pivot_standalone": 0.5, "standalone": 1.5}


@given(st.integers(0, 6), st.integers(1, 6), st.integers(0, 8), st.integers(0, 8), st.floats(0.05, 0.95))
def test_weights_sum_to_the_size_and_no_stratum_exceeds_its_seats(
    seats_a: int, seats_b: int, n_a: int, n_b: int, share: float
) -> None:
    wanted = quotas(
        {"post_pivot_standalone": seats_a, "standalone": seats_b},
        {"post_pivot_standalone": share, "standalone": 1 - share},
    )
    candidates = [item(n, "post_pivot_standalone") for n in range(n_a)] + [item(50 + n) for n in range(n_b)]
    items, _ = fill(candidates, [], wanted)
    filled = Counter(i.reference_type for i in items)
    assert filled == Counter(
        {
            name: n
            for name, n in (
                ("post_pivot_standalone", min(seats_a, n_a)),
                ("standalone", min(seats_b, n_b)),
            )
            if n
        }
    )
    assert sum(i.weight for i in items) == pytest.approx(len(items), abs=1e-4)
