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

from polars_scorio.maths.array_rows import Floats, Ints, row_batches
from polars_scorio.maths.populations import LivePopulations, StateChances, population_weights


class Joint(NamedTuple):
    """Means, variances and covariance of two metrics x and y; arrays of one shape."""

    x: Floats
    y: Floats
    var_x: Floats
    var_y: Floats
    covariance: Floats


class Credits(NamedTuple):
    """Means and covariance of two metrics, or of one twice; arrays of one shape."""

    x: Floats
    y: Floats
    covariance: Floats


# Of questions with the Dirichlet parameters nu, shape (R, K), and n trials each, shape (R,): the
# mean and the variance of a metric, or what `Joint` or `Credits` have of two; all of shape (R,).
Moments = Callable[[Floats, Ints], tuple[Floats, Floats]]
JointMoments = Callable[[Floats, Ints], Joint]
CreditMoments = Callable[[Floats, Ints], Credits]

_PSEUDO_QUESTIONS = 2
_ALIVE = 8  # arrays of a number for each population and state in use at a time
_NEGLIGIBLE = 1e-13  # weight of a population, relative to the heaviest, not worth its moments


@dataclass(frozen=True, slots=True, eq=False)
class WeightedPopulations:
    """Populations, each a Beta mixed with the uniform distribution, with their weights."""

    weight: Floats  # (J,); sums to 1
    live: LivePopulations

    @classmethod
    def from_counts(cls, counts: Ints, questions: Ints) -> WeightedPopulations:
        """The populations that the counts of a group leave."""
        # In one order: sums then do not depend on that of the states.
        order = np.lexsort(counts.T)
        logs = questions[order] @ StateChances(counts[order].sum(axis=1), counts[order, 1]).logs
        (weight,) = population_weights(logs[None])
        live = np.flatnonzero(weight > _NEGLIGIBLE * weight.max())
        return cls(weight[live] / weight[live].sum(), LivePopulations.from_places(live))

    def mixed(self, counts: Ints, moments: Credits) -> Credits:
        """Moments by population (J, S), from those by distribution, (B, S)."""
        kind, share = self.live.kind, self.live.share[:, None]
        chances = StateChances(counts.sum(axis=1), counts[:, 1]).components_of(self.live.shape)
        beta, uniform = (1 - share) * chances.T[kind], chances.T[-1]
        total = beta + share * uniform
        first = np.divide(beta, total, out=np.zeros_like(beta), where=total > 0)
        sides = (
            (first, [each[kind] for each in moments]),
            (1 - first, [each[-1:] for each in moments]),
        )
        x, y = (sum(part * of[row] for part, of in sides) for row in (0, 1))
        covariance = sum(part * (of[2] + (of[0] - x) * (of[1] - y)) for part, of in sides)
        return Credits(x, y, np.asarray(covariance))


@dataclass(frozen=True)
class Posterior:
    """Means of x, and its covariances with y, of two metrics of one group (or of one, twice)."""

    mu: float  # over these questions; NaN without questions
    covariance: float
    population_mu: float  # over the population
    population_covariance: float
    between: float  # part of it that more trials cannot remove
    question_mu: Floats  # single question of each state, (S,)
    question_covariance: Floats  # of which mu's is not the mean: questions are correlated


@dataclass(frozen=True)
class _NodeSums:
    """Averages over questions for each population, shape (J,)."""

    questions: float
    x: Floats
    y: Floats
    between: Floats  # product of the deviations of x and y from their averages
    within: Floats  # covariance


def posterior_moments(
    among: WeightedPopulations,
    counts: Ints,
    n: Ints,
    questions: Ints,
    moments: CreditMoments,
    *,
    population: bool = True,
) -> Posterior:
    """Posterior moments of two metrics of the success rate of a question, or of one, twice."""
    # ``moments(nu, n)`` is about rates that are Dirichlet(nu). The same bits whatever the order of
    # the states.

    def evaluate(rows: Ints) -> Credits:
        parameters = among.live.shape
        nu = (parameters[:, None, :] + rows[:, :2]).reshape(-1, 2)
        of_each = moments(nu, np.tile(rows[:, -1], len(parameters)))
        shape = len(parameters), len(rows)
        return among.mixed(rows[:, :2], Credits(*(each.reshape(shape) for each in of_each)))

    states = np.column_stack([counts, n])
    question = np.empty((2, questions.size))
    sums, weight = _NodeSums(0.0, *np.full((4, among.weight.size), np.nan)), among.weight
    for part in state_blocks(among, states):
        block = evaluate(states[part])
        share = _block_sums(block, questions[part])
        sums = _merged_sums(sums, share) if sums.questions else share
        question[:, part] = _mixture_moments(weight[:, None], *block)
    mu, covariance = _mixture_moments(weight, sums.x, sums.y, sums.within / sums.questions)
    star, known, between = np.nan, np.nan, np.nan
    if population:
        prior = evaluate(np.zeros((1, states.shape[1]), dtype=states.dtype))
        pseudo = _block_sums(prior, np.array([_PSEUDO_QUESTIONS]))
        star, known, between = _population_moments(weight, sums, pseudo)
    return Posterior(float(mu), float(covariance), star, known + between, between, *question)


def state_blocks(among: WeightedPopulations, states: Ints) -> list[Ints]:
    """Indices of sorted states, on which sums do not depend, in blocks of bounded memory."""
    order = np.lexsort(states.T)
    return row_batches(order, _ALIVE * among.weight.size)


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


def trial_variance(among: WeightedPopulations, counts: Ints) -> Floats:
    """Expected variance of a trial given the question, (S,), in squared ranges of the weights."""
    # Over n it is the squared error of the average, unbiased even if n depends on difficulty.

    def noise(nu: Floats, _: Ints) -> Credits:
        size = nu.sum(axis=1)
        of_trial = nu.prod(axis=1) / (size * (size + 1))
        return Credits(of_trial, of_trial, 0 * of_trial)

    n, one = counts.sum(axis=1), np.ones(len(counts), np.int64)
    return posterior_moments(among, counts, n, one, noise, population=False).question_mu
