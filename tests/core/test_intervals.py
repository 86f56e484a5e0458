import pytest
from hypothesis import given
from hypothesis import strategies as st

from builder.core.intervals import lang_reiczigel, rogan_gladen, wilson


def test_wilson_of_seven_in_120_is_the_published_interval() -> None:
    assert wilson(7, 120) == pytest.approx((0.0285, 0.1155), abs=5e-5)


def test_wilson_of_nothing_says_nothing() -> None:
    assert wilson(0, 0) == (0.0, 1.0)


def test_wilson_touches_the_ends_only_at_the_ends() -> None:
    assert wilson(0, 30)[0] == 0.0
    assert wilson(30, 30)[1] == 1.0
    assert wilson(1, 30)[0] > 0


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_holds_the_counted_share(counts: tuple[int, int]) -> None:
    k, n = counts
    low, high = wilson(k, n)
    assert low <= k / n <= high


def test_rogan_gladen_undoes_what_the_classifier_did_to_the_share() -> None:
    # A true 9% with sensitivity .80 and specificity .95 reads .09 * .80 + .91 * .05 = 11.75%.
    assert rogan_gladen(0.1175, 0.80, 0.95) == pytest.approx(0.09)


def test_lang_reiczigel_with_a_perfect_and_huge_test_is_about_the_plain_interval() -> None:
    low, high = lang_reiczigel(120, 1000, 10**7, 10**7, 10**7, 10**7)
    assert (low, high) == pytest.approx(wilson(120, 1000), abs=2e-3)


def test_a_smaller_test_of_the_classifier_gives_a_wider_interval() -> None:
    large = lang_reiczigel(117, 1000, 800, 1000, 950, 1000)
    small = lang_reiczigel(117, 1000, 40, 50, 95, 100)
    assert small[1] - small[0] > large[1] - large[0]
    assert large[0] < 0.09 < large[1]
