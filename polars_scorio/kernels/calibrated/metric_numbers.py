"""The numbers of a metric in each group: estimate, mu, sigma, lo, hi."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np

from polars_scorio.kernels.array_types import Floats, Ints, Mask
from polars_scorio.kernels.calibrated.clopper_pearson import interval
from polars_scorio.kernels.calibrated.credit_sums import GainsOf
from polars_scorio.kernels.calibrated.further_draws import forecast
from polars_scorio.kernels.calibrated.group_fits import Calibrated
from polars_scorio.kernels.calibrated.population_mean import population_price
from polars_scorio.kernels.calibrated.variance_price import Price, prices


class Numbers(NamedTuple):
    """Numbers of a metric in each group, on the metric's scale, each of shape (G,).

    Attributes
    ----------
    estimate : ndarray of float
        The unbiased estimate; NaN where k exceeds the trials of some question.
    mu : ndarray of float
        The same; there, what the free fit expects.
    sigma : ndarray of float
        Standard deviation of the estimate; NaN there.
    lo, hi : ndarray of float
        The interval; there, the range of a forecast.
    forecast : ndarray of bool
        Where that is.
    price : Price
        What they are made of, for comparisons.
    """

    estimate: Floats
    mu: Floats
    sigma: Floats
    lo: Floats
    hi: Floats
    forecast: Mask
    price: Price

    def scaled(self, low: float, high: float) -> Numbers:
        """Rescale to a metric that is `low` for a credit of 0 and `high` for a credit of 1."""
        width = high - low
        estimate, mu, lo, hi = (
            low + width * number for number in (self.estimate, self.mu, self.lo, self.hi)
        )
        price = replace(self.price, low=low, width=width)
        return Numbers(estimate, mu, width * self.sigma, lo, hi, self.forecast, price)


class Clusters(NamedTuple):
    """Result of `clusters.clustered_variance` for the estimates of one metric."""

    variance: Floats
    number: Ints | Floats


def credit_numbers(
    fitted: Calibrated,
    draws: Sequence[GainsOf],
    confidence: float,
    target: Literal["benchmark", "population"] = "benchmark",
    clusters: Sequence[Clusters] | None = None,
) -> list[Numbers]:
    """The numbers of metrics that are a credit.

    Parameters
    ----------
    fitted, draws
        As for `prices`; metrics that are asked for together share most of the work.
    confidence : float
        Of the intervals, inside (0, 1).
    target : "benchmark" or "population"
        The mean over these questions, or over the population they come from.
    clusters : sequence of Clusters, optional
        For the population, one for each metric, where questions come in clusters.

    Returns
    -------
    list of Numbers

    Examples
    --------
    Two questions with two trials each; three trials are a forecast.

    >>> from polars_scorio.kernels.calibrated.credit_sums import fixed
    >>> from polars_scorio.kernels.states import States
    >>> counts, one = np.array([[1, 1], [0, 2]]), np.array([1, 1])
    >>> fitted = Calibrated.fit(States.tally(counts, 0 * counts, 0 * one, one, 1))
    >>> draws = [fixed(np.array([1.0])), fixed(np.array([1.0, 0.0, 0.0]))]
    >>> for numbers in credit_numbers(fitted, draws, 0.95):
    ...     print(*(number.round(3) for number in numbers[:3]), numbers.forecast)
    [0.75] [0.75] [0.205] [False]
    [nan] [0.932] [nan] [ True]
    """
    found = []
    for row, (gains, price) in enumerate(zip(draws, prices(fitted, draws), strict=True)):
        seen, cap = price, None
        if target == "population":
            of = None if clusters is None else clusters[row]
            seen, cap = _sampled_numbers_of(fitted, gains, price, confidence, of)
        numbers = price_numbers(seen, confidence, cap)
        beyond = np.isnan(price.estimate)
        found.append(_with_forecast(fitted, gains, confidence, beyond, numbers))
    return found


def price_numbers(price: Price, confidence: float, cap: Floats | Ints | None = None) -> Numbers:
    """The numbers of a price: of a blend, of Max@k, of an average.

    Parameters
    ----------
    price, confidence, cap
        As for `interval`.

    Examples
    --------
    >>> half = np.array([0.5])
    >>> price_numbers(Price(half, half, half, half, 0 * half, half + 0.5), 0.95).lo
    array([0.5])
    """
    lo, hi = interval(price, confidence, cap)
    beyond = np.isnan(price.estimate)
    return Numbers(price.mu, price.mu, price.sigma, lo, hi, np.zeros_like(beyond), price)


def _sampled_numbers_of(
    fitted: Calibrated, gains: GainsOf, price: Price, confidence: float, of: Clusters | None
) -> tuple[Price, Ints | Floats]:
    if of is None:
        return population_price(fitted, gains, price, confidence), fitted.size
    variance, number = of
    own = population_price(
        fitted, gains, price, confidence, cluster_variance=variance, clusters=number
    )
    return own, number


def _with_forecast(
    fitted: Calibrated, gains: GainsOf, confidence: float, beyond: Mask, numbers: Numbers
) -> Numbers:
    """The numbers, with a forecast where k is beyond the trials."""
    if not beyond.any():
        return numbers
    ahead = forecast(fitted, gains(1), confidence, beyond)
    mu, lo, hi = (
        np.where(beyond, there, here)
        for there, here in zip(ahead, (numbers.mu, numbers.lo, numbers.hi), strict=True)
    )
    return numbers._replace(mu=mu, lo=lo, hi=hi, forecast=beyond)
