"""What must hold of a set as a whole: ids, near-duplicates, caps, seats and weights."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence

from builder.core.errors import Problem
from builder.core.mix import Quotas, set_weights
from builder.core.near_duplicates import near_duplicates
from builder.core.records import Item

Placed = Sequence[tuple[str, Item]]
"""Items, each with its place, such as `items.jsonl:7`."""

WEIGHT_ERROR = 1e-4
"""Most that a weight may be off: weights are written with six decimals."""


def set_problems(placed: Placed, per_conversation: int, near_duplicate: float) -> list[Problem]:
    """What is wrong with the items together, wherever they come from.

    Args:
        placed: Items with their places.
        per_conversation: Most items of one conversation; 0 for no bound.
        near_duplicate: Similarity from which two items are near-duplicates.
    """
    return [
        *_repeated_ids(placed),
        *_near(placed, near_duplicate),
        *_crowded(placed, per_conversation),
        *_pairs(placed),
    ]


def _repeated_ids(placed: Placed) -> Iterator[Problem]:
    first: dict[str, str] = {}
    for where, item in placed:
        earlier = first.setdefault(item.id, where)
        if earlier != where:
            yield Problem(
                f"{where}: {item.id}: id", f'"{item.id}" is also at {earlier}', "give each item its own id"
            )


def _near(placed: Placed, threshold: float) -> Iterator[Problem]:
    places = {id(item): where for where, item in placed}
    for item, other in near_duplicates([item for _, item in placed], threshold):
        yield Problem(
            f"{places[id(item)]}: {item.id}: follow_up",
            f'"{item.follow_up[:60]}" nearly repeats item {other.id} at {places[id(other)]}',
            "keep one of the two",
        )


def _crowded(placed: Placed, cap: int) -> Iterator[Problem]:
    seen: Counter[str] = Counter()
    for where, item in placed:
        seen[item.conversation_id] += 1
        if cap and seen[item.conversation_id] > cap:
            yield Problem(
                f"{where}: {item.id}: conversation_id",
                f'is item {seen[item.conversation_id]} of conversation "{item.conversation_id}", the cap is {cap}',
                "remove it or raise [draw] per_conversation",
            )


def _pairs(placed: Placed) -> Iterator[Problem]:
    ids = {item.id for _, item in placed}
    for where, item in placed:
        if item.pair and item.pair not in ids:
            yield Problem(
                f"{where}: {item.id}: pair", f'"{item.pair}" is no item of the set', "name an item of the set"
            )


def seat_problems(
    placed: Placed, quotas: Quotas, short: Mapping[str, int], where: str, strata: Collection[str]
) -> list[Problem]:
    """Where items and seats do not match, and where weights do not add up.

    Args:
        placed: Items with their places.
        quotas: Seats.
        short: Stratum -> seats that the manifest owns up to as empty.
        where: Place of the quotas.
        strata: The strata that have items, in order.
    """
    filled = Counter(item.reference_type for _, item in placed)
    problems = []
    for name in strata:
        seats, expected = quotas.seats(name), quotas.seats(name) - short.get(name, 0)
        if filled[name] != expected:
            declared = f", {short[name]} declared short" if short.get(name) else ""
            problems.append(
                Problem(
                    f"{where}: {name}",
                    f"{filled[name]} items for {seats} seats{declared}",
                    "fill the seats, or write the quotas and the shortage anew with `followups build`",
                )
            )
    seats = sum(quota.seats for quota in quotas.quotas)
    if seats != quotas.size:
        problems.append(
            Problem(f"{where}: size", f"is {quotas.size}, the seats sum to {seats}", "make them equal")
        )
    total = sum(share.share for share in quotas.mix.shares)
    if abs(total - 1) > WEIGHT_ERROR:
        problems.append(Problem(f"{where}: mix", f"shares sum to {total:.6f}", "shares of a mix sum to 1"))
    return [*problems, *_weights(placed, quotas, filled)]


def _weights(placed: Placed, quotas: Quotas, filled: Mapping[str, int]) -> Iterator[Problem]:
    expected = set_weights(quotas, filled)
    for where, item in placed:
        weight = expected.get(item.reference_type)
        if weight is not None and abs(item.weight - weight) > WEIGHT_ERROR:
            yield Problem(
                f"{where}: {item.id}: weight",
                f"is {item.weight}, share over set share of {item.reference_type} is {weight}",
                f"set it to {weight}, so that weights sum to the number of items",
            )
