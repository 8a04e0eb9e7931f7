"""The prior of partial pooling: one population of questions, fitted to the counts of one group.

A group is one model in one stratum. The fit has no random part: a small grid of populations, each
with its posterior weight, stands for the posterior of the population's mean and correlation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import scipy

from polars_scorio.kernels.array_types import Floats, Ints, Mask
from polars_scorio.kernels.pooling.few_nodes import gauss_rules, interpolation_matrix
from polars_scorio.kernels.pooling.likelihood import (
    Tally,
    log_dirichlet_at_mean,
    log_likelihood,
    tally_states,
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
_TOGETHER = 32  # groups that are fitted together: their arrays fit into a cache
_STACKED = ("levels", "sums")


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
    highest : float
        The largest log likelihood of 1,120 populations or more; NaN for more than two categories.

    """

    mean: Floats
    rho: Floats
    weight: Floats
    highest: float = np.nan

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
    return fit_binary_groups([(n, c, questions)], few=few)[0]


def fit_binary_groups(
    groups: Sequence[tuple[Ints, Ints, Ints | Floats]], *, few: bool = True
) -> list[Grid]:
    """Fit Beta populations to some groups, each on its own, as `fit_binary` does.

    Groups whose arrays have the same sizes are worked out together: for 400 groups of 250 questions
    with 16 trials this takes half the time of a loop. A group has the same grid to the last bit,
    whatever the others are.

    Parameters
    ----------
    groups : sequence of tuple
        `n`, `c` and `questions` of each group, as for `fit_binary`.
    few : bool
        As for `fit_binary`.

    Examples
    --------
    One trial that succeeds, and two of which one does.

    >>> one, two = np.array([1]), np.array([2])
    >>> for grid in fit_binary_groups([(one, one, one), (two, one, one)]):
    ...     print((grid.weight @ grid.mean).round(3))
    [0.333 0.667]
    [0.5 0.5]
    """
    counts = [GroupCounts.of(np.stack([n - c, c], axis=1), questions) for n, c, questions in groups]
    alike: dict[object, list[int]] = {}
    for row, each in enumerate(counts):
        alike.setdefault((each.levels.size, each.data.layout), []).append(row)
    grids: dict[int, Grid] = {}
    for rows in alike.values():
        for some in batched_rows(rows):
            stack = GroupCounts.stacked([counts[row] for row in some])
            grids.update(zip(some, _binary_grids(stack, few=few), strict=True))
    return [grids[row] for row in range(len(groups))]


def batched_rows(rows: list[int], most: int = _TOGETHER) -> list[list[int]]:
    """Cut rows into parts of as many groups as a processor's cache has room for, or `most`."""
    size = min(most, _TOGETHER)
    return [rows[start : start + size] for start in range(0, len(rows), size)]


def _binary_grids(counts: GroupCounts, *, few: bool) -> list[Grid]:
    """The grids of groups whose arrays have the same sizes."""
    rho, width = _correlation_nodes(counts)
    centre, scale = _mean_logit(counts.pooled(rho))
    # The rule converges like exp(-pi^2 / step of the logit): 1e-9 and better with either step.
    wide = scale.max(axis=(1, 2)) > _WIDE
    grids: dict[int, Grid] = {}
    for rows, size in ((np.flatnonzero(wide), 67), (np.flatnonzero(~wide), 35)):
        if rows.size:
            nodes = counts.at(rows), rho[rows], width[rows], centre[rows], scale[rows]
            grids.update(zip(rows.tolist(), _grids_on_steps(*nodes, size, few=few), strict=True))
    return [grids[row] for row in range(len(rho))]


