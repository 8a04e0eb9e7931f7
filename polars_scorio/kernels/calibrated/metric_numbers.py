"""The numbers of a metric in each group: estimate, mu, sigma, lo, hi."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np

from polars_scorio.kernels.array_types import Floats, Mask
from polars_scorio.kernels.calibrated.clopper_pearson import clopper_pearson_interval
from polars_scorio.kernels.calibrated.credit_sums import (
    CreditSum,
    GainsOf,
    state_estimates,
)
from polars_scorio.kernels.calibrated.further_draws import forecast_range
from polars_scorio.kernels.calibrated.group_fits import Calibrated
from polars_scorio.kernels.calibrated.population_mean import (
    QuestionSample,
    population_variance,
)
from polars_scorio.kernels.calibrated.root_credit import RootDraw, largest_bias
from polars_scorio.kernels.calibrated.saturated import saturated_ends
from polars_scorio.kernels.calibrated.smaller_draws import DrawBounds, draw_bounds, smaller_draws
from polars_scorio.kernels.calibrated.variance_price import Price, credit_prices
from polars_scorio.kernels.clusters import Clustered
from polars_scorio.kernels.states import States


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
    price : Price or None
        What they are made of, for comparisons; None about a population.
    """

    estimate: Floats
    mu: Floats
    sigma: Floats
    lo: Floats
    hi: Floats
    forecast: Mask
    price: Price | None = None

    def scaled(self, low: float, high: float) -> Numbers:
        """Rescale to a metric that is `low` for a credit of 0 and `high` for a credit of 1."""
        width = high - low
        estimate, mu, lo, hi = (
            low + width * number for number in (self.estimate, self.mu, self.lo, self.hi)
        )
        price = self.price and replace(self.price, low=low, width=width)
        return Numbers(estimate, mu, width * self.sigma, lo, hi, self.forecast, price)

    def with_ends_within(self, least: Floats, most: Floats) -> Numbers:
        """The numbers, with the part of the interval between two bounds."""
        lo, hi = np.maximum(self.lo, least), np.minimum(self.hi, most)
        # The middle of a forecast may lie beyond the bounds.
        lo, hi = np.where(lo > self.mu, self.mu, lo), np.where(hi < self.mu, self.mu, hi)
        return self._replace(lo=lo, hi=hi)

    def with_ends_beyond(self, most_lo: Floats, least_hi: Floats) -> Numbers:
        """The numbers, with an interval that goes so far on either side."""
        return self._replace(lo=np.minimum(self.lo, most_lo), hi=np.maximum(self.hi, least_hi))


def credit_numbers(
    fitted: Calibrated,
    draws: Sequence[GainsOf],
    confidence: Floats | float,
    target: Literal["benchmark", "population"] = "benchmark",
    clusters: Clustered[States] | None = None,
) -> list[Numbers]:
    """The numbers of metrics that are a credit.

    Parameters
    ----------
    fitted, draws
        As for `credit_prices`; metrics that are asked for together share most of the work.
    confidence : float or ndarray of float, shape (G,)
        Of the intervals, inside (0, 1).
    target : "benchmark" or "population"
        The mean over these questions, or over the population they come from.
    clusters : Clustered, optional
        The same questions in their clusters, which are a sample of the population then.

    Returns
    -------
    list of Numbers

    Examples
    --------
    Two questions with two trials each; three trials are a forecast.

    >>> from polars_scorio.kernels.calibrated.credit_sums import fixed_gains
    >>> from polars_scorio.kernels.states import States
    >>> counts, one = np.array([[1, 1], [0, 2]]), np.array([1, 1])
    >>> fitted = Calibrated.fit(States.tally(counts, 0 * counts, 0 * one, one, 1))
    >>> draws = [fixed_gains(np.array([1.0])), fixed_gains(np.array([1.0, 0.0, 0.0]))]
    >>> for numbers in credit_numbers(fitted, draws, 0.95):
    ...     print(*(number.round(3) for number in numbers[:3]), numbers.forecast)
    [0.75] [0.75] [0.205] [False]
    [nan] [0.932] [nan] [ True]
    """
    bounds = [draw_bounds(gains, fitted.states.n) for gains in draws]
    further = smaller_draws(bounds)
    every = [*draws, *(small.draw_gains() for small in further)]
    measured = measured_numbers(fitted, every, confidence, target, clusters)
    found = [
        _with_forecast(fitted, gains, confidence, numbers)
        for gains, numbers in zip(draws, measured, strict=False)
    ]
    return bounded_numbers(fitted, bounds, found, measured[len(draws) :])


