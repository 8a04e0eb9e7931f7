"""The estimates of single questions, which comparisons of two models pair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from polars_scorio.arguments import View
from polars_scorio.counting.lists import AS_ROWS
from polars_scorio.kernels.array_types import Floats, Ints
from polars_scorio.kernels.batches import row_slices
from polars_scorio.kernels.calibrated.paired_difference import paired_variance
from polars_scorio.kernels.posteriors import SeparatePosteriors
from polars_scorio.metrics.metric import Metric
from polars_scorio.metrics.reward_metric import RewardMetric
from polars_scorio.reporting.inference.cell_numbers import VALUES, WEIGHT, Row
from polars_scorio.reporting.question_cells import QuestionCells

_MOST_MODELS = 2_000  # of which the variances of all pairs are kept: 32 MB


@dataclass(frozen=True, eq=False)  # no slots: the variances of all pairs are kept
class QuestionValues:
    """Estimates of the questions that the models of a stratum share, on the unit scale.

    Attributes
    ----------
    values : ndarray of float, shape (M, L)
        Of each question and model; empty if the metric has none of single questions.
    weight : ndarray of float, shape (M,)
        Share of each question in the mean.
    """

    values: Floats
    weight: Floats

    def mean_variance(self) -> Floats:
        """Variance of the mean of each model between the questions, shape (L,)."""
        away = self.values - self.weight @ self.values
        return np.asarray((self.weight**2) @ away**2)

    @property
    def known(self) -> bool:
        """Whether the metric has estimates of single questions."""
        return bool(self.values.size)

    @property
    def number(self) -> float:
        """Number of questions; of unequal ones, the equal ones with the same squared weights."""
        return float(1 / (self.weight @ self.weight)) if self.known else np.nan

    def pair_variances(self, a: Ints, b: Ints) -> Floats:
        """`paired_variance` of pairs of columns, shape (P,)."""
        if not self.known:
            return np.full(a.size, np.nan)
        models = self.values.shape[1]
        known = "_all_pair_variances" in self.__dict__
        if known or (models <= _MOST_MODELS and 2 * a.size >= models * (models - 1)):
            return np.asarray(self._all_pair_variances[a, b])
        return self._each_pair_variance(a, b)

    @cached_property
    def _all_pair_variances(self) -> Floats:
        """`paired_variance` of all pairs of columns, shape (L, L), which rankings ask for often."""
        models = self.values.shape[1]
        a, b = np.triu_indices(models)
        every = np.empty((models, models))
        every[a, b] = every[b, a] = self._each_pair_variance(a, b)
        return every

    def _each_pair_variance(self, a: Ints, b: Ints) -> Floats:
        """`paired_variance` of pairs of columns, some at a time."""
        values = np.empty(a.size)
        for part in row_slices(a.size, len(self.values)):
            gaps = self.values[:, a[part]] - self.values[:, b[part]]
            values[part] = paired_variance(gaps, self.weight)
        return values


def value_columns(
    asked: Sequence[tuple[Metric, View]], cells: QuestionCells, question: str
) -> dict[Row, pl.Series]:
    """For each metric and draw size, the estimates of the questions of each group, in one order.

    Parameters
    ----------
    asked : sequence of tuple
        Metrics that have estimates of single questions, each with its view.
    cells : QuestionCells
        The questions of the groups, by their names.
    question : str
        The column of these names. Groups with the same questions have them in the same order; so
        have groups that pool strata, in which a name may occur several times.
    """
    rows = pl.DataFrame({"group": cells.group, "question": cells.flat[question]})
    order = rows.select(pl.arg_sort_by("group", "question", maintain_order=True)).to_series()
    group, single = rows["group"].gather(order), cells.by_question()

    def lists(values: Floats) -> pl.Series:
        of_groups = pl.DataFrame({"group": group, VALUES: values[order.to_numpy()]})
        return of_groups.group_by("group", maintain_order=True).agg(VALUES)[VALUES]

    return {
        (metric.name, k): lists(question_estimates(metric, view, k, single))
        for metric, view in asked
        for k in metric.row_sizes
    }


def question_estimates(metric: Metric, view: View, k: int | None, single: QuestionCells) -> Floats:
    """The estimate of each question, from cells of one question each."""
    if view == "rewards" and isinstance(metric, RewardMetric):
        low, width = single.reward_range(metric)
        return np.asarray(low + width * single.reward_estimates(metric, k).values)
    if view == "answers":
        return metric.summary(single.votes(), k).estimate
    unbiased = metric.with_unbiased_estimate()
    return unbiased.summary(SeparatePosteriors(single.seen_as(view)), k).estimate


def read_question_values(
    rows: pl.DataFrame, places: Ints, low: Floats | float, width: Floats | float
) -> list[QuestionValues]:
    """The questions of each stratum, from rows of a report.

    Parameters
    ----------
    rows : DataFrame
        With `VALUES`, null for a metric that has no estimates of single questions; and `WEIGHT`,
        null if all questions count the same.
    places : ndarray of int, shape (S, L)
        The row of each model of each stratum, all of which have the same questions.
    low, width : float or ndarray of float, shape (R,)
        The least value of the metric, and how far the largest lies above it; of each row, if the
        models of a stratum have a range of their own.
    """
    low, width = (np.broadcast_to(each, len(rows)) for each in (low, width))
    sizes = rows[VALUES].list.len().fill_null(0).to_numpy().astype(np.int64)
    starts = np.cumsum(sizes) - sizes
    flat = rows[VALUES].explode(**AS_ROWS).drop_nulls().to_numpy()
    shares = rows[WEIGHT]

    def of_stratum(models: Ints) -> QuestionValues:
        first = int(models[0])
        size = int(sizes[first])
        values = flat[starts[models] + np.arange(size)[:, None]]
        values = (values - low[first]) / (width[first] or 1.0)
        share = np.ones(size) if shares[first] is None else shares[first].to_numpy()
        return QuestionValues(values, share / share.sum())

    return [of_stratum(models) for models in places]