def _grids_on_steps(
    counts: GroupCounts,
    rho: Floats,
    width: Floats,
    centre: Floats,
    scale: Floats,
    size: int,
    *,
    few: bool,
) -> list[Grid]:
    """Grids with `size` means for each correlation, or fewer if those do."""
    steps = np.linspace(-_REACH, _REACH, size)
    mean = _mean_shares(centre + steps * scale)
    likelihood = log_likelihood(counts.data, mean, rho[..., None])
    density = likelihood + np.log(mean).sum(axis=-1)
    weight = _relative_weight(density + np.log(scale * ((1 - rho) * width)[..., None]))
    marginal = weight.sum(axis=2)
    narrow = _is_narrow(rho, marginal, scale.max(axis=(1, 2))) & few
    rows = np.flatnonzero(narrow)
    parts = [*zip(mean, rho, weight, strict=True)]
    if rows.size:
        fewer = _few_nodes(counts.at(rows), rho[rows], density[rows], marginal[rows], steps)
        for row, part in zip(rows.tolist(), zip(*fewer, strict=True), strict=True):
            parts[row] = part
    highest = likelihood.max(axis=(1, 2)).tolist()
    return [_heavy_nodes(*part, high) for part, high in zip(parts, highest, strict=True)]


def _few_nodes(
    counts: GroupCounts, rho: Floats, density: Floats, marginal: Floats, steps: Floats
) -> tuple[Floats, Floats, Floats]:
    """Mean, correlation and weight of few nodes of some groups, with the moments of many."""
    place, share = gauss_rules(_legendre_rule()[0], marginal, _FEW_RHOS)
    # Whatever depends on rho alone is in `share`: what is left is small, and smooth in rho.
    away = density - density[:, :, [steps.size // 2]]
    given = _relative_weight(interpolation_matrix(place, _RHOS) @ away)
    given /= given.max(axis=2, keepdims=True)
    points, weight = gauss_rules(steps, given.reshape(-1, steps.size), _FEW_MEANS)
    shape = (*place.shape, _FEW_MEANS)
    rho = _stretched_correlations(place, rho)
    centre, scale = _mean_logit(counts.pooled(rho))
    mean = _mean_shares(centre + points.reshape(shape) * scale)
    return mean, rho, weight.reshape(shape) * share[..., None]


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
    group = GroupCounts.stacked([GroupCounts.of(counts, questions)])
    rho, width = _correlation_nodes(group)
    weight = _relative_weight(_log_marginal(group, rho)) * width
    if _is_narrow(rho, weight).all():
        place, weight = gauss_rules(_legendre_rule()[0], weight, _FEW_RHOS)
        rho = _stretched_correlations(place, rho)
    pooled = group.pooled(rho)[0]
    total = pooled.sum(axis=1, keepdims=True)
    centre = pooled / total
    shift = 1 / np.sqrt(total + 1)
    towards = np.eye(counts.shape[1]) * shift[:, :, None]
    mean = centre[:, None, :] * (1 - shift[:, :, None]) + towards
    return _heavy_nodes(mean, rho[0], weight[0][:, None] * centre)


def _heavy_nodes(mean: Floats, rho: Floats, weight: Floats, highest: float = np.nan) -> Grid:
    """The nodes that are worth their moments; some means for each correlation."""
    nodes, weight = np.repeat(rho, weight.shape[1]), weight.ravel() / weight.max()
    kept = weight > _NEGLIGIBLE
    categories = mean.shape[-1]
    own = weight[kept] / weight[kept].sum()
    return Grid(mean.reshape(-1, categories)[kept], nodes[kept], own, highest)


def _relative_weight(logs: Floats) -> Floats:
    """Weights of each group; its heaviest has 1."""
    axes = tuple(range(1, logs.ndim))
    return np.asarray(np.exp(logs - logs.max(axis=axes, keepdims=True)))


def _is_narrow(rho: Floats, weight: Floats, scale: Floats | float = 0.0) -> Mask:
    """Whether integrals over the posterior of a group are smooth on its scale, shape (G,).

    Moments are singular at ``rho = 0``, and change with the logit over about 1 / s, where k is
    large: both are measured by rho.
    """
    share = weight / weight.sum(axis=1, keepdims=True)
    mean = (share * rho).sum(axis=1)
    square = (share * (rho - mean[:, None]) ** 2).sum(axis=1)
    return np.asarray((square <= (_NARROW * mean) ** 2) & (scale <= _NARROW_MEAN * mean))


def _stretched_correlations(place: Floats, rho: Floats) -> Floats:
    """Correlations of each group at other places than those of the rule."""
    points, _ = _legendre_rule()
    slope = (rho[:, -1:] - rho[:, :1]) / (points[-1] - points[0])
    return np.asarray(rho[:, :1] + (place - points[0]) * slope)


def _mean_logit(pooled: Floats) -> tuple[Floats, Floats]:
    """Logit of the mean success rate and its approximate standard deviation, (G, J, 1) each."""
    centre = np.log(pooled[..., 1] / pooled[..., 0])
    return centre[..., None], np.sqrt((1 / pooled).sum(axis=-1))[..., None]


def _mean_shares(logit: Floats) -> Floats:
    return np.stack([scipy.special.expit(-logit), scipy.special.expit(logit)], axis=-1)


def _correlation_nodes(counts: GroupCounts) -> tuple[Floats, Floats]:
    """Nodes for rho where its marginal posterior lives, and their weights, shape (G, J) each."""
    groups = np.arange(len(counts.levels))
    low, high = np.zeros(groups.size), np.ones(groups.size)
    unsettled = low < high
    while unsettled.any():
        rho, _ = _legendre_nodes(low, high)
        marginal = _log_marginal(counts, rho)
        kept = marginal > marginal.max(axis=1, keepdims=True) - _DEPTH
        first, last = kept.argmax(axis=1), _RHOS - 1 - kept[:, ::-1].argmax(axis=1)
        ends = np.concatenate(
            [low[:, None], rho, high[:, None]], axis=1
        )  # node i is ends[:, i + 1]
        low = np.where(unsettled, ends[groups, first], low)
        high = np.where(unsettled, ends[groups, last + 2], high)
        # Beyond 1e14 trials rounding may scatter the kept nodes over the whole interval.
        unsettled &= (kept.sum(axis=1) < _ENOUGH) & (last - first < _RHOS - 1)
    return _legendre_nodes(low, high)


def _legendre_nodes(low: Floats, high: Floats) -> tuple[Floats, Floats]:
    points, weights = _legendre_rule()
    low, width = low[:, None], (high - low)[:, None]
    return low + width * (points + 1) / 2, width / 2 * weights


@cache
def _legendre_rule() -> tuple[Floats, Floats]:
    # When it is first asked for: NumPy's polynomials take time to import.
    points, weights = np.polynomial.legendre.leggauss(_RHOS)
    return points, weights


@dataclass(frozen=True, slots=True, eq=False)
class GroupCounts:
    """Counts that the fits need, of one group or of some groups with arrays of equal sizes.

    Attributes
    ----------
    data : Tally
        The counts for the likelihood.
    levels : ndarray of int, shape (L,) or (G, L)
        Each n that occurs.
    sums : ndarray of float, shape (L, K) or (G, L, K)
        How many trials of each category belong to it.
    """

    data: Tally
    levels: Ints
    sums: Floats

    @classmethod
    def of(cls, counts: Ints, questions: Ints | Floats) -> GroupCounts:
        """Count one group, from its states."""
        levels, index = np.unique(counts.sum(axis=1), return_inverse=True)
        columns = [np.bincount(index, questions * column, levels.size) for column in counts.T]
        return cls(tally_states(counts, questions), levels, np.stack(columns, axis=1))

    @classmethod
    def stacked(cls, groups: Sequence[GroupCounts]) -> GroupCounts:
        """Stack the counts of some groups."""
        levels, sums = (np.stack([getattr(each, name) for each in groups]) for name in _STACKED)
        return cls(Tally.stacked([each.data for each in groups]), levels, sums)

    def at(self, groups: Ints) -> GroupCounts:
        """Select some groups of a stack."""
        return GroupCounts(self.data.at(groups), self.levels[groups], self.sums[groups])

    def pooled(self, rho: Floats) -> Floats:
        """1/2 + the trials of each category, discounted for their correlation, shape (G, J, K)."""
        discount = 1 + (self.levels - 1)[:, None] * rho[..., None]
        columns = np.moveaxis(self.sums, -1, 0)[:, :, None]
        return 0.5 + np.stack([(column / discount).sum(axis=-1) for column in columns], axis=-1)


def _log_marginal(counts: GroupCounts, rho: Floats) -> Floats:
    """Log posterior density of rho, the mean integrated out by Laplace's method."""
    pooled = counts.pooled(rho)
    centre = pooled / pooled.sum(axis=-1, keepdims=True)
    return log_likelihood(counts.data, centre, rho) - log_dirichlet_at_mean(pooled) + np.log1p(-rho)
