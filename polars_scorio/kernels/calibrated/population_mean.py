"""The mean over the population that the questions are a sample of."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from polars_scorio.kernels.array_types import Floats, Ints
from polars_scorio.kernels.calibrated.error_polynomials import credit_of, elevate
from polars_scorio.kernels.calibrated.group_fits import Calibrated, Group
from polars_scorio.kernels.calibrated.variance_price import GainsOf, Price, binomial, complement
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
    >>> from polars_scorio.kernels.calibrated.variance_price import fixed, prices
    >>> fitted, gains = Calibrated.fit(states), fixed(np.array([1.0]))
    >>> price = population_price(fitted, gains, *prices(fitted, [gains]), 0.95)
    >>> price.sigma.round(3)  # sqrt(1/2 * 1/2 / 10)
    array([0.158])
    """
    parts = np.full((3, fitted.states.groups), np.nan)
    for column, group in enumerate(fitted.groups):
        if benchmark.estimate[column] >= 0:
            parts[:, column] = _moments(group, gains)
    mean, rest, variance = parts
    price = replace(benchmark, mean=mean, mean_rest=rest)
    size = fitted.size
    return _sampled(price, variance / size, size, confidence, cluster_variance, clusters)


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
    return _sampled(benchmark, variance, size, confidence, cluster_variance, clusters)


def _sampled(
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


def clustered_variance(
    values: Floats, cluster: Ints, group: Ints, groups: int, questions: Ints | None = None
) -> tuple[Floats, Ints]:
    """Variance of a mean over questions that come in clusters [1]_, and the number of clusters.

    Parameters
    ----------
    values : ndarray of float, shape (Q,)
        The estimate, or the paired difference, of each question (row).
    cluster : ndarray of int, shape (Q,)
        Its cluster, from 0; no cluster belongs to two groups.
    group : ndarray of int, shape (Q,)
        Its group.
    groups : int
        Number of groups, G.
    questions : ndarray of int, shape (Q,), optional
        For how many questions of its cluster each row stands; default 1.

    Returns
    -------
    variance : ndarray of float, shape (G,)
        ``K / (K - 1) sum_c (sum_{q in c} (x_q - mean))^2 / M^2``; NaN for one cluster.
    clusters : ndarray of int, shape (G,)
        K.

    References
    ----------
    .. [1] E. Miller (2024), Adding error bars to evals, arXiv:2411.00640.

    Examples
    --------
    Two clusters of two questions, in each of which both agree: as good as two questions.

    >>> every = np.zeros(4, dtype=int)
    >>> clustered_variance(np.array([0.0, 0.0, 1.0, 1.0]), np.array([0, 0, 1, 1]), every, 1)
    (array([0.25]), array([2]))
    """
    each = np.ones(values.size) if questions is None else questions
    size = np.bincount(group, each, groups)
    mean = np.bincount(group, each * values, groups) / size
    found, first, index = np.unique(cluster, return_index=True, return_inverse=True)
    owner = group[first]
    sums = np.bincount(index, each * (values - mean[group]), found.size)
    clusters = np.bincount(owner, minlength=groups)
    total = np.bincount(owner, sums**2, groups) / size**2
    factor = np.where(clusters > 1, clusters / np.maximum(clusters - 1, 1), np.nan)
    return factor * total, clusters


def effective_number(size: Ints, group: Ints, groups: int) -> Floats:
    """How many equally large clusters the clusters of each group count as [1]_.

    Parameters
    ----------
    size : ndarray of int, shape (C,)
        Questions of each cluster.
    group : ndarray of int, shape (C,)
        Its group.
    groups : int
        Number of groups, G.

    Returns
    -------
    ndarray of float, shape (G,)
        ``M**2 / sum m**2``, m the questions of a cluster: K where all are equally large, less where
        some have more of the M questions. One less are the degrees of freedom: where one cluster
        has half of the questions, Student's t with K - 1 of them held .71 instead of .95.

    References
    ----------
    .. [1] L. Kish (1965), Survey Sampling, section 11.7.

    Examples
    --------
    >>> effective_number(np.array([5, 5, 9, 1]), np.array([0, 0, 1, 1]), 2).round(2)
    array([2.  , 1.22])
    """
    total = np.bincount(group, size, groups)
    return np.asarray(total**2 / np.bincount(group, size.astype(np.float64) ** 2, groups))


def _moments(group: Group, gains: GainsOf) -> tuple[float, float, float]:
    """Mean of the estimate of a question, complement of it, variance: under the free fit.

    The fit itself is the population, not what it says of the questions seen.
    """
    values, chances = [], []
    for level in group.levels:
        both = credit_of(gains(level.n)), complement(gains(level.n))
        values.append(np.stack([elevate(each, level.n) for each in both]))
        of_c = group.free.weight @ binomial(level.n, group.free.weight.size)
        chances.append(level.questions.sum() / group.size * of_c)
    estimates, weight = np.concatenate(values, axis=1), np.concatenate(chances)
    mean, rest = estimates @ weight
    # From the nearer bound: nothing large cancels.
    near, centre = (estimates[0], mean) if mean < rest else (estimates[1], rest)
    return float(mean), float(rest), float(weight @ (near - centre) ** 2)
