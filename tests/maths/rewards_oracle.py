"""REWARDS, part A, once more: plain Python over single rewards, subsets and fractions."""

from fractions import Fraction
from itertools import combinations
from math import sqrt

from scipy.optimize import brentq
from scipy.special import betainc, ndtri, stdtrit


def best_estimate(rewards, k):
    """Mean of the best over all draws of k, and its variance; fractions of exact rewards."""
    rewards = [Fraction(reward) for reward in rewards]
    n = len(rewards)
    estimate = _mean_best(rewards, k)
    if n == k:
        best = sorted(rewards, reverse=True)
        return estimate, None if n == 1 else (best[0] - best[1]) ** 2
    without = [_mean_best(rewards[:i] + rewards[i + 1 :], k) for i in range(n)]
    return estimate, Fraction(n - 1, n) * sum((each - estimate) ** 2 for each in without)


def _mean_best(rewards, k):
    draws = list(combinations(rewards, k))
    return sum(max(draw) for draw in draws) / Fraction(len(draws))


def reward_interval(logs, *, k=1, bounds=None, confidence=0.95, upper=None):
    """Estimate, sigma, lo and hi of one model; None for a number that there is not.

    Questions of fewer than k trials have the best of these, or (`upper`) the best there is.
    """
    flat = [reward for rewards in logs for reward in rewards]
    low, high = bounds or (min(flat), max(flat))
    width = high - low
    unit = [[(x - low) / width if width else 0.0 for x in rewards] for rewards in logs]
    both = [
        (1, 0) if upper and len(rewards) < k else best_estimate(rewards, min(k, len(rewards)))
        for rewards in unit
    ]
    values, noise = [float(u) for u, _ in both], [None if v is None else float(v) for _, v in both]
    n, size, d = [len(rewards) for rewards in unit], len(logs), (1 - confidence) / 2
    u, z = sum(values) / size, -ndtri(d)
    between = sum((value - u) ** 2 for value in values) / (size * (size - 1)) if size > 1 else None
    silent = [v is None or v <= 1e-18 for v in noise]
    if max(n) == 1:
        variance, trials = between, size
        factor = (stdtrit(size - 1, d) / z) ** 2 if size > 1 else None
    else:
        noise = _with_singles(values, noise, n)
        mean = sum(noise) / size
        away = sqrt(sum((v - mean) ** 2 for v in noise))
        variance = sum(noise) / size**2
        factor = 1 + away / sum(noise) if sum(noise) else 1.0
        factor = max(factor, (stdtrit(sum(n) - size, d) / z) ** 2)
        trials = size**2 / sum(1 / max(each // k, 1) for each in n)
    sigma = None if variance is None else width * sqrt(variance)
    if not width:
        return low + width * u, sigma, None, None
    lo, hi = _ends(u, variance, factor, trials, d)
    unseen = 1 - d ** (1 / trials)
    lo, hi = min(lo, u - unseen * u), max(hi, u + unseen * (1 - u))
    f = sum(value for value, quiet in zip(values, silent, strict=True) if quiet) / size
    r = sum(1 - value for value, quiet in zip(values, silent, strict=True) if quiet) / size
    lo = min(lo, u - f * (1 - d ** (1 / (trials * f)))) if f else lo
    hi = max(hi, u + r * (1 - d ** (1 / (trials * r)))) if r else hi
    ends = (low + width * min(max(end, 0.0), 1.0) for end in (lo, hi))
    return low + width * u, sigma, *ends


def _with_singles(values, noise, n):
    alone = [value for value, v in zip(values, noise, strict=True) if v is None]
    if not alone:
        return noise
    others = [trials * v for v, trials in zip(noise, n, strict=True) if trials > 1]
    mean = sum(alone) / len(alone)
    between = sum((x - mean) ** 2 for x in alone) / (len(alone) - 1) if len(alone) > 1 else 0.0
    noisy = max(sum(others) / len(others), between)
    return [noisy if v is None else v for v in noise]


def beta_quantile(a, b, share):
    """Where a Beta distribution has this share below; the inverse of old SciPy is lost at times."""
    return brentq(lambda x: betainc(a, b, x) - share, 0, 1, xtol=1e-16, rtol=1e-14)


def _ends(u, variance, factor, trials, d):
    if variance is None:
        number = trials
    elif variance * factor == 0:
        number = 1e12
    else:
        number = min(max(u * (1 - u) / (variance * factor), trials), 1e12)
    lo = 0.0 if u <= 1e-12 else beta_quantile(u * number, (1 - u) * number + 1, d)
    hi = 1.0 if u >= 1 - 1e-12 else beta_quantile(u * number + 1, (1 - u) * number, 1 - d)
    return lo, hi
