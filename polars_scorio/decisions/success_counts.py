"""Trials and successes of the questions of two versions of a model, question by question."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from polars_scorio.counting.categories import Classes
from polars_scorio.counting.lists import AS_ROWS
from polars_scorio.counting.tally import QUESTIONS, class_columns
from polars_scorio.kernels.array_types import Ints
from polars_scorio.kernels.regressions import VersionCounts

_PLACE, _N, _C = ":place", ":n", ":c"


@dataclass(frozen=True, slots=True, eq=False)
class SuccessCounts:
    """Trials and successes of the questions of some groups, by group and name of the question.

    Attributes
    ----------
    names : Series
        The questions, group after group; those without any outcome are left out.
    n, c : ndarray of int
        Trials and successes of each question.
    ends : ndarray of int
        Where each group ends.
    """

    names: pl.Series
    n: Ints
    c: Ints
    ends: Ints

    @classmethod
    def read(
        cls, groups: pl.DataFrame, classes: Classes, success: tuple[int, ...], question: str
    ) -> SuccessCounts:
        """Read the `QUESTIONS` of groups; a group without a list has no question.

        Parameters
        ----------
        groups : DataFrame
            With `QUESTIONS`, named.
        classes : Classes
            Into which classes trials are counted.
        success : tuple of int
            The classes that are successes.
        question : str
            The column of the names.
        """
        columns = class_columns(classes)
        flat = (
            groups.select(pl.int_range(pl.len()).alias(_PLACE), QUESTIONS)
            .filter(pl.col(QUESTIONS).is_not_null())
            .explode(QUESTIONS, **AS_ROWS)
            .unnest(QUESTIONS)
            .select(
                _PLACE,
                question,
                pl.sum_horizontal(columns).cast(pl.Int64).alias(_N),
                pl.sum_horizontal([columns[each] for each in success]).cast(pl.Int64).alias(_C),
            )
            .filter(pl.col(_N) > 0)
            .sort(_PLACE, question, maintain_order=True)
        )
        sizes = np.bincount(flat[_PLACE].to_numpy(), minlength=groups.height)
        n, c = (flat[name].to_numpy() for name in (_N, _C))
        return cls(flat[question], n, c, np.cumsum(sizes))

    def questions(self, group: int) -> slice:
        """The places of the questions of a group."""
        start = 0 if group == 0 else int(self.ends[group - 1])
        return slice(start, int(self.ends[group]))

    def versions(self, old: int, new: int) -> VersionCounts:
        """The counts of two groups that have the same questions."""
        before, after = self.questions(old), self.questions(new)
        return VersionCounts(self.n[before], self.c[before], self.n[after], self.c[after])
