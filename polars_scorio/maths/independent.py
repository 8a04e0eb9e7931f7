"""Roots in critical values, and Tukey's integral for all pairs of independent models."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
import scipy

from polars_scorio.maths.array_rows import Floats, Ints, Mask

Ends = Callable[[Floats], tuple[Floats, Floats]]  # of intervals by critical values, outwards
SURE_Z, _INVERSION_STEPS = 8.3, 12  # chance of 5e-17; steps by which a root is known to 1e-15
_LARGEST_Z, _ERROR_STEPS = 8.0, 16  # of one-sided errors


def illinois_root(
    function: Callable[[Floats], Floats],
    low: Floats,
    high: Floats,
    steps: int,
    known: tuple[Floats, Floats] | None = None,
) -> Floats:
    """Root of each increasing function between its ends by the Illinois method."""
    # `function` is elementwise, at most 0 at `low` and at least 0 at `high`, where it may be
    # `known`. As many steps for each: no root depends on those beside it. Returns the end nearer to
    # the root.
    left, right = low, high
    at_left, at_right = known or (function(low), function(high))
    best, at_best = left, at_left
    last = np.zeros_like(low)  # which end moved last: -1 left, 1 right
    for _ in range(steps):
        rise = at_right - at_left
        share = np.divide(-at_left, rise, out=np.full_like(rise, 0.5), where=rise > 0)
        new = np.clip(left + share * (right - left), left, right)
        value = function(new)
        best = np.where(np.abs(value) <= np.abs(at_best), new, best)
        at_best = np.where(np.abs(value) <= np.abs(at_best), value, at_best)
        below = value < 0
        # The end that stays for the second time counts half, or it would stay for ever.
        at_right = np.where(below, np.where(last < 0, at_right / 2, at_right), value)
        at_left = np.where(below, value, np.where(last > 0, at_left / 2, at_left))
        left, right = np.where(below, new, left), np.where(below, right, new)
        last = np.where(below, -1.0, 1.0)
    return best


def inverted_z(ends: Ends, diff: Floats) -> Floats:
    """Critical value at which the interval of each difference stops to hold zero, signed."""
    # `ends` maps critical values to the ends, which move outwards with them. 0 if not even a value
    # of 0 excludes zero, 8.3 beyond; NaN where there is no end.
    up = diff > 0

    def slack(c: Floats) -> Floats:
        lo, hi = ends(c)
        return np.where(up, -lo, hi)

    low, high = np.zeros(diff.shape), np.full(diff.shape, SURE_Z)
    least, most = slack(low), slack(high)
    root = illinois_root(slack, low, high, _INVERSION_STEPS, (least, most))
    size = np.where((least >= 0) | (diff == 0), 0.0, np.where(most <= 0, SURE_Z, root))
    return np.where(np.isnan(least + diff), np.nan, np.where(up, size, -size))


def one_sided_errors(
    ends: Ends, sigma: Floats, margin: Floats, upper: Mask, limit: Floats | float
) -> Floats:
    """Smallest errors, up to 1/2, with which differences lie above ``-margin`` (or below)."""

    def excess(z: Floats) -> Floats:
        lo, hi = (np.clip(end, -limit, limit) for end in ends(z))
        return np.where(upper, -(lo + margin), margin + hi)

    low, high = np.zeros(sigma.shape), np.full(sigma.shape, _LARGEST_Z)
    least, most = excess(low), excess(high)
    root = illinois_root(excess, low, high, _ERROR_STEPS, (least, most))
    z = np.where(most < 0, high, root)
    return np.where(np.isfinite(sigma) & (least < 0), scipy.special.ndtr(-z), np.nan)


# The lowest of the models, in steps: the trapezoidal rule holds 1e-13 for up to 10,000 models.
_STEP = 1 / 16
_LOWEST = np.arange(-9, 9 + _STEP, _STEP)
_WEIGHT = np.exp(-(_LOWEST**2) / 2) * _STEP / np.sqrt(2 * np.pi)


def range_within(models: Ints, c: Floats) -> Floats:
    """``P(max - min <= sqrt(2) c)`` of this many independent standard normal variables."""
    highest = _LOWEST + np.sqrt(2) * c[..., None]
    within = scipy.special.ndtr(highest) - scipy.special.ndtr(_LOWEST)
    return np.asarray(models * (within ** (models[..., None] - 1) * _WEIGHT).sum(axis=-1))


def tukey_critical(models: Ints, confidence: Floats | float) -> Floats:
    """Critical values for all pairs of models (Tukey-Kramer); z for two or fewer."""
    # Proved for independent models, whatever their sigmas: A. J. Hayter (1984), Annals of
    # Statistics 12(1), 61-75. Of correlated ones no excess is known.
    size, sure = np.broadcast_arrays(models, confidence)
    kinds, place = np.unique(np.stack([size, sure]).reshape(2, -1), axis=1, return_inverse=True)
    values = [_critical_value(max(int(each), 2), level) for each, level in kinds.T.tolist()]
    return np.array(values)[place].reshape(size.shape)


@lru_cache(maxsize=4096)
def _critical_value(models: int, confidence: float) -> float:
    if models == 2:
        return float(scipy.special.ndtri((1 + confidence) / 2))
    low = scipy.special.ndtri(np.array([(1 + confidence) / 2]))
    # Bonferroni's value is never too small.
    high = -scipy.special.ndtri(np.array([(1 - confidence) / (models * (models - 1))]))
    size = np.array([models])
    return float(illinois_root(lambda c: range_within(size, c) - confidence, low, high, 40)[0])
