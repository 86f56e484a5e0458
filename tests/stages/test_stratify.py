import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builder.core.errors import BuilderError
from builder.core.mix import Mix, Share, set_weights
from builder.core.settings import StratifySettings
from builder.core.taxonomy import ITEM_STRATA, STRATUM_NAMES
from builder.stages.closing_table import closing_rows, closing_table
from builder.stages.stratify import allot_quotas

SHARES = {
    "not_a_query": 0.08,
    "unresolvable": 0.02,
    "post_pivot_standalone": 0.09,
    "long_range": 0.045,
    "ordinal": 0.045,
    "pronoun": 0.18,
    "ellipsis": 0.18,
    "definite": 0.045,
    "constraint_carryover": 0.045,
    "standalone": 0.27,
}


def mix_of(shares: dict[str, float]) -> Mix:
    return Mix(
        tuple(
            Share(name, round(1000 * shares.get(name, 0)), shares.get(name, 0.0), 0.0, 1.0)
            for name in STRATUM_NAMES
        ),
        1000,
        200,
        "labels",
    )


def test_strata_without_items_are_left_out_and_the_rest_rescaled() -> None:
    quotas = allot_quotas(
        mix_of(SHARES), dict.fromkeys(ITEM_STRATA, 999), StratifySettings(size=100, floor=0)
    )
    assert {q.reference_type: q.seats for q in quotas.quotas} == {
        "post_pivot_standalone": 10,
        "long_range": 5,
        "ordinal": 5,
        "pronoun": 20,
        "ellipsis": 20,
        "definite": 5,
        "constraint_carryover": 5,
        "standalone": 30,
    }
    assert all(q.weight == pytest.approx(1.0) for q in quotas.quotas)


def test_a_floor_lowers_the_weight_and_a_shortage_is_named() -> None:
    available = {**dict.fromkeys(ITEM_STRATA, 999), "long_range": 4}
    quotas = allot_quotas(mix_of(SHARES), available, StratifySettings(size=100, floor=10))
    long_range = next(q for q in quotas.quotas if q.reference_type == "long_range")
    assert (long_range.seats, long_range.available, long_range.shortage) == (10, 4, 6)
    assert long_range.weight == 0.5


def test_weights_over_all_seats_sum_to_the_size() -> None:
    quotas = allot_quotas(mix_of(SHARES), {}, StratifySettings(size=300, floor=15))
    assert sum(q.seats * q.weight for q in quotas.quotas) == pytest.approx(300, abs=1e-3)


def test_weights_of_a_set_that_stayed_short_sum_to_its_items() -> None:
    quotas = allot_quotas(mix_of(SHARES), {}, StratifySettings(size=300, floor=15))
    filled = {q.reference_type: q.seats for q in quotas.quotas} | {"long_range": 0, "ordinal": 3}
    weights = set_weights(quotas, filled)
    assert "long_range" not in weights
    assert sum(weights[name] * filled[name] for name in weights) == pytest.approx(
        sum(filled.values()), abs=1e-3
    )


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        pytest.param(
            StratifySettings(size=300, floor=40),
            "[stratify]: floor 40 x 8 strata needs 320 seats, size is 300; lower the floor or raise the size",
            id="floors exceed the size",
        ),
        pytest.param(
            StratifySettings(size=300, floor=0, cap=30),
            "[stratify]: caps allow 240 seats, size is 300; raise the caps or lower the size",
            id="caps cannot reach the size",
        ),
        pytest.param(
            StratifySettings(size=300, floors=(("pronoun", 40),), caps=(("pronoun", 20),)),
            "[stratify]: pronoun has floor 40 above cap 20; lower the floor or raise the cap",
            id="floor above cap",
        ),
        pytest.param(
            StratifySettings(floors=(("pronouns", 40),)),
            '[stratify] floors: unknown stratum "pronouns"; did you mean pronoun? one of post_pivot_standalone, '
            "long_range, ordinal, pronoun, ellipsis, definite, constraint_carryover, standalone",
            id="unknown stratum",
        ),
    ],
)
def test_impossible_settings_are_refused_with_the_sum(settings: StratifySettings, message: str) -> None:
    with pytest.raises(BuilderError, match=re.escape(message)) as raised:
        allot_quotas(mix_of(SHARES), {}, settings)
    assert raised.value.code == 2


def test_a_log_of_thanks_only_has_no_seats_to_give() -> None:
    with pytest.raises(BuilderError, match="no stratum with items occurs in 1000 follow-ups"):
        allot_quotas(mix_of({"not_a_query": 1.0}), {}, StratifySettings())


def test_a_floor_of_its_own_counts_even_where_the_mix_has_none() -> None:
    shares = {"pronoun": 0.5, "standalone": 0.5}
    quotas = allot_quotas(
        mix_of(shares), {}, StratifySettings(size=100, floor=0, floors=(("long_range", 20),))
    )
    assert quotas.seats("long_range") == 20
    assert next(q.weight for q in quotas.quotas if q.reference_type == "long_range") == 0.0


@given(
    st.lists(st.integers(0, 1000), min_size=8, max_size=8).filter(any),
    st.integers(200, 600),
    st.integers(0, 25),
)
def test_seats_sum_to_size_for_any_mix(parts: list[int], size: int, floor: int) -> None:
    total = sum(parts)
    mix = mix_of({name: part / total for name, part in zip(ITEM_STRATA, parts, strict=True)})
    quotas = allot_quotas(mix, {}, StratifySettings(size=size, floor=floor))
    assert sum(q.seats for q in quotas.quotas) == size
    for quota, part in zip(quotas.quotas, parts, strict=True):
        assert quota.seats >= floor if part else quota.seats == 0


def test_the_closing_table_has_a_row_per_stratum_and_names_the_method() -> None:
    quotas = allot_quotas(
        mix_of(SHARES), dict.fromkeys(ITEM_STRATA, 40), StratifySettings(size=100, floor=10)
    )
    real = {q.reference_type: q.seats for q in quotas.quotas} | {"long_range": 4}
    rows = closing_rows(quotas, real, {"long_range": 6}, {"long_range": 0.5})
    assert [row[0] for row in rows] == [*STRATUM_NAMES, "all"]
    assert rows[3] == ("long_range", "4.5%", "0.0% to 100.0%", "10", "4", "6", "0.50", "70 points")
    assert rows[0] == ("not_a_query", "8.0%", "0.0% to 100.0%", "-", "-", "-", "-", "-")
    assert closing_table(quotas, real, {"long_range": 6}, {}).endswith("mix: labels")


def test_a_stratum_that_correction_leaves_no_share_keeps_its_floor_where_follow_ups_are_in_it() -> None:
    mix = mix_of({"standalone": 0.7, "pronoun": 0.3})
    quotas = allot_quotas(
        mix, {"standalone": 50, "pronoun": 50, "long_range": 3}, StratifySettings(size=60, floor=10)
    )
    assert quotas.seats("long_range") == 10
    assert next(q for q in quotas.quotas if q.reference_type == "long_range").shortage == 7
    assert quotas.seats("ordinal") == 0
    assert sum(q.seats for q in quotas.quotas) == 60
