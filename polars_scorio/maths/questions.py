"""Questions: the one carrier (group, name, times, weight, unit, sums)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Generic, NamedTuple, TypeVar

import numpy as np
import scipy

from polars_scorio.maths.array_rows import Floats, Ints, Mask, distinct_rows


@dataclass(frozen=True, eq=False)  # no slots: `size` is kept once it is known
class QuestionGroups(ABC):
    """Groups of questions, and how many questions of each kind they have.

    Attributes
    ----------
    group, state : ndarray of int, shape (P,)
        The pairs of a group and a kind of question that occur, by ascending group; those of
        `question_pairs` are each there once, and ascending.
    questions : ndarray of int, shape (P,)
        Questions of that group of that kind.
    groups : int
        Number of groups, G.
    """

    group: Ints
    state: Ints
    questions: Ints
    groups: int

    @property
    @abstractmethod
    def kind_count(self) -> int:
        """Number of kinds of questions, S."""

    @cached_property
    def size(self) -> Ints:
        """Questions of each group, shape (G,)."""
        return self.sum_questions(np.ones(self.kind_count)).astype(np.int64)

    def mean(self, values: Floats) -> Floats:
        """Mean over the questions of each group, of values of each state: (..., S) to (..., G)."""
        return self.sum_questions(values) / self.size

    def variance(self, variances: Floats) -> Floats:
        """Variance of that mean, for independent questions, shape (G,)."""
        return self.sum_questions(variances) / self.size**2

    def sigma(self, variances: Floats) -> Floats:
        """Standard deviation of that mean, shape (G,)."""
        return np.sqrt(self.variance(variances))

    def sum_questions(self, values: Floats | Ints) -> Floats:
        """Sum over the questions of each group, of a value for each kind, shape (G,)."""
        # Pair after pair, always in the same order, so that the last bit is the same too.
        sums: Floats = (self.members @ values.T).T
        return sums

    @cached_property
    def members(self) -> scipy.sparse.csr_array:
        """Questions of each group of each kind, shape (G, S)."""
        ends = np.searchsorted(self.group, np.arange(self.groups + 1))
        shape = self.groups, self.kind_count
        return scipy.sparse.csr_array(
            (self.questions.astype(np.float64), self.state, ends), shape=shape
        )


def question_pairs(group: Ints, state: Ints, questions: Ints) -> tuple[Ints, Ints, Ints]:
    """The pairs of a group and a kind, and the questions of each; the arguments have shape (R,).

    Examples
    --------
    >>> every = np.ones(3, dtype=np.int64)
    >>> pairs = question_pairs(0 * every, np.array([4, 2, 4]), every)
    >>> [column.tolist() for column in pairs]
    [[0, 0], [2, 4], [1, 2]]
    """
    pair, row = distinct_rows([group, state])
    shared = np.bincount(row, weights=questions, minlength=pair.size).astype(np.int64)
    return group[pair], state[pair], shared


@dataclass(frozen=True, eq=False)  # no slots: `size` is kept once it is known
class States(QuestionGroups):
    """The distinct states of some groups of questions, and who is in them.

    Kernels run once for each state, whatever the number of groups and questions that share it.

    Attributes
    ----------
    counts, prior : ndarray of int, shape (S, K)
        Trials, and prior trials, of each state by category.
    """

    counts: Ints
    prior: Ints

    def arrays(self) -> list[Ints]:
        """The arrays that say everything about these questions."""
        return [self.group, self.state, self.questions, self.counts, self.prior]

    @classmethod
    def tally(cls, counts: Ints, prior: Ints, group: Ints, questions: Ints, groups: int) -> States:
        """Collect rows of counts into states.

        Parameters
        ----------
        counts, prior : ndarray of int, shape (R, K)
            Trials and prior trials by category; rows may repeat.
        group, questions : ndarray of int, shape (R,)
            To which group a row belongs, and for how many of its questions it stands.
        groups : int
            Number of groups.

        Returns
        -------
        States

        Examples
        --------
        >>> counts = np.array([[2, 1], [0, 3], [2, 1]])
        >>> every = np.ones(3, dtype=np.int64)
        >>> states = States.tally(counts, 0 * counts, 0 * every, every, 1)
        >>> states.counts.tolist(), states.questions.tolist()
        ([[0, 3], [2, 1]], [1, 2])
        """
        first, state = distinct_rows([*counts.T, *prior.T])
        pairs = question_pairs(group, state, questions)
        return cls(*pairs, groups, counts[first], prior[first])

    def binary(self, success: list[int]) -> States:
        """States of the same questions by failure and success, the categories in `success`."""

        def halves(counts: Ints) -> Ints:
            c = counts[:, success].sum(axis=1)
            return np.column_stack([counts.sum(axis=1) - c, c])

        counts, prior = halves(self.counts), halves(self.prior)
        return self.tally(
            counts[self.state], prior[self.state], self.group, self.questions, self.groups
        )

    def of_groups(self, groups: Ints) -> States:
        """States of some groups, given in ascending order.

        Examples
        --------
        >>> counts, every = np.array([[2, 1], [0, 3]]), np.ones(2, dtype=np.int64)
        >>> states = States.tally(counts, 0 * counts, np.array([0, 1]), every, 2)
        >>> states.of_groups(np.array([1])).n.tolist()
        [3]
        """
        rows = np.isin(self.group, groups)
        group, state = np.searchsorted(groups, self.group[rows]), self.state[rows]
        first, state = np.unique(state, return_inverse=True)
        counts, prior = self.counts[first], self.prior[first]
        return States(group, state, self.questions[rows], groups.size, counts, prior)

    @property
    def alone(self) -> States:
        """Each state as a group of one question."""
        every = np.arange(len(self.counts))
        return States(every, every, np.ones_like(every), every.size, self.counts, self.prior)

    def observed(self) -> States:
        """States of the same questions without prior trials."""
        if not self.prior.any():
            return self
        counts = self.counts[self.state]
        return self.tally(counts, np.zeros_like(counts), self.group, self.questions, self.groups)

    def only(self, categories: list[int]) -> Mask:
        """Whether all trials of a group, prior ones too, are in these categories, shape (G,)."""
        inside: Mask = np.delete(self._seen, categories, axis=1).sum(axis=1) == 0
        return inside

    @property
    def kind_count(self) -> int:
        """Number of states, S."""
        return len(self.counts)

    @cached_property
    def n(self) -> Ints:
        """Trials of each state, prior ones not counted, shape (S,)."""
        return np.asarray(self.counts.sum(axis=1))

    @cached_property
    def mass(self) -> Floats:
        """Trials of each state by category, prior ones too, shape (S, K)."""
        # Column after column, as kernels read them.
        return np.asarray(self.prior + self.counts, dtype=np.float64, order="F")

    @cached_property
    def _seen(self) -> Mask:
        """Whether a group has trials of a category, prior ones too, shape (G, K)."""
        trials: Floats = self.members @ self.mass
        return trials > 0

    @property
    def trials(self) -> Ints:
        """Trials of each group, shape (G,)."""
        return self.sum_questions(self.n).astype(np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Outcomes:
    """The outcomes of some questions of some groups, in the order of their trials.

    Attributes
    ----------
    classes : ndarray of int, shape (R,)
        Class of each trial, 0..K-1, question after question.
    offsets : ndarray of int, shape (Q + 1,)
        Question ``i`` owns ``classes[offsets[i]:offsets[i + 1]]``.
    group : ndarray of int, shape (Q,)
        Group of each question, ascending.
    groups : int
        Number of groups, G.
    prior : ndarray of int, shape (Q, K)
        Prior trials of each question by class; zeros where there are none.
    """

    classes: Ints
    offsets: Ints
    group: Ints
    groups: int
    prior: Ints

    @property
    def trials(self) -> Ints:
        """Trials of each question, shape (Q,)."""
        return np.diff(self.offsets)


def prefix_states(outcomes: Outcomes) -> tuple[States, Ints, Ints]:
    """The states after the first n trials of each question, for every n of every group.

    Parameters
    ----------
    outcomes : Outcomes
        A question with fewer trials than others of its group stays at all of them.

    Returns
    -------
    states : States
        One group for each group g and n = 1..N_g, in this order; N_g is the largest number of
        trials of a question of g. Takes memory for each question and n.
    group, n : ndarray of int, shape (sum of N_g,)
        The g and n of each of these.

    Examples
    --------
    One group, questions with the trials 1, 0 and 1: after one trial two successes, then 1 of 2 and
    still 1 of 1.

    >>> zero = np.zeros((2, 2), dtype=np.int64)
    >>> log = Outcomes(np.array([1, 0, 1]), np.array([0, 2, 3]), zero[0], 1, zero)
    >>> states, group, n = prefix_states(log)
    >>> states.counts.tolist(), group.tolist(), n.tolist()
    ([[0, 1], [1, 1]], [0, 0], [1, 2])
    >>> states.group.tolist(), states.state.tolist(), states.questions.tolist()
    ([0, 1, 1], [0, 0, 1], [2, 1, 1])
    """
    trials = outcomes.trials
    longest = np.zeros(outcomes.groups, dtype=np.int64)
    np.maximum.at(longest, outcomes.group, trials)
    steps = longest[outcomes.group]
    question, n = np.repeat(np.arange(steps.size), steps), _ranges_of_sizes(steps)
    counts = _cumulative_counts(outcomes, question, n)
    # The groups of `states` before those of g, and then n - 1.
    cell = (np.cumsum(longest) - longest)[outcomes.group][question] + n
    every = np.ones(cell.size, dtype=np.int64)
    total = int(longest.sum())
    states = States.tally(counts, outcomes.prior[question], cell, every, total)
    return states, np.repeat(np.arange(outcomes.groups), longest), _ranges_of_sizes(longest) + 1


def _cumulative_counts(outcomes: Outcomes, question: Ints, n: Ints) -> Ints:
    """Counts of each question after its trial number n, counted from zero, shape (rows, K)."""
    exists = n < outcomes.trials[question]
    seen = np.zeros((n.size, outcomes.prior.shape[1]), dtype=np.int64)
    # The trials stand question after question, as the rows that have one do.
    seen[np.flatnonzero(exists), outcomes.classes] = 1
    total = np.cumsum(seen, axis=0)
    before = total - seen
    counts: Ints = total - before[np.arange(n.size) - n]
    return counts


def _ranges_of_sizes(sizes: Ints) -> Ints:
    """0, 1, ..., size - 1 for each of the sizes."""
    return np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)


GroupsT_co = TypeVar("GroupsT_co", bound=QuestionGroups, covariant=True)


@dataclass(frozen=True, slots=True, eq=False)
class Clustered(Generic[GroupsT_co]):
    """The clusters of some groups of questions.

    Attributes
    ----------
    states : QuestionGroups
        The questions; each of its groups is a cluster.
    owner : ndarray of int, shape (C,)
        The group of questions to which each cluster belongs, ascending.
    size : ndarray of int, shape (G,)
        Questions of each group.
    """

    states: GroupsT_co
    owner: Ints
    size: Ints

    @staticmethod
    def tally(
        counts: Ints, prior: Ints, group: Ints, cluster: Ints, questions: Ints, groups: int
    ) -> Clustered[States]:
        """Collect rows of counts into clusters.

        Parameters
        ----------
        counts, prior, group, questions, groups
            As for `States.tally`.
        cluster : ndarray of int, shape (R,)
            To which cluster the questions of a row belong; in two groups the same number means two
            clusters.

        Examples
        --------
        >>> counts, every = np.array([[2, 1], [0, 3], [2, 1]]), np.ones(3, dtype=np.int64)
        >>> cluster = np.array([4, 4, 2])
        >>> Clustered.tally(counts, 0 * counts, 0 * every, cluster, every, 1).number
        array([2])
        """

        def tally_states(own: Ints, clusters: int) -> States:
            return States.tally(counts, prior, own, questions, clusters)

        return clustered_groups(group, cluster, groups, tally_states)

    @property
    def number(self) -> Ints:
        """Clusters of each group, K, shape (G,)."""
        return np.bincount(self.owner, minlength=self.size.size)

    @property
    def effective(self) -> Floats:
        """How many equally large clusters they count as, shape (G,): see `effective_number`."""
        return effective_number(self.states.size, self.owner, self.size.size)

    def binary(self: Clustered[States], success: list[int]) -> Clustered[States]:
        """Clusters of the questions with two categories; see `States.binary`."""
        return replace(self, states=self.states.binary(success))

    def variance(self, groups: QuestionGroups, values: Floats) -> Floats:
        """Variance of the means over the questions of each group, as far as clusters tell.

        Parameters
        ----------
        groups : QuestionGroups
            The same questions by group.
        values : ndarray of float, shape (P,)
            What the questions are worth, for each of its pairs of a group and a state.

        Returns
        -------
        ndarray of float, shape (G,)
            As `clustered_variance`; 0 where every cluster has one question, and tells nothing.

        Examples
        --------
        Two clusters of two questions, in each of which both agree: as good as two questions.

        >>> counts, every = np.array([[1, 0], [0, 1]]), np.array([2, 2])
        >>> states = States.tally(counts, 0 * counts, np.zeros(2, dtype=int), every, 1)
        >>> clusters = Clustered.tally(
        ...     counts, 0 * counts, np.zeros(2, dtype=int), np.array([0, 1]), every, 1
        ... )
        >>> clusters.variance(states, states.state.astype(float))
        array([0.25])
        """
        own, rows = self.owner[self.states.group], self._member_values(groups, values)
        found, number = clustered_variance(
            rows, self.states.group, own, self.size.size, self.states.questions
        )
        return np.where(number < self.size, found, 0.0)

    def means(self, groups: QuestionGroups, values: Floats) -> Floats:
        """Mean over the questions of each cluster, shape (C,); parameters as for `variance`.

        Examples
        --------
        >>> counts, every = np.array([[1, 0], [0, 1], [0, 1]]), np.ones(3, dtype=np.int64)
        >>> states = States.tally(counts, 0 * counts, 0 * every, every, 1)
        >>> cluster = np.array([0, 0, 1])
        >>> clusters = Clustered.tally(counts, 0 * counts, 0 * every, cluster, every, 1)
        >>> clusters.means(states, states.counts[states.state, 1].astype(float))
        array([0.5, 1. ])
        """
        weighted = self.states.questions * self._member_values(groups, values)
        sums = np.bincount(self.states.group, weighted, self.owner.size)
        return np.asarray(sums / self.states.size)

    def _member_values(self, groups: QuestionGroups, values: Floats) -> Floats:
        """The value of each pair of a cluster and a state, from those of a group and a state."""
        own, states = self.owner[self.states.group], groups.kind_count
        pairs = groups.group * states + groups.state
        return values[np.searchsorted(pairs, own * states + self.states.state)]


def clustered_groups(
    group: Ints, cluster: Ints, groups: int, tally: Callable[[Ints, int], GroupsT_co]
) -> Clustered[GroupsT_co]:
    """The clusters of some rows of questions, which `tally` collects by cluster.

    Parameters
    ----------
    group, cluster : ndarray of int, shape (R,)
        Group and cluster of each row.
    groups : int
        Number of groups.
    tally : callable
        From the place of the cluster of each row, and the number of clusters, to the questions.
    """
    first, place = distinct_rows([group, cluster])
    questions, owner = tally(place, first.size), group[first]
    size = np.bincount(owner, questions.size, groups).astype(np.int64)
    return Clustered(questions, owner, size)


def clustered_variance(
    values: Floats, cluster: Ints, group: Ints, groups: int, questions: Ints | None = None
) -> tuple[Floats, Ints]:
    """Variance of a mean over questions that come in clusters [1]_, and the number of clusters.

    Parameters
    ----------
    values : ndarray of float, shape (Q,)
        The estimate, or the paired difference, of each question (row).
    cluster : ndarray of int, shape (Q,)
        Its cluster, from 0; no cluster belongs to two groups.
    group : ndarray of int, shape (Q,)
        Its group.
    groups : int
        Number of groups, G.
    questions : ndarray of int, shape (Q,), optional
        For how many questions of its cluster each row stands; default 1.

    Returns
    -------
    variance : ndarray of float, shape (G,)
        ``K / (K - 1) sum_c (sum_{q in c} (x_q - mean))^2 / M^2``; NaN for one cluster.
    clusters : ndarray of int, shape (G,)
        K.

    References
    ----------
    .. [1] E. Miller (2024), Adding error bars to evals, arXiv:2411.00640.

    Examples
    --------
    Two clusters of two questions, in each of which both agree: as good as two questions.

    >>> every = np.zeros(4, dtype=int)
    >>> clustered_variance(np.array([0.0, 0.0, 1.0, 1.0]), np.array([0, 0, 1, 1]), every, 1)
    (array([0.25]), array([2]))
    """
    each = np.ones(values.size) if questions is None else questions
    size = np.bincount(group, each, groups)
    mean = np.bincount(group, each * values, groups) / size
    found, first, index = np.unique(cluster, return_index=True, return_inverse=True)
    owner = group[first]
    sums = np.bincount(index, each * (values - mean[group]), found.size)
    clusters = np.bincount(owner, minlength=groups)
    total = np.bincount(owner, sums**2, groups) / size**2
    factor = np.where(clusters > 1, clusters / np.maximum(clusters - 1, 1), np.nan)
    return factor * total, clusters


def effective_number(size: Ints, group: Ints, groups: int) -> Floats:
    """How many equally large clusters the clusters of each group count as [1]_.

    Parameters
    ----------
    size : ndarray of int, shape (C,)
        Questions of each cluster.
    group : ndarray of int, shape (C,)
        Its group.
    groups : int
        Number of groups, G.

    Returns
    -------
    ndarray of float, shape (G,)
        ``M**2 / sum m**2``, m the questions of a cluster: K where all are equally large, less where
        some have more of the M questions. One less are the degrees of freedom: where one cluster
        has half of the questions, Student's t with K - 1 of them held .71 instead of .95.

    References
    ----------
    .. [1] L. Kish (1965), Survey Sampling, section 11.7.

    Examples
    --------
    >>> effective_number(np.array([5, 5, 9, 1]), np.array([0, 0, 1, 1]), 2).round(2)
    array([2.  , 1.22])
    """
    total = np.bincount(group, size, groups)
    return np.asarray(total**2 / np.bincount(group, size.astype(np.float64) ** 2, groups))


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
