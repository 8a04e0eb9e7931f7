"""Posterior moments of metrics if the questions of a group share one of the fixed populations.

Each population has the weight that the counts of the group leave it. Of a population of questions
two more, drawn from the prior, join: a Dirichlet process (T. S. Ferguson 1973, Annals of Statistics
1, 209-230). `counts` (S, 2) are failures and successes, prior trials included; `n` (S,) is without
prior trials; `questions` says how many questions share each state.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from polars_scorio.maths.array_rows import Floats, Ints, Mask, row_batches
from polars_scorio.maths.draws import DrawsOf, credit_by_state
from polars_scorio.maths.populations import (
    SHARES,
    StateChances,
    fixed_populations,
    population_weights,
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

_PSEUDO_QUESTIONS = 2
_ALIVE = 8  # arrays of a number for each population and state in use at a time
_NEGLIGIBLE = 1e-13  # weight of a population, relative to the heaviest, not worth its moments


@dataclass(frozen=True, slots=True, eq=False)
class WeightedPopulations:
    """Populations, each a Beta mixed with the uniform distribution, with their weights."""

    weight: Floats  # (J,); sums to 1
    kind: Ints  # place of the Beta distribution of each among `shape`, (J,)
    share: Floats  # of the uniform distribution, which is the last of `shape`, (J,)
    shape: Floats  # Beta parameters of failure and success, (B, 2)
    correlation: Floats  # variance of its rates over that of a single trial, (J,)

    @classmethod
    def from_counts(cls, counts: Ints, questions: Ints) -> WeightedPopulations:
        """The populations that the counts of a group leave."""
        # In one order: sums then do not depend on that of the states.
        order = np.lexsort(counts.T)
        logs = questions[order] @ StateChances(counts[order].sum(axis=1), counts[order, 1]).logs
        (weight,) = population_weights(logs[None])
        live, fixed = np.flatnonzero(weight > _NEGLIGIBLE * weight.max()), fixed_populations()
        kept, kind = np.unique(live % fixed.kinds, return_inverse=True)
        shape = np.stack([fixed.b, fixed.a], axis=1)[np.append(kept, fixed.kinds)]
        share = np.array(SHARES)[live // fixed.kinds]
        return cls(weight[live] / weight[live].sum(), kind, share, shape, fixed.correlation[live])

    def mixed(self, counts: Ints, moments: Credits) -> Credits:
        """Moments by population (J, S), from those by distribution, (B, S)."""
        n, c = counts.sum(axis=1), counts[:, 1]
        chances = StateChances(n, c).components_of(self.shape)
        beta, uniform = (1 - self.share[:, None]) * chances.T[self.kind], chances.T[-1]
        total = beta + self.share[:, None] * uniform
        first = np.divide(beta, total, out=np.zeros_like(beta), where=total > 0)
        sides = (
            (first, [each[self.kind] for each in moments]),
            (1 - first, [each[-1:] for each in moments]),
        )
        x, y = (sum(part * of[row] for part, of in sides) for row in (0, 1))
        covariance = sum(part * (of[2] + (of[0] - x) * (of[1] - y)) for part, of in sides)
        return Credits(x, y, np.asarray(covariance))


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


class Credits(NamedTuple):
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
    among: WeightedPopulations,
    states: Ints,
    questions: Ints,
    evaluate: Evaluate,
    *,
    population: bool = True,
) -> Posterior:
    """Posterior moments of any metric; the other functions are cases of it."""
    # `evaluate` maps rows of `states` (S, L) to credits under all nodes, a row of zeros being a
    # question without trials. The same bits whatever the order of the states.
    sums, question = _integrated_sums(among, states, questions, evaluate)
    mu, variance = _benchmark_moments(among.weight, sums)
    star, known, between = np.nan, np.nan, np.nan
    if population:
        star, known, between = _population_moments(
            among.weight, sums, _pseudo_questions(evaluate, states)
        )
    sigma, star_sigma = float(np.sqrt(variance)), float(np.sqrt(known + between))
    return Posterior(mu, sigma, star, star_sigma, between, question[0], np.sqrt(question[1]))


def joint_covariance(
    among: WeightedPopulations, states: Ints, questions: Ints, evaluate: Evaluate
) -> JointCovariance:
    """Posterior covariance of the two metrics x and y that `evaluate` returns."""
    sums, question = _integrated_sums(among, states, questions, evaluate)
    _, benchmark = _benchmark_moments(among.weight, sums)
    _, known, between = _population_moments(among.weight, sums, _pseudo_questions(evaluate, states))
    return JointCovariance(benchmark, known + between, question[1])


def state_blocks(among: WeightedPopulations, states: Ints) -> list[Ints]:
    """Indices of sorted states, on which sums do not depend, in blocks of bounded memory."""
    order = np.lexsort(states.T)
    return row_batches(order, _ALIVE * among.weight.size)


def _integrated_sums(
    among: WeightedPopulations, states: Ints, questions: Ints, evaluate: Evaluate
) -> tuple[_NodeSums, Floats]:
    """Averages per node, and for each state the mean of x and the covariance, shape (2, S)."""
    question = np.empty((2, questions.size))
    sums = _NodeSums(0.0, *np.full((4, among.weight.size), np.nan))
    for part in state_blocks(among, states):
        block = evaluate(states[part])
        share = _block_sums(block, questions[part])
        sums = _merged_sums(sums, share) if sums.questions else share
        weight = among.weight[:, None]
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


def metric_posterior(
    among: WeightedPopulations,
    counts: Ints,
    n: Ints,
    questions: Ints,
    moments: Moments,
    *,
    population: bool = True,
) -> Posterior:
    """Posterior moments of any metric of the success rate of a question."""
    # ``moments(nu, n)`` returns its mean and variance for rates that are Dirichlet(nu).

    def evaluate(rows: Ints) -> Credits:
        mean, variance = moments(*_beta_parameters(among, rows))
        return _by_population(among, rows, mean, mean, variance)

    states = np.column_stack([counts, n])
    return posterior_moments(among, states, questions, evaluate, population=population)


def draw_posterior(
    among: WeightedPopulations,
    counts: Ints,
    n: Ints,
    questions: Ints,
    draws: DrawsOf,
    *,
    population: bool = True,
) -> Posterior:
    """Posterior moments of the credit of a draw: `metric_posterior`, faster on one ladder."""
    failures, successes = among.shape.T

    def evaluate(rows: Ints) -> Credits:
        mean, variance = _drawn_moments(successes, failures, rows[:, :2], [*draws(rows[:, -1])])
        return _by_population(among, rows, mean.T, mean.T, variance.T)

    states = np.column_stack([counts, n])
    return posterior_moments(among, states, questions, evaluate, population=population)


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
    among: WeightedPopulations, counts: Ints, n: Ints, questions: Ints, moments: JointMoments
) -> JointCovariance:
    """Posterior covariance of two metrics; ``moments(nu, n)`` returns their joint moments."""

    def evaluate(rows: Ints) -> Credits:
        joint = moments(*_beta_parameters(among, rows))
        return _by_population(among, rows, joint.x, joint.y, joint.covariance)

    return joint_covariance(among, np.column_stack([counts, n]), questions, evaluate)


def trial_variance(among: WeightedPopulations, counts: Ints) -> Floats:
    """Expected variance of a trial given the question, (S,), in squared ranges of the weights."""
    # Over n it is the squared error of the average, unbiased even if n depends on difficulty.
    expected = np.empty(len(counts))
    for part in state_blocks(among, counts):
        nu, _ = _beta_parameters(among, np.column_stack([counts[part], counts[part].sum(axis=1)]))
        size = nu.sum(axis=1)
        noise = nu.prod(axis=1) / (size * (size + 1))
        by_population = _by_population(among, counts[part], noise, noise, 0 * noise)
        expected[part] = among.weight @ by_population.x
    return expected


def _beta_parameters(among: WeightedPopulations, rows: Ints) -> tuple[Floats, Ints]:
    """Beta parameters of all states under all distributions, and the trials, distribution first."""
    nu = among.shape[:, None, :] + rows[:, :2]
    return nu.reshape(-1, 2), np.tile(rows[:, -1], len(among.shape))


def _by_population(
    among: WeightedPopulations, rows: Ints, x: Floats, y: Floats, covariance: Floats
) -> Credits:
    """Moments by population, from those by distribution and state."""
    shape = len(among.shape), len(rows)
    return among.mixed(rows[:, :2], Credits(*(each.reshape(shape) for each in (x, y, covariance))))
