"""Metrics under partial pooling: posterior moments of one group, given its fitted grid."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from polars_scorio.maths.array_rows import Floats, Ints, Mask
from polars_scorio.maths.draws import DrawsOf, credit_by_state
from polars_scorio.maths.lattice import (
    Credits,
    Grid,
    JointCovariance,
    Posterior,
    joint_covariance,
    posterior_moments,
    state_blocks,
)


class Joint(NamedTuple):
    """Means, variances and covariance of two metrics x and y; arrays of one shape."""

    x: Floats
    y: Floats
    var_x: Floats
    var_y: Floats
    covariance: Floats


# Of questions with the Dirichlet parameters nu, shape (R, K), and n trials each, shape (R,): the
# mean and the variance of a metric, or what `Joint` has of two; all of shape (R,).
Moments = Callable[[Floats, Ints], tuple[Floats, Floats]]
JointMoments = Callable[[Floats, Ints], Joint]


def metric_posterior(
    grid: Grid,
    counts: Ints,
    n: Ints,
    questions: Ints,
    moments: Moments,
    *,
    population: bool = True,
) -> Posterior:
    """Posterior moments of any metric of the category probabilities of a question.

    Parameters
    ----------
    grid : Grid
        What `fit_binary` or `fit_categories` made of the same group.
    counts : ndarray of int, shape (S, K)
        As in the fit: trials of each state in each category, prior trials included.
    n : ndarray of int, shape (S,)
        Trials of each state, without prior trials; handed on to `moments`.
    questions : ndarray of int, shape (S,)
        How many questions share the state.
    moments : callable
        ``moments(nu, n)``: mean and variance of the metric for questions whose category
        probabilities are Dirichlet(nu). ``R K`` is at most 131,072.
    population : bool
        As for `posterior_moments`.

    Returns
    -------
    Posterior
        The same bits whatever the order of the states.

    Examples
    --------
    The share of the last category. By symmetry of the data it is 1/3.

    >>> from polars_scorio.maths.lattice import fit_categories
    >>> counts, questions = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1]]), np.array([2, 2, 2])
    >>> def last(nu, n):
    ...     mean = nu[:, -1] / nu.sum(axis=1)
    ...     return mean, mean * (1 - mean) / (nu.sum(axis=1) + 1)
    >>> grid = fit_categories(counts, questions)
    >>> round(metric_posterior(grid, counts, counts.sum(axis=1), questions, last).mu, 6)
    0.333333
    """

    def evaluate(rows: Ints) -> Credits:
        nu, trials, shape = _node_parameters(grid, rows)
        mean, variance = (part.reshape(shape) for part in moments(nu, trials))
        return Credits(mean, mean, variance)

    states = np.column_stack([counts, n])
    return posterior_moments(grid, states, questions, evaluate, population=population)


def draw_posterior(
    grid: Grid,
    counts: Ints,
    n: Ints,
    questions: Ints,
    draws: DrawsOf,
    *,
    population: bool = True,
) -> Posterior:
    """Posterior moments of the credit of a draw.

    Parameters
    ----------
    grid, counts, n, questions, population
        As in `metric_posterior`, with failure and success for categories.
    draws : callable
        The draws from questions with n trials.

    Returns
    -------
    Posterior
        As of `metric_posterior` with `credit_moments`; faster, as the states are on one ladder.

    Examples
    --------
    One success in one trial, as for `fit_binary`: the next one succeeds with chance 2/3.

    >>> from polars_scorio.maths.lattice import fit_binary
    >>> one = np.array([1])
    >>> group = fit_binary(one, one, one), np.array([[0, 1]]), one, one
    >>> round(draw_posterior(*group, lambda n: iter([(slice(None), np.ones(1))])).mu, 6)
    0.777778
    """
    failures, successes = grid.shape.T

    def evaluate(rows: Ints) -> Credits:
        mean, variance = _drawn_moments(successes, failures, rows[:, :2], [*draws(rows[:, -1])])
        return Credits(mean.T, mean.T, variance.T)

    states = np.column_stack([counts, n])
    return posterior_moments(grid, states, questions, evaluate, population=population)


def _drawn_moments(
    successes: Floats, failures: Floats, counts: Ints, sizes: list[tuple[slice | Mask, Floats]]
) -> tuple[Floats, Floats]:
    """Moments of draws of one size, or of several; 0 where nothing is drawn."""
    if len(sizes) == 1 and isinstance(sizes[0][0], slice):
        return credit_by_state(successes, failures, counts, sizes[0][1])
    mean, variance = np.zeros((2, len(counts), successes.size))
    for own, gains in sizes:
        mean[own], variance[own] = credit_by_state(successes, failures, counts[own], gains)
    return mean, variance


def metric_covariance(
    grid: Grid, counts: Ints, n: Ints, questions: Ints, moments: JointMoments
) -> JointCovariance:
    """Posterior covariance of two metrics, as the geometric blends need it.

    Parameters
    ----------
    grid, counts, n, questions
        As in `metric_posterior`.
    moments : callable
        ``moments(nu, n)``: means, variances and covariance of the two.

    Returns
    -------
    JointCovariance
        Of a metric with itself: the squared sigmas of `metric_posterior`.

    Examples
    --------
    Success and failure sum to one, so their covariance is the negative variance.

    >>> from polars_scorio.maths.lattice import fit_binary
    >>> n, c, questions = np.array([4, 4]), np.array([1, 3]), np.array([2, 1])
    >>> group = fit_binary(n, c, questions), np.column_stack([n - c, c]), n, questions
    >>> def success(nu, n):
    ...     mean = nu[:, 1] / nu.sum(axis=1)
    ...     return mean, mean * (1 - mean) / (nu.sum(axis=1) + 1)
    >>> def both(nu, n):
    ...     mean, variance = success(nu, n)
    ...     return Joint(mean, 1 - mean, variance, variance, -variance)
    >>> pair = metric_covariance(*group, both)
    >>> round(pair.benchmark / metric_posterior(*group, success).sigma ** 2, 6)
    -1.0
    """

    def evaluate(rows: Ints) -> Credits:
        nu, trials, shape = _node_parameters(grid, rows)
        joint = moments(nu, trials)
        return Credits(*(part.reshape(shape) for part in (joint.x, joint.y, joint.covariance)))

    return joint_covariance(grid, np.column_stack([counts, n]), questions, evaluate)


def weighted_posterior(grid: Grid, counts: Ints, questions: Ints, w: Floats) -> Posterior:
    """Posterior moments of the weighted average of the categories (`bayes`).

    Parameters
    ----------
    grid : Grid
        What `fit_categories` made of the same group, or `fit_binary` (categories 0 and 1).
    counts : ndarray of int, shape (S, K)
        Trials (prior trials included) in each category.
    questions : ndarray of int, shape (S,)
        How many questions share the state.
    w : ndarray of float, shape (K,)
        Weight of each category.

    Returns
    -------
    Posterior
        In closed form for each node; `between` in units of the squared spread of `w`. Weights 0
        and 1: the moments of pass_at_k, k = 1.

    Examples
    --------
    One question, one trial, one success, worth 10 or 20: ``10 + 10 (2/3 (1 + 1)/(1 + 2) + 1/3)``.

    >>> from polars_scorio.maths.lattice import fit_binary
    >>> one, counts = np.array([1]), np.array([[0, 1]])
    >>> grid = fit_binary(one, one, one)
    >>> round(weighted_posterior(grid, counts, one, np.array([10.0, 20.0])).mu, 5)
    17.77778

    """
    unit, low, scale = _to_unit(w)

    def evaluate(counts: Ints) -> Credits:
        mean, variance, size = trial_moments(grid, counts, unit)
        return Credits(mean, mean, variance / (size + 1))

    result = posterior_moments(grid, counts, questions, evaluate)
    return Posterior(
        low + scale * result.mu,
        scale * result.sigma,
        low + scale * result.population_mu,
        scale * result.population_sigma,
        result.between,
        low + scale * result.question_mu,
        scale * result.question_sigma,
    )


def trial_variance(grid: Grid, counts: Ints, w: Floats) -> Floats:
    """Expected variance of the weight of a trial, for a question in each state.

    Divided by n it is the squared error of the average weight of n trials: it calibrates `avg`,
    whose average is unbiased also where n depends on the difficulty.

    Parameters
    ----------
    grid : Grid
        Fitted to the same `counts`.
    counts : ndarray of int, shape (S, K)
        Trials of each state in each category, without prior trials.
    w : ndarray of float, shape (K,)
        Weight of each category.

    Returns
    -------
    ndarray of float, shape (S,)
        ``E[sum_j w_j**2 p_j - (sum_j w_j p_j)**2]``, in units of the squared spread of `w`.

    Examples
    --------
    Without trials, ``p ~ Beta(1/2, 1/2)`` or so: ``E[p (1 - p)] = 1/8`` for the arcsine law.

    >>> grid = Grid(np.array([[0.5, 0.5]]), np.array([0.5]), np.array([1.0]))
    >>> trial_variance(grid, np.array([[0, 0]]), np.array([0.0, 1.0]))
    array([0.125])
    """
    unit, _, _ = _to_unit(w)
    expected = np.empty(len(counts))
    for part in state_blocks(grid, counts):
        _, of_trial, size = trial_moments(grid, counts[part], unit)
        expected[part] = (grid.weight[:, None] * of_trial * (size / (size + 1))).sum(axis=0)
    return expected


def _to_unit(w: Floats) -> tuple[Floats, float, float]:
    """Weights moved to [0, 1], and what moves them back: squares then cannot overflow."""
    low = float(w.min())
    scale = float(w.max()) - low or 1.0
    return (w - low) / scale, low, scale


def trial_moments(grid: Grid, counts: Ints, w: Floats) -> tuple[Floats, Floats, Floats]:
    """Mean and variance of a further trial's weight, for each node and state.

    A mixture of the prior and the observed trials: sums of squares only, nothing cancels.

    Parameters
    ----------
    grid : Grid
        J nodes.
    counts : ndarray of int, shape (S, K)
        Trials of each state in each category.
    w : ndarray of float, shape (K,)
        Weight of each category.

    Returns
    -------
    mean, variance, size : ndarray of float, shape (J, S)
        `size` is that of the posterior, s + n.

    Examples
    --------
    One success in one trial, after the two that the prior stands for.

    >>> grid = Grid(np.array([[0.5, 0.5]]), np.array([1 / 3]), np.array([1.0]))
    >>> mean, variance, size = trial_moments(grid, np.array([[0, 1]]), np.array([0.0, 1.0]))
    >>> mean.round(6), variance.round(6), size.round(6)
    (array([[0.666667]]), array([[0.222222]]), array([[3.]]))
    """
    s, n = grid.concentration[:, None], counts.sum(axis=1)
    prior, prior_variance = (part[:, None] for part in _weighted_moments(grid.mean, w))
    observed, variance = _weighted_moments(counts / np.maximum(n, 1)[:, None], w)
    size = s + n
    f, g = s / size, n / size
    spread = f * prior_variance + g * variance + f * g * (prior - observed) ** 2
    return f * prior + g * observed, spread, size


def _weighted_moments(shares: Floats, w: Floats) -> tuple[Floats, Floats]:
    mean = (shares * w).sum(axis=1)
    return mean, (shares * (w - mean[:, None]) ** 2).sum(axis=1)


def _node_parameters(grid: Grid, rows: Ints) -> tuple[Floats, Ints, tuple[int, int]]:
    """Dirichlet parameters of all states under all nodes, the trials, and the shape of both."""
    nu = grid.shape[:, None, :] + rows[:, :-1]
    trials = np.tile(rows[:, -1], grid.weight.size)
    return nu.reshape(-1, nu.shape[-1]), trials, (grid.weight.size, len(rows))
