"""Price of an unbiased estimate: its variance under two fits.

The estimate needs no model of the questions where each has k trials or more. The size of its error
does: for n < 2 k no unbiased estimate of it exists. So a smooth and a free fit price it, the larger
price counts, and how uncertain the price is widens it by a factor.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from itertools import compress
from typing import NamedTuple

import numpy as np

from polars_scorio.kernels.array_types import Floats, Ints, Mask
from polars_scorio.kernels.batches import slices
from polars_scorio.kernels.calibrated.error_polynomials import (
    credit_of,
    elevate,
    variance_credit,
    variance_degree,
)
from polars_scorio.kernels.calibrated.free_fit import rates
from polars_scorio.kernels.calibrated.further_trials import further_successes
from polars_scorio.kernels.calibrated.group_fits import Calibrated, Group, Level
from polars_scorio.kernels.calibrated.rate_quadrature import (
    estimate_moments,
    posterior_sums,
    rate_grid,
)
from polars_scorio.kernels.draws.chance_tables import binomial_chances
from polars_scorio.kernels.draws.expected_credit import expected_credit
from polars_scorio.kernels.states import States

# The gains of a draw from a question with n trials (see `kernels.draws.credit`), at most 1 in sum.
GainsOf = Callable[[int], Floats]
# For questions with n trials: a credit, its complement, the variance of its estimate.
Polynomials = tuple[Floats, Floats, Floats]

# Above this degree polynomials are not worked out: their tables would exceed 70 MB.
_MOST_DEGREE = 2048
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class CreditSum:
    """A weighted sum of metrics, of which the variance is asked for: usually one credit.

    Attributes
    ----------
    terms : sequence of tuple
        Weight of each credit, and its gains by n.
    known : dict
        The polynomials that were worked out so far, by n: groups share them.
    """

    terms: Sequence[tuple[float, GainsOf]]
    known: dict[int, Polynomials] = field(default_factory=dict)

    def degree(self, n: int) -> int:
        """Degree of `polynomials`."""
        return max(variance_degree(n, gains(n).size) for _, gains in self.terms)

    def polynomials(self, n: int) -> Polynomials:
        """Credit, complement, and variance of the estimate, from n trials of a question."""
        if n not in self.known:
            parts = [(weight, gains(n)) for weight, gains in self.terms]
            credit = np.asarray(sum(weight * credit_of(gains) for weight, gains in parts))
            rest = np.asarray(sum(weight * complement(gains) for weight, gains in parts))
            self.known[n] = credit, rest, variance_credit(n, credit)
        return self.known[n]

    def estimates(self, n: int, c: Ints) -> Floats:
        """The unbiased estimate for c successes in n trials, and its complement, shape (2, C)."""
        trials = np.full_like(c, n)
        parts = [
            weight * np.stack(drawn_credit(trials, c, gains(n))) for weight, gains in self.terms
        ]
        return np.asarray(sum(parts))


@dataclass(frozen=True, slots=True, eq=False)
class Price:
    """A metric of each group: its estimate, what a fit expects, and the variance of the estimate.

    On the unit scale of the metric's own range. Each value has its complement beside it: ``1 - x``
    would lose the digits of a small rest.

    Attributes
    ----------
    estimate, rest : ndarray of float, shape (G,)
        The unbiased estimate and its complement; NaN where k exceeds the trials of some question.
    mean, mean_rest : ndarray of float, shape (G,)
        What the fit expects that has the larger price.
    variance : ndarray of float, shape (G,)
        The price.
    factor : ndarray of float, shape (G,)
        How uncertain the price is, at least 1: it multiplies the variance in intervals.
    low, width : float
        The least value of the metric, and how far the largest lies above it.
    bounded : bool
        Whether the metric has that range, or (blends with a negative power) none.
    """

    estimate: Floats
    rest: Floats
    mean: Floats
    mean_rest: Floats
    variance: Floats
    factor: Floats
    low: float = 0.0
    width: float = 1.0
    bounded: bool = True

    @property
    def mu(self) -> Floats:
        """The estimate on the scale of the metric."""
        return self.low + self.width * self.estimate

    @property
    def sigma(self) -> Floats:
        """Root of the price on the scale of the metric, not widened."""
        return self.width * np.sqrt(self.variance)

    def at(self, groups: Ints) -> Price:
        """Prices of some groups, in the given order: one side of comparisons."""
        arrays = [field.name for field in fields(self)][:6]
        return replace(self, **{name: getattr(self, name)[groups] for name in arrays})


class Moments(NamedTuple):
    """Moments of some metrics of one group under two fits, each array of shape (C,).

    `variance` is the price, `spread` the standard deviation of the sum over the questions that it
    is made of.
    """

    smooth_mean: Floats
    smooth_rest: Floats
    smooth_variance: Floats
    smooth_spread: Floats
    free_mean: Floats
    free_rest: Floats
    free_variance: Floats
    free_spread: Floats

    @property
    def free(self) -> Mask:
        """Whether the free fit has the larger price."""
        return self.free_variance > self.smooth_variance

    @property
    def variance(self) -> Floats:
        """The larger price."""
        return np.maximum(self.smooth_variance, self.free_variance)

    def factor(self, questions: int) -> Floats:
        """How much the uncertainty of the price widens it."""
        total = questions**2 * self.variance
        spread = np.hypot(self.smooth_spread, self.free_spread)
        return 1 + np.divide(spread, total, out=np.zeros_like(total), where=total > 0)


def fixed(gains: Floats) -> GainsOf:
    """Gains of a draw that is the same for each question.

    Examples
    --------
    >>> fixed(np.array([1.0, 0.0]))(7)
    array([1., 0.])
    """
    return lambda n: gains  # noqa: ARG005 - it is the same for each n


def prices(fitted: Calibrated, draws: Sequence[GainsOf]) -> list[Price]:
    """The price of metrics that are a credit: about these very questions.

    Metrics that are asked for together share most of the work.

    Parameters
    ----------
    fitted : Calibrated
        The groups and their fits.
    draws : sequence of callable
        For each metric the gains of a draw, by n: `fixed` where it is one k.

    Returns
    -------
    list of Price
        NaN in groups where k exceeds the trials of some question: see `forecast`.

    Examples
    --------
    30 questions with 4 trials, of which nearly all fail.

    >>> counts = np.array([[4, 0], [3, 1], [2, 2], [0, 4]])
    >>> questions, group = np.array([24, 3, 2, 1]), np.zeros(4, dtype=int)
    >>> fitted = Calibrated.fit(States.tally(counts, 0 * counts, group, questions, 1))
    >>> (price,) = prices(fitted, [fixed(np.array([1.0]))])
    >>> print(price.mu.round(6), price.sigma.round(6))
    [0.091667] [0.020595]
    """
    shown = [estimate(fitted.states, gains) for gains in draws]
    parts = np.full((4, len(draws), len(fitted.groups)), np.nan)
    metrics = [CreditSum([(1.0, gains)]) for gains in draws]
    for column, group in enumerate(fitted.groups):
        asked = [row for row, (values, _) in enumerate(shown) if values[column] >= 0]
        if asked:
            moments = group_moments(group, [metrics[row] for row in asked])
            chosen = np.where(
                moments.free,
                (moments.free_mean, moments.free_rest),
                (moments.smooth_mean, moments.smooth_rest),
            )
            noise = moments.variance, moments.factor(group.size)
            parts[:, asked, column] = *chosen, *noise
    return [Price(*values, *parts[:, row]) for row, values in enumerate(shown)]


def estimate(states: States, gains: GainsOf) -> tuple[Floats, Floats]:
    """The unbiased estimate of each group, and its complement."""
    up, down = estimates(states, gains)
    return states.mean(up), states.mean(down)


def estimates(states: States, gains: GainsOf) -> tuple[Floats, Floats]:
    """The unbiased estimate of a question in each state, and its complement."""
    n, c = states.counts.sum(axis=1), states.counts[:, 1]
    up, down = np.empty((2, n.size))
    for size in np.unique(n).tolist():
        rows = n == size
        up[rows], down[rows] = drawn_credit(n[rows], c[rows], gains(size))
    return up, down


def drawn_credit(n: Ints, c: Ints, gains: Floats) -> tuple[Floats, Floats]:
    """The unbiased estimate of questions from which the same draw is made, and its complement."""
    missed = _unearned_credit(gains) + expected_credit(n, n - c, gains[::-1])
    return expected_credit(n, c, gains), missed


def group_moments(group: Group, metrics: Sequence[CreditSum]) -> Moments:
    """Mean and variance of some metrics of one group under both fits.

    Parameters
    ----------
    group : Group
        The group, each question of which has k trials or more.
    metrics : sequence of CreditSum
        One for each metric.
    """
    smooth = np.zeros((len(group.grid.weight), len(metrics), 3))
    free, square = np.zeros((len(metrics), 3)), np.zeros(len(metrics))
    for level in group.levels:
        smooth += _node_moments(group, level, metrics)
        at_rates = rate_moments(group, level.n, metrics)
        means, squares = _free_sums(group.free.posterior[level.rows], level, at_rates)
        free += means
        square += squares
    # Rounding may leave less than nothing.
    smooth, free = np.maximum(smooth, 0.0), np.maximum(free, 0.0)
    weight, size = group.grid.weight, group.size
    mean = np.tensordot(weight, smooth, 1)
    spread = np.sqrt(weight @ (smooth[..., 2] - mean[:, 2]) ** 2)
    scale = np.array([size, size, size**2])
    (g, rest, v), (free_g, free_rest, free_v) = ((values / scale).T for values in (mean, free))
    return Moments(g, rest, v, spread, free_g, free_rest, free_v, np.sqrt(square))


def complement(gains: Floats) -> Floats:
    """One less the credit of 0..k successes.

    Examples
    --------
    >>> complement(np.array([0.5, 0.25]))
    array([1.  , 0.5 , 0.25])
    """
    # Summed from the other end, so that a small rest keeps its digits.
    rest: Floats = _unearned_credit(gains) + credit_of(gains[::-1])[::-1]
    return rest


def _unearned_credit(gains: Floats) -> float:
    """One less the sum of the gains, or 0 if only rounding is left."""
    left = 1 - float(gains.sum())
    return left if left > _ROUNDING else 0.0


def rate_moments(group: Group, n: int, metrics: Sequence[CreditSum]) -> Floats:
    """Credit, complement and variance at each rate of the free fit, shape (I, metrics, 3)."""
    moments = np.empty((group.free.weight.size, len(metrics), 3))
    exact = _is_exact(metrics, n)
    if exact.any():
        stack = _polynomial_stack([*compress(metrics, exact)], n)
        values = binomial(len(stack) - 1, len(moments)) @ stack
        moments[:, exact] = values.reshape(len(moments), -1, 3)
    if not exact.all():
        some = [*compress(metrics, ~exact)]
        moments[:, ~exact] = _summed_moments(*group.free.rates, n, some).transpose(2, 0, 1)
    return moments


def _node_moments(group: Group, level: Level, metrics: Sequence[CreditSum]) -> Floats:
    """Sums over the questions of a level of posterior means, shape (J, metrics, 3).

    Of credit, complement and variance, under each population of the smooth fit.
    """
    n, shape = level.n, group.grid.shape
    moments = np.empty((len(shape), len(metrics), 3))
    exact = _is_exact(metrics, n)
    if exact.any():
        stack = _polynomial_stack([*compress(metrics, exact)], n)
        failures, successes = shape.T
        further = further_successes(
            failures, successes, n, level.c, level.questions, len(stack) - 1
        )
        moments[:, exact] = (further @ stack).reshape(len(shape), -1, 3)
    if not exact.all():
        grid = rate_grid(n + float(shape.sum(axis=1).max()))
        some = [*compress(metrics, ~exact)]
        values = _summed_moments(grid.p, grid.q, n, some)
        moments[:, ~exact] = posterior_sums(shape, n, level.c, level.questions, grid, values)
    return moments


def _is_exact(metrics: Sequence[CreditSum], n: int) -> Mask:
    """Which metrics are worked out by polynomials, which share the tables of their degree."""
    return np.array([metric.degree(n) <= _MOST_DEGREE for metric in metrics])


def _polynomial_stack(metrics: Sequence[CreditSum], n: int) -> Floats:
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


def _free_sums(posterior: Floats, level: Level, at_rates: Floats) -> tuple[Floats, Floats]:
    """Sums over the questions of a level under the free fit: of the moments, of squared distances.

    The second is the variance of the summed variances: the rates of questions are independent.
    """
    size, metrics, _ = at_rates.shape
    means = (posterior @ at_rates.reshape(size, -1)).reshape(-1, metrics, 3)
    squares = np.zeros(metrics)
    for block in slices(len(posterior), size):
        for metric in range(metrics):
            away = at_rates[:, metric, 2] - means[block, metric, 2, None]
            squares[metric] += level.questions[block] @ (posterior[block] * away**2).sum(axis=1)
    return np.tensordot(level.questions, means, 1), squares


@lru_cache(maxsize=8)
def binomial(degree: int, size: int) -> Floats:
    """Chances of 0..degree successes at each of the rates of a free fit, (size, degree + 1)."""
    return binomial_chances(degree, *rates(size))