def measured_numbers(
    fitted: Calibrated,
    draws: Sequence[GainsOf],
    confidence: Floats | float,
    target: Literal["benchmark", "population"] = "benchmark",
    clusters: Clustered[States] | None = None,
) -> list[Numbers]:
    """The numbers of metrics that are a credit, each by itself; NaN where k exceeds the trials.

    Parameters
    ----------
    fitted, draws, confidence, target, clusters
        As for `credit_numbers`.
    """
    states = fitted.states
    if target == "population":
        sample = QuestionSample(states, clusters)
        return [_population_numbers(fitted, gains, sample, confidence) for gains in draws]
    priced = _numbers_of_each(credit_prices(fitted, draws), confidence)
    biased = [
        with_bias(numbers, _mean_bias(states, gains)) if isinstance(gains, RootDraw) else numbers
        for gains, numbers in zip(draws, priced, strict=True)
    ]
    return with_saturated_ends(fitted, draws, biased, confidence)


def with_saturated_ends(
    fitted: Calibrated,
    draws: Sequence[GainsOf],
    numbers: Sequence[Numbers],
    confidence: Floats | float,
) -> list[Numbers]:
    """The numbers of draws, whose intervals reach as far as `saturated_ends` at least."""
    ends = saturated_ends(fitted, draws, confidence)
    return [each.with_ends_beyond(*pair) for each, *pair in zip(numbers, *ends, strict=True)]


def bounded_numbers(
    fitted: Calibrated,
    bounds: Sequence[DrawBounds],
    found: Sequence[Numbers],
    further: Sequence[Numbers],
) -> list[Numbers]:
    """The numbers of metrics that are a credit, whose intervals agree with those of smaller draws.

    Pass@k is never below Pass@j of a smaller j, and Pass^k never above Pass^j: no interval reaches
    beyond the far end of that of j = 1, 2, 4, ... as long as a question has 2 j trials, which show
    the noise. The intervals of Pass@k and Pass^k by themselves are wider where nearly all trials
    agree: with k = n a question gives one draw. Other credits on one side of the average are
    bounded by j = 1.

    Parameters
    ----------
    fitted : Calibrated
        The groups.
    bounds : sequence of DrawBounds
        The draws that bound each metric.
    found : sequence of Numbers
        The numbers of each metric by itself.
    further : sequence of Numbers
        The numbers of `smaller_draws` of these bounds.
    """
    known = {each.itself: numbers for each, numbers in zip(bounds, found, strict=True)}
    known |= zip(smaller_draws(bounds), further, strict=True)
    fewest = np.array([group.n.min() for group in fitted.groups])
    bounded = []
    for numbers, each in zip(found, bounds, strict=True):
        least, most = np.full((2, fewest.size), [[-np.inf], [np.inf]])
        for small in each.smaller:
            shown = (2 * small.k <= fewest) | (small.k == 1)
            if each.above:
                least = np.where(shown, np.maximum(least, known[small].lo), least)
            else:
                most = np.where(shown, np.minimum(most, known[small].hi), most)
        bounded.append(numbers.with_ends_within(least, most))
    return bounded


def price_numbers(price: Price, confidence: Floats | float) -> Numbers:
    """The numbers of a price: of a blend, of Max@k, of an average.

    Parameters
    ----------
    price, confidence
        As for `clopper_pearson_interval`.

    Examples
    --------
    >>> half = np.array([0.5])
    >>> price_numbers(Price(half, half, half, half, 0 * half, half + 0.5), 0.95).lo
    array([0.5])
    """
    lo, hi = clopper_pearson_interval(price, confidence)
    certain = np.zeros_like(price.estimate, dtype=np.bool_)
    return Numbers(price.mu, price.mu, price.sigma, lo, hi, certain, price)


