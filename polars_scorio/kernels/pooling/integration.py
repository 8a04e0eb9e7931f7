"""Integration over the fitted prior: from credits per node to the moments of a metric.

Each node of the grid is a prior for the questions, so the credit of each state has a posterior
mean and variance per node; how these differ between the nodes is the uncertainty about the prior.
Two targets: the mean over these M questions, and the mean over the population they are sampled
from, for which two pseudo-questions drawn from the prior join them: a Dirichlet process centred
on the fitted population (T. S. Ferguson (1973), Annals of Statistics 1, 209-230).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from polars_scorio.kernels.array_types import Floats, Ints
from polars_scorio.kernels.batches import row_batches
from polars_scorio.kernels.pooling.population_fit import Grid

_PSEUDO_QUESTIONS = 2


@dataclass(frozen=True)
class Posterior:
    """Moments of one metric in one group.

    Attributes
    ----------
    mu, sigma : float
        Of the mean over these questions; NaN without questions.
    population_mu, population_sigma : float
        Of the mean over the population; NaN without questions.
    between : float
        The part of ``population_sigma**2`` that more trials would not take away: the questions are
        a sample.
    question_mu, question_sigma : ndarray of float, shape (S,)
        Of a single question in each state. Questions share the prior, so the squares of their
        sigmas do not add up to ``M^2 sigma^2``.

    """

    mu: float
    sigma: float
    population_mu: float
    population_sigma: float
    between: float
    question_mu: Floats
    question_sigma: Floats


@dataclass(frozen=True)
class JointCovariance:
    """Covariances of two metrics in one group, for the targets of `Posterior`.

    Attributes
    ----------
    benchmark, population : float
        Of the means over these questions, over the population.
    question : ndarray of float, shape (S,)
        Of the two metrics of a single question in each state.

    """

    benchmark: float
    population: float
    question: Floats


@dataclass(frozen=True)
class Credits:
    """Two metrics (or one, twice) of questions in each state under each node.

    Attributes
    ----------
    x, y, covariance : ndarray of float, shape (J, S)
        Posterior means and posterior covariance of the two credits.

    """

    x: Floats
    y: Floats
    covariance: Floats


@dataclass(frozen=True)
class _Sums:
    """Averages over questions for each node, shape (J,)."""

    questions: float
    x: Floats
    y: Floats
    between: Floats  # product of the deviations of x and y from their averages
    within: Floats  # covariance


Evaluate = Callable[[Ints], Credits]


def posterior_moments(
    grid: Grid,
    states: Ints,
    questions: Ints,
    evaluate: Evaluate,
    *,
    population: bool = True,
) -> Posterior:
    """Posterior moments of any metric; the other functions are cases of it.

    Parameters
    ----------
    grid : Grid
        The fitted prior, J nodes.
    states : ndarray of int, shape (S, L)
        What `evaluate` needs of each state, commonly the counts. A row of zeros must stand for a
        question without trials.
    questions : ndarray of int, shape (S,)
        How many questions share the state, at least 1.
    evaluate : callable
        ``evaluate(states[part])``: credits of some of the states under all nodes, shape (J, B).
    population : bool
        Whether that target is asked for; else its numbers are NaN.

    Returns
    -------
    Posterior
        The same bits whatever the order of the states.

    Examples
    --------
    A metric that looks at the prior only: its mean success rate.

    >>> from polars_scorio.kernels.pooling.population_fit import fit_binary
    >>> one = np.array([1])
    >>> grid = fit_binary(one, one, one)
    >>> def prior_mean(states):
    ...     q = np.repeat(grid.mean[:, 1:], len(states), axis=1)
    ...     return Credits(q, q, 0 * q)
    >>> round(posterior_moments(grid, np.array([[0, 1]]), one, prior_mean).mu, 6)
    0.666667

    """
    sums, question = _integrated_sums(grid, states, questions, evaluate)
    mu, variance = _benchmark_moments(grid.weight, sums)
    star, known, between = np.nan, np.nan, np.nan
    if population:
        star, known, between = _population_moments(
            grid.weight, sums, _pseudo_questions(evaluate, states)
        )
    sigma, star_sigma = float(np.sqrt(variance)), float(np.sqrt(known + between))
    return Posterior(mu, sigma, star, star_sigma, between, question[0], np.sqrt(question[1]))


def joint_covariance(
    grid: Grid, states: Ints, questions: Ints, evaluate: Evaluate
) -> JointCovariance:
    """Posterior covariance of the two metrics x and y that `evaluate` gives.

    Parameters
    ----------
    grid, states, questions, evaluate
        As in `posterior_moments`.

    Returns
    -------
    JointCovariance
        Where y is x: the squared sigmas of `posterior_moments`.

    Examples
    --------
    Two metrics that look at the prior only: chance of success and of failure. One success in one
    trial makes the mean Beta(2, 1), whose variance is 1/18.

    >>> from polars_scorio.kernels.pooling.population_fit import fit_binary
    >>> one = np.array([1])
    >>> grid = fit_binary(one, one, one)
    >>> def prior_means(states):
    ...     return Credits(grid.mean[:, 1:], grid.mean[:, :1], 0 * grid.mean[:, :1])
    >>> round(joint_covariance(grid, np.array([[0, 1]]), one, prior_means).benchmark * 18, 6)
    -1.0

    """
    sums, question = _integrated_sums(grid, states, questions, evaluate)
    _, benchmark = _benchmark_moments(grid.weight, sums)
    _, known, between = _population_moments(grid.weight, sums, _pseudo_questions(evaluate, states))
    return JointCovariance(benchmark, known + between, question[1])


def state_blocks(grid: Grid, states: Ints) -> list[Ints]:
    """Places of the states, sorted, in blocks that with all nodes fit the memory.

    Parameters
    ----------
    grid : Grid
        J nodes, K categories.
    states : ndarray of int, shape (S, L)
        The states.

    Returns
    -------
    list of ndarray of int
        Each of at most ``131072 / (J K)`` places (at least 1). Sorting makes sums over the states
        independent of their order.

    Examples
    --------
    >>> grid = Grid(np.array([[0.5, 0.5]]), np.array([0.5]), np.array([1.0]))
    >>> state_blocks(grid, np.array([[1, 3], [4, 0], [1, 2]]))
    [array([1, 2, 0])]

    """
    order = np.lexsort(states.T)
    return row_batches(order, grid.mean.size)


def _integrated_sums(
    grid: Grid, states: Ints, questions: Ints, evaluate: Evaluate
) -> tuple[_Sums, Floats]:
    """Averages per node, and for each state the mean of x and the covariance, shape (2, S)."""
    question = np.empty((2, questions.size))
    sums = _Sums(0.0, *np.full((4, grid.weight.size), np.nan))
    for part in state_blocks(grid, states):
        block = evaluate(states[part])
        share = _block_sums(block, questions[part])
        sums = _merged_sums(sums, share) if sums.questions else share
        weight = grid.weight[:, None]
        question[:, part] = _mixture_moments(weight, block.x, block.y, block.covariance)
    return sums, question


def _pseudo_questions(evaluate: Evaluate, states: Ints) -> _Sums:
    """Questions without trials: what the prior alone says."""
    nothing = np.zeros((1, states.shape[1]), dtype=states.dtype)
    return _block_sums(evaluate(nothing), np.array([_PSEUDO_QUESTIONS]))


def _block_sums(block: Credits, questions: Ints) -> _Sums:
    total = float(questions.sum())
    share = questions / total
    x, y = (share * block.x).sum(axis=1), (share * block.y).sum(axis=1)
    deviations = (block.x - x[:, None]) * (block.y - y[:, None])
    between = (share * deviations).sum(axis=1)
    return _Sums(total, x, y, between, (share * block.covariance).sum(axis=1))


def _merged_sums(first: _Sums, second: _Sums) -> _Sums:
    total = first.questions + second.questions
    f, g = first.questions / total, second.questions / total
    apart = f * g * (second.x - first.x) * (second.y - first.y)
    return _Sums(
        total,
        f * first.x + g * second.x,
        f * first.y + g * second.y,
        f * first.between + g * second.between + apart,
        f * first.within + g * second.within,
    )


def _benchmark_moments(weight: Floats, sums: _Sums) -> tuple[float, float]:
    mu, covariance = _mixture_moments(weight, sums.x, sums.y, sums.within / sums.questions)
    return float(mu), float(covariance)


def _population_moments(weight: Floats, sums: _Sums, pseudo: _Sums) -> tuple[float, float, float]:
    both = _merged_sums(sums, pseudo)
    own = sums.within * sums.questions / both.questions**2
    mu, known = _mixture_moments(weight, both.x, both.y, own)
    # The spread of the questions without what is known to be error: nothing large cancels.
    spread = (weight * (both.between + both.within - own)).sum()
    return float(mu), float(known), float(spread / (both.questions + 1))


def _mixture_moments(
    weight: Floats, x: Floats, y: Floats, covariance: Floats
) -> tuple[Floats, Floats]:
    """Mean of x and covariance of x and y, over the nodes in the first axis."""
    mean_x, mean_y = (weight * x).sum(axis=0), (weight * y).sum(axis=0)
    return mean_x, (weight * (covariance + (x - mean_x) * (y - mean_y))).sum(axis=0)
