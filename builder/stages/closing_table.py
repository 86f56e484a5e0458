"""What a build comes to: per stratum its share in production, its seats, and what the seats can show."""

from collections.abc import Mapping

from builder.core.mix import Quotas
from builder.core.power import detectable_drop
from builder.core.tables import render_table

HEAD = ("stratum", "share", "95% interval", "seats", "real", "synthetic", "weight", "detectable drop")


def closing_rows(
    quotas: Quotas, real: Mapping[str, int], synthetic: Mapping[str, int], weights: Mapping[str, float]
) -> tuple[tuple[str, ...], ...]:
    """One row per stratum in the taxonomy's order, then the sums; cells under `HEAD`.

    Args:
        quotas: Seats and the mix they come from.
        real: Items per stratum that follow-ups of the log became.
        synthetic: Items per stratum that synthesis made.
        weights: Weight of an item per stratum, in the set as it was filled.
    """
    rows = []
    quota_of = {quota.reference_type: quota for quota in quotas.quotas}
    for share in quotas.mix.shares:
        name = share.reference_type
        measured = (name, f"{share.share:.1%}", f"{share.low:.1%} to {share.high:.1%}")
        quota = quota_of.get(name)
        if quota is None:
            rows.append((*measured, "-", "-", "-", "-", "-"))
            continue
        found = (str(real.get(name, 0)), str(synthetic.get(name, 0)))
        n = real.get(name, 0) + synthetic.get(name, 0)
        # Of the items that are there: empty seats detect nothing.
        least = detectable_drop(n) if n else 1.0
        drop = f"{least * 100:.0f} points" if least < 1 else "none"
        weight = f"{weights[name]:.2f}" if name in weights else "-"
        rows.append((*measured, str(quota.seats), *found, weight, drop if quota.seats else "-"))
    sums = (str(sum(real.values())), str(sum(synthetic.values())))
    rows.append(
        ("all", f"{sum(s.share for s in quotas.mix.shares):.1%}", "", str(quotas.size), *sums, "", "")
    )
    return tuple(rows)


def closing_table(
    quotas: Quotas, real: Mapping[str, int], synthetic: Mapping[str, int], weights: Mapping[str, float]
) -> str:
    """The closing table as text, with the method of the mix below it."""
    method = quotas.mix.method
    lines = [render_table(HEAD, closing_rows(quotas, real, synthetic, weights)), f"mix: {method}"]
    lines += [f"mix: {note}" for note in quotas.mix.notes]
    return "\n".join(lines)
