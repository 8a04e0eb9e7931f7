"""The prior of partial pooling: one population of questions, fitted to the counts of one group.

A group is one model in one stratum. The fit has no random part: a small grid of populations, each
with its posterior weight, stands for the posterior of the population's mean and correlation.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import scipy

from polars_scorio.kernels.array_types import Floats, Ints
from polars_scorio.kernels.pooling.few_nodes import gauss_rules, interpolation
from polars_scorio.kernels.pooling.likelihood import (
    Tally,
    log_dirichlet_at_mean,
    log_likelihood,
    tally,
)

_RHOS = 32  # correlations, by a rule of Gauss and Legendre
_DEPTH = 18.0  # exp(-18) = 1.5e-8: correlations less likely than that, by the best, are cut off
_ENOUGH = 12  # nodes that must be left for the interval of correlations to fit
_REACH = 9.9  # half width of the grid of means, in approximate standard deviations
_WIDE = 0.6  # standard deviation of the logit from which on the steps must be halved
_NEGLIGIBLE = 1e-13  # weight of a node, relative to the heaviest, that is not worth its moments
_FEW_RHOS, _FEW_MEANS = 10, 8  # nodes that do where the posterior is narrow
_NARROW = 0.1  # that is: up to this standard deviation of rho, in units of rho,
_NARROW_MEAN = 0.6  # and this one of the logit of the mean, in the same


@dataclass(frozen=True)
class Grid:
    """Populations of questions and how plausible each is after the data of one group.

    Attributes
    ----------
    mean : ndarray of float, shape (J, K)
        Mean of each population: the chance of each category, in the order of the categories.
    rho : ndarray of float, shape (J,)
        Intra-class correlation: 0 means equal questions, 1 means that each repeats one category.
    weight : ndarray of float, shape (J,)
        Posterior weight; sums to 1.

    """

    mean: Floats
    rho: Floats
    weight: Floats

    @property
    def concentration(self) -> Floats:
        """``s = (1 - rho) / rho``: how many trials the population is worth, shape (J,)."""
        return (1 - self.rho) / self.rho

    @property
    def shape(self) -> Floats:
        """Dirichlet parameters of each population, ``s`` times the mean, shape (J, K)."""
        return self.concentration[:, None] * self.mean


def fit_binary(n: Ints, c: Ints, questions: Ints | Floats, *, few: bool = True) -> Grid:
    """Fit Beta populations [1]_: ``q ~ U(0, 1)``, ``rho ~ Beta(1, 2)``.

    Parameters
    ----------
    n, c : ndarray of int, shape (S,)
        Trials (prior trials included) and successes of each state, ``0 <= c <= n``.
    questions : ndarray of int, shape (S,)
        How many questions share the state, at least 1.
    few : bool
        Whether a few nodes may do where the posterior is narrow: for moments, not for its mode.

    Returns
    -------
    Grid
        ``mean[:, 1]`` is the mean success rate q. Up to 32 correlations (Gauss-Legendre) times 67
        means (equal steps in the logit); few: 10 times 8. Without trials: the prior itself.

    Notes
    -----
    The prior's mean correlation is 1/3, the one of the uniform prior Beta(1, 1). Where all n = 1,
    the data say nothing about rho.

    Few nodes are Gauss rules of the posterior on all nodes: of rho, and of the logit of q given
    rho, whose density is interpolated between the correlations. Moments of metrics differ by 1e-8
    of themselves at most, mostly by 1e-12; a sigma below 1e-13, which is nothing but the rounding
    of either, by more.

    References
    ----------
    .. [1] A. Gelman et al. (2013), Bayesian Data Analysis, 3rd ed., section 5.3: this model with
       another prior for its two parameters.

    Examples
    --------
    One trial, one success: q ~ Beta(2, 1), and rho stays at its prior mean.

    >>> grid = fit_binary(np.array([1]), np.array([1]), np.array([1]))
    >>> (grid.weight @ grid.mean).round(6), round(float(grid.weight @ grid.rho), 6)
    (array([0.333333, 0.666667]), 0.333333)

    """
    counts = np.stack([n - c, c], axis=1)
    data, levels = tally(counts, questions), _trials_by_level(counts, questions)
    rho, width = _correlation_nodes(data, *levels)
    centre, scale = _mean_logit(_pooled_counts(*levels, rho))
    # The rule converges like exp(-pi^2 / step of the logit): 1e-9 and better with either step.
    steps = np.linspace(-_REACH, _REACH, 67 if scale.max() > _WIDE else 35)
    mean = _mean_shares(centre + steps * scale)
    density = log_likelihood(data, mean, rho[:, None]) + np.log(mean).sum(axis=-1)
    weight = _relative_weight(density + np.log(scale * ((1 - rho) * width)[:, None]))
    marginal = weight.sum(axis=1)
    if few and _is_narrow(rho, marginal, float(scale.max())):
        place, share = gauss_rules(_legendre_rule()[0], marginal[None], _FEW_RHOS)
        # Whatever depends on rho alone is in `share`: what is left is small, and smooth in rho.
        away = density - density[:, [steps.size // 2]]
        given = _relative_weight(interpolation(place[0], _RHOS) @ away)
        steps, weight = gauss_rules(steps, given / given.max(axis=1, keepdims=True), _FEW_MEANS)
        weight, rho = weight * share.T, _stretched_correlations(place[0], rho)
        centre, scale = _mean_logit(_pooled_counts(*levels, rho))
        mean = _mean_shares(centre + steps * scale)
    return _heavy_nodes(mean, rho, weight)


def fit_categories(counts: Ints, questions: Ints | Floats) -> Grid:
    """Fit Dirichlet populations: ``rho ~ Beta(1, 2)``, the mean near the pooled outcome.

    Parameters
    ----------
    counts : ndarray of int, shape (S, K)
        Trials (prior trials included) of each state in each category, ``K >= 2``.
    questions : ndarray of int, shape (S,)
        How many questions share the state, at least 1.

    Returns
    -------
    Grid
        Up to 32 correlations, 10 where the posterior is narrow, each with K means.

    Notes
    -----
    For one correlation the mean is about Dirichlet(A), A = 1/2 + the trials of each category, where
    the n trials of a question count as ``n / (1 + (n - 1) rho)``. The K points
    ``pi + (e_j - pi) / sqrt(A. + 1)`` with the weights ``pi_j`` (pi = A / A., e_j = all in category
    j) have the mean and the covariance matrix of Dirichlet(A), so whatever is at most quadratic in
    the mean comes out as if integrated over it. For two categories use `fit_binary`.

    Examples
    --------
    Of three categories the last is never seen.

    >>> grid = fit_categories(np.array([[2, 2, 0], [3, 1, 0]]), np.array([5, 5]))
    >>> (grid.weight @ grid.mean).round(2)
    array([0.61, 0.37, 0.01])

    """
    data, levels = tally(counts, questions), _trials_by_level(counts, questions)
    rho, width = _correlation_nodes(data, *levels)
    weight = _relative_weight(_log_marginal(data, rho, _pooled_counts(*levels, rho))) * width
    if _is_narrow(rho, weight):
        place, share = gauss_rules(_legendre_rule()[0], weight[None], _FEW_RHOS)
        rho, weight = _stretched_correlations(place[0], rho), share[0]
    pooled = _pooled_counts(*levels, rho)
    total = pooled.sum(axis=1, keepdims=True)
    centre = pooled / total
    shift = 1 / np.sqrt(total + 1)
    towards = np.eye(counts.shape[1]) * shift[:, :, None]
    mean = centre[:, None, :] * (1 - shift[:, :, None]) + towards
    return _heavy_nodes(mean, rho, weight[:, None] * centre)


def _heavy_nodes(mean: Floats, rho: Floats, weight: Floats) -> Grid:
    """The nodes that are worth their moments; some means for each correlation."""
    nodes, weight = np.repeat(rho, weight.shape[1]), weight.ravel() / weight.max()
    kept = weight > _NEGLIGIBLE
    categories = mean.shape[-1]
    own = weight[kept] / weight[kept].sum()
    return Grid(mean.reshape(-1, categories)[kept], nodes[kept], own)


def _relative_weight(logs: Floats) -> Floats:
    return np.asarray(np.exp(logs - logs.max()))


def _is_narrow(rho: Floats, weight: Floats, scale: float = 0.0) -> bool:
    """Whether what is integrated over the posterior is smooth on its scale.

    Moments are singular at ``rho = 0``, and change with the logit over about 1 / s, where k is
    large: both are measured by rho.
    """
    mean = float(weight @ rho / weight.sum())
    square = float(weight @ (rho - mean) ** 2 / weight.sum())
    return square <= (_NARROW * mean) ** 2 and scale <= _NARROW_MEAN * mean


def _stretched_correlations(place: Floats, rho: Floats) -> Floats:
    """Correlations at other places than those of the rule."""
    points, _ = _legendre_rule()
    slope = (rho[-1] - rho[0]) / (points[-1] - points[0])
    return np.asarray(rho[0] + (place - points[0]) * slope)


def _mean_logit(pooled: Floats) -> tuple[Floats, Floats]:
    """Logit of the mean success rate and its approximate standard deviation, shape (J, 1) each."""
    centre = np.log(pooled[:, 1] / pooled[:, 0])
    return centre[:, None], np.sqrt((1 / pooled).sum(axis=1))[:, None]


def _mean_shares(logit: Floats) -> Floats:
    return np.stack([scipy.special.expit(-logit), scipy.special.expit(logit)], axis=-1)


def _correlation_nodes(data: Tally, levels: Ints, sums: Floats) -> tuple[Floats, Floats]:
    """Nodes for rho where its marginal posterior lives, and their weights."""
    low, high = 0.0, 1.0
    kept = np.arange(0)
    while kept.size < _ENOUGH:
        rho, _ = _legendre_nodes(low, high)
        marginal = _log_marginal(data, rho, _pooled_counts(levels, sums, rho))
        kept = np.flatnonzero(marginal > marginal.max() - _DEPTH)
        ends = np.concatenate([[low], rho, [high]])  # node i is ends[i + 1]
        low, high = float(ends[kept[0]]), float(ends[kept[-1] + 2])
    return _legendre_nodes(low, high)


def _legendre_nodes(low: float, high: float) -> tuple[Floats, Floats]:
    points, weights = _legendre_rule()
    return low + (high - low) * (points + 1) / 2, (high - low) / 2 * weights


@cache
def _legendre_rule() -> tuple[Floats, Floats]:
    # When it is first asked for: NumPy's polynomials take time to import.
    points, weights = np.polynomial.legendre.leggauss(_RHOS)
    return points, weights


def _trials_by_level(counts: Ints, questions: Ints | Floats) -> tuple[Ints, Floats]:
    """Each n that occurs, and how many trials of each category belong to it."""
    levels, index = np.unique(counts.sum(axis=1), return_inverse=True)
    columns = [np.bincount(index, questions * column, levels.size) for column in counts.T]
    return levels, np.stack(columns, axis=1)


def _pooled_counts(levels: Ints, sums: Floats, rho: Floats) -> Floats:
    """1/2 + the trials of each category, discounted for their correlation, shape (J, K)."""
    discount = 1 + (levels - 1) * rho[:, None]
    return 0.5 + np.stack([(column / discount).sum(axis=1) for column in sums.T], axis=1)


def _log_marginal(data: Tally, rho: Floats, pooled: Floats) -> Floats:
    """Log posterior density of rho, the mean integrated out by Laplace's method."""
    centre = pooled / pooled.sum(axis=1, keepdims=True)
    return log_likelihood(data, centre, rho) - log_dirichlet_at_mean(pooled) + np.log1p(-rho)
