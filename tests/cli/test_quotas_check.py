"""What `quotas check` says about mixes: never more than was measured."""

from dataclasses import replace

from builder.cli.quotas import _describe
from builder.core.intervals import wilson
from builder.core.mix import Mix, Share
from builder.core.settings import DriftSettings
from builder.stages.drift import compare_mixes


def mix_of(n: int, pronouns: float, method: str = "labels") -> Mix:
    parts = (("pronoun", pronouns), ("standalone", 1 - pronouns))
    return Mix(tuple(Share(name, round(n * p), p, *wilson(n * p, n)) for name, p in parts), n, n, method)


def told(old: Mix, new: Mix) -> list[str]:
    return _describe(compare_mixes(old, new, DriftSettings()), old, new, {}, "quotas.json")


def test_no_drift_is_said_only_where_every_stratum_is_stable() -> None:
    old = mix_of(20_000, 0.3)
    assert told(old, old)[-1] == "no drift"
    assert told(old, mix_of(60, 0.3))[-1] == "no drift found; too few to tell for 2 of 2 strata"


def test_mixes_measured_otherwise_get_a_remedy_and_no_sum() -> None:
    old = mix_of(3_000, 0.3)
    lines = told(old, replace(mix_of(3_000, 0.5), method="uncorrected"))
    assert lines[-1].startswith(
        "not comparable: the quotas' mix was measured by labels, the new log's by uncorrected"
    )
    assert "give second labels (followups adjudicate), or measure both alike" in lines[-1]
    assert not any(line.startswith("all strata: G") for line in lines)
