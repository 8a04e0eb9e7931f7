"""A second calculation of differences on the same questions, one pair at a time.

It follows the written method with `statistics`, `math` and SciPy's distributions, and shares no
code with the kernels.
"""

from fractions import Fraction
from math import hypot, inf, sqrt
from statistics import NormalDist

from scipy import stats

Z = NormalDist().inv_cdf(0.975)


def side_reach(noisy, c, floor=0.0, most=inf):
    """Reach down and up of one side, split into its noise and the rest."""
    u, m, variance, factor = noisy
    factor = max(factor, floor / variance)
    noise = c * sqrt(variance * factor)
    nearer = min(u, 1 - u)
    t = nearer**2 / (nearer**2 + variance)
    size = (t * u * (1 - u) + (1 - t) * m * (1 - m)) / (variance * (1 + (factor - 1) * t))
    size, tail = min(size, most), NormalDist().cdf(-c)
    lo = stats.beta.ppf(tail, u * size, (1 - u) * size + 1) if u > 0 else 0.0
    hi = stats.beta.isf(tail, u * size + 1, (1 - u) * size) if u < 1 else 1.0
    return t * noise, (1 - t) * (u - lo), (1 - t) * (hi - u)


def trial_interval(one, other, c, floors=(0.0, 0.0), most=(inf, inf)):
    """Reach down and up of a difference by the trials; the share of the noise that is left."""
    spread = sum(u * (1 - u) for u, *_ in (one, other))
    variance = sum(
        max(v * factor, floor)
        for (_, _, v, factor), floor in zip((one, other), floors, strict=True)
    )
    share = max(1 - c**2 * variance / (2 * spread), 0.001) if spread else 1.0
    (a, a_down, a_up), (b, b_down, b_up) = (
        side_reach(*each) for each in zip((one, other), (c, c), floors, most, strict=True)
    )
    a, b = a / sqrt(share), b / sqrt(share)
    return hypot(a + a_down, b + b_up), hypot(a + a_up, b + b_down), share


def pair_variance(one, other):
    """Variance of the mean paired difference, from the values of the questions."""
    gaps = [Fraction(a) - Fraction(b) for a, b in zip(one, other, strict=True)]
    size = len(gaps)
    mean = sum(gaps) / size
    away = [gap - mean for gap in gaps]
    square, fourth = sum(x**2 for x in away), sum(x**4 for x in away)
    events = square**2 / fourth if fourth else 0
    spread = square / (size - 1)
    return float(spread / size + (size * spread + 2) / ((events + 1) * size * (size + 1)))


def pair_interval(values, variances, trials, c):
    """Difference, lo, hi, sigma, and what decides: "pairs" or "trials".

    `values` and `variances` are of both sides; `trials` says whether a side has several
    trials of some question.
    """
    size = len(values[0])
    floors, most = [0.0, 0.0], [inf, inf]
    for side, several in enumerate(trials):
        if not several:
            mean = sum(values[side]) / size
            floors[side] = sum((x - mean) ** 2 for x in values[side]) / size**2
            most[side] = size
    diff = variances[0][0] - variances[1][0]
    variance = pair_variance(*values)
    half = [stats.t(size - 1).isf(NormalDist().cdf(-x)) * sqrt(variance) for x in (Z, c)]
    ends = [trial_interval(*variances, x, floors, most)[:2] for x in (Z, c)]
    if max(ends[0]) < 0.85 * half[0]:
        down, up, by = *ends[1], "trials"
        sigma = hypot(*(sqrt(noisy[2]) for noisy in variances))
    else:
        down, up, by, sigma = half[1], half[1], "pairs", sqrt(variance)
    return diff, max(diff - down, -1), min(diff + up, 1), sigma, by
