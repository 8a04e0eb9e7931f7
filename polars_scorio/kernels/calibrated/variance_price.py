"""Price of an unbiased estimate: its variance under two fits.

The estimate needs no model of the questions if each has k trials or more. The size of its error
does: for n < 2 k no unbiased estimate of it exists. So a smooth and a free fit price it. The larger
price counts, as far as the counts do not contradict it (`price_cap`), and how uncertain the price
is widens it by a factor.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from polars_scorio.kernels.array_types import Floats, Ints
from polars_scorio.kernels.calibrated.credit_sums import CreditSum, GainsOf, state_estimates
from polars_scorio.kernels.calibrated.fit_moments import moments_of_groups
from polars_scorio.kernels.calibrated.group_fits import Calibrated
from polars_scorio.kernels.calibrated.price_cap import capped_price


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
        Expectation of the fit that has the larger price; between both if the price is capped.
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
        return replace(self, **{name: getattr(self, name)[groups] for name in PRICE_PARTS})

    @classmethod
    def stacked(cls, prices: Sequence[Price]) -> Price:
        """Some metrics on the unit scale as one: each array of shape (metrics, G)."""
        estimate, rest, mean, mean_rest, variance, factor = (
            np.stack([getattr(price, name) for price in prices]) for name in PRICE_PARTS
        )
        return cls(estimate, rest, mean, mean_rest, variance, factor)


PRICE_PARTS = [field.name for field in fields(Price)][:6]


def credit_prices(fitted: Calibrated, draws: Sequence[GainsOf]) -> list[Price]:
    """The price of metrics that are a credit: about these very questions.

    Metrics that are asked for together share most of the work.

    Parameters
    ----------
    fitted : Calibrated
        The groups, their fits, and the weights of their questions.
    draws : sequence of callable
        For each metric the gains of a draw, by n: `fixed_gains` where it is one k.

    Returns
    -------
    list of Price
        NaN in groups where k exceeds the trials of some question: see `forecast_range`.

    Examples
    --------
    30 questions with 4 trials, of which nearly all fail.

    >>> from polars_scorio.kernels.calibrated.credit_sums import fixed_gains
    >>> from polars_scorio.kernels.states import States
    >>> counts = np.array([[4, 0], [3, 1], [2, 2], [0, 4]])
    >>> questions, group = np.array([24, 3, 2, 1]), np.zeros(4, dtype=int)
    >>> fitted = Calibrated.fit(States.tally(counts, 0 * counts, group, questions, 1))
    >>> (price,) = credit_prices(fitted, [fixed_gains(np.array([1.0]))])
    >>> print(price.mu.round(6), price.sigma.round(6))
    [0.091667] [0.020595]
    """
    estimates = np.concatenate([state_estimates(fitted.states, gains) for gains in draws])
    shown = fitted.mean(estimates).reshape(len(draws), 2, -1)
    parts = np.full((4, len(draws), len(fitted.groups)), np.nan)
    metrics = [CreditSum([(1.0, gains)]) for gains in draws]
    for asked, columns in _asked_together(shown[:, 0]):
        wanted = [metrics[row] for row in asked]
        groups = [fitted.groups[column] for column in columns]
        weights = [fitted.weights[column] for column in columns]
        each = moments_of_groups(groups, wanted, weights)
        for column, group, own, moments in zip(columns, groups, weights, each, strict=True):
            price = capped_price(group, wanted, moments, own)
            mean = price.between(moments.free_mean, moments.smooth_mean)
            rest = price.between(moments.free_rest, moments.smooth_rest)
            parts[:, asked, column] = mean, rest, price.variance, price.factor
    return [Price(*values, *parts[:, row]) for row, values in enumerate(shown)]


def _asked_together(estimates: Floats) -> Iterator[tuple[list[int], list[int]]]:
    """Metrics that some groups have an estimate of, and these groups."""
    together: dict[tuple[bool, ...], list[int]] = {}
    for group, known in enumerate((estimates.T >= 0).tolist()):
        together.setdefault(tuple(known), []).append(group)
    for known, groups in together.items():
        if any(known):
            yield [row for row, here in enumerate(known) if here], groups
