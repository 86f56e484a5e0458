"""Whole seats out of shares: the largest remainder within floors and caps."""

from collections.abc import Sequence
from fractions import Fraction
from math import floor


def largest_remainder(
    shares: Sequence[float], size: int, low: Sequence[int] = (), high: Sequence[int] = ()
) -> tuple[int, ...]:
    """Seats for each share, at least `low` and at most `high`, that sum to `size` exactly.

    With one common rate r, a share p is owed min(max(r p, low), high), where r makes these sum to `size`
    (without bounds r = size). Each gets what it is owed, rounded down; the seats left over go to the largest
    remainders, ties to the share that stands first.
    Source: Hamilton apportionment; Balinski and Young, Fair Representation, 1982.

    Args:
        shares: What each is owed in proportion to, 0 or more; they need not sum to 1.
        size: Seats to give away.
        low: Fewest seats of each; 0 by default.
        high: Most seats of each; `size` by default.

    Raises:
        ValueError: The bounds cannot sum to `size`, or no share is above 0 where seats remain.
    """
    floors = [Fraction(n) for n in (low or [0] * len(shares))]
    caps = [Fraction(n) for n in (high or [size] * len(shares))]
    if sum(floors) > size or sum(caps) < size or any(a > b for a, b in zip(floors, caps, strict=True)):
        raise ValueError(f"{size} seats do not fit between {sum(floors)} and {sum(caps)}")
    exact = [Fraction(share) for share in shares]
    owed = _owed(exact, size, floors, caps)
    seats = [floor(each) for each in owed]
    open_seats = [k for k, each in enumerate(owed) if seats[k] < each]
    open_seats.sort(key=lambda k: (seats[k] - owed[k], k))
    for k in open_seats[: size - sum(seats)]:
        seats[k] += 1
    return tuple(seats)


def _owed(
    shares: Sequence[Fraction], size: int, floors: Sequence[Fraction], caps: Sequence[Fraction]
) -> list[Fraction]:
    """What each share is owed at the common rate that makes the bounded sum equal to `size`."""
    fixed: dict[int, Fraction] = {}
    while True:
        free = [k for k in range(len(shares)) if k not in fixed]
        rest, total = size - sum(fixed.values()), sum(shares[k] for k in free)
        if free and total == 0 and rest > sum(floors[k] for k in free):
            raise ValueError(f"{rest} seats are left and no share to give them to")
        owed = {k: rest * shares[k] / total if total else floors[k] for k in free}
        bounded = {k: min(max(owed[k], floors[k]), caps[k]) for k in free}
        excess = sum(bounded[k] - owed[k] for k in free)
        # Floors and caps pull the rate in opposite directions: settle the stronger side first, then look again.
        settled = {k: bounded[k] for k in free if (bounded[k] - owed[k]) * (1 if excess >= 0 else -1) > 0}
        if not settled:
            return [fixed[k] if k in fixed else bounded[k] for k in range(len(shares))]
        fixed |= settled
