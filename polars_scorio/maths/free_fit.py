"""The free fit of all groups: stacked EM.

Expectation and maximisation needs thousands of steps to come close: after 2,000 of them 1,000
questions with 10 trials are .2 short of the largest log likelihood, and 100,000 with 16 trials 2.6.
Newton's method needs up to 29 steps (600 logs of 1 to 100,000 questions with up to 512 trials), and
a tenth of the time.

The smooth fit (`kernels.pooling`) knows one shape, a Beta population. This one knows none: weights
on a fixed set of success rates, by expectation and maximisation, with two questions' worth of the
smooth fit as a base.
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

_CLOSE = 1e-6  # to the largest log likelihood
_MOST_STEPS = 100
_LESS = 0.1  # of the slack of each rate than before
_INSIDE = 0.99  # part of the way to where a weight or a slack ends
_LEAST_SLACK = 0.01  # of the start


def likeliest_weights(likelihood: Floats, questions: Ints | Floats) -> Floats:
    """Weights of success rates that have the largest likelihood [1]_, [2]_.

    Parameters
    ----------
    likelihood, questions
        As in `FreeFit`.

    Returns
    -------
    ndarray of float, shape (I,)
        All are positive. Their log likelihood is the largest one, to 1e-6.

    References
    ----------
    .. [1] S. Boyd, L. Vandenberghe (2004), Convex Optimization, section 11.7: the primal-dual
       interior point method.
    .. [2] B. G. Lindsay (1983), Ann. Statist. 11, 86-94: the gradient function of a mixture limits
       the maximum.

    Examples
    --------
    Of four questions with two trials one has no success, two have one, and one has two.

    >>> rates, questions = np.linspace(0, 1, 5), np.array([1, 2, 1])
    >>> likelihood = np.stack([(1 - rates) ** 2, 2 * rates * (1 - rates), rates**2])
    >>> weights = likeliest_weights(likelihood, questions)
    >>> print(weights.round(2), (likelihood @ weights).round(2))
    [0. 0. 1. 0. 0.] [0.25 0.5  0.25]
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
    """The part of a step, at most all of it, after which all values are positive."""
    return min(1.0, _INSIDE / max(float((-step / values).max()), _INSIDE))


_FEWEST, _MOST = 121, 1001  # rates
_STEPS = 60
_STEPS_TO_BETTER = 20
_BASE = 2.0  # questions
_FLOOR = 1e-12  # of the base
_SHARED = 32  # likelihoods that groups with the same states share: 1 MB each at most


@dataclass(frozen=True, eq=False)  # no slots: what follows from it is kept
class FreeFit:
    """Weights of success rates after the counts of one group.

    Attributes
    ----------
    likelihood : ndarray of float, shape (S, I)
        Of each state under each rate; the best rate of a state has 1.
    log_scale : ndarray of float, shape (S,)
        What was taken from the log likelihoods for that.
    questions : ndarray of int, shape (S,)
        How many questions share the state.
    weight : ndarray of float, shape (I,)
        Weights of the rates; they sum to 1.
    """

    likelihood: Floats
    log_scale: Floats
    questions: Ints | Floats
    weight: Floats

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
    def better(self) -> Floats:
        """The weights a few steps from here to `best`."""
        return maximise_likelihood(self.likelihood, self.questions, self.weight, _STEPS_TO_BETTER)

    @cached_property
    def best(self) -> Floats:
        """The weights of the largest likelihood, without a base."""
        return likeliest_weights(self.likelihood, self.questions)

    @cached_property
    def log_likelihood(self) -> float:
        """Of all counts, without binomial coefficients."""
        return float(self.questions @ (np.log(self.likelihood @ self.weight) + self.log_scale))


def fit_free(grid: Grid, n: Ints, c: Ints, questions: Ints | Floats) -> FreeFit:
    """Fit weights of success rates [1]_.

    Parameters
    ----------
    grid : Grid
        The smooth fit of the same group.
    n, c : ndarray of int, shape (S,)
        Trials and successes of each state.
    questions : ndarray of int, shape (S,)
        How many questions share the state, at least 1.

    Returns
    -------
    FreeFit
        After 60 steps, on 121 rates up to 64 trials a question and on more beyond.

    References
    ----------
    .. [1] N. Laird (1978), J. Am. Stat. Assoc. 73, 805-811: the unrestricted maximum, which the
       base keeps from fitting noise.

    Examples
    --------
    Half of the questions always fail, half always succeed.

    >>> from polars_scorio.maths.lattice import fit_binary
    >>> counts = np.array([16, 16]), np.array([0, 16]), np.array([50, 50])
    >>> fit = fit_free(fit_binary(*counts), *counts)
    >>> p, _ = fit.rates
    >>> round(float(fit.weight[(p < 0.05) | (p > 0.95)].sum()), 1)
    1.0
    """
    return fit_free_groups([grid], [(n, c, questions)])[0]


