"""The two fits of each group: what every metric and every k shares."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from polars_scorio.kernels.array_types import Floats, Ints
from polars_scorio.kernels.calibrated.free_fit import FreeFit, fit_free_groups
from polars_scorio.kernels.calibrated.question_weights import QuestionWeights, Strata
from polars_scorio.kernels.pooling.population_fit import Grid, fit_binary_groups
from polars_scorio.kernels.states import States


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
