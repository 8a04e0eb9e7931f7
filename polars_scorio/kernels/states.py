"""Distinct states, and sums over the questions that share them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from polars_scorio.kernels.array_types import Floats, Ints, Mask
from polars_scorio.kernels.distinct_rows import distinct_rows
from polars_scorio.kernels.question_groups import QuestionGroups, question_pairs


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
