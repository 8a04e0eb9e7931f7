"""Groups of questions of which many are alike, and sums over them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy

from polars_scorio.kernels.array_types import Floats, Ints
from polars_scorio.kernels.distinct_rows import distinct_rows


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
