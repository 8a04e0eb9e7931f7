"""What the noise of an unbiased estimate is worth: the price under two fits.

The estimate needs no model of the questions where each has k trials or more. The size of its error
does: for n < 2 k no unbiased estimate of it exists. So a smooth and a free fit price it, the larger
price counts, and how uncertain the price is widens it by a factor.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache, lru_cache, partial
from typing import NamedTuple

import numpy as np

from polars_scorio.kernels.array_types import Floats, Ints, Mask
from polars_scorio.kernels.calibrated.chances import binomial_chances
from polars_scorio.kernels.calibrated.error_polynomials import credit_of, elevate, variance_credit
from polars_scorio.kernels.calibrated.free_fit import rates
from polars_scorio.kernels.calibrated.further_trials import further_successes
from polars_scorio.kernels.calibrated.group_fits import Calibrated, Group
from polars_scorio.kernels.draws.expected_credit import expected_credit
from polars_scorio.kernels.states import States

# The gains of a draw from a question with n trials (see `kernels.draws.credit`), at most 1 in sum.
GainsOf = Callable[[int], Floats]
# For questions with n trials: a credit, its complement, the variance of its estimate.
PolynomialsOf = Callable[[int], tuple[Floats, Floats, Floats]]

_ROUNDING = 1e-12


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
        """The same of some groups, in their order: the sides of comparisons."""
        arrays = [field.name for field in fields(self)][:6]
        return replace(self, **{name: getattr(self, name)[groups] for name in arrays})


class Moments(NamedTuple):
    """What the two fits say of some metrics of one group, each array of shape (C,).

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
    """The same draw from each question.

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
    polynomials = [cache(partial(_polynomials, gains)) for gains in draws]
    for column, group in enumerate(fitted.groups):
        asked = [row for row, (values, _) in enumerate(shown) if values[column] >= 0]
        if asked:
            moments = group_moments(group, [polynomials[row] for row in asked])
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
        rows, own = n == size, gains(size)
        up[rows] = expected_credit(n[rows], c[rows], own)
        down[rows] = _unearned(own) + expected_credit(n[rows], (n - c)[rows], own[::-1])
    return up, down


def group_moments(group: Group, polynomials: Sequence[PolynomialsOf]) -> Moments:
    """What both fits say of some metrics of one group.

    Parameters
    ----------
    group : Group
        The group, each question of which has k trials or more.
    polynomials : sequence of callable
        One for each metric.
    """
    metrics = len(polynomials)

    def stacked(n: int) -> Floats:
        return _stacked([part for own in polynomials for part in own(n)])

    smooth, free, free_spread = _sums(group, stacked, 3 * metrics)
    weight, size = group.grid.weight, group.size
    mean = weight @ smooth
    spread = np.sqrt(weight @ (smooth[:, 2::3] - mean[2::3]) ** 2)
    scale = np.array([size, size, size**2])
    (g, rest, v), (free_g, free_rest, free_v) = (
        (values.reshape(metrics, 3) / scale).T for values in (mean, free)
    )
    return Moments(g, rest, v, spread, free_g, free_rest, free_v, free_spread)


def _polynomials(gains: GainsOf, n: int) -> tuple[Floats, Floats, Floats]:
    own = gains(n)
    credit = credit_of(own)
    return credit, complement(own), variance_credit(n, credit)


def complement(gains: Floats) -> Floats:
    """One less the credit of 0..k successes.

    Examples
    --------
    >>> complement(np.array([0.5, 0.25]))
    array([1.  , 0.5 , 0.25])
    """
    # Summed from the other end, so that a small rest keeps its digits.
    rest: Floats = _unearned(gains) + credit_of(gains[::-1])[::-1]
    return rest


def _unearned(gains: Floats) -> float:
    """What the gains leave of 1, if that is more than rounding."""
    left = 1 - float(gains.sum())
    return left if left > _ROUNDING else 0.0


def _stacked(polynomials: list[Floats]) -> Floats:
    """Polynomials of one degree, side by side, shape (D + 1, P)."""
    degree = max(each.size for each in polynomials) - 1
    return np.stack([elevate(each, degree) for each in polynomials], axis=1)


def _sums(
    group: Group, stacked: Callable[[int], Floats], columns: int
) -> tuple[Floats, Floats, Floats]:
    """Sums over the questions of the means of polynomials: for each node, under the free fit.

    The third is the standard deviation of the sum of the variances, every third polynomial, under
    the free fit, where the rates of the questions are independent.
    """
    failures, successes = group.grid.shape.T
    smooth = np.zeros((failures.size, columns))
    free, square = np.zeros(columns), np.zeros(columns // 3)
    for level in group.levels:
        stack = stacked(level.n)
        expected = further_successes(
            failures, successes, level.n, level.c, level.questions, len(stack) - 1
        )
        smooth += expected @ stack
        values = binomial(len(stack) - 1, group.free.weight.size) @ stack
        posterior = group.free.posterior[level.rows]
        means = posterior @ values
        free += level.questions @ means
        apart = (values[:, None, 2::3] - means[:, 2::3]) ** 2
        square += level.questions @ np.einsum("si,isp->sp", posterior, apart)
    return np.maximum(smooth, 0.0), np.maximum(free, 0.0), np.sqrt(square)


@lru_cache(maxsize=32)
def binomial(degree: int, size: int) -> Floats:
    """Chances of 0..degree successes at each of the rates of a free fit, (size, degree + 1)."""
    return binomial_chances(degree, *rates(size))
