import re

import numpy as np
import pytest

from builder.core.errors import BuilderError
from builder.core.mix import Confusion, Mix, confusion_from_card
from builder.core.records import FollowUp
from builder.core.settings import MeasureSettings
from builder.core.taxonomy import STRATUM_NAMES
from builder.model.correction import (
    Array,
    Counts,
    Estimate,
    inverted,
    plain,
    resample_weights,
    second_labels_to_halve,
    two_phase,
)
from builder.stages.measure import measure_mix

N = len(STRATUM_NAMES)
KNOWN_MIX = np.array([0.05, 0.03, 0.10, 0.09, 0.06, 0.18, 0.14, 0.05, 0.07, 0.23])
SETTINGS = MeasureSettings(resamples=200)


def follow_up(conversation: str, turn: int, stratum: str, **values: object) -> FollowUp:
    row: dict[str, object] = {
        "conversation_id": conversation,
        "turn": turn,
        "subject": "Dublin",
        "reference_type": stratum,
        "form": "pronoun",
        "pivot": False,
        "returns": False,
        "antecedent_turns": (turn - 1,),
        "d_live": 1,
        "d_introduced": 1,
        "required_in_rewrite": (),
        "forbidden_in_rewrite": (),
        "d_stale": None,
        "confidence": 0.9,
        **values,
    }
    return FollowUp(**row)  # type: ignore[arg-type]


def odds_of_error() -> Array:
    """Per true stratum, the chances of each predicted one: right in .65 and a skewed part of the rest."""
    generator = np.random.default_rng(5)
    return generator.dirichlet(np.ones(N), size=N) * 0.35 + np.eye(N) * 0.65


def a_log(generator: np.random.Generator, odds: Array, n_conversations: int = 150) -> Counts:
    """A log of the known mix whose conversations have habits, labelled with known errors; 40 second labels a stratum."""
    lengths = generator.integers(4, 17, n_conversations)
    habits = generator.dirichlet(KNOWN_MIX * 8, n_conversations)
    conversation = np.repeat(np.arange(n_conversations), lengths)
    n = len(conversation)
    true = (generator.random((n, 1)) > habits[conversation].cumsum(axis=1)).sum(axis=1).clip(0, N - 1)
    predicted = (generator.random((n, 1)) > odds[true].cumsum(axis=1)).sum(axis=1).clip(0, N - 1)
    first, second = np.zeros((n_conversations, N)), np.zeros((n_conversations, N * N))
    np.add.at(first, (conversation, predicted), 1)
    order = generator.permutation(n)
    for stratum in range(N):
        chosen = order[predicted[order] == stratum][:40]
        np.add.at(second, (conversation[chosen], stratum * N + true[chosen]), 1)
    return Counts(first, second, n_conversations)


def a_card(generator: np.random.Generator, odds: Array) -> Confusion:
    """The confusion matrix that the classifier's card would hold after a test on 1,200 follow-ups of another mix."""
    rows = [generator.multinomial(120, odds[stratum]) for stratum in range(N)]
    return Confusion(STRATUM_NAMES, tuple(tuple(float(count) for count in row) for row in rows))


@pytest.fixture(scope="module")
def coverage() -> dict[str, Array]:
    """Of 200 logs, the part in which each stratum's interval holds the truth, per method."""
    odds = odds_of_error()
    held = {method: np.zeros(N) for method in ("uncorrected", "two_phase", "rogan_gladen")}
    for log in range(200):
        generator = np.random.default_rng(log)
        counts, weights = a_log(generator, odds), resample_weights(150, 200, log)
        corrected = inverted(counts, weights, a_card(generator, odds), log)
        assert isinstance(corrected, Estimate)
        estimates = {
            "uncorrected": plain(counts, weights),
            "two_phase": two_phase(counts, weights),
            "rogan_gladen": corrected,
        }
        for method, estimate in estimates.items():
            low, high = np.array(estimate.bounds).T
            held[method] += (low <= KNOWN_MIX) & (high >= KNOWN_MIX)
    return {method: counts / 200 for method, counts in held.items()}


def test_two_phase_intervals_hold_the_truth_in_nine_of_ten_logs(coverage: dict[str, Array]) -> None:
    assert coverage["two_phase"].min() >= 0.90


def test_rogan_gladen_intervals_hold_the_truth_in_nine_of_ten_logs(coverage: dict[str, Array]) -> None:
    assert coverage["rogan_gladen"].min() >= 0.90


def test_plain_counting_beside_them_fails(coverage: dict[str, Array]) -> None:
    assert coverage["uncorrected"].min() < 0.10
    assert coverage["uncorrected"].mean() < 0.70


def two_strata(pronouns: int, standalones: int) -> list[FollowUp]:
    """One follow-up a conversation, as classified."""
    names = ["pronoun"] * pronouns + ["standalone"] * standalones
    return [follow_up(f"c{place:04}", 3, name) for place, name in enumerate(names)]


