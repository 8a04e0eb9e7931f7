"""The free fit of each group: nonparametric maximum likelihood (NPMLE) of the success rates.

The smooth fit of `lattice` knows one shape, a Beta population. The free fit has weights on a fixed
set of success rates, by expectation and maximisation (EM), with two questions' worth of the smooth
fit as a base. The plain maximum uses Newton's method: after 2,000 steps EM is still .2 short of the
largest log likelihood for 1,000 questions with 10 trials; Newton needs up to 29 steps and a tenth
of the time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import pairwise
from math import ceil

import numpy as np
import scipy

from polars_scorio.maths.array_rows import CELLS, Floats, Ints
from polars_scorio.maths.lattice import Grid, batched_rows, fit_binary_groups
from polars_scorio.maths.questions import QuestionWeights, States, Strata

_CLOSE = 1e-6  # largest gap to the maximum log likelihood
_MOST_STEPS = 100
_LESS = 0.1  # target of the slack of each rate, over its present value
_INSIDE = 0.99  # part of the way to where a weight or a slack ends
_LEAST_SLACK = 0.01  # added to each slack at the start


def likeliest_weights(likelihood: Floats, questions: Ints | Floats) -> Floats:
    """Weights (I,) of success rates with the largest likelihood, to 1e-6; all positive.

    The primal-dual interior point method: S. Boyd, L. Vandenberghe (2004), Convex Optimization,
    section 11.7. The gradient function bounds the maximum: B. G. Lindsay (1983), Ann. Statist. 11,
    86-94.
    """
    share, total = questions / questions.sum(), float(questions.sum())
    weight = np.full(likelihood.shape[1], 1 / likelihood.shape[1])
    chance = likelihood @ weight
    slope = (share / chance) @ likelihood
    slack = np.maximum(1 - slope, 0) + _LEAST_SLACK
    for _ in range(_MOST_STEPS):
        if (slope.max() - 1) * total <= _CLOSE:
            break
        target = _LESS * (weight @ slack) / weight.size / weight
        flat = weight / slack
        step = _newton_step(likelihood, chance**2 / share, flat, slope - 1 + target)
        slack_step = target - slack - step / flat
        slack += _inside_part(slack, slack_step) * slack_step
        weight = weight + _inside_part(weight, step) * step
        weight /= weight.sum()
        chance = likelihood @ weight
        slope = (share / chance) @ likelihood
    return weight


def _newton_step(likelihood: Floats, noise: Floats, flat: Floats, right: Floats) -> Floats:
    """Solution x of ``(L' diag(1 / noise) L + diag(1 / flat)) x = right``.

    By as many equations as there are states or rates, whichever are fewer.
    """
    states, size = likelihood.shape
    # By LAPACK itself: the checks of SciPy's functions take longer than these small systems.
    if states > size:
        core = (likelihood.T / noise) @ likelihood
        core[np.diag_indices(size)] += 1 / flat
        return np.asarray(scipy.linalg.lapack.dposv(core, right)[1])
    pull = likelihood * flat
    core = pull @ likelihood.T
    core[np.diag_indices(states)] += noise
    return np.asarray(flat * right - scipy.linalg.lapack.dposv(core, pull @ right)[1] @ pull)


def _inside_part(values: Floats, step: Floats) -> float:
    """Largest part of a step, at most 1, after which all values are positive."""
    return min(1.0, _INSIDE / max(float((-step / values).max()), _INSIDE))


_MIN_RATES, _MAX_RATES = 121, 1001
_STEPS = 60
_REFINING_STEPS = 20
_BASE = 2.0  # questions
_FLOOR = 1e-12  # least share of the base
_LIKELIHOOD_CACHE = 32  # likelihoods that groups with the same states share: 1 MB each at most


@dataclass(frozen=True, eq=False)  # no slots: cached_property needs __dict__
class FreeFit:
    """Weights of success rates after the counts of one group."""

    likelihood: Floats  # of each state under each rate, (S, I); 1 at its best rate
    log_scale: Floats  # log of the factor that scales each row of `likelihood`
    questions: Ints | Floats  # how many share the state, (S,)
    weight: Floats  # of each rate, (I,); they sum to 1

    @property
    def rates(self) -> tuple[Floats, Floats]:
        """The success rates and their complements, each shape (I,)."""
        return rate_nodes(self.weight.size)

    @cached_property
    def posterior(self) -> Floats:
        """Weights of the rates for a question in each state, shape (S, I)."""
        joint = self.likelihood * self.weight
        posterior: Floats = joint / joint.sum(axis=1, keepdims=True)
        return posterior

    @cached_property
    def refined_weights(self) -> Floats:
        """Weights after 20 more EM steps."""
        return maximise_likelihood(self.likelihood, self.questions, self.weight, _REFINING_STEPS)

    @cached_property
    def likeliest_weights(self) -> Floats:
        """Weights with the largest likelihood, without a base."""
        return likeliest_weights(self.likelihood, self.questions)

    @cached_property
    def log_likelihood(self) -> float:
        """Log likelihood of all counts, without binomial coefficients."""
        return float(self.questions @ (np.log(self.likelihood @ self.weight) + self.log_scale))


def fit_free_groups(
    grids: Sequence[Grid], groups: Sequence[tuple[Ints, Ints, Ints | Floats]]
) -> list[FreeFit]:
    """Fit weights of success rates to each group (n, c, questions), given its smooth fit.

    60 EM steps, on 121 rates up to 64 trials a question and on more beyond. The base keeps the
    unrestricted maximum (N. Laird 1978, J. Am. Stat. Assoc. 73, 805-811) from fitting noise. Groups
    of as many states are stacked; a group has the same fit to the last bit, whatever others are.
    """
    starts = [_first_weights(grid, *group) for grid, group in zip(grids, groups, strict=True)]
    rows_by_shape: dict[tuple[int, ...], list[int]] = {}
    for row, start in enumerate(starts):
        rows_by_shape.setdefault(start.likelihood.shape, []).append(row)
    fits: dict[int, FreeFit] = {}
    for rows in rows_by_shape.values():
        for batch in batched_rows(rows):
            likelihood, questions, base = (
                np.stack([getattr(starts[row], name) for row in batch])
                for name in ("likelihood", "questions", "weight")
            )
            weights = maximise_likelihood(likelihood, questions, base, _STEPS, _BASE * base)
            for row, weight in zip(batch, weights, strict=True):
                fits[row] = replace(starts[row], weight=weight)
    return [fits[row] for row in range(len(starts))]


def _first_weights(grid: Grid, n: Ints, c: Ints, questions: Ints | Floats) -> FreeFit:
    """Starting point of EM: the discretised Beta fit."""
    size = min(max(_MIN_RATES, ceil(15 * np.sqrt(n.max())) + 1), _MAX_RATES)
    counts = (np.asarray(each, dtype=np.int64).tobytes() for each in (n, c))
    likelihood_of = _kept_likelihood if n.size * size <= CELLS else _scaled_likelihood
    likelihood, scale = likelihood_of(size, *counts)
    return FreeFit(likelihood, scale, questions, _base_weight(grid, size))


def _scaled_likelihood(size: int, n: bytes, c: bytes) -> tuple[Floats, Floats]:
    """Likelihood of each state under each rate, and the log of its scale; groups share both."""
    trials, successes = (np.frombuffer(each, dtype=np.int64)[:, None] for each in (n, c))
    p, q = rate_nodes(size)
    with np.errstate(divide="ignore"):
        logs = scipy.special.xlogy(successes, p) + scipy.special.xlogy(trials - successes, q)
    scale = logs.max(axis=1)
    return np.exp(logs - scale[:, None]), scale


_kept_likelihood = lru_cache(maxsize=_LIKELIHOOD_CACHE)(_scaled_likelihood)


def maximise_likelihood(
    likelihood: Floats,
    questions: Ints | Floats,
    weight: Floats,
    steps: int,
    base: Floats | float = 0.0,
) -> Floats:
    """Weights after some EM steps from `weight`; `base` adds pseudo-questions at each rate.

    Of one group, or stacked: likelihood (G, S, I), questions (G, S), weight and base (G, I).
    """
    if likelihood.ndim == 2 and isinstance(base, float):  # one group
        share = questions / (questions.sum() + base)
        weight, chance, gain = weight.copy(), np.empty(len(likelihood)), np.empty_like(weight)
        for _ in range(steps):  # two fifths of the time of the general step
            np.dot(likelihood, weight, out=chance)
            np.dot(np.divide(share, chance, out=chance), likelihood, out=gain)
            weight *= gain
        return weight
    total = (questions.sum(axis=-1) + np.atleast_1d(base).sum(axis=-1))[..., None]
    for _ in range(steps):
        expected = questions / (likelihood @ weight[..., None])[..., 0]
        weight = (weight * (expected[..., None, :] @ likelihood)[..., 0, :] + base) / total
    return weight


@lru_cache(maxsize=16)
def rate_nodes(size: int) -> tuple[Floats, Floats]:
    """Success rates ``sin^2`` of equal steps of the angle, and their complements.

    >>> p, q = rate_nodes(3)
    >>> p.round(9), q.round(9)
    (array([0. , 0.5, 1. ]), array([1. , 0.5, 0. ]))
    """
    p = np.sin(np.arange(size) * (np.pi / (2 * (size - 1)))) ** 2
    # The complement from the other end: 1 - p would lose the digits of a small rest.
    q = p[::-1].copy()
    q[0] = p[-1] = 1.0
    return p, q


def _base_weight(grid: Grid, size: int) -> Floats:
    """Weights of the rates under the Beta population in the middle of the grid."""
    mean, rho = grid.weight @ grid.mean, float(grid.weight @ grid.rho)
    failures, successes = (1 - rho) / rho * mean
    ends = np.sin((np.arange(size - 1) + 0.5) * (np.pi / (2 * (size - 1)))) ** 2
    below = np.concatenate(([0.0], scipy.special.betainc(successes, failures, ends), [1.0]))
    mass = np.maximum(np.diff(below), _FLOOR)
    base: Floats = mass / mass.sum()
    return base


@dataclass(frozen=True, slots=True, eq=False)
class Level:
    """The states of a group that have the same number of trials."""

    n: int
    c: Ints
    questions: Ints | Floats
    rows: Ints  # indices of the states among those of the group


def group_levels(n: Ints, c: Ints, questions: Ints | Floats) -> tuple[Level, ...]:
    """The levels of a group, by ascending n."""
    rows = [np.flatnonzero(n == size) for size in np.unique(n)]
    return tuple(Level(int(n[own[0]]), c[own], questions[own], own) for own in rows)


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """One group and its two fits: `grid` of Beta populations, and free weights of success rates."""

    grid: Grid
    free: FreeFit
    n: Ints
    c: Ints
    questions: Ints | Floats  # how many share each state, (S,)
    levels: tuple[Level, ...]  # the states by ascending n

    @classmethod
    def fit(cls, n: Ints, c: Ints, questions: Ints | Floats) -> Group:
        """Fit both to the states of one group."""
        return cls.fit_each([(n, c, questions)])[0]

    @classmethod
    def fit_each(cls, groups: Sequence[tuple[Ints, Ints, Ints | Floats]]) -> list[Group]:
        """Fit both to the states of each group: trials, successes and questions."""
        grids = fit_binary_groups(groups)
        fits = zip(grids, fit_free_groups(grids, groups), groups, strict=True)
        return [cls(grid, free, *group, group_levels(*group)) for grid, free, group in fits]

    @property
    def size(self) -> int:
        """Number of questions, M."""
        return int(self.questions.sum())

    @property
    def misfit(self) -> float:
        """Twice the gain in log likelihood of the free fit over any Beta population.

        Above 15 the questions are not one Beta population, and pooled metrics of several trials are
        unreliable.
        """
        return 2 * (self.free.log_likelihood - self.grid.highest)


@dataclass(frozen=True, eq=False)  # no slots: cached_property needs __dict__
class Calibrated:
    """Groups of questions with failure and success, each with its two fits."""

    states: States  # the questions, without prior trials
    groups: list[Group]
    weights: list[QuestionWeights]  # of the questions of each group in its mean

    @classmethod
    def fit(cls, states: States, strata: Strata[States] | None = None) -> Calibrated:
        """Fit every group of `states` (two categories: see `States.binary`).

        The fits do not depend on `strata`, which weigh the same; without them all questions do.
        """
        n, c = states.counts.sum(axis=1), states.counts[:, 1]
        ends = np.searchsorted(states.group, np.arange(states.groups + 1))
        parts = [slice(start, end) for start, end in pairwise(ends.tolist())]
        rows = [(states.state[part], states.questions[part]) for part in parts]
        groups = Group.fit_each([(n[own], c[own], often) for own, often in rows])
        if strata is None:
            return cls(states, groups, [QuestionWeights.equal(own.questions) for own in groups])
        return cls(states, groups, strata.weights(states))

    def of_groups(self, groups: Ints) -> Calibrated:
        """Some groups with their fits, given in ascending order."""
        places = groups.tolist()
        fits, weights = (
            [every[place] for place in places] for every in (self.groups, self.weights)
        )
        return Calibrated(self.states.of_groups(groups), fits, weights)

    def mean(self, values: Floats) -> Floats:
        """Weighted means (C, G) over the questions of a group, of values (C, S) by state."""
        states = self.states
        if self._weighs_equally:
            return states.mean(values)
        weight = np.concatenate([weights.first for weights in self.weights])
        weighted = weight * values[:, states.state]
        return np.stack([np.bincount(states.group, row, states.groups) for row in weighted])

    @cached_property
    def _weighs_equally(self) -> bool:
        """Whether all questions of a group weigh the same, in each group."""
        return all(weights.is_equal for weights in self.weights)

    @property
    def size(self) -> Ints:
        """Questions of each group, M, shape (G,)."""
        return self.states.size

    @property
    def misfit(self) -> Floats:
        """`Group.misfit` of each, shape (G,)."""
        return np.array([group.misfit for group in self.groups])
