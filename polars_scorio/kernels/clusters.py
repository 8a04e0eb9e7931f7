"""Questions that belong together: those of one cluster succeed and fail together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

import numpy as np

from polars_scorio.kernels.array_types import Floats, Ints
from polars_scorio.kernels.distinct_rows import distinct_rows
from polars_scorio.kernels.question_groups import QuestionGroups
from polars_scorio.kernels.states import States

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