def fit_free_groups(
    grids: Sequence[Grid], groups: Sequence[tuple[Ints, Ints, Ints | Floats]]
) -> list[FreeFit]:
    """Fit weights of success rates to some groups, each on its own, as `fit_free` does.

    Groups with as many states take their steps together. A group has the same fit to the last bit,
    whatever the others are.

    Parameters
    ----------
    grids : sequence of Grid
        The smooth fit of each group.
    groups : sequence of tuple
        `n`, `c` and `questions` of each group, as for `fit_free`.
    """
    starts = [_first_weights(grid, *group) for grid, group in zip(grids, groups, strict=True)]
    alike: dict[tuple[int, ...], list[int]] = {}
    for row, start in enumerate(starts):
        alike.setdefault(start.likelihood.shape, []).append(row)
    fits: dict[int, FreeFit] = {}
    for rows in alike.values():
        for some in batched_rows(rows):
            likelihood, questions, base = (
                np.stack([getattr(starts[row], name) for row in some])
                for name in ("likelihood", "questions", "weight")
            )
            weights = maximise_likelihood(likelihood, questions, base, _STEPS, _BASE * base)
            for row, weight in zip(some, weights, strict=True):
                fits[row] = replace(starts[row], weight=weight)
    return [fits[row] for row in range(len(starts))]


def _first_weights(grid: Grid, n: Ints, c: Ints, questions: Ints | Floats) -> FreeFit:
    """The fit before its first step: weights of the base."""
    size = min(max(_FEWEST, ceil(15 * np.sqrt(n.max())) + 1), _MOST)
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


_kept_likelihood = lru_cache(maxsize=_SHARED)(_scaled_likelihood)


def maximise_likelihood(
    likelihood: Floats,
    questions: Ints | Floats,
    weight: Floats,
    steps: int,
    base: Floats | float = 0.0,
) -> Floats:
    """Weights after some steps of expectation and maximisation.

    Parameters
    ----------
    likelihood, questions
        As in `FreeFit`, of one group, or of some with as many states: shape (G, S, I) and (G, S).
    weight : ndarray of float, shape (I,) or (G, I)
        Where to start.
    steps : int
        How many steps.
    base : ndarray of float, shape (I,) or (G, I), or 0
        Questions of known rates that join the others.

    Examples
    --------
    One question with one success: all weight moves to the rate 1.

    >>> maximise_likelihood(np.array([[0.0, 1.0]]), np.array([1]), np.array([0.5, 0.5]), 1)
    array([0., 1.])
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

    Examples
    --------
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
    """The Beta population in the middle of the grid, on the rates."""
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
    rows: Ints  # of the states among those of the group


def group_levels(n: Ints, c: Ints, questions: Ints | Floats) -> tuple[Level, ...]:
    """The levels of a group, by ascending n."""
    rows = [np.flatnonzero(n == size) for size in np.unique(n)]
    return tuple(Level(int(n[own[0]]), c[own], questions[own], own) for own in rows)


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """One group and its two fits.

    Attributes
    ----------
    grid : Grid
        The smooth fit: Beta populations.
    free : FreeFit
        The free fit: weights of success rates.
    n, c, questions : ndarray of int, shape (S,)
        Trials and successes of each state, and how many questions share it.
    levels : tuple of Level
        The same by ascending n.
    """

    grid: Grid
    free: FreeFit
    n: Ints
    c: Ints
    questions: Ints | Floats
    levels: tuple[Level, ...]

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
        """How much better the free fit explains the counts than any Beta population.

        Twice the difference of the log likelihoods; above 15 the questions are not one Beta
        population, and pooled metrics of several trials are unreliable.
        """
        return 2 * (self.free.log_likelihood - self.grid.highest)


@dataclass(frozen=True, eq=False)  # no slots: what follows from the weights is kept
class Calibrated:
    """Groups of questions with failure and success, each with its two fits.

    Attributes
    ----------
    states : States
        The questions, by the categories failure and success, without prior trials.
    groups : list of Group
        Each fitted on its own.
    weights : list of QuestionWeights
        Weights of the questions of each group in its mean.
    """

    states: States
    groups: list[Group]
    weights: list[QuestionWeights]

    @classmethod
    def fit(cls, states: States, strata: Strata[States] | None = None) -> Calibrated:
        """Fit every group of `states` (two categories: see `States.binary`).

        Parameters
        ----------
        states : States
            The questions.
        strata : Strata, optional
            Strata that weigh the same; default: all questions do. The fits do not depend on it.

        Examples
        --------
        >>> counts, one = np.array([[1, 3], [0, 4]]), np.array([1, 1])
        >>> fitted = Calibrated.fit(States.tally(counts, 0 * counts, 0 * one, one, 1))
        >>> fitted.groups[0].size
        2
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
        """Weighted means over the questions of each group, of some values of each state.

        From values of shape (C, S) to means of shape (C, G).
        """
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
