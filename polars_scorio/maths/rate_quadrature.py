"""Mean and variance of unbiased estimates from many trials, by sums over rates and successes.

Up to about two thousand trials the variance is an exact polynomial of the success rate
(`variance`), with tables that grow with the square of the trials. Here the cost grows with their
root: a binomial is summed over a window around its mean, a Beta posterior over a grid of rates as
fine as the posterior is narrow. Both agree to 1e-9. Without this module, logs of 10,000 trials a
question need 4 GB.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy

from polars_scorio.maths.array_rows import Floats, Ints, row_slices

# Estimates and complements of some metrics for c successes: shape (metrics, 2, C).
EstimatesOf = Callable[[Ints], Floats]

_DEVIATIONS, _MARGIN = 10.0, 20.0  # half width of a window: standard deviations, and successes
_POINTS = 4.0  # successes per standard deviation that are enough of a smooth estimate
_LEAST_MEAN = 1e-200  # a mean of zero: any success is as good as impossible
_STIRLING = 256.0  # from here on three terms of Stirling's series are exact
_STEP = 0.25  # step of the grid of rates; the narrowest posterior has a standard deviation of 0.5
_TAIL = 18.0  # the grid ends where a rate is below exp(-2 * 18) of the narrowest posterior's width
_MOST_RATES = 40_000  # of a grid: half a minute
_PRIORS = 2**20  # numbers in a table of populations by rates: 8 MB


class RateGrid(NamedTuple):
    """Success rates p = 1 - q that resolve each posterior of a level, each array of shape (I,)."""

    p: Floats
    q: Floats
    log_width: Floats  # log weight under 1 / (pi sqrt(p q)), up to a constant


def rate_grid(trials: float) -> RateGrid:
    """Success rates fine enough for Beta distributions with parameters up to `trials` in sum.

    Equal steps of ``arcsin(sqrt(p))`` in the middle, where a posterior has the same width
    everywhere, and of ``log p`` near both ends, where it may have a pole; blended smoothly, so that
    the trapezoid rule converges geometrically. ValueError if that needs more than 40,000 rates.
    """
    root = np.sqrt(trials)
    length = np.pi / 2 * root
    size = (length + 2 * _TAIL) / _STEP
    if size > _MOST_RATES:
        raise ValueError(
            f"the calibrated interval of a draw of more than 256 out of {trials:,.0f} trials would "
            'take minutes. Pass a k of at most 256, or prior="uniform".'
        )
    s = np.arange(-_TAIL, length + _TAIL + _STEP, _STEP)
    angle, rest = (
        (np.logaddexp(0.0, x) - np.logaddexp(0.0, x - length)) / root for x in (s, length - s)
    )
    log_width = -np.logaddexp(0.0, -s) - np.logaddexp(0.0, s - length)
    return RateGrid(np.sin(angle) ** 2, np.sin(rest) ** 2, log_width)


def estimate_moments(
    n: int, p: Floats, q: Floats, estimates: EstimatesOf, *, smooth: bool
) -> Floats:
    """Mean of estimates from n trials, of their complements, and variance, (metrics, 3, I).

    `estimates` maps c successes to estimates and complements. `smooth`: draws are at most half of
    the trials, so estimates hardly change within a fraction of a standard deviation, and a few
    successes stand for all.
    """
    rare = p <= q
    (metrics, *_) = estimates(np.zeros(1, dtype=np.int64)).shape
    moments = np.empty((metrics, 3, p.size))
    moments[..., rare] = _window_moments(n, p[rare], estimates, smooth=smooth)
    # Failures take the place of successes where those are the rarer ones: no digits are lost.
    moments[..., ~rare] = _window_moments(n, q[~rare], lambda c: estimates(n - c), smooth=smooth)
    return moments


def _window_moments(n: int, rate: Floats, estimates: EstimatesOf, *, smooth: bool) -> Floats:
    """Moments by sums over windows of c around ``n * rate``, for rates up to 1/2."""
    parts = []
    order = np.argsort(rate)  # windows of a block are about equally wide
    widest = 2 * (_DEVIATIONS * (2 * _POINTS if smooth else np.sqrt(n) / 2) + _MARGIN)
    for block in row_slices(rate.size, int(widest)):
        c, chance = _success_windows(n, rate[order[block]], smooth=smooth)
        some, place = np.unique(c, return_inverse=True)
        values = estimates(some).take(place.reshape(c.shape), axis=2)
        means = np.einsum("mdic,ic->mdi", values, chance)
        # The smaller one of an estimate and its complement has the digits of the difference.
        nearer = means[:, 0] <= means[:, 1]
        distance = np.where(
            nearer[..., None],
            values[:, 0] - means[:, 0, :, None],
            values[:, 1] - means[:, 1, :, None],
        )
        variance = np.einsum("mic,ic->mi", distance**2, chance)
        parts.append(np.concatenate([means, variance[:, None]], axis=1))
    if not parts:
        return np.empty((len(estimates(np.zeros(1, dtype=np.int64))), 3, 0))
    sums = np.empty((*parts[0].shape[:2], rate.size))
    sums[..., order] = np.concatenate(parts, axis=2)
    return sums


def _success_windows(n: int, rate: Floats, *, smooth: bool) -> tuple[Ints, Floats]:
    """Successes around the mean of binomials, and their chances, both of shape (I, W)."""
    mean = n * rate
    deviation = np.sqrt(mean * (1 - rate))
    step = np.ones(rate.size, dtype=np.int64)
    if smooth:
        # Powers of two, so that windows share their successes.
        step <<= np.log2(np.maximum(deviation / _POINTS, 1.0)).astype(np.int64)
    half = _DEVIATIONS * deviation + _MARGIN
    first = np.floor(np.maximum(mean - half, 0.0) / step).astype(np.int64) * step
    columns = int(np.ceil(2 * half / step).max()) + 2
    c = first[:, None] + step[:, None] * np.arange(columns)
    logs = np.where(c <= n, _log_chances(n, np.minimum(c, n), mean[:, None]), -np.inf)
    chance = np.exp(logs - logs.max(axis=1, keepdims=True))
    return np.minimum(c, n), chance / chance.sum(axis=1, keepdims=True)


def _log_chances(n: int, c: Ints, mean: Floats) -> Floats:
    """Logs of binomial chances, up to a constant, from how far c is from the mean.

    C. Loader (2000), Fast and Accurate Computation of Binomial Probabilities.
    """
    mean = np.maximum(mean, _LEAST_MEAN)
    away = c - mean
    deviance = scipy.special.xlog1py(c, away / mean) + scipy.special.xlog1py(
        n - c, -away / (n - mean)
    )
    return -deviance - _factorial_rest(c) - _factorial_rest(n - c)


def _factorial_rest(c: Ints) -> Floats:
    """``ln c! - c ln c + c``, without the difference of large numbers."""
    small, large = np.minimum(c, _STIRLING), np.maximum(c, _STIRLING)
    exact = scipy.special.gammaln(small + 1) - scipy.special.xlogy(small, small) + small
    series = 0.5 * np.log(2 * np.pi * large) + (1 - 1 / (30 * large**2)) / (12 * large)
    return np.where(c < _STIRLING, exact, series)


def posterior_sums(
    shape: Floats, n: int, c: Ints, questions: Ints | Floats, grid: RateGrid, values: Floats
) -> Floats:
    """Sums over questions of posterior means of `estimate_moments`, (J, metrics, 3).

    `shape` (J, 2): Beta parameters of failure and success of each population.
    """
    logs = np.stack([np.log(grid.q), np.log(grid.p)])
    sums = np.zeros((len(shape), *values.shape[:2]))
    step = max(_PRIORS // grid.p.size, 1)
    for nodes in (slice(start, start + step) for start in range(0, len(shape), step)):
        prior = _scaled_exp((shape[nodes] - 0.5) @ logs + grid.log_width)
        for block in row_slices(c.size, grid.p.size):
            own = c[block]
            likelihood = _scaled_exp(np.stack([n - own, own], axis=1) @ logs)
            scale = _posterior_scale(shape[nodes], n, own, grid, prior, likelihood)
            for metric, (up, down, variance) in enumerate(values):
                mean, rest, noise = (
                    ((prior * value) @ likelihood.T) * scale for value in (up, down, variance)
                )
                # The larger one may have lost the mass of a pole at an end of the grid.
                mean, rest = np.where(mean <= rest, (mean, 1 - mean), (1 - rest, rest))
                sums[nodes, metric] += np.stack([mean, rest, noise], axis=1) @ questions[block]
    return sums


def _posterior_scale(
    shape: Floats, n: int, c: Ints, grid: RateGrid, prior: Floats, likelihood: Floats
) -> Floats:
    """Factors that turn products of prior and likelihood into posteriors, shape (J, S).

    From the posterior mean of the rate (of its complement, if most trials succeed), which is known:
    the total mass may have a pole at an end of the grid.
    """
    total = shape.sum(axis=1)[:, None] + n
    few = 2 * c <= n
    known = np.where(few, shape[:, 1:] + c, shape[:, :1] + (n - c)) / total
    found = prior @ np.where(few[:, None], likelihood * grid.p, likelihood * grid.q).T
    # A population under which a state is impossible in floating point has no weight to speak of.
    scale: Floats = np.divide(known, found, out=np.zeros_like(found), where=found > 0)
    return scale


def _scaled_exp(logs: Floats) -> Floats:
    """Exponentials of each row, of which the largest is 1."""
    scaled: Floats = np.exp(logs - logs.max(axis=1, keepdims=True))
    return scaled
