"""From the questions of groups to the rows of a report: what runs when a plan is collected."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import polars as pl

from polars_scorio.arguments import View
from polars_scorio.counting.lists import AS_ROWS
from polars_scorio.counting.tally import QUESTIONS
from polars_scorio.kernels.array_types import Ints
from polars_scorio.metrics.metric import Metric
from polars_scorio.reporting.cost_warning import warn_of_large_costs
from polars_scorio.reporting.inference.cell_numbers import VALUES, CellNumbers, Row, RowNumbers
from polars_scorio.reporting.inference.choice import Inference, UnbiasedInference
from polars_scorio.reporting.inference.cost_numbers import part_columns
from polars_scorio.reporting.inference.question_values import value_columns
from polars_scorio.reporting.question_cells import GROUP, QuestionCells
from polars_scorio.reporting.report_columns import ReportColumns
from polars_scorio.reporting.request import Request
from polars_scorio.reporting.stopping_warning import warn_of_stopping

# The rows of a report in a list for each group.
RESULTS = ":results"

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
    warns_of_stopping: bool = False

    def __call__(self, groups: pl.DataFrame) -> pl.DataFrame:
        """The keys of all groups with their rows; of all groups at once, which share states."""
        trials = self.request.trials
        strata = stratum_numbers(groups, [*trials.strata])
        cells = self.request.cells(
            groups[QUESTIONS], per_question=bool(self.columns.question), strata=strata
        )
        if trials.judged:
            cells = cells.with_judges(groups.select(trials.groups), strata, trials)
        if self.warns_of_stopping and self.request.choice.kind != "pooled":
            warn_of_stopping(cells, groups.drop(QUESTIONS), self.request.trials)
        facts = cells.facts().with_columns(cells.flat[name] for name in self.columns.of_questions)
        rows = self._cell_rows(facts, self._row_columns(cells))
        if self.request.classes.costs is not None and not self.columns.question:
            warn_of_large_costs(rows, groups.drop(QUESTIONS), self.request.trials)
        lists = rows.group_by(GROUP, maintain_order=True).agg(pl.struct(*self.columns.schema))
        keys = groups if self.keeps_questions else groups.drop(QUESTIONS)
        return keys.with_columns(lists.to_series(1).alias(RESULTS))

    def _row_numbers(self, cells: QuestionCells) -> RowNumbers:
        """The numbers of each row that a cell has in the report, in the order of the report."""
        asked = defaultdict[Inference, list[tuple[Metric, View]]](list)
        for metric, view in cells.without_rewards(self.request.metrics):
            asked[self.request.choice.inference_of(metric, view)].append((metric, view))
        known = dict[Row, CellNumbers]()
        for inference, metrics in asked.items():
            known |= inference.numbers(metrics, cells)
        order = [(metric.name, k) for metric, _ in self.request.metrics for k in metric.k]
        return {row: known[row] for row in order}

    def _row_columns(self, cells: QuestionCells) -> dict[Row, pl.DataFrame]:
        """The columns of each row, with those that comparisons need if they are wanted."""
        columns = {row: numbers.columns() for row, numbers in self._row_numbers(cells).items()}
        if VALUES in self.columns.hidden:
            choice, question = self.request.choice, self.request.trials.question.name
            paired = [
                (metric, view)
                for metric, view in cells.without_rewards(self.request.metrics)
                if metric.per_question
                and isinstance(choice.inference_of(metric, view), UnbiasedInference)
            ]
            for metric, _ in self.request.metrics:
                for k in metric.k if metric.costs else ():
                    parts = part_columns(metric, k, cells, question)
                    columns[metric.name, k] = columns[metric.name, k].hstack(parts)
            for row, values in value_columns(paired, cells, question).items():
                columns[row] = columns[row].with_columns(values.alias(VALUES))
        return columns

    def _cell_rows(self, facts: pl.DataFrame, numbers: dict[Row, pl.DataFrame]) -> pl.DataFrame:
        """All rows of each cell, cell after cell."""
        cell, row = np.divmod(np.arange(len(facts) * len(numbers)), len(numbers))
        labels = pl.DataFrame([*zip(*numbers, strict=True)], ["metric", "k"])
        # Row after row, to be taken cell after cell.
        by_row = pl.concat(numbers.values(), how="diagonal")[row * len(facts) + cell]
        columns = {column.name: column for column in (*facts[cell], *labels[row], *by_row)}
        schema = {GROUP: pl.Int64(), **self.columns.schema}
        # Null for a number that an inference lacks.
        return pl.DataFrame(
            [
                columns[name].cast(dtype)
                if name in columns
                else null_column(name, dtype, len(cell))
                for name, dtype in schema.items()
            ]
        )


def null_column(name: str, dtype: pl.DataType, length: int) -> pl.Series:
    """A column of nulls."""
    return pl.Series(name, [None], dtype).new_from_index(0, length)
