"""Weights of questions in a mean: all the same, or the same for each stratum."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from polars_scorio.kernels.array_types import Floats, Ints
from polars_scorio.kernels.clusters import GroupsT_co
from polars_scorio.kernels.distinct_rows import distinct_rows
from polars_scorio.kernels.question_groups import QuestionGroups
from polars_scorio.kernels.states import States

GroupsT = TypeVar("GroupsT", bound=QuestionGroups)


class QuestionWeights(NamedTuple):
    """Weights of the questions of a group in a mean, summed over the questions of each state.

    Attributes
    ----------
    first, second, fourth : ndarray of float, shape (S,)
        Sums of the weights, of their squares and of their fourth powers. The weights of all
        questions sum to 1.
    largest : float
        The largest weight of a question.
    """

    first: Floats
    second: Floats
    fourth: Floats
    largest: float

    @classmethod
    def equal(cls, questions: Ints | Floats) -> QuestionWeights:
        """The weights of a mean over all questions, by how many share each state.

        Examples
        --------
        >>> QuestionWeights.equal(np.array([3, 1])).second
        array([0.1875, 0.0625])
        """
        one = 1 / float(questions.sum())
        first = np.asarray(questions * one, dtype=np.float64)
        return cls(first, first * one, first * one**3, one)

    @classmethod
    def of_strata(cls, states: Ints, questions: Ints, shares: Floats) -> QuestionWeights:
        """The weights of a mean over strata, each of which weighs the same.

        Parameters
        ----------
        states : ndarray of int, shape (P,)
            Place of a state of the group, for each state of each stratum.
        questions : ndarray of int, shape (P,)
            Questions of the stratum in this state.
        shares : ndarray of float, shape (P,)
            Weight of one question of the stratum.
        """
        first, second, fourth = (
            np.bincount(states, questions * shares**power).astype(np.float64) for power in (1, 2, 4)
        )
        return cls(first, second, fourth, float(shares.max()))

    @property
    def is_equal(self) -> bool:
        """Whether all questions weigh the same."""
        return bool((self.second == self.first * self.largest).all())


@dataclass(frozen=True, slots=True, eq=False)
class Strata(Generic[GroupsT_co]):
    """The questions of some groups, by strata that weigh the same in the mean of their group.

    Attributes
    ----------
    states : QuestionGroups
        The same questions and the same states, with a group for each stratum.
    owner : ndarray of int, shape (strata,)
        The group of each stratum, ascending.
    """

    states: GroupsT_co
    owner: Ints

    @staticmethod
    def tally(counts: Ints, group: Ints, stratum: Ints, questions: Ints) -> Strata[States]:
        """Collect questions in strata.

        Parameters
        ----------
        counts : ndarray of int, shape (R, K)
            Trials by category; rows may repeat.
        group, stratum : ndarray of int, shape (R,)
            Group of each row, and its stratum; strata of different groups are different.
        questions : ndarray of int, shape (R,)
            For how many questions a row stands.
        """
        first, row = distinct_rows([group, stratum])
        return Strata(States.tally(counts, 0 * counts, row, questions, first.size), group[first])

    def binary(self: Strata[States], success: list[int]) -> Strata[States]:
        """The strata of the same questions by failure and success; see `States.binary`."""
        return Strata(self.states.binary(success), self.owner)

    @staticmethod
    def of_whole_groups(states: GroupsT) -> Strata[GroupsT]:
        """Groups whose questions all weigh the same: each has one stratum."""
        return Strata(states, np.arange(states.groups))

    @property
    def shares(self) -> Floats:
        """Weight of one question of each stratum, shape (strata,)."""
        return np.asarray(1 / (np.bincount(self.owner)[self.owner] * self.states.size))

    def weighted_sums(self, values: Floats, power: int = 1) -> Floats:
        """Sums over the questions of each group, shape (G,), by a power of their weights.

        `values` has a value for each kind of question, shape (S,).

        Examples
        --------
        A group of two strata: one question that fails, and two of which one fails.

        >>> counts, stratum = np.array([[1, 0], [1, 0], [0, 1]]), np.array([0, 1, 1])
        >>> every = np.ones(3, dtype=int)
        >>> strata = Strata.tally(counts, 0 * every, stratum, every)
        >>> strata.weighted_sums(strata.states.counts[:, 0] / 1)  # 1/2 and 1/4
        array([0.75])
        """
        # Divided last, so that means of ones are exactly 1.
        of_stratum = self.states.sum_questions(values) / self.states.size.astype(float) ** power
        strata = np.bincount(self.owner)
        return np.asarray(np.bincount(self.owner, of_stratum) / strata**power, dtype=np.float64)

    def weights(self, pooled: QuestionGroups) -> list[QuestionWeights]:
        """The weights of the questions of each group, by the states of that group.

        Parameters
        ----------
        pooled : QuestionGroups
            The questions in their groups.

        Examples
        --------
        A group of two strata: one question that fails, and two of which one fails.

        >>> counts, stratum = np.array([[1, 0], [1, 0], [0, 1]]), np.array([0, 1, 1])
        >>> one, every = np.ones(3, dtype=int), np.zeros(3, dtype=int)
        >>> states = States.tally(counts, 0 * counts, stratum, one, 2)
        >>> strata = Strata(states, np.array([0, 0]))
        >>> (weights,) = strata.weights(States.tally(counts, 0 * counts, every, one, 1))
        >>> weights.first  # of the success, and of both failures
        array([0.25, 0.75])
        """
        parts, shares = self.states, self.shares[self.states.group]
        size = pooled.kind_count
        # Both are ascending by group and state.
        group = self.owner[parts.group]
        place = np.searchsorted(pooled.group * size + pooled.state, group * size + parts.state)
        first = np.searchsorted(pooled.group, np.arange(pooled.groups))
        ends = np.searchsorted(group, np.arange(pooled.groups + 1)).tolist()
        return [
            QuestionWeights.of_strata(place[a:b] - start, parts.questions[a:b], shares[a:b])
            for start, (a, b) in zip(first.tolist(), pairwise(ends), strict=True)
        ]
