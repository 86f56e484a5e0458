from math import sqrt

from hypothesis import given
from hypothesis import strategies as st

from builder.core.power import detectable_drop


def test_sixty_seats_show_a_drop_of_about_nineteen_points() -> None:
    # (1.960 sqrt(d + .1) + .8416 sqrt(d + .1 - d^2))^2 / d^2 is 59.8 seats at d = .192 and 60.2 at d = .191.
    assert detectable_drop(60) == 0.192
    assert (1.95996 * sqrt(0.292) + 0.84162 * sqrt(0.292 - 0.192**2)) ** 2 / 0.192**2 < 60
    assert (1.95996 * sqrt(0.291) + 0.84162 * sqrt(0.291 - 0.191**2)) ** 2 / 0.191**2 > 60


def test_a_handful_of_seats_shows_nothing_for_sure() -> None:
    assert detectable_drop(4) == 1.0
    assert detectable_drop(0) == 1.0


@given(st.integers(1, 2000))
def test_more_seats_never_show_less(seats: int) -> None:
    assert detectable_drop(seats + 1) <= detectable_drop(seats)
