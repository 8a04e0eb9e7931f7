"""Mean and variance of metrics that credit successes, under the two fits of a group."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import compress
from typing import NamedTuple

import numpy as np

from polars_scorio.kernels.array_types import Floats, Ints
from polars_scorio.kernels.batches import CELLS, row_slices
from polars_scorio.kernels.calibrated.credit_sums import (
    CreditSum,
    draw_sizes,
    polynomial_stack,
    shared_degrees,
)
from polars_scorio.kernels.calibrated.free_fit import rate_nodes
from polars_scorio.kernels.calibrated.further_trials import further_successes
from polars_scorio.kernels.calibrated.group_fits import Group, Level
from polars_scorio.kernels.calibrated.question_weights import QuestionWeights
from polars_scorio.kernels.calibrated.rate_quadrature import (
    estimate_moments,
    posterior_sums,
    rate_grid,
)
from polars_scorio.kernels.draws.chance_tables import binomial_chances
from polars_scorio.kernels.pooling.population_fit import batched_rows

# Above this degree polynomials are not worked out: their tables would exceed 70 MB.
_MOST_DEGREE = 2048
_SHARED = 512  # arrays that groups with as many trials share: 12 MB at most


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
    return moments_of_groups([group], metrics, [weights])[0]


def moments_of_groups(
    groups: Sequence[Group], metrics: Sequence[CreditSum], weights: Sequence[QuestionWeights]
) -> list[Moments]:
    """Mean and variance of some metrics of each group, as `group_moments` has them.

    Groups with the same states and as many nodes are worked out together: for 400 groups of 250
    questions with 16 trials this takes a third of the time of a loop. A group has the same moments
    to the last bit, whatever the others are.

    Parameters
    ----------
    groups, metrics, weights
        As for `group_moments`, with the weights of each group.
    """
    alike: dict[object, list[int]] = {}
    for row, (group, own) in enumerate(zip(groups, weights, strict=True)):
        states = group.n.tobytes(), group.c.tobytes()
        key = (*states, group.grid.weight.size, group.free.weight.size, own.is_equal)
        alike.setdefault(key, []).append(row)
    moments: dict[int, Moments] = {}
    for rows in alike.values():
        first = groups[rows[0]]
        cells = max(first.grid.weight.size * 3 * int(first.n.max()), first.free.likelihood.size)
        for some in batched_rows(rows, max(CELLS // cells, 1)):
            stack = GroupStack.of([groups[row] for row in some], [weights[row] for row in some])
            moments.update(zip(some, stack.moments(metrics), strict=True))
    return [moments[row] for row in range(len(groups))]


class GroupStack(NamedTuple):
    """Groups with the same states and as many nodes.

    Attributes
    ----------
    levels : tuple of Level
        The states by number of trials; `Level.questions` are those of the first group.
    shape : ndarray of float, shape (G, J, 2)
        Beta parameters of the smooth fits: of failure, of success.
    weight : ndarray of float, shape (G, J)
        Weights of the smooth fits.
    posterior : ndarray of float, shape (G, S, I)
        Posterior weights of the rates of the free fits.
    first, second, fourth : ndarray of float, shape (G, S)
        Powers of the weights of questions, as in `QuestionWeights`.
    largest : ndarray of float, shape (G,)
        The largest weight of a question of each group.
    is_equal : bool
        Whether all questions of a group weigh the same.
    """

    levels: tuple[Level, ...]
    shape: Floats
    weight: Floats
    posterior: Floats
    first: Floats
    second: Floats
    fourth: Floats
    largest: Floats
    is_equal: bool

    @classmethod
    def of(cls, groups: Sequence[Group], weights: Sequence[QuestionWeights]) -> GroupStack:
        """Stack some groups."""
        shape, weight = (
            np.stack([getattr(group.grid, name) for group in groups])
            for name in ("shape", "weight")
        )
        posterior = np.stack([group.free.posterior for group in groups])
        first, second, fourth = (
            np.stack([getattr(own, name) for own in weights])
            for name in ("first", "second", "fourth")
        )
        largest = np.array([own.largest for own in weights])
        powers = first, second, fourth, largest
        return cls(groups[0].levels, shape, weight, posterior, *powers, weights[0].is_equal)

    def moments(self, metrics: Sequence[CreditSum]) -> list[Moments]:
        """The moments of each group.

        A metric has the same moments to the last bit, whatever the others are: each has matrix
        products of its own, whose sizes the others do not change.
        """
        (groups, nodes), size = self.weight.shape, self.posterior.shape[-1]
        smooth = np.zeros((groups, len(metrics), nodes, 3))
        free, square = np.zeros((groups, len(metrics), 3)), np.zeros((groups, len(metrics)))
        at_rate = np.zeros((groups, len(metrics), size))
        for level in self.levels:
            smooth += self._node_moments(level, metrics)
            at_rates = rate_moments(size, level.n, metrics)
            means, squares = self._free_sums(level, at_rates)
            free += means
            square += squares
            noise = self.second.take(level.rows, axis=1).sum(axis=1)
            at_rate += noise[:, None, None] * at_rates[..., 2]
        # Rounding may leave less than nothing.
        smooth, free, at_rate = (np.maximum(each, 0.0) for each in (smooth, free, at_rate))
        mean = _weighted_sums(self.weight, smooth)
        away = (smooth[..., 2:] - mean[..., None, 2:]) ** 2
        spread = np.sqrt(_weighted_sums(self.weight, away)[..., 0])
        parts = *np.moveaxis(mean, -1, 0), spread, *np.moveaxis(free, -1, 0), np.sqrt(square)
        return [Moments(*group) for group in zip(*parts, at_rate, strict=True)]

    def _node_moments(self, level: Level, metrics: Sequence[CreditSum]) -> Floats:
        """Sums over the questions of a level of posterior means, shape (G, metrics, J, 3).

        Of credit and complement, by the weights, and of variance, by their squares, under each
        population of the smooth fit.
        """
        moments = self._weighted_node_sums(level, metrics, self.first.take(level.rows, axis=1))
        if self.is_equal:
            moments[..., 2] *= self.largest[:, None, None]
        else:
            squared = self._weighted_node_sums(level, metrics, self.second.take(level.rows, axis=1))
            moments[..., 2] = squared[..., 2]
        return moments

    def _weighted_node_sums(
        self, level: Level, metrics: Sequence[CreditSum], weight: Floats
    ) -> Floats:
        """Sums by one weight of a state, of posterior means of credit, complement and variance."""
        n, shape = level.n, self.shape
        moments = np.empty((len(shape), len(metrics), shape.shape[1], 3))
        degrees = shared_degrees(metrics, n)
        exact = degrees <= _MOST_DEGREE
        for degree in np.unique(degrees[exact]).tolist():
            rows = np.flatnonzero(degrees == degree)
            stack = polynomial_stack(tuple(metrics[row] for row in rows.tolist()), n, degree)
            nodes = shape[..., 0], shape[..., 1]
            moments[:, rows] = (
                further_successes(*nodes, n, level.c, weight, degree)[:, None] @ stack
            )
        if not exact.all():
            some = [*compress(metrics, ~exact)]
            for row, nodes_of_group in enumerate(shape):
                grid = rate_grid(n + float(nodes_of_group.sum(axis=1).max()))
                values = _summed_moments(grid.p, grid.q, n, some)
                sums = posterior_sums(nodes_of_group, n, level.c, weight[row], grid, values)
                moments[row, ~exact] = np.moveaxis(sums, 1, 0)
        return moments

    def _free_sums(self, level: Level, at_rates: Floats) -> tuple[Floats, Floats]:
        """Sums over the questions of a level under the free fits: moments, squared distances.

        The second is the variance of the summed variances: the rates of questions are independent.
        """
        metrics, size, _ = at_rates.shape
        # An index in brackets may change the order in memory, and with it that of sums.
        posterior, first, second, fourth = (
            each.take(level.rows, axis=1)
            for each in (self.posterior, self.first, self.second, self.fourth)
        )
        means = posterior[:, None] @ at_rates
        spread = np.empty((*means.shape[:-1], 1))
        for block in row_slices(means.shape[2], len(posterior) * size * metrics):
            away = at_rates[:, None, :, 2] - means[:, :, block, 2:]
            spread[:, :, block, 0] = np.einsum("gsi,gmsi->gms", posterior[:, block], away**2)
        sums = _weighted_sums(first, means)
        sums[..., 2] = _weighted_sums(second, means[..., 2:])[..., 0]
        return sums, _weighted_sums(fourth, spread)[..., 0]


def _weighted_sums(weight: Floats, values: Floats) -> Floats:
    """Sums over questions or nodes, by the weights (G, N) of each group: (G, C, N, x) to (G, C, x).

    A product for each metric: in one of all metrics a sum would depend on how many there are.
    """
    return np.asarray((weight[:, None, None] @ values)[:, :, 0])


def rate_moments(size: int, n: int, metrics: Sequence[CreditSum]) -> Floats:
    """Credit, complement and variance at each of `size` rates, shape (metrics, I, 3)."""
    return np.stack([_moments_at_rates(size, n, metric) for metric in metrics])


@lru_cache(maxsize=_SHARED)
def _moments_at_rates(size: int, n: int, metric: CreditSum) -> Floats:
    """The moments of one metric at the rates of a free fit of this size, which groups share."""
    (degree,) = shared_degrees([metric], n).tolist()
    if degree <= _MOST_DEGREE:
        return np.asarray(
            chances_at_nodes(degree, size) @ polynomial_stack((metric,), n, degree)[0]
        )
    return np.asarray(_summed_moments(*rate_nodes(size), n, [metric])[0].T)


def _summed_moments(p: Floats, q: Floats, n: int, metrics: Sequence[CreditSum]) -> Floats:
    """Credit, complement and variance at some rates, by sums over windows of successes."""
    smooth = 2 * draw_sizes(metrics, n) <= n
    moments = np.empty((len(metrics), 3, p.size))
    for rows in (np.flatnonzero(smooth), np.flatnonzero(~smooth)):
        if rows.size:
            some = [metrics[row] for row in rows.tolist()]

            def estimates_of(c: Ints, some: Sequence[CreditSum] = some) -> Floats:
                return np.stack([metric.estimates(n, c) for metric in some])

            moments[rows] = estimate_moments(n, p, q, estimates_of, smooth=bool(smooth[rows[0]]))
    return moments


@lru_cache(maxsize=8)
def chances_at_nodes(degree: int, size: int) -> Floats:
    """Chances of 0..degree successes at each of the rates of a free fit, (size, degree + 1)."""
    return binomial_chances(degree, *rate_nodes(size))