def share_of(mix: Mix, name: str) -> tuple[float, float, float]:
    share = next(s for s in mix.shares if s.reference_type == name)
    return share.share, share.low, share.high


def test_nine_percent_that_read_as_twelve_are_measured_as_nine() -> None:
    # True 9%, sensitivity .80, specificity .95: 11.75% are predicted.
    log = two_strata(94, 706)
    card = Confusion(("pronoun", "standalone"), ((800.0, 200.0), (50.0, 950.0)))
    plain_mix = measure_mix(log, MeasureSettings("uncorrected"), 13)
    assert (plain_mix.method, plain_mix.share("pronoun")) == ("uncorrected", 0.1175)
    mix = measure_mix(log, MeasureSettings(), 13, confusion=card)
    assert mix.method == "rogan_gladen"
    share, low, high = share_of(mix, "pronoun")
    assert share == pytest.approx(0.09, abs=1e-6)
    assert low < 0.09 < high


def test_second_labels_correct_what_the_classifier_counted() -> None:
    # Of 100 predicted pronouns 10 of 20 second labels are "ellipsis"; standalones are all confirmed.
    log = two_strata(100, 300)
    second: dict[str, FollowUp | str] = {
        f.id: "pronoun" if n % 2 else "ellipsis" for n, f in enumerate(log[:20])
    }
    second |= {f.id: "standalone" for f in log[100:140]}
    mix = measure_mix(log, SETTINGS, 13, second=second)
    assert mix.method == "two_phase"
    assert (mix.share("pronoun"), mix.share("ellipsis"), mix.share("standalone")) == (0.125, 0.125, 0.75)
    assert mix.share("pronoun") > share_of(mix, "pronoun")[1] > 0
    assert mix.labels_to_halve is None or mix.labels_to_halve > 0


def test_a_stratum_without_second_labels_keeps_the_classifiers_word_and_says_so() -> None:
    log = two_strata(10, 10)
    mix = measure_mix(log, SETTINGS, 13, second={log[0].id: "ellipsis"})
    assert mix.share("standalone") == 0.5
    assert mix.notes == (
        "no second label among follow-ups predicted standalone: the classifier's word stands there",
    )


def test_labels_of_people_are_counted_as_they_are() -> None:
    log = [follow_up(f"c{n}", 3, "ordinal" if n < 3 else "definite", labelled_by="human") for n in range(12)]
    mix = measure_mix(log, SETTINGS, 13)
    assert (mix.method, mix.share("ordinal"), mix.n_conversations) == ("labels", 0.25, 12)


