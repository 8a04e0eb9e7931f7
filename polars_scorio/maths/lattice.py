"""The Beta population fitted to the success rates of a group, and integrals over it.

A small grid of populations with posterior weights stands for the posterior of mean and correlation.
Of a population of questions two more, drawn from the prior, join: a Dirichlet process (T. S.
Ferguson 1973, Annals of Statistics 1, 209-230).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import scipy

from polars_scorio.maths.array_rows import Floats, Ints, Mask, row_batches
from polars_scorio.maths.likelihood import (
    LikelihoodCounts,
    gauss_rules,
    interpolation_matrix,
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
_NARROW = 0.1  # narrow: up to this standard deviation of rho, in units of rho,
_NARROW_MEAN = 0.6  # and of the logit of the mean, in the same units
_TOGETHER = 32  # groups that are fitted together: their arrays fit into a cache
_STACKED = ("levels", "sums")


@dataclass(frozen=True)
class Grid:
    """J populations of questions and the posterior weight of each, from the data of one group."""

    mean: Floats  # chance of each category, (J, K)
    rho: Floats  # intra-class correlation, (J,): 0 equal questions, 1 each repeats one category
    weight: Floats  # posterior weight, (J,); sums to 1
    highest: float = np.nan  # largest log likelihood over the full grid; NaN for K > 2

    @property
    def concentration(self) -> Floats:
        """``s = (1 - rho) / rho``: how many trials the population is worth, shape (J,)."""
        return (1 - self.rho) / self.rho

    @property
    def shape(self) -> Floats:
        """Dirichlet parameters of each population, ``s`` times the mean, shape (J, K)."""
        return self.concentration[:, None] * self.mean


def fit_binary_groups(
    groups: Sequence[tuple[Ints, Ints, Ints | Floats]], *, few: bool = True
) -> list[Grid]:
    """Fit Beta populations: ``q ~ U(0, 1)``, ``rho ~ Beta(1, 2)``; ``mean[:, 1]`` is q."""
    # A. Gelman et al. (2013), Bayesian Data Analysis, section 5.3, with another prior, of mean 1/3
    # for rho. Groups are (n, c, questions), n with prior trials; those of equal sizes are fitted
    # together, on 32 x 67 nodes, or 10 x 8 if `few` and the posterior is narrow.
    counts = [
        GroupCounts.from_counts(np.stack([n - c, c], axis=1), questions)
        for n, c, questions in groups
    ]
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
    """Cut rows into parts of as many groups as fit into the processor's cache, or `most`."""
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
    """Grids with `size` means for each correlation, or fewer if those suffice."""
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
    """Mean, correlation and weight of a few nodes of some groups, with the moments of many."""
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
    """Fit Dirichlet populations: ``rho ~ Beta(1, 2)``, the mean near the pooled outcome."""
    # For one rho the mean is about Dirichlet(A), with discounted trials; K points have its mean and
    # covariance. `counts` (S, K) include prior trials. For two categories use `fit_binary_groups`.
    group = GroupCounts.stacked([GroupCounts.from_counts(counts, questions)])
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
    """Nodes with enough weight to matter; some means for each correlation."""
    nodes, weight = np.repeat(rho, weight.shape[1]), weight.ravel() / weight.max()
    kept = weight > _NEGLIGIBLE
    categories = mean.shape[-1]
    share = weight[kept] / weight[kept].sum()
    return Grid(mean.reshape(-1, categories)[kept], nodes[kept], share, highest)


def _relative_weight(logs: Floats) -> Floats:
    """Weights of each group; its heaviest has 1."""
    axes = tuple(range(1, logs.ndim))
    return np.asarray(np.exp(logs - logs.max(axis=axes, keepdims=True)))


def _is_narrow(rho: Floats, weight: Floats, scale: Floats | float = 0.0) -> Mask:
    """Whether integrals over the posterior of a group are smooth on its scale, shape (G,)."""
    # Moments are singular at ``rho = 0``, and for large k change over about 1 / s.
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
    """Nodes for rho where its marginal posterior has its mass, and their weights, (G, J) each."""
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
    """Counts that the fits need, of one group or of some groups with arrays of equal sizes."""

    data: LikelihoodCounts  # the counts for the likelihood
    levels: Ints  # each n that occurs, (L,) or (G, L)
    sums: Floats  # trials of each category with that n, (L, K) or (G, L, K)

    @classmethod
    def from_counts(cls, counts: Ints, questions: Ints | Floats) -> GroupCounts:
        """Count one group, from its states."""
        levels, index = np.unique(counts.sum(axis=1), return_inverse=True)
        columns = [np.bincount(index, questions * column, levels.size) for column in counts.T]
        return cls(tally_states(counts, questions), levels, np.stack(columns, axis=1))

    @classmethod
    def stacked(cls, groups: Sequence[GroupCounts]) -> GroupCounts:
        """Stack the counts of some groups."""
        levels, sums = (np.stack([getattr(each, name) for each in groups]) for name in _STACKED)
        return cls(LikelihoodCounts.stacked([each.data for each in groups]), levels, sums)

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


_PSEUDO_QUESTIONS = 2


