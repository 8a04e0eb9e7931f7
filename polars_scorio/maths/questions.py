"""Questions by state: groups, clusters, strata and weights of the questions of a log."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import Generic, TypeVar

import numpy as np

from polars_scorio.maths.array_rows import Floats, Ints, Mask, distinct_rows, known_ratio


@dataclass(frozen=True, eq=False)  # no slots: `size` is kept once it is known
class QuestionGroups(ABC):
    """Groups of questions: P pairs of a group and a kind of question, by ascending group."""

    group: Ints
    state: Ints  # the kind; unique and ascending within a group
    questions: Ints  # of that group and kind
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

    def weighted_sums(self, values: Floats, power: int = 1) -> Floats:
        """Sums (G,) over questions, by a power of their weights, of values of each kind (S,)."""
        return np.asarray(self.sum_questions(values) / self.size.astype(float) ** power)

    def variance(self, variances: Floats) -> Floats:
        """Variance of that mean, for independent questions, shape (G,)."""
        return self.sum_questions(variances) / self.size**2

    def sigma(self, variances: Floats) -> Floats:
        """Standard deviation of that mean, shape (G,)."""
        return np.sqrt(self.variance(variances))

    def sum_questions(self, values: Floats | Ints, weight: Floats | Ints | None = None) -> Floats:
        """Sum over the questions of each group, of a value for each kind, (..., S) to (..., G).

        Each pair has a `weight`, by default its number of questions.
        """
        # Pair after pair, always in the same order, so that the last bit is the same too.
        each = values[..., self.state] * (self.questions if weight is None else weight)
        rows = each.reshape(prod(values.shape[:-1]), self.state.size)
        sums = [np.bincount(self.group, row, self.groups) for row in rows]
        return np.asarray(sums, np.float64).reshape(*values.shape[:-1], self.groups)


def question_pairs(group: Ints, state: Ints, questions: Ints) -> tuple[Ints, Ints, Ints]:
    """Distinct pairs of a group and a kind, and the questions of each, from rows (R,)."""
    pair, row = distinct_rows([group, state])
    shared = np.bincount(row, weights=questions, minlength=pair.size).astype(np.int64)
    return group[pair], state[pair], shared


@dataclass(frozen=True, eq=False)  # no slots: `size` is kept once it is known
class States(QuestionGroups):
    """Distinct states of groups of questions; the maths runs once for each state."""

    counts: Ints  # trials by category, (S, K)
    prior: Ints  # prior trials by category, (S, K)

    @classmethod
    def tally(cls, counts: Ints, prior: Ints, group: Ints, questions: Ints, groups: int) -> States:
        """Collect rows of counts and prior trials (R, K), which may repeat, into states."""
        first, state = distinct_rows([*counts.T, *prior.T])
        pairs = question_pairs(group, state, questions)
        return cls(*pairs, groups, counts[first], prior[first])

    @classmethod
    def from_rows(cls, counts: Ints) -> States:
        """Each row of counts as a group of one question, without prior trials."""
        every = np.arange(len(counts))
        return cls.tally(counts, np.zeros_like(counts), every, np.ones_like(every), every.size)

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
        """States of some groups, given in ascending order."""
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
        inside: Mask = np.delete(self._observed, categories, axis=1).sum(axis=1) == 0
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
    def _observed(self) -> Mask:
        """Whether a group has trials of a category, prior ones too, shape (G, K)."""
        return np.asarray(self.sum_questions(self.mass.T).T > 0)

    @property
    def trials(self) -> Ints:
        """Trials of each group, shape (G,)."""
        return self.sum_questions(self.n).astype(np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Outcomes:
    """The outcomes of some questions of some groups, in the order of their trials."""

    classes: Ints  # 0..K-1 of each trial, question after question, (R,)
    offsets: Ints  # question i has classes[offsets[i]:offsets[i + 1]]
    group: Ints  # of each question, ascending, (Q,)
    groups: int
    prior: Ints  # prior trials of each question by class, (Q, K)

    @property
    def trials(self) -> Ints:
        """Trials of each question, shape (Q,)."""
        return np.diff(self.offsets)


def prefix_states(outcomes: Outcomes) -> tuple[States, Ints, Ints]:
    """States after the first n trials of each question, for n = 1..N_g of every group g."""
    # Also the g and n of each new group, in this order; N_g is the largest number of trials in g,
    # and questions with fewer stay at all of theirs. Takes memory for each question and n.
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
    counted = np.zeros((n.size, outcomes.prior.shape[1]), dtype=np.int64)
    # The trials stand question after question, as the rows that have one do.
    counted[np.flatnonzero(exists), outcomes.classes] = 1
    total = np.cumsum(counted, axis=0)
    before = total - counted
    counts: Ints = total - before[np.arange(n.size) - n]
    return counts


def _ranges_of_sizes(sizes: Ints) -> Ints:
    """0, 1, ..., size - 1 for each of the sizes."""
    return np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)


GroupsT_co = TypeVar("GroupsT_co", bound=QuestionGroups, covariant=True)


@dataclass(frozen=True, slots=True, eq=False)
class Subgroups(Generic[GroupsT_co]):
    """The questions of G groups in parts: clusters, or strata with a weight in the mean."""

    states: GroupsT_co  # each of its groups is a part
    owner: Ints  # group of each part, ascending, (C,)
    groups: int
    given: Floats | None = None  # weight of a question of each part, (C,); None: parts weigh alike

    @classmethod
    def from_rows(
        cls, group: Ints, part: Ints, groups: int, tally: Callable[[Ints, int], GroupsT_co],
        weight: Floats | None = None,
    ) -> Subgroups[GroupsT_co]:  # fmt: skip
        """Parts of rows of questions; the same part of two groups means two parts."""
        # `tally` maps the index of each row's part, and the number of parts, to the questions.
        first, place = distinct_rows([group, part])
        given = None if weight is None else weight[first]
        return cls(tally(place, first.size), group[first], groups, given)

    @staticmethod
    def tally(
        counts: Ints, prior: Ints, group: Ints, part: Ints, questions: Ints, groups: int,
        weight: Floats | None = None,
    ) -> Subgroups[States]:  # fmt: skip
        """Collect rows of counts into parts (R,); other arguments as for `States.tally`.

        `weight` is that of one question of each row.
        """

        def tally_states(numbers: Ints, parts: int) -> States:
            return States.tally(counts, prior, numbers, questions, parts)

        return Subgroups.from_rows(group, part, groups, tally_states, weight)

    def binary(self: Subgroups[States], success: list[int]) -> Subgroups[States]:
        """Parts of the same questions by failure and success; see `States.binary`."""
        return replace(self, states=self.states.binary(success))

    @property
    def size(self) -> Ints:
        """Questions of each group, shape (G,)."""
        return np.bincount(self.owner, self.states.size, self.groups).astype(np.int64)

    @property
    def number(self) -> Ints:
        """Parts of each group, shape (G,)."""
        return np.bincount(self.owner, minlength=self.groups)

    @property
    def effective(self) -> Floats:
        """Number of equally large clusters that the clusters of each group count as, (G,)."""
        # ``M**2 / sum m**2``, m the questions of a cluster: L. Kish (1965), Survey Sampling, 11.7.
        # With half of the questions in one cluster, Student's t with K - 1 degrees covered .71, not
        # .95.
        squares = np.bincount(self.owner, self.states.size.astype(np.float64) ** 2, self.groups)
        return np.asarray(self.size**2 / squares)

    def variance(self, groups: QuestionGroups, values: Floats) -> Floats:
        """Variance of the mean of each group over its clusters, (G,); 0 without larger ones."""
        # ``K / (K - 1) sum_c (sum_{q in c} (x_q - mean))^2 / M^2``, NaN for one cluster: E. Miller
        # (2024), arXiv:2411.00640. `values` are those of each pair of a group and a state.
        number, size, means = self.number, self.states.size, self.means(groups, values)
        mean = np.bincount(self.owner, size * means, self.groups) / self.size
        sums = size * (means - mean[self.owner])
        total = np.bincount(self.owner, sums**2, self.groups) / self.size**2
        factor = known_ratio(number, number - 1, np.nan)
        return np.where(number < self.size, factor * total, 0.0)

    def means(self, groups: QuestionGroups, values: Floats) -> Floats:
        """Mean over the questions of each cluster, shape (C,); arguments as for `variance`."""
        weighted = self.states.questions * values[self.pair_places(groups)]
        sums = np.bincount(self.states.group, weighted, self.owner.size)
        return np.asarray(sums / self.states.size)

    def pair_places(self, groups: QuestionGroups) -> Ints:
        """Place in `groups`, which has the same questions, of each pair of a part and a state."""
        states = groups.kind_count
        # Both are ascending by group and state.
        pairs = self.owner[self.states.group] * states + self.states.state
        return np.searchsorted(groups.group * states + groups.state, pairs)

    @property
    def weight(self) -> Floats:
        """Weight of one question of each part, on any scale, shape (C,)."""
        return 1.0 / self.states.size if self.given is None else self.given

    @property
    def shares(self) -> Floats:
        """Weight of one question of each stratum in the mean of its group, shape (C,)."""
        whole = np.bincount(self.owner, self.weight * self.states.size)
        return np.asarray(self.weight / whole[self.owner])

    def weighted_sums(self, values: Floats, power: int = 1) -> Floats:
        """As those of `QuestionGroups`, by the weights of the parts."""
        # Divided last, so that means of ones are exactly 1.
        weight = self.weight**power
        sums = np.bincount(self.owner, weight * self.states.sum_questions(values))
        whole = np.bincount(self.owner, self.weight * self.states.size)
        return np.asarray(sums / whole**power, dtype=np.float64)
