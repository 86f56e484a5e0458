"""Intervals for shares: of a plain count, and of a count made by a classifier that errs."""

from math import sqrt
from statistics import NormalDist

Z95 = NormalDist().inv_cdf(0.975)


def wilson(k: float, n: float, z: float = Z95) -> tuple[float, float]:
    """Interval for the share of which `k` of `n` were counted; (0, 1) when n is 0.

    With p = k / n: (p + z^2/2n +- z sqrt(p(1-p)/n + z^2/4n^2)) / (1 + z^2/n).
    Source: Wilson, Probable inference, the law of succession, and statistical inference, JASA 1927.

    Args:
        k: Those that count, 0 to n; need not be whole (an effective count).
        n: All of them.
        z: Quantile of the normal distribution; 95% two-sided by default.
    """
    if n <= 0:
        return 0.0, 1.0
    p = min(max(k / n, 0.0), 1.0)
    scale = 1 + z * z / n
    middle = (p + z * z / (2 * n)) / scale
    half = z * sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / scale
    low = 0.0 if k <= 0 else max(0.0, middle - half)
    high = 1.0 if k >= n else min(1.0, middle + half)
    return low, high


def rogan_gladen(p: float, sensitivity: float, specificity: float) -> float:
    """The true share behind the share `p` that a classifier reports, in [0, 1].

    (p + specificity - 1) / (sensitivity + specificity - 1).
    Source: Rogan and Gladen, Estimating prevalence from the results of a screening test, Am J Epidemiol 1978.
    """
    corrected = (p + specificity - 1) / (sensitivity + specificity - 1)
    return min(max(corrected, 0.0), 1.0)


def lang_reiczigel(
    k: float, n: float, hits: float, positives: float, rejections: float, negatives: float, z: float = Z95
) -> tuple[float, float]:
    """Interval for a share counted by a classifier whose error was itself only estimated.

    With the shrunk shares p' = (k + z^2/2) / (n + z^2), Se' = (hits + 1) / (positives + 2),
    Sp' = (rejections + 1) / (negatives + 2): the Rogan-Gladen share of these, moved by
    2 z^2 (share Se'(1-Se')/(positives+2) - (1-share) Sp'(1-Sp')/(negatives+2)),
    +- z sqrt(p'(1-p')/(n+z^2) + share^2 Se'(1-Se')/(positives+2) + (1-share)^2 Sp'(1-Sp')/(negatives+2))
    / (Se' + Sp' - 1).
    Source: Lang and Reiczigel, Confidence limits for prevalence of disease adjusted for estimated sensitivity
    and specificity, Prev Vet Med 2014.

    Args:
        k: Follow-ups that the classifier put in the stratum.
        n: All follow-ups.
        hits: Of the `positives` in the classifier's own test, those it put in the stratum.
        positives: Follow-ups of the test that belong in the stratum.
        rejections: Of the `negatives`, those it kept out.
        negatives: The other follow-ups of the test.
        z: Quantile of the normal distribution.
    """
    p = (k + z * z / 2) / (n + z * z)
    sensitivity = (hits + 1) / (positives + 2)
    specificity = (rejections + 1) / (negatives + 2)
    gain = sensitivity + specificity - 1
    share = (p + specificity - 1) / gain
    of_hits = sensitivity * (1 - sensitivity) / (positives + 2)
    of_rejections = specificity * (1 - specificity) / (negatives + 2)
    moved = share + 2 * z * z * (share * of_hits - (1 - share) * of_rejections)
    spread = p * (1 - p) / (n + z * z) + share * share * of_hits + (1 - share) ** 2 * of_rejections
    half = z * sqrt(spread) / abs(gain)
    return min(max(moved - half, 0.0), 1.0), min(max(moved + half, 0.0), 1.0)