def _numbers_of_each(prices: Sequence[Price], confidence: Floats | float) -> list[Numbers]:
    """`price_numbers` of some prices on the unit scale, with the ends of all at once."""
    stacked = Price.stacked(prices)
    ends = clopper_pearson_interval(stacked, confidence)
    return [
        Numbers(mu, mu, sigma, lo, hi, np.zeros_like(lo, dtype=np.bool_), price)
        for price, mu, sigma, lo, hi in zip(prices, stacked.mu, stacked.sigma, *ends, strict=True)
    ]


def sample_numbers(
    values: Floats,
    sigma: Floats,
    sample: QuestionSample,
    confidence: Floats | float,
    bias: Floats | None = None,
) -> Numbers:
    """The numbers of the mean over a population of questions.

    Parameters
    ----------
    values : ndarray of float, shape (S,)
        The estimate of a question in each state, inside [0, 1].
    sigma : ndarray of float, shape (G,)
        Standard deviation of the mean, as of `QuestionSample.sigma`.
    sample : QuestionSample
        The questions, or their clusters.
    confidence : float or ndarray of float, shape (G,)
        Of the intervals.
    bias : ndarray of float, shape (S,), optional
        Largest bias of these estimates; default 0.
    """
    mean, (lo, hi) = sample.questions.mean(values), sample.units(values, bias).bounds(confidence)
    # If all units are alike, the mean may differ from an end by a rounding.
    lo, hi = np.minimum(lo, mean), np.maximum(hi, mean)
    return Numbers(mean, mean, sigma, lo, hi, np.zeros_like(mean, dtype=np.bool_))


def _population_numbers(
    fitted: Calibrated, gains: GainsOf, sample: QuestionSample, confidence: Floats | float
) -> Numbers:
    """The numbers of a credit over a population, without forecasts."""
    values, _ = state_estimates(fitted.states, gains)
    known = ~np.isnan(fitted.states.mean(values))
    independent = population_variance(fitted, CreditSum([(1.0, gains)]), known)
    sigma = sample.sigma(values, independent)
    bias = largest_bias(gains, fitted.states.n)
    return sample_numbers(values, sigma, sample, confidence, bias)


def _mean_bias(states: States, gains: GainsOf) -> Floats:
    """Largest bias of the mean estimate of each group."""
    return states.mean(largest_bias(gains, states.n))


def with_bias(numbers: Numbers, bias: Floats) -> Numbers:
    """The numbers of an estimate in [0, 1], with its largest bias added to both ends."""
    lo, hi = np.maximum(numbers.lo - bias, 0.0), np.minimum(numbers.hi + bias, 1.0)
    return numbers._replace(lo=lo, hi=hi)


def forecast_numbers(fitted: Calibrated, gains: GainsOf, confidence: float) -> Numbers:
    """The forecast of a metric that is a credit, for each group: mu and the range.

    Parameters
    ----------
    fitted, confidence
        As for `credit_numbers`.
    gains : callable
        The gains of the metric.
    """
    unknown = np.full(len(fitted.groups), np.nan)
    mu, lo, hi = forecast_range(fitted, _drawn_credit(gains), confidence)
    found = Numbers(unknown, mu, unknown, lo, hi, np.isnan(unknown))
    bounds = [draw_bounds(gains, fitted.states.n)]
    smaller = [small.draw_gains() for small in smaller_draws(bounds)]
    further = measured_numbers(fitted, smaller, confidence) if smaller else []
    return bounded_numbers(fitted, bounds, [found], further)[0]


def _with_forecast(
    fitted: Calibrated, gains: GainsOf, confidence: Floats | float, numbers: Numbers
) -> Numbers:
    """The numbers, with a forecast where k is beyond the trials."""
    beyond = np.isnan(numbers.estimate)
    if not beyond.any():
        return numbers
    ahead = forecast_range(fitted, _drawn_credit(gains), confidence, beyond)
    mu, lo, hi = (
        np.where(beyond, there, here)
        for there, here in zip(ahead, (numbers.mu, numbers.lo, numbers.hi), strict=True)
    )
    return numbers._replace(mu=mu, lo=lo, hi=hi, forecast=beyond)


def _drawn_credit(gains: GainsOf) -> Floats | RootDraw:
    """The gains of a draw whose size is the same for all questions."""
    return gains if isinstance(gains, RootDraw) else gains(1)