def test_shares_sum_to_one_and_lie_in_their_intervals() -> None:
    log = [follow_up(f"c{n % 7}", 3 + 2 * (n // 7), STRATUM_NAMES[n % 3]) for n in range(71)]
    mix = measure_mix(log, SETTINGS, 13)
    assert sum(round(s.share * 1_000_000) for s in mix.shares) == 1_000_000
    assert all(0 <= s.low <= s.share <= s.high <= 1 for s in mix.shares)
    assert [s.reference_type for s in mix.shares] == list(STRATUM_NAMES)


def test_alike_follow_ups_of_few_conversations_make_a_wider_interval() -> None:
    apart = [follow_up(f"c{n}", 3, "pronoun" if n < 40 else "ellipsis") for n in range(100)]
    alike = [
        follow_up(f"c{n // 10}", 3 + 2 * (n % 10), "pronoun" if n < 40 else "ellipsis") for n in range(100)
    ]
    widths = []
    for log in (apart, alike):
        _, low, high = share_of(measure_mix(log, MeasureSettings(), 13), "pronoun")
        widths.append(high - low)
    assert widths[0] == pytest.approx(0.19, abs=0.02)
    assert widths[1] > 2 * widths[0]


def test_the_mix_ignores_input_order_and_synthetic_follow_ups() -> None:
    log = two_strata(20, 30)
    made = [follow_up("syn", 9, "long_range", origin="synthetic")]
    assert measure_mix(log[::-1] + made, SETTINGS, 13) == measure_mix(log, SETTINGS, 13)


def test_labels_of_people_are_not_corrected_for_the_classifiers_errors() -> None:
    card = Confusion(("pronoun", "standalone"), ((800.0, 200.0), (50.0, 950.0)))
    people = [
        follow_up(f"p{n}", 3, "pronoun" if n < 80 else "standalone", labelled_by="human") for n in range(800)
    ]
    mix = measure_mix(two_strata(94, 706) + people, MeasureSettings(), 13, confusion=card)
    # Half by people at 10%, half by the classifier: 11.75% corrected to 9%.
    assert mix.share("pronoun") == pytest.approx(0.095, abs=1e-6)
    assert mix.notes == ("800 of 1600 follow-ups have labels by people, which are taken as they are",)


def test_a_useless_classifier_is_not_corrected() -> None:
    card = Confusion(("pronoun", "standalone"), ((60.0, 40.0), (50.0, 50.0)))
    mix = measure_mix(two_strata(30, 70), MeasureSettings(), 13, confusion=card)
    assert (mix.method, mix.share("pronoun")) == ("uncorrected", 0.3)
    assert mix.notes[0].startswith(
        "correction refused: sensitivity + specificity - 1 is below 0.3 for pronoun (0.10), standalone (0.10); add second"
    )
    with pytest.raises(BuilderError, match=re.escape("sensitivity + specificity - 1 is below 0.3")):
        measure_mix(two_strata(30, 70), MeasureSettings("rogan_gladen"), 13, confusion=card)


def test_strata_that_are_hardly_told_apart_are_corrected_together_and_named() -> None:
    card = Confusion(
        ("pronoun", "ellipsis", "definite", "standalone"),
        ((90.0, 4.0, 3.0, 3.0), (5.0, 20.0, 70.0, 5.0), (5.0, 20.0, 70.0, 5.0), (2.0, 2.0, 2.0, 94.0)),
    )
    log = [
        follow_up(f"c{n}", 3, ("pronoun", "ellipsis", "definite", "standalone")[n % 4]) for n in range(200)
    ]
    mix = measure_mix(log, MeasureSettings(), 13, confusion=card)
    assert mix.method == "rogan_gladen"
    assert mix.notes == (
        "correction refused between ellipsis + definite: sensitivity + specificity - 1 is below 0.3; "
        "their sum is corrected, its split among them is uncorrected",
    )
    assert mix.share("ellipsis") == pytest.approx(mix.share("definite"), abs=2e-6)


def test_a_stratum_that_is_never_recognised_is_left_as_counted_and_named() -> None:
    card = Confusion(
        ("unresolvable", "pronoun", "standalone"),
        ((0.0, 6.0, 4.0), (0.0, 90.0, 10.0), (0.0, 10.0, 90.0)),
    )
    mix = measure_mix(two_strata(90, 110), MeasureSettings(), 13, confusion=card)
    share, low, high = share_of(mix, "unresolvable")
    assert (mix.method, share, low) == ("rogan_gladen", 0.0, 0.0)
    assert high > 0.01
    assert mix.notes == (
        "correction refused for unresolvable: never recognised in the classifier's test; left uncorrected",
    )


def test_more_second_labels_are_asked_for_when_they_are_what_is_missing() -> None:
    counts = a_log(np.random.default_rng(3), odds_of_error(), n_conversations=1000)
    weights = resample_weights(1000, 200, 3)
    estimate = two_phase(counts, weights)
    more = second_labels_to_halve(counts, weights, estimate)
    assert more is not None
    # Variance falls with the number of labels: about three times as many again, somewhat more for what stays.
    assert 3 * counts.second.sum() * 0.8 < more < 3 * counts.second.sum() * 2


def test_more_second_labels_cannot_help_where_all_are_labelled() -> None:
    log = two_strata(20, 30)
    mix = measure_mix(log, SETTINGS, 13, second={f.id: f for f in log})
    assert mix.labels_to_halve is None


def test_two_phase_without_second_labels_is_refused() -> None:
    with pytest.raises(BuilderError, match="two_phase needs second labels"):
        measure_mix(two_strata(3, 3), MeasureSettings("two_phase"), 13)


def test_a_log_without_follow_ups_has_no_mix() -> None:
    with pytest.raises(BuilderError, match=re.escape("no follow-ups to measure (0)")):
        measure_mix([], MeasureSettings(), 13)


def test_cross_tables_count_items_only() -> None:
    log = [
        follow_up(
            "c1", 11, "long_range", pivot=True, returns=True, d_live=5, antecedent_turns=(6,), d_stale=1
        ),
        follow_up("c1", 13, "pronoun", d_stale=1),
        follow_up("c1", 15, "not_a_query"),
    ]
    tables = dict(measure_mix(log, SETTINGS, 13).facets)
    assert tables["long_range x returns"] == (
        ("long_range", "returns", 1),
        ("not long_range", "not returns", 1),
    )
    assert tables["form x d_live"] == (("pronoun", "1", 1), ("pronoun", "4-7", 1))
    assert tables["windows x needs history"] == (
        ("nearer_stale", "needs history", 1),
        ("same_turn", "needs history", 1),
    )


def test_a_card_without_a_confusion_matrix_gives_none() -> None:
    assert confusion_from_card({}) is None
    table = {"labels": ["pronoun"], "matrix": [[3]], "n_conversations": 2}
    assert confusion_from_card({"confusion": table}) == Confusion(("pronoun",), ((3.0,),), 2)
