import pytest
from hypothesis import given
from hypothesis import strategies as st

from builder.core.apportion import largest_remainder

SHARES = st.lists(st.integers(0, 1000), min_size=1, max_size=10).filter(any)


def test_seats_left_over_go_to_the_largest_remainders() -> None:
    # 10 seats: 4.1, 3.3, 2.6 -> 4, 3, 2 and the last one to .6
    assert largest_remainder([0.41, 0.33, 0.26], 10) == (4, 3, 3)


def test_a_tie_goes_to_the_share_that_stands_first() -> None:
    assert largest_remainder([1, 1, 1], 4) == (2, 1, 1)


def test_a_floor_is_paid_by_the_others_in_proportion() -> None:
    assert largest_remainder([0.02, 0.49, 0.49], 100, [10, 0, 0], [100] * 3) == (10, 45, 45)


def test_a_cap_gives_its_seats_to_the_others() -> None:
    assert largest_remainder([0.8, 0.1, 0.1], 100, [0] * 3, [50, 100, 100]) == (50, 25, 25)


def test_bounds_that_cannot_sum_to_the_size_are_refused() -> None:
    with pytest.raises(ValueError, match="10 seats do not fit between 12 and 20"):
        largest_remainder([1, 1], 10, [6, 6], [10, 10])


@given(SHARES, st.integers(1, 500))
def test_seats_sum_to_size_and_are_within_one_of_what_is_owed(shares: list[int], size: int) -> None:
    seats = largest_remainder(shares, size)
    assert sum(seats) == size
    for share, n in zip(shares, seats, strict=True):
        assert abs(n - size * share / sum(shares)) < 1


@given(st.data(), SHARES, st.integers(1, 300))
def test_floors_and_caps_hold_and_seats_still_sum_to_size(
    data: st.DataObject, shares: list[int], size: int
) -> None:
    shares = [share + 1 for share in shares]
    low = [data.draw(st.integers(0, size // len(shares))) for _ in shares]
    high = [data.draw(st.integers(max(n, -(-size // len(shares))), size)) for n in low]
    seats = largest_remainder(shares, size, low, high)
    assert sum(seats) == size
    assert all(a <= n <= b for a, n, b in zip(low, seats, high, strict=True))


@given(SHARES, st.integers(1, 300), st.integers(0, 20))
def test_a_larger_share_never_gets_fewer_seats(shares: list[int], size: int, floor: int) -> None:
    low = [min(floor, size // len(shares))] * len(shares)
    shares = [share + 1 for share in shares]
    seats = largest_remainder(shares, size, low, [size] * len(shares))
    for a, n in zip(shares, seats, strict=True):
        assert all(n >= m for b, m in zip(shares, seats, strict=True) if a > b)
