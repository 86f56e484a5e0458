"""How small a change a number of seats can show."""

from math import ceil, log2, sqrt
from statistics import NormalDist

CHURN = 0.1
"""Part of the seats whose verdict flips either way between two runs without any real change (assumed)."""


def detectable_drop(seats: int, alpha: float = 0.05, power: float = 0.8, churn: float = CHURN) -> float:
    """The smallest drop between two runs over the same `seats` items that a paired test detects, 0 to 1.

    The least d with seats >= (z_a sqrt(s) + z_b sqrt(s - d^2))^2 / d^2, where s = d + churn is the share of items
    whose verdict differs (the drop itself and flips in both directions), z_a = z(1 - alpha / 2), z_b = z(power).
    Source: Connett, Smith and McHugh, Sample size and power for pair-matched case-control studies, Stat Med 1987
    (McNemar's test). The exact test also needs so many differing items that 2 x 2^-m <= alpha (6 at 0.05).

    Args:
        seats: Items compared.
        alpha: Two-sided error of the test.
        power: Chance to see the drop.
        churn: Share of items that flip without a drop.

    Returns:
        The drop, rounded up to a thousandth; 1.0 when not even a drop of everything is sure to be seen.
    """
    z_a, z_b = NormalDist().inv_cdf(1 - alpha / 2), NormalDist().inv_cdf(power)
    fewest = ceil(1 - log2(alpha))
    for thousandths in range(1, 1000):
        d = thousandths / 1000
        differing = min(d + churn, 1.0)
        if (
            seats * d >= fewest
            and seats * d * d >= (z_a * sqrt(differing) + z_b * sqrt(max(differing - d * d, 0.0))) ** 2
        ):
            return d
    return 1.0
