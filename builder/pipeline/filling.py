"""The set from labelled items: what fill needs from outside."""

from collections.abc import Sequence

from builder.core.mix import Quotas
from builder.core.records import Dropped, Item
from builder.pipeline.sources import Sources
from builder.stages.fill import fill_seats


def fill_set(sources: Sources, reviewed: Sequence[Item], quotas: Quotas) -> tuple[list[Item], list[Dropped]]:
    """Items of the set in the order of their strata, and every labelled item that has no seat."""
    settings = sources.settings
    results = list(
        fill_seats(
            reviewed,
            sources.previous_items,
            quotas,
            settings.set.seed,
            frozenset(sources.passages) or None,
            settings.draw.per_conversation,
            settings.release.max_near_duplicate,
            settings.synthesize.share,
            settings.classify.long_range,
        )
    )
    items = [result for result in results if isinstance(result, Item)]
    return items, [result for result in results if isinstance(result, Dropped)]
