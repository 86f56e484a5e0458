"""How many seats does each stratum get, what is each item worth, and what can the seats show?"""

from collections.abc import Mapping

from builder.core.apportion import largest_remainder
from builder.core.errors import USAGE, BuilderError, unknown_name
from builder.core.mix import Mix, Quota, Quotas
from builder.core.power import detectable_drop
from builder.core.settings import StratifySettings
from builder.core.taxonomy import ITEM_STRATA

_WHERE = "[stratify]"

SYNTHESIZED = "long_range"
"""The stratum whose missing seats synthesis fills."""


def allot_quotas(mix: Mix, available: Mapping[str, int], settings: StratifySettings) -> Quotas:
    """Seats for each stratum that has items, by largest remainder within floors and caps.

    `not_a_query` and `unresolvable` are left out and the other shares rescaled to sum to 1. A stratum with share p gets
    size * p seats in proportion, never fewer than its floor nor more than its cap; seats sum to `size` exactly.
    weight = p / (seats / size), so the weighted mean over the set estimates the production mean.
    shortage = seats that the available real follow-ups cannot fill.
    Source: Hamilton apportionment; Balinski and Young, Fair Representation, 1982.

    Args:
        mix: Measured shares.
        available: Real follow-ups that can be drawn, per stratum.
        settings: Size, floors and caps. The general floor counts for strata that occur: those with a share, and those
            that follow-ups were put into although correction leaves them none (such items have weight 0). A floor of
            a single stratum counts in any case.

    Raises:
        BuilderError: Size is 0, no stratum with items occurs, a name is unknown, the floors together exceed the size,
            a floor exceeds its cap, or the caps cannot reach the size.
    """
    total = sum(mix.share(name) for name in ITEM_STRATA)
    if settings.size < 1:
        raise BuilderError(_WHERE, f"size is {settings.size}", "give a size of at least 1", USAGE)
    if total <= 0:
        raise BuilderError(
            _WHERE,
            f"no stratum with items occurs in {mix.n_follow_ups} follow-ups",
            "give transcripts with queries",
        )
    shares = {name: mix.share(name) / total for name in ITEM_STRATA}
    occurring = [name for name in ITEM_STRATA if shares[name] > 0 or available.get(name, 0)]
    general = {name: _floor(name, shares, available, settings) for name in occurring}
    floors, caps = _bounds(general, settings)
    seats = largest_remainder(
        [mix.share(name) for name in ITEM_STRATA],
        settings.size,
        [floors[name] for name in ITEM_STRATA],
        [caps[name] for name in ITEM_STRATA],
    )
    quotas = tuple(
        Quota(
            reference_type=name,
            seats=n,
            available=available.get(name, 0),
            shortage=max(n - available.get(name, 0), 0),
            share=round(shares[name], 6),
            weight=round(shares[name] / (n / settings.size), 6) if n else 0.0,
            detectable_drop=detectable_drop(n),
        )
        for name, n in zip(ITEM_STRATA, seats, strict=True)
    )
    return Quotas(settings.size, quotas, mix)


def _floor(
    name: str, shares: Mapping[str, float], available: Mapping[str, int], settings: StratifySettings
) -> int:
    """The general floor of a stratum that occurs.

    It is whole where the stratum has a share, or follow-ups that synthesis can add to; where correction leaves it no
    share, no more seats than there are follow-ups in it.
    """
    found = available.get(name, 0)
    if shares[name] > 0 or (name == SYNTHESIZED and found):
        return settings.floor
    return min(settings.floor, found)


def _bounds(general: Mapping[str, int], settings: StratifySettings) -> tuple[dict[str, int], dict[str, int]]:
    """Fewest and most seats per stratum; 0 and 0 for one that neither occurs (`general` lacks it) nor has an own floor."""
    own_floors, own_caps = dict(settings.floors), dict(settings.caps)
    for kind, own in (("floors", own_floors), ("caps", own_caps)):
        for name in own:
            if name not in ITEM_STRATA:
                raise unknown_name(f"{_WHERE} {kind}", "stratum", name, ITEM_STRATA)
    floors = {name: own_floors.get(name, general.get(name, 0)) for name in ITEM_STRATA}
    most = settings.cap or settings.size
    caps = {name: own_caps.get(name, most) if name in general else floors[name] for name in ITEM_STRATA}
    needed = sum(floors.values())
    if needed > settings.size:
        raise BuilderError(
            _WHERE,
            f"{_sum_in_words(floors, settings, len(general))} needs {needed} seats, size is {settings.size}",
            "lower the floor or raise the size",
            USAGE,
        )
    for name in ITEM_STRATA:
        if floors[name] > caps[name]:
            raise BuilderError(
                _WHERE,
                f"{name} has floor {floors[name]} above cap {caps[name]}",
                "lower the floor or raise the cap",
                USAGE,
            )
    if sum(caps.values()) < settings.size:
        raise BuilderError(
            _WHERE,
            f"caps allow {sum(caps.values())} seats, size is {settings.size}",
            "raise the caps or lower the size",
            USAGE,
        )
    return floors, caps


def _sum_in_words(floors: Mapping[str, int], settings: StratifySettings, n_occurring: int) -> str:
    if not settings.floors:
        return f"floor {settings.floor} x {n_occurring} strata"
    return "floors " + " + ".join(f"{n} ({name})" for name, n in floors.items() if n)
