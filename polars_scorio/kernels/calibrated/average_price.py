"""The average weight of categories: its noise under a smooth fit, or by the trials alone."""

from __future__ import annotations

import numpy as np

from polars_scorio.kernels.array_types import Floats, Ints
from polars_scorio.kernels.calibrated.question_weights import QuestionWeights, Strata
from polars_scorio.kernels.calibrated.variance_price import Price
from polars_scorio.kernels.dirichlet import weighted_average
from polars_scorio.kernels.pooling.integration import state_blocks
from polars_scorio.kernels.pooling.pooled_moments import trial_moments
from polars_scorio.kernels.pooling.population_fit import Grid, fit_categories
from polars_scorio.kernels.states import States


def average_price(states: States, w: Floats, strata: Strata[States] | None = None) -> Price:
    """The price of the average weight of three or more categories.

    Two categories are a credit: `credit_prices` with the gain 1, by both fits.

    Parameters
    ----------
    states : States
        The questions by category, without prior trials.
    w : ndarray of float, shape (K,)
        Weight of each category.
    strata : Strata, optional
        Strata of the questions that weigh the same; default: all questions do.

    Returns
    -------
    Price

    Examples
    --------
    >>> counts, questions = np.array([[4, 0, 0], [3, 1, 0], [0, 2, 2], [0, 0, 4]]), [6, 2, 1, 3]
    >>> group = np.zeros(4, dtype=int)
    >>> states = States.tally(counts, 0 * counts, group, np.array(questions), 1)
    >>> price = average_price(states, np.array([0, 0.5, 1]))
    >>> print(price.mu.round(6), price.sigma.round(2))
    [0.333333] [0.03]
    """
    low, width = float(w.min()), float(w.max() - w.min())
    unit, rest = (w - low) / (width or 1.0), (w.max() - w) / (width or 1.0)
    mean, mean_rest, variance, factor = np.empty((4, states.groups))
    strata = strata or Strata.of_whole_groups(states)
    ends = np.searchsorted(states.group, np.arange(states.groups + 1)).tolist()
    for group, weights in enumerate(strata.weights(states)):
        part = slice(ends[group], ends[group + 1])
        counts, questions = states.counts[states.state[part]], states.questions[part]
        grid = fit_categories(counts, questions)
        (up, noise), (down, _) = (_node_sums(grid, counts, weights, v) for v in (unit, rest))
        smooth = float(grid.weight @ noise)
        seen_noise, seen_spread = _trial_noise(counts, weights, unit, smooth)
        total = max(smooth, seen_noise)
        mean[group], mean_rest[group] = grid.weight @ up, grid.weight @ down
        variance[group] = total
        spread = np.hypot(np.sqrt(grid.weight @ (noise - smooth) ** 2), seen_spread)
        factor[group] = 1 + (spread / total if total > 0 else 0.0)
    seen, left = (
        strata.weighted_sums(weighted_average(states.counts, each)) for each in (unit, rest)
    )
    return Price(seen, left, mean, mean_rest, variance, factor, low, width)


def _trial_noise(
    counts: Ints, weights: QuestionWeights, w: Floats, smooth: float
) -> tuple[float, float]:
    """Variance of the mean by the trials alone, and its largest standard deviation.

    Two trials of a question give its variance without any model: a Dirichlet population prices too
    low where some questions always end in the middle and others at either end. A single trial says
    nothing: it has the mean of the variance under the `smooth` fit.
    """
    n = counts.sum(axis=1)
    mean = counts @ w / n
    square = (counts * (w - mean[:, None]) ** 2).sum(axis=1)
    squares = weights.second.sum()
    noise = np.where(n > 1, square / (np.maximum(n - 1, 1) * n), smooth / squares)
    total = weights.second @ noise
    spread = np.sqrt(weights.fourth @ (noise - total / squares) ** 2)
    return float(total), float(spread)


def _node_sums(
    grid: Grid, counts: Ints, weights: QuestionWeights, w: Floats
) -> tuple[Floats, Floats]:
    """The mean over the questions, and the variance of their averages' mean, at each node."""
    means, variances = np.zeros((2, grid.weight.size))
    for part in state_blocks(grid, counts):
        mean, of_trial, size = trial_moments(grid, counts[part], w)
        means += mean @ weights.first[part]
        n = counts[part].sum(axis=1)
        variances += (of_trial * (size / (size + 1))) @ (weights.second[part] / n)
    return means, variances
