"""The states that groups of questions pass through as their trials come in."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from polars_scorio.kernels.arrays import Ints
from polars_scorio.kernels.states import States


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


def prefixes(outcomes: Outcomes) -> tuple[States, Ints, Ints]:
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
    >>> states, group, n = prefixes(log)
    >>> states.counts.tolist(), group.tolist(), n.tolist()
    ([[0, 1], [1, 1]], [0, 0], [1, 2])
    >>> states.group.tolist(), states.state.tolist(), states.questions.tolist()
    ([0, 1, 1], [0, 0, 1], [2, 1, 1])
    """
    trials = outcomes.trials
    longest = np.zeros(outcomes.groups, dtype=np.int64)
    np.maximum.at(longest, outcomes.group, trials)
    steps = longest[outcomes.group]
    question, n = np.repeat(np.arange(steps.size), steps), _ranges(steps)
    counts = _cumulative(outcomes, question, n)
    # The groups of `states` before those of g, and then n - 1.
    cell = (np.cumsum(longest) - longest)[outcomes.group][question] + n
    every = np.ones(cell.size, dtype=np.int64)
    total = int(longest.sum())
    states = States.tally(counts, outcomes.prior[question], cell, every, total)
    return states, np.repeat(np.arange(outcomes.groups), longest), _ranges(longest) + 1


def _cumulative(outcomes: Outcomes, question: Ints, n: Ints) -> Ints:
    """Counts of each question after its trial number n, counted from zero, shape (rows, K)."""
    exists = n < outcomes.trials[question]
    seen = np.zeros((n.size, outcomes.prior.shape[1]), dtype=np.int64)
    # The trials stand question after question, as the rows that have one do.
    seen[np.flatnonzero(exists), outcomes.classes] = 1
    total = np.cumsum(seen, axis=0)
    before = total - seen
    counts: Ints = total - before[np.arange(n.size) - n]
    return counts


def _ranges(sizes: Ints) -> Ints:
    """0, 1, ..., size - 1 for each of the sizes."""
    return np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
