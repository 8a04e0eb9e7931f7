"""The mean over the population that the questions are a sample of."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from polars_scorio.kernels.array_types import Floats, Ints
from polars_scorio.kernels.calibrated.credit_sums import CreditSum, GainsOf
from polars_scorio.kernels.calibrated.fit_moments import rate_moments
from polars_scorio.kernels.calibrated.group_fits import Calibrated, Group
from polars_scorio.kernels.calibrated.variance_price import Price
from polars_scorio.kernels.posterior_intervals import small_sample_factor
from polars_scorio.kernels.states import States


def population_price(
    fitted: Calibrated,
    gains: GainsOf,
    benchmark: Price,
    confidence: float,
    *,
    cluster_variance: Floats | None = None,
    clusters: Ints | Floats | None = None,
) -> Price:
    """The price of a metric where the questions are a sample.

    Parameters
    ----------
    fitted : Calibrated
        The groups and their fits.
    gains : callable
        As for `prices`.
    benchmark : Price
        What `prices` says of it.
    confidence : float
        Of the interval: the factor is that of Student's quantile.
    cluster_variance : ndarray of float, shape (G,), optional
        Where questions come in clusters: the variance of the estimate by them, on the scale of the
        metric (see `clustered_variance`).
    clusters : ndarray of int, shape (G,), optional
        Then the number of clusters of each group (see `effective_number`).

    Returns
    -------
    Price
        Its interval takes the number of questions (of clusters) as `cap`. NaN but for the estimate
        where that is 1: one question says nothing about the others.

    Examples
    --------
    >>> counts, every = np.array([[0, 1], [1, 0]]), np.array([5, 5])
    >>> from polars_scorio.kernels.states import States
    >>> states = States.tally(counts, 0 * counts, 0 * every, every, 1)
    >>> from polars_scorio.kernels.calibrated.credit_sums import fixed
    >>> from polars_scorio.kernels.calibrated.variance_price import prices
    >>> fitted, gains = Calibrated.fit(states), fixed(np.array([1.0]))
    >>> price = population_price(fitted, gains, *prices(fitted, [gains]), 0.95)
    >>> price.sigma.round(3)  # sqrt(1/2 * 1/2 / 10)
    array([0.158])
    """
    parts = np.full((3, fitted.states.groups), np.nan)
    for column, group in enumerate(fitted.groups):
        if benchmark.estimate[column] >= 0:
            parts[:, column] = _population_moments(group, gains)
    mean, rest, variance = parts
    price = replace(benchmark, mean=mean, mean_rest=rest)
    size = fitted.size
    return _sample_price(price, variance / size, size, confidence, cluster_variance, clusters)


def sampled_price(
    benchmark: Price,
    states: States,
    values: Floats,
    confidence: float,
    *,
    cluster_variance: Floats | None = None,
    clusters: Ints | Floats | None = None,
) -> Price:
    """The price of a mean over questions that are a sample, of a metric that is no credit.

    Parameters
    ----------
    benchmark : Price
        The price where these are all the questions there are.
    states : States
        The questions.
    values : ndarray of float, shape (S,)
        The unbiased estimate of a question in each state, on the scale of the metric.
    confidence, cluster_variance, clusters
        As for `population_price`.

    Returns
    -------
    Price
        The variance is that of the estimates between the questions, and never below the noise of
        these: questions that all say the same are no proof that others do. As for
        `population_price`, the interval takes the number of questions (of clusters) as `cap`.

    Examples
    --------
    >>> counts, every = np.array([[0, 0, 2], [2, 0, 0]]), np.array([5, 5])
    >>> group, half = np.zeros(2, dtype=int), np.array([0.5])
    >>> states = States.tally(counts, 0 * counts, group, every, 1)
    >>> price = Price(half, half, half, half, 0 * half, half)
    >>> sampled_price(price, states, np.array([0.0, 1.0]), 0.95).sigma.round(3)  # 1/2 over root 9
    array([0.167])
    """
    size, group = states.size, states.group
    distance = (values[states.state] - states.mean(values)[group]) / (benchmark.width or 1.0)
    square = np.bincount(group, states.questions * distance**2, states.groups)
    between = square / (size * np.maximum(size - 1, 1))
    variance = np.maximum(between, benchmark.variance)
    return _sample_price(benchmark, variance, size, confidence, cluster_variance, clusters)


def _sample_price(
    benchmark: Price,
    variance: Floats,
    questions: Ints,
    confidence: float,
    cluster_variance: Floats | None,
    clusters: Ints | Floats | None,
) -> Price:
    """A price with the variance of a sample of questions, or of clusters."""
    size = questions if clusters is None else clusters
    if cluster_variance is not None and benchmark.width:
        variance = np.maximum(variance, cluster_variance / benchmark.width**2)
    variance = np.where(size > 1, variance, np.nan)
    return replace(benchmark, variance=variance, factor=small_sample_factor(size, confidence) ** 2)


def _population_moments(group: Group, gains: GainsOf) -> tuple[float, float, float]:
    """Mean of the estimate of a question, of its complement, and variance, under the free fit.

    The fit itself is the population here, not what it says of the questions seen. The variance is
    the mean noise of an estimate and the variance of the metric between rates.
    """
    metrics, weight = [CreditSum([(1.0, gains)])], group.free.weight
    share = np.array([level.questions.sum() / group.size for level in group.levels])
    at_rates = np.stack([rate_moments(group, level.n, metrics)[:, 0] for level in group.levels])
    mean, rest, noise = np.einsum("l,i,lix->x", share, weight, at_rates)
    # From the nearer bound: nothing large cancels.
    near, centre = (at_rates[..., 0], mean) if mean < rest else (at_rates[..., 1], rest)
    between = share @ (near - centre) ** 2 @ weight
    return float(mean), float(rest), float(noise + between)
