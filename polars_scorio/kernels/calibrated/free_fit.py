"""Any distribution of success rates, fitted to the counts of one group.

The smooth fit (`kernels.pooling`) knows one shape, a Beta population. This one knows none: weights
on a fixed set of success rates, by expectation and maximisation, with two questions' worth of the
smooth fit as a base.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from math import ceil

import numpy as np
import scipy

from polars_scorio.kernels.array_types import Floats, Ints
from polars_scorio.kernels.batches import CELLS
from polars_scorio.kernels.calibrated.likeliest_weights import likeliest_weights
from polars_scorio.kernels.pooling.population_fit import Grid, batched_rows

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

    >>> from polars_scorio.kernels.pooling.population_fit import fit_binary
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
