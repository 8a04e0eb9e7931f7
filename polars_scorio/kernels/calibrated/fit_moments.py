"""Mean and variance of metrics that credit successes, under the two fits of a group."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import compress
from typing import NamedTuple

import numpy as np

from polars_scorio.kernels.array_types import Floats, Ints, Mask
from polars_scorio.kernels.batches import slices
from polars_scorio.kernels.calibrated.credit_sums import CreditSum
from polars_scorio.kernels.calibrated.error_polynomials import elevate
from polars_scorio.kernels.calibrated.free_fit import rates
from polars_scorio.kernels.calibrated.further_trials import further_successes
from polars_scorio.kernels.calibrated.group_fits import Group, Level
from polars_scorio.kernels.calibrated.question_weights import QuestionWeights
from polars_scorio.kernels.calibrated.rate_quadrature import (
    estimate_moments,
    posterior_sums,
    rate_grid,
)
from polars_scorio.kernels.draws.chance_tables import binomial_chances

# Above this degree polynomials are not worked out: their tables would exceed 70 MB.
_MOST_DEGREE = 2048
_SHARED = 32  # arrays that groups with as many trials share: 15 MB at most


class Moments(NamedTuple):
    """Moments of some metrics of one group under two fits, each array of shape (C,).

    Attributes
    ----------
    smooth_mean, smooth_rest, smooth_variance : ndarray of float
        Mean of a metric, of its complement, and variance of its estimate, under the smooth fit.
    smooth_spread : ndarray of float
        Standard deviation of that variance between the populations of the smooth fit.
    free_mean, free_rest, free_variance, free_spread : ndarray of float
        The same numbers under the free fit; the spread is between the success rates of questions.
    rate_variance : ndarray of float, shape (C, I)
        Variance of the estimate if all questions had one of the success rates of the free fit.
    """

    smooth_mean: Floats
    smooth_rest: Floats
    smooth_variance: Floats
    smooth_spread: Floats
    free_mean: Floats
    free_rest: Floats
    free_variance: Floats
    free_spread: Floats
    rate_variance: Floats


def group_moments(group: Group, metrics: Sequence[CreditSum], weights: QuestionWeights) -> Moments:
    """Mean and variance of some metrics of one group under both fits.

    Parameters
    ----------
    group : Group
        The group, each question of which has k trials or more.
    metrics : sequence of CreditSum
        One for each metric.
    weights : QuestionWeights
        The weights of its questions.
    """
    smooth = np.zeros((len(group.grid.weight), len(metrics), 3))
    free, square = np.zeros((len(metrics), 3)), np.zeros(len(metrics))
    at_rate = np.zeros((len(metrics), group.free.weight.size))
    for level in group.levels:
        smooth += _node_moments(group, level, metrics, weights)
        at_rates = rate_moments(group, level.n, metrics)
        means, squares = _free_sums(group.free.posterior[level.rows], level, at_rates, weights)
        free += means
        square += squares
        at_rate += weights.second[level.rows].sum() * at_rates[..., 2].T
    # Rounding may leave less than nothing.
    smooth, free = np.maximum(smooth, 0.0), np.maximum(free, 0.0)
    weight = group.grid.weight
    mean = np.tensordot(weight, smooth, 1)
    spread = np.sqrt(weight @ (smooth[..., 2] - mean[:, 2]) ** 2)
    (g, rest, v), (free_g, free_rest, free_v) = mean.T, free.T
    at_rate = np.maximum(at_rate, 0.0)
    return Moments(g, rest, v, spread, free_g, free_rest, free_v, np.sqrt(square), at_rate)


def rate_moments(group: Group, n: int, metrics: Sequence[CreditSum]) -> Floats:
    """Credit, complement and variance at each rate of the free fit, shape (I, metrics, 3).

    Groups with as many trials share the array: it is not to be written to.
    """
    return _moments_at_rates(group.free.weight.size, n, tuple(metrics))


@lru_cache(maxsize=_SHARED)
def _moments_at_rates(size: int, n: int, metrics: tuple[CreditSum, ...]) -> Floats:
    """The moments at the rates of a free fit of this size."""
    moments = np.empty((size, len(metrics), 3))
    exact = is_exact(metrics, n)
    if exact.any():
        stack = _polynomial_stack(tuple(compress(metrics, exact)), n)
        values = binomial(len(stack) - 1, size) @ stack
        moments[:, exact] = values.reshape(size, -1, 3)
    if not exact.all():
        some = [*compress(metrics, ~exact)]
        moments[:, ~exact] = _summed_moments(*rates(size), n, some).transpose(2, 0, 1)
    return moments


def _node_moments(
    group: Group, level: Level, metrics: Sequence[CreditSum], weights: QuestionWeights
) -> Floats:
    """Sums over the questions of a level of posterior means, shape (J, metrics, 3).

    Of credit and complement, by the weights, and of variance, by their squares, under each
    population of the smooth fit.
    """
    moments = _weighted_node_sums(group, level, metrics, weights.first[level.rows])
    if weights.is_equal:
        moments[..., 2] *= weights.largest
    else:
        squared = _weighted_node_sums(group, level, metrics, weights.second[level.rows])
        moments[..., 2] = squared[..., 2]
    return moments


def _weighted_node_sums(
    group: Group, level: Level, metrics: Sequence[CreditSum], weight: Floats
) -> Floats:
    """Sums of posterior means of credit, complement and variance, all by one weight of a state."""
    n, shape = level.n, group.grid.shape
    moments = np.empty((len(shape), len(metrics), 3))
    exact = is_exact(metrics, n)
    if exact.any():
        stack = _polynomial_stack(tuple(compress(metrics, exact)), n)
        failures, successes = shape.T
        further = further_successes(failures, successes, n, level.c, weight, len(stack) - 1)
        moments[:, exact] = (further @ stack).reshape(len(shape), -1, 3)
    if not exact.all():
        grid = rate_grid(n + float(shape.sum(axis=1).max()))
        some = [*compress(metrics, ~exact)]
        values = _summed_moments(grid.p, grid.q, n, some)
        moments[:, ~exact] = posterior_sums(shape, n, level.c, weight, grid, values)
    return moments


def is_exact(metrics: Sequence[CreditSum], n: int) -> Mask:
    """Which metrics are worked out by polynomials, which share the tables of their degree."""
    return np.array([metric.degree(n) <= _MOST_DEGREE for metric in metrics])


@lru_cache(maxsize=_SHARED)
def _polynomial_stack(metrics: tuple[CreditSum, ...], n: int) -> Floats:
    """The polynomials of some metrics, elevated to one degree, side by side: (D + 1, 3 metrics)."""
    parts = [part for metric in metrics for part in metric.polynomials(n)]
    degree = max(part.size for part in parts) - 1
    return np.stack([elevate(part, degree) for part in parts], axis=1)


def _summed_moments(p: Floats, q: Floats, n: int, metrics: Sequence[CreditSum]) -> Floats:
    """Credit, complement and variance at some rates, by sums over windows of successes."""
    most = max(gains(n).size for metric in metrics for _, gains in metric.terms)

    def estimates_of(c: Ints) -> Floats:
        return np.stack([metric.estimates(n, c) for metric in metrics])

    return estimate_moments(n, p, q, estimates_of, smooth=2 * most <= n)


def _free_sums(
    posterior: Floats, level: Level, at_rates: Floats, weights: QuestionWeights
) -> tuple[Floats, Floats]:
    """Sums over the questions of a level under the free fit: of the moments, of squared distances.

    The second is the variance of the summed variances: the rates of questions are independent.
    """
    size, metrics, _ = at_rates.shape
    first, second, fourth = (each[level.rows] for each in weights[:3])
    means = (posterior @ at_rates.reshape(size, -1)).reshape(-1, metrics, 3)
    squares = np.zeros(metrics)
    for block in slices(len(posterior), size):
        for metric in range(metrics):
            away = at_rates[:, metric, 2] - means[block, metric, 2, None]
            squares[metric] += fourth[block] @ (posterior[block] * away**2).sum(axis=1)
    sums = np.tensordot(first, means, 1)
    sums[:, 2] = second @ means[..., 2]
    return sums, squares


@lru_cache(maxsize=8)
def binomial(degree: int, size: int) -> Floats:
    """Chances of 0..degree successes at each of the rates of a free fit, (size, degree + 1)."""
    return binomial_chances(degree, *rates(size))