@dataclass(frozen=True)
class Posterior:
    """Moments of one metric in one group; NaN without questions."""

    mu: float  # mean over these questions
    sigma: float
    population_mu: float  # mean over the population
    population_sigma: float
    between: float  # part of population_sigma**2 that more trials cannot remove
    question_mu: Floats  # single question of each state, (S,)
    question_sigma: Floats  # correlated: their squares do not add up to M^2 sigma^2


@dataclass(frozen=True)
class JointCovariance:
    """Covariances of two metrics in one group, for the targets of `Posterior`."""

    benchmark: float  # of the means over these questions
    population: float  # of the means over the population
    question: Floats  # for a single question of each state, (S,)


@dataclass(frozen=True)
class Credits:
    """Posterior means and covariance of two metrics (or one, twice) by node and state, (J, S)."""

    x: Floats
    y: Floats
    covariance: Floats


@dataclass(frozen=True)
class _NodeSums:
    """Averages over questions for each node, shape (J,)."""

    questions: float
    x: Floats
    y: Floats
    between: Floats  # product of the deviations of x and y from their averages
    within: Floats  # covariance


Evaluate = Callable[[Ints], Credits]


def posterior_moments(
    grid: Grid, states: Ints, questions: Ints, evaluate: Evaluate, *, population: bool = True
) -> Posterior:
    """Posterior moments of any metric; the other functions are cases of it."""
    # `evaluate` maps rows of `states` (S, L) to credits under all nodes, a row of zeros being a
    # question without trials. The same bits whatever the order of the states.
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
    """Posterior covariance of the two metrics x and y that `evaluate` returns."""
    sums, question = _integrated_sums(grid, states, questions, evaluate)
    _, benchmark = _benchmark_moments(grid.weight, sums)
    _, known, between = _population_moments(grid.weight, sums, _pseudo_questions(evaluate, states))
    return JointCovariance(benchmark, known + between, question[1])


def state_blocks(grid: Grid, states: Ints) -> list[Ints]:
    """Indices of sorted states, on which sums do not depend, in blocks of bounded memory."""
    order = np.lexsort(states.T)
    return row_batches(order, grid.mean.size)


def _integrated_sums(
    grid: Grid, states: Ints, questions: Ints, evaluate: Evaluate
) -> tuple[_NodeSums, Floats]:
    """Averages per node, and for each state the mean of x and the covariance, shape (2, S)."""
    question = np.empty((2, questions.size))
    sums = _NodeSums(0.0, *np.full((4, grid.weight.size), np.nan))
    for part in state_blocks(grid, states):
        block = evaluate(states[part])
        share = _block_sums(block, questions[part])
        sums = _merged_sums(sums, share) if sums.questions else share
        weight = grid.weight[:, None]
        question[:, part] = _mixture_moments(weight, block.x, block.y, block.covariance)
    return sums, question


def _pseudo_questions(evaluate: Evaluate, states: Ints) -> _NodeSums:
    """Questions without trials: moments of the prior."""
    untried = np.zeros((1, states.shape[1]), dtype=states.dtype)
    return _block_sums(evaluate(untried), np.array([_PSEUDO_QUESTIONS]))


def _block_sums(block: Credits, questions: Ints) -> _NodeSums:
    total = float(questions.sum())
    share = questions / total
    x, y = (share * block.x).sum(axis=1), (share * block.y).sum(axis=1)
    deviations = (block.x - x[:, None]) * (block.y - y[:, None])
    between = (share * deviations).sum(axis=1)
    return _NodeSums(total, x, y, between, (share * block.covariance).sum(axis=1))


def _merged_sums(first: _NodeSums, second: _NodeSums) -> _NodeSums:
    total = first.questions + second.questions
    f, g = first.questions / total, second.questions / total
    apart = f * g * (second.x - first.x) * (second.y - first.y)
    return _NodeSums(
        total,
        f * first.x + g * second.x,
        f * first.y + g * second.y,
        f * first.between + g * second.between + apart,
        f * first.within + g * second.within,
    )


def _benchmark_moments(weight: Floats, sums: _NodeSums) -> tuple[float, float]:
    mu, covariance = _mixture_moments(weight, sums.x, sums.y, sums.within / sums.questions)
    return float(mu), float(covariance)


def _population_moments(
    weight: Floats, sums: _NodeSums, pseudo: _NodeSums
) -> tuple[float, float, float]:
    both = _merged_sums(sums, pseudo)
    within = sums.within * sums.questions / both.questions**2
    mu, known = _mixture_moments(weight, both.x, both.y, within)
    # The spread of the questions without what is known to be error: nothing large cancels.
    spread = (weight * (both.between + both.within - within)).sum()
    return float(mu), float(known), float(spread / (both.questions + 1))


def _mixture_moments(
    weight: Floats, x: Floats, y: Floats, covariance: Floats
) -> tuple[Floats, Floats]:
    """Mean of x and covariance of x and y, over the nodes in the first axis."""
    mean_x, mean_y = (weight * x).sum(axis=0), (weight * y).sum(axis=0)
    return mean_x, (weight * (covariance + (x - mean_x) * (y - mean_y))).sum(axis=0)
