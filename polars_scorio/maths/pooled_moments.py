"""Metrics under partial pooling: posterior moments of one group, given its fitted grid.

`counts` (S, K) are those of the fit, prior trials included; `n` (S,) is without prior trials;
`questions` says how many questions share each state.
"""

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
    grid: Grid, counts: Ints, n: Ints, questions: Ints, moments: Moments, *, population: bool = True
) -> Posterior:
    """Posterior moments of any metric of the category probabilities of a question."""
    # ``moments(nu, n)`` returns its mean and variance for category probabilities that are
    # Dirichlet(nu), rows times K at most 131,072. The same bits whatever the order of the states.

    def evaluate(rows: Ints) -> Credits:
        nu, trials, shape = _node_parameters(grid, rows)
        mean, variance = (part.reshape(shape) for part in moments(nu, trials))
        return Credits(mean, mean, variance)

    states = np.column_stack([counts, n])
    return posterior_moments(grid, states, questions, evaluate, population=population)


def draw_posterior(
    grid: Grid, counts: Ints, n: Ints, questions: Ints, draws: DrawsOf, *, population: bool = True
) -> Posterior:
    """Posterior moments of the credit of a draw: `metric_posterior`, faster on one ladder."""
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
    for w, gains in sizes:
        mean[w], variance[w] = credit_by_state(successes, failures, counts[w], gains)
    return mean, variance


def metric_covariance(
    grid: Grid, counts: Ints, n: Ints, questions: Ints, moments: JointMoments
) -> JointCovariance:
    """Posterior covariance of two metrics; ``moments(nu, n)`` returns their joint moments."""

    def evaluate(rows: Ints) -> Credits:
        nu, trials, shape = _node_parameters(grid, rows)
        joint = moments(nu, trials)
        return Credits(*(part.reshape(shape) for part in (joint.x, joint.y, joint.covariance)))

    return joint_covariance(grid, np.column_stack([counts, n]), questions, evaluate)


def weighted_posterior(grid: Grid, counts: Ints, questions: Ints, w: Floats) -> Posterior:
    """Posterior moments of the weighted average of the categories (`bayes`), in closed form."""
    # `between` is in units of the squared spread of `w`.
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
    """Expected variance of a trial's weight given the question, per state, without prior trials."""
    # ``E[sum_j w_j**2 p_j - (sum_j w_j p_j)**2]``, in squared spreads of `w`; over n it is the
    # squared error of the average weight, unbiased even if n depends on difficulty.
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
    """Mean and variance of a further trial's weight, and the posterior size s + n, (J, S) each."""
    # A mixture of the prior and the observed trials: sums of squares only, nothing cancels.
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
