"""From the questions of groups to the rows of a report: what runs when a plan is collected."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

import numpy as np
import polars as pl

from polars_scorio.arguments import View
from polars_scorio.counting.lists import AS_ROWS
from polars_scorio.counting.tally import QUESTIONS
from polars_scorio.kernels.array_types import Floats, Ints
from polars_scorio.metrics.costs import CostMetric
from polars_scorio.metrics.metric import Metric
from polars_scorio.reporting.cost_warning import warn_of_large_costs
from polars_scorio.reporting.inference.cell_numbers import (
    VALUES,
    CellNumbers,
    Row,
    RowNumbers,
    Words,
)
from polars_scorio.reporting.inference.choice import Inference, UnbiasedInference
from polars_scorio.reporting.inference.cost_numbers import part_columns
from polars_scorio.reporting.inference.pooled import PooledInference
from polars_scorio.reporting.inference.question_values import value_columns
from polars_scorio.reporting.question_cells import GROUP, QuestionCells
from polars_scorio.reporting.report_columns import ReportColumns
from polars_scorio.reporting.request import Request
from polars_scorio.reporting.stopping_warning import warn_of_stopping

# The rows of a report in a list for each group.
RESULTS = ":results"

# A value of each cell, in a row of a report.
Values: TypeAlias = Floats | Words | pl.Series
FrameT = TypeVar("FrameT", pl.DataFrame, pl.LazyFrame)


def stratum_numbers(groups: pl.DataFrame, strata: list[str]) -> Ints:
    """The stratum of each group as a number, from 0 on; rows over all strata are one of their own.

    >>> stratum_numbers(pl.DataFrame({"by": ["x", "y", "x", None]}), ["by"]).tolist()
    [0, 1, 0, 2]
    """
    if not strata:
        return np.zeros(len(groups), np.int64)
    rows = groups.select(*strata).with_row_index(GROUP)
    same = rows.group_by(*strata, maintain_order=True).agg(GROUP)[GROUP]
    number = np.empty(len(groups), np.int64)
    number[same.explode(**AS_ROWS).to_numpy()] = np.repeat(np.arange(len(same)), same.list.len())
    return number


def tidy_rows(grouped: FrameT) -> FrameT:
    """The rows of a report, from a frame with a list of them for each group."""
    return grouped.explode(RESULTS, **AS_ROWS).unnest(RESULTS)


@dataclass(frozen=True, slots=True, eq=False)
class Evaluation:
    """The function from the questions of each group to its rows of the report."""

    request: Request
    columns: ReportColumns
    keeps_questions: bool = False  # beside the rows
    warns_of_stopping: bool = True

    def __call__(self, groups: pl.DataFrame) -> pl.DataFrame:
        """The keys of all groups with their rows; of all groups at once, which share states."""
        trials = self.request.trials
        strata = stratum_numbers(groups, [*trials.strata])
        cells = self.request.cells(
            groups[QUESTIONS], per_question=bool(self.columns.question), strata=strata
        )
        if trials.judged:
            cells = cells.with_judges(groups.select(trials.groups), strata, trials)
        if self.warns_of_stopping and not self._is_pooled(cells):
            warn_of_stopping(cells, groups.drop(QUESTIONS), trials)
        facts = cells.facts()
        if self.columns.of_questions:
            facts = facts.with_columns(cells.flat[name] for name in self.columns.of_questions)
        rows = self._cell_rows(facts, self._row_columns(cells))
        if self.request.classes.costs is not None and not self.columns.question:
            warn_of_large_costs(rows, groups.drop(QUESTIONS), self.request.trials)
        lists = rows.group_by(GROUP, maintain_order=True).agg(pl.struct(*self.columns.schema))
        keys = groups if self.keeps_questions else groups.drop(QUESTIONS)
        return keys.with_columns(lists.to_series(1).alias(RESULTS))

    def _is_pooled(self, cells: QuestionCells) -> bool:
        """Whether all numbers are posteriors of populations, which allow for stopping rules."""
        return all(
            isinstance(self.request.choice.inference_of(metric, view), PooledInference)
            for metric, view in cells.without_rewards(self.request.metrics)
        )

    def _row_numbers(self, cells: QuestionCells) -> RowNumbers:
        """The numbers of each row that a cell has in the report, in the order of the report."""
        asked = defaultdict[Inference, list[tuple[Metric, View]]](list)
        for metric, view in cells.without_rewards(self.request.metrics):
            asked[self.request.choice.inference_of(metric, view)].append((metric, view))
        known = dict[Row, CellNumbers]()
        for inference, metrics in asked.items():
            known |= inference.numbers(metrics, cells)
        order = [(metric.name, k) for metric, _ in self.request.metrics for k in metric.row_sizes]
        return {row: known[row] for row in order}

    def _row_columns(self, cells: QuestionCells) -> dict[Row, dict[str, Values]]:
        """The columns of each row, with those that comparisons need if they are wanted."""
        hidden, columns = self.columns.hidden, dict[Row, dict[str, Values]]()
        for row, numbers in self._row_numbers(cells).items():
            compared = numbers.comparison_columns() if hidden else {}
            columns[row] = {**numbers.arrays(), **compared}
        if VALUES in hidden:
            choice, question = self.request.choice, self.request.trials.question.name
            paired = [
                (metric, view)
                for metric, view in cells.without_rewards(self.request.metrics)
                if metric.per_question
                and isinstance(choice.inference_of(metric, view), UnbiasedInference)
            ]
            costs = [metric for metric, _ in self.request.metrics if isinstance(metric, CostMetric)]
            for metric in costs:
                for k in metric.row_sizes:
                    columns[metric.name, k] |= part_columns(metric, k, cells, question).to_dict()
            for row, values in value_columns(paired, cells, question).items():
                columns[row][VALUES] = values
        return columns

    def _cell_rows(
        self, facts: pl.DataFrame, numbers: dict[Row, dict[str, Values]]
    ) -> pl.DataFrame:
        """All rows of each cell, cell after cell."""
        cell = np.repeat(np.arange(len(facts)), len(numbers))
        columns = {fact.name: fact.gather(cell) for fact in facts}
        for name, labels in zip(("metric", "k"), zip(*numbers, strict=True), strict=True):
            dtype = self.columns.labels[name]
            columns[name] = pl.Series(name, [*labels] * len(facts), dtype)
        rows = [*numbers.values()]
        schema = {GROUP: pl.Int64(), **self.columns.schema}
        return pl.DataFrame(
            [
                columns[name].cast(dtype)
                if name in columns
                else joined_column(name, dtype, [row.get(name) for row in rows], len(facts))
                for name, dtype in schema.items()
            ]
        )


def joined_column(
    name: str, dtype: pl.DataType, rows: Sequence[Values | None], cells: int
) -> pl.Series:
    """A column of some rows of each cell, cell after cell, from the values of each row.

    Null for a number that is NaN, and for a row that has no such column.

    >>> halves = np.array([0.5, 0.25])
    >>> joined_column("mu", pl.Float64(), [halves, 2 * halves], 2).to_list()
    [0.5, 1.0, 0.25, 0.5]
    """
    if all(isinstance(values, np.ndarray) for values in rows):
        every = np.stack([np.asarray(values) for values in rows], axis=1).ravel()
        return pl.Series(name, every, nan_to_null=True).cast(dtype)
    parts = [
        pl.Series(name, [None], dtype).new_from_index(0, cells)
        if values is None
        else pl.Series(name, values, nan_to_null=True).cast(dtype)
        for values in rows
    ]
    if len(parts) == 1:
        return parts[0]
    row, cell = np.indices((len(rows), cells))
    return pl.concat(parts).gather((row * cells + cell).T.ravel())
