"""Metrics of counts that are already made: of any row that holds trials and successes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from polars_scorio.arguments import check_column, check_confidence
from polars_scorio.counting.roles import Column
from polars_scorio.kernels.array_types import Ints
from polars_scorio.kernels.distinct_rows import distinct_rows
from polars_scorio.kernels.posterior_intervals import normal_interval
from polars_scorio.kernels.posteriors import SeparatePosteriors
from polars_scorio.kernels.states import States
from polars_scorio.metrics.summary import (
    INFINITE,
    NUMBERS,
    Summarized,
    number_column,
    quiet_infinities,
)

_BEYOND_COUNTS = {
    "answers": "an expression counts the categories of one column, and votes need the answers "
    'beside them: use a report of the frame, of each question with per="question"',
    "costs": "counts of successes do not hold what each trial cost: report it from a log of "
    'trials, as in df.scorio(cost="usd")',
}
POSTERIOR = pl.Struct(dict.fromkeys(NUMBERS, pl.Float64))


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """The function from counts to what a metric says of them, each row a question of its own.

    Attributes
    ----------
    metric : Summarized
        What is asked, with a single k.
    confidence : float
        As in `Scorio.report`.
    posterior : bool
        Whether all `NUMBERS` are wanted, as a struct, or the estimate alone.
    """

    metric: Summarized
    confidence: float = 0.95
    posterior: bool = True

    def __post_init__(self) -> None:
        """Refuse what no counts can make right."""
        if self.metric.looks_at in _BEYOND_COUNTS:
            raise ValueError(f"{self.metric.name}: {_BEYOND_COUNTS[self.metric.looks_at]}")
        if len(self.metric.row_sizes) != 1:
            raise ValueError(
                f"{self.metric.name}: an expression is one column, so k must be a single one, got "
                f"{list(self.metric.row_sizes)}. Write an expression for each."
            )
        check_confidence(self.confidence)

    @property
    def dtype(self) -> pl.DataType:
        """Type of the value of each row."""
        return POSTERIOR if self.posterior else pl.Float64()

    def __call__(self, counts: Ints) -> pl.Series:
        """Value of the metric for each row of counts; null for a row without trials.

        Parameters
        ----------
        counts : ndarray of int, shape (R, K)
            Trials by category.

        Returns
        -------
        Series
            Of `dtype`, a value for each row.

        Raises
        ------
        ValueError
            If a number is infinite.
        """
        first, index = distinct_rows(counts.T)
        rows = counts[first]
        some = rows.sum(axis=1) > 0
        answer = self._published_numbers(rows[some])
        answer = answer if self.posterior else answer.select("estimate")
        self._refuse_infinite(answer)
        # Row after row of those with a trial; -1 is none of them.
        place = pl.Series(np.where(some, np.cumsum(some) - 1, -1)[index])
        taken = answer.to_struct() if self.posterior else answer.to_series()
        return taken.gather(place.replace(-1, None))

    def _published_numbers(self, counts: Ints) -> pl.DataFrame:
        """The `NUMBERS` of each row of counts, as a report with ``inference="published"``."""
        (k,) = self.metric.row_sizes
        with quiet_infinities(self.metric):
            summary = self.metric.summary(SeparatePosteriors(_as_groups(counts)), k)
            ends = normal_interval(
                summary.mu, summary.sigma, float(self.confidence), self.metric.interval_limits
            )
        numbers = (summary.estimate, summary.mu, summary.sigma, *ends)
        return pl.DataFrame(dict(zip(NUMBERS, map(number_column, numbers), strict=True)))

    def _refuse_infinite(self, answer: pl.DataFrame) -> None:
        """Refuse a blend with a negative power of zero."""
        infinite = INFINITE if self.posterior else pl.col("estimate").is_infinite()
        if self.metric.unbounded and answer.select(infinite.any()).item():
            raise ValueError(
                f"{self.metric.name}: a negative power of zero: a metric to which it is applied is "
                "0 somewhere, or nearly so. Use powers that are not negative."
            )


def _as_groups(counts: Ints) -> States:
    """Each row as a group of its own."""
    group = np.arange(len(counts))
    return States.tally(counts, np.zeros_like(counts), group, np.ones_like(group), len(counts))


def of_counts(answer: Answer, n: Column, successes: Column) -> pl.Expr:
    """The expression of an answer over two columns."""
    metric = answer.metric
    if metric.w is not None:
        raise ValueError(
            f"{metric.name}: two columns hold successes and failures, to which w gives no weight: "
            "leave w out, or count the categories with pl.col(...).scorio"
        )
    for keyword, column in {"n": n, "successes": successes}.items():
        check_column(keyword, column)
    columns = [pl.col(column) if isinstance(column, str) else column for column in (n, successes)]
    names = [str(column) for column in (n, successes)]

    def answered(pairs: pl.Series) -> pl.Series:
        return answer(_failures_and_successes(pairs.struct.unnest(), names))

    (k,) = metric.row_sizes
    label = metric.name if k is None else f"{metric.name}_{k}"
    pairs = pl.struct(columns[0].alias("n"), columns[1].alias("successes"))
    return pairs.map_batches(answered, return_dtype=answer.dtype, is_elementwise=True).alias(label)


def _failures_and_successes(pairs: pl.DataFrame, names: list[str]) -> Ints:
    """Counts by category of each row, (0, 0) where one of them is null."""
    for name, column in zip(names, pairs, strict=True):
        if not column.dtype.is_integer() and column.dtype != pl.Null:
            raise TypeError(
                f"{column.name}={name!r} is {column.dtype}; counts are integers. Cast it to "
                "pl.Int64."
            )
    # A callback sees a part of the rows, and not always the same: how many are bad is not known.
    wrong = (pl.col("successes") < 0) | (pl.col("successes") > pl.col("n"))
    if pairs.select(wrong.any()).item():
        raise ValueError(
            f"successes={names[1]!r} must lie between 0 and n={names[0]!r} in every row, and does "
            "not. Look for rows where it is negative, or larger."
        )
    n, c = pl.col("n").cast(pl.Int64), pl.col("successes").cast(pl.Int64)
    known = n.is_not_null() & c.is_not_null()
    counts = pairs.select(pl.when(known).then(n - c), pl.when(known).then(c).alias("c"))
    return counts.fill_null(0).to_numpy().astype(np.int64)
