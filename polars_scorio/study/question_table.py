"""The questions of groups in one order that models share, with their estimates."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import polars as pl

from polars_scorio.arguments import View
from polars_scorio.counting.common_questions import cluster_ranks
from polars_scorio.counting.log import CLUSTER
from polars_scorio.maths.array_rows import Floats, Ints, distinct_rows
from polars_scorio.maths.cost_means import CostMeans
from polars_scorio.maths.posteriors import SeparatePosteriors
from polars_scorio.metrics.costs import CostMetric
from polars_scorio.metrics.metric import Metric, RewardMetric
from polars_scorio.study.question_cells import STRATUM, QuestionCells


@dataclass(frozen=True, eq=False)  # no slots: what is asked for is kept
class QuestionTable:
    """The named questions of some groups, R rows ascending by group, name and stratum."""

    cells: QuestionCells  # of whole groups, which keep the names of their questions
    question: str  # the column of the names
    _known: dict[tuple[str, int | None], Floats | None] = field(default_factory=dict)

    @cached_property
    def order(self) -> Ints:
        """The row of `cells.flat` of each question."""
        rows = self.cells.flat.select(pl.Series(":group", self.cells.group), self.question)
        # Stable: pools have their strata in order, in which a name may occur several times.
        order = pl.arg_sort_by(":group", self.question, maintain_order=True)
        return rows.select(order).to_series().to_numpy()

    @cached_property
    def group(self) -> Ints:
        """The group of each question."""
        return self.cells.group[self.order]

    @cached_property
    def size(self) -> Ints:
        """Questions of each group."""
        return np.bincount(self.group, minlength=self.cells.fitted.groups)

    @cached_property
    def start(self) -> Ints:
        """The first row of each group."""
        return np.cumsum(self.size) - self.size

    @cached_property
    def trials(self) -> Ints:
        """Trials of each question."""
        return self.cells.scored_trials()[self.order]

    @cached_property
    def name(self) -> Ints:
        """The name of each question as a number."""
        return self.cells.flat[self.question].rank("dense").to_numpy()[self.order].astype(np.int64)

    @cached_property
    def cluster(self) -> Ints | None:
        """The cluster of each question, if the log has clusters."""
        flat = self.cells.flat
        return cluster_ranks(flat)[self.order] if CLUSTER in flat.columns else None

    @cached_property
    def weight(self) -> Floats | None:
        """The share of each question in the mean of its group, but for a factor; None: equal."""
        if STRATUM not in self.cells.flat.columns:
            return None
        stratum = self.cells.flat[STRATUM].to_numpy().astype(np.int64)
        _, place = distinct_rows([self.cells.group, stratum])
        sizes = np.bincount(place)[place]
        return None if (sizes == sizes[:1]).all() else (1 / sizes)[self.order]

    def rows_of(self, groups: Ints) -> Ints:
        """The rows of groups that have the same questions, (M, L)."""
        return np.asarray(self.start[groups] + np.arange(self.size[groups[0]])[:, None])

    def estimates(self, metric: Metric, view: View, k: int | None) -> Floats | None:
        """The unbiased estimate of each question; None if a metric has no such estimates."""
        row = metric.name, k
        if row not in self._known:
            values = question_estimates(metric, view, k, self.cells)
            self._known[row] = None if values is None else values[self.order]
        return self._known[row]


def question_estimates(
    metric: Metric, view: View, k: int | None, cells: QuestionCells
) -> Floats | None:
    """The estimate of each row of `cells.flat`; NaN if k exceeds its trials.

    Of costs: what a question adds to the log of their ratio, around that log.
    """
    if isinstance(metric, CostMetric):
        costs, questions = cells.question_costs(clustered=True)
        values, group = metric.cost_values(costs, k), questions.group
        means = CostMeans.of(values, questions, "benchmark")
        return np.asarray(means.log_ratio[group] + means.residuals(values, group))
    if not metric.per_question:
        return None
    single = cells.by_question()
    if view == "rewards" and isinstance(metric, RewardMetric):
        low, width = single.reward_range(metric)
        return np.asarray(low + width * single.reward_estimates(metric, k).values)
    if view == "answers":
        return metric.summary(single.votes(), k).estimate
    unbiased = metric.with_unbiased_estimate()
    return unbiased.summary(SeparatePosteriors(single.seen_as(view)), k).estimate
