from fractions import Fraction

import pytest

from builder.core.tables import fixed, render_table


@pytest.mark.parametrize(
    ("value", "digits", "sign", "shown"),
    [
        (0.875, 2, False, "0.88"),
        (0.87499999999999989, 2, False, "0.88"),
        (Fraction(7, 8), 2, False, "0.88"),
        (0.865, 2, False, "0.87"),
        (-0.125, 2, True, "-0.13"),
        (-0.0004, 2, True, "+0.00"),
        (1e-12, 2, False, "0.00"),
        (8.25, 1, True, "+8.3"),
    ],
)
def test_halves_go_away_from_zero_whatever_the_last_bits(
    value: float | Fraction, digits: int, sign: bool, shown: str
) -> None:
    assert fixed(value, digits, sign) == shown


def test_the_first_column_is_flush_left_and_the_others_right() -> None:
    assert render_table(("a", "n"), [("long", "1"), ("b", "100")]) == "a       n\nlong    1\nb     100"
