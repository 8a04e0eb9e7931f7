"""From counted questions to numbers, in one callback."""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias, TypeVar

import numpy as np
import polars as pl

from polars_scorio.arguments import Per, View
from polars_scorio.counting.checks import AS_ROWS
from polars_scorio.counting.common_questions import cluster_dtype
from polars_scorio.counting.log import CLUSTER, Trials
from polars_scorio.counting.tally import QUESTIONS
from polars_scorio.maths.array_rows import Floats, Ints
from polars_scorio.maths.questions import States
from polars_scorio.maths.stopping_tests import PATTERN_LEVEL, pattern_p_value, suspect_models
from polars_scorio.metrics.costs import CostMetric
from polars_scorio.metrics.metric import NUMBERS, Metric
from polars_scorio.study.cell_numbers import (
    BOUNDS,
    CALIBRATION_DTYPES,
    COMPARISON_DTYPES,
    COST_FACTS,
    INFERENCE,
    INFORMATION,
    INTERVAL_DTYPES,
    JUDGE_DTYPES,
    JUDGED,
    SAMPLE_DTYPES,
    VALUES,
    CellNumbers,
    Row,
    RowNumbers,
    Words,
)
from polars_scorio.study.cost_numbers import part_columns, warn_of_large_costs
from polars_scorio.study.posterior import PooledInference
from polars_scorio.study.question_cells import CLUSTERS, GROUP, UNSCORED, QuestionCells
from polars_scorio.study.request import Inference, Request, UnbiasedInference
from polars_scorio.study.score_differences import value_columns


@dataclass(frozen=True, slots=True)
class ReportColumns:
    """The columns of a report with their types, in their order.

    Attributes
    ----------
    keys : dict
        The strata and the model.
    question : dict
        The question, if each has rows of its own.
    labels : dict
        Metric and draw size.
    facts : dict
        Counts that all metrics share.
    numbers : dict
        What is said of a metric.
    hidden : dict
        Columns that rows have inside a plan alone.
    """

    keys: dict[str, pl.DataType]
    question: dict[str, pl.DataType]
    labels: dict[str, pl.DataType]
    facts: dict[str, pl.DataType]
    numbers: dict[str, pl.DataType]
    hidden: dict[str, pl.DataType] = field(default_factory=dict)

    @property
    def shown(self) -> list[str]:
        """The names of all columns of the result."""
        return [*self.keys, *self.question, *self.beside_keys]

    @property
    def beside_keys(self) -> dict[str, pl.DataType]:
        """The columns that each metric has in a report, beside the keys."""
        return self.labels | self.facts | self.numbers

    @property
    def schema(self) -> dict[str, pl.DataType]:
        """The columns of a row inside a plan, where rows are lists beside their keys."""
        return self.question | self.beside_keys | self.hidden

    @property
    def of_questions(self) -> list[str]:
        """The columns that come with a question."""
        return [*self.question, *(name for name in self.hidden if name == CLUSTER)]

    @property
    def computed(self) -> dict[str, pl.DataType]:
        """The columns of numbers, with those inside a plan."""
        hidden = {name: dtype for name, dtype in self.hidden.items() if name != CLUSTER}
        return self.numbers | hidden

    def with_intervals(self) -> ReportColumns:
        """The columns with those from which intervals of means over strata are made."""
        return replace(self, hidden=self.hidden | INTERVAL_DTYPES)

    def with_price(self) -> ReportColumns:
        """The columns with those that comparisons of calibrated numbers need."""
        judged = CALIBRATION_DTYPES if JUDGED in self.numbers else {}
        return replace(self, hidden=self.hidden | COMPARISON_DTYPES | judged)

    def with_weight(self) -> ReportColumns:
        """The columns with the share of a question in a mean over strata, and its range."""
        return replace(self, hidden=self.hidden | SAMPLE_DTYPES)

    def with_information(self, anytime: int | None) -> ReportColumns:
        """The columns with the share of the planned information, if intervals hold at any time."""
        if anytime is None:
            return self
        numbers = {name: dtype for name, dtype in self.numbers.items() if name != INFERENCE}
        return replace(self, numbers=numbers | {INFORMATION: pl.Float64(), INFERENCE: pl.String()})

    @property
    def names_questions(self) -> bool:
        """Whether the questions of a group need their names."""
        return bool(self.question) or VALUES in self.hidden

    def with_cluster(self, trials: Trials) -> ReportColumns:
        """The columns with the cluster of a question, if the log has clusters."""
        if trials.cluster is None:
            return self
        return replace(self, hidden=self.hidden | {CLUSTER: cluster_dtype(trials.cluster)})


def report_columns(
    trials: Trials, per: Per = "model", *, rewards: bool = False, costs: bool = False
) -> ReportColumns:
    """The columns of a report of a log, with those about `rewards` or `costs` if it has such."""
    whole = per == "model"
    facts: dict[str, pl.DataType] = {"questions": pl.UInt32()}
    if whole and trials.cluster is not None:
        facts[CLUSTERS] = pl.UInt32()
    facts |= {"trials": pl.UInt64(), "dropped": pl.UInt64()}
    if whole and trials.roles.unscored == "drop":
        facts[UNSCORED] = pl.UInt64()
    numbers: dict[str, pl.DataType] = dict.fromkeys(NUMBERS, pl.Float64())
    if rewards:
        numbers[BOUNDS] = pl.String()
    if trials.judged:
        numbers |= JUDGE_DTYPES
    if costs:
        numbers |= COST_FACTS
    numbers[INFERENCE] = pl.String()
    return ReportColumns(
        keys=trials.strata | trials.models,
        question={} if whole else {trials.question.name: trials.question.dtype},
        labels={"metric": pl.String(), "k": pl.Int64()},
        facts=facts,
        numbers=numbers,
    )


class StoppingWarning(UserWarning):
    """The trials of questions stopped on their outcomes, as after retries until a success.

    Averages of questions are biased then, and so is what compares them. The message says in how
    many models, and what to do; `coverage` has the p-values.

    Examples
    --------
    >>> import warnings
    >>> import polars_scorio as ps
    >>> warnings.simplefilter("error", ps.StoppingWarning)  # for who wants to be stopped
    >>> warnings.simplefilter("default", ps.StoppingWarning)
    """


def warn_of_stopping(cells: QuestionCells, keys: pl.DataFrame, trials: Trials) -> None:
    """Warn once of models whose questions with fewer trials share their successes or failures.

    It reads nothing but the counts that the numbers of a report are made from: `coverage` also
    looks at the order of the trials. Real-valued rewards have no successes to look at.

    Parameters
    ----------
    cells : QuestionCells
        The questions of all groups.
    keys : DataFrame
        The keys of the groups. Groups over all strata, whose keys are null, are not looked at.
    trials : Trials
        The log.
    """
    if not cells.classes.successful or cells.has_fractions:
        return
    states = cells.fitted.binary(cells.classes.successful)
    p_values, model = _pattern_p_values(states), np.zeros(states.groups, dtype=np.int64)
    of_models = np.ones(states.groups, dtype=np.bool_)
    for name in trials.keys:
        of_models &= keys[name].is_not_null().to_numpy()
    p_values[~of_models] = np.nan
    if trials.models:
        ranks = keys.select(pl.struct(*trials.models).rank("dense")).to_series()
        model = ranks.to_numpy().astype(np.int64)
    named = suspect_models(p_values, model, PATTERN_LEVEL)
    stopped = np.flatnonzero(np.isin(model, named) & (p_values < PATTERN_LEVEL)).tolist()
    if not stopped:
        return
    place = ", ".join(f"{name}={keys[name][stopped[0]]!r}" for name in trials.keys)
    fewest = int(states.n[states.state[states.group == stopped[0]]].min())
    warnings.warn(
        f"trials stopped on their outcomes in {len(stopped):,} of {of_models.sum():,} "
        f"{'group' if len(of_models) == 1 else 'groups'}{', the first at ' * bool(place)}{place}: "
        "all questions with fewer trials have the same number of successes, or of failures, as "
        "after retries until a success. Unless these numbers of trials were planned, estimates are "
        f"biased, and so are comparisons. Use the first trials that all questions have ({fewest:,} "
        'there), or ps.bayes() with inference="pooled"; coverage() has the evidence.',
        StoppingWarning,
        stacklevel=2,
    )


def _pattern_p_values(states: States) -> Floats:
    """P-value of each group; NaN where all questions have the same number of trials."""
    n, c = states.n[states.state], states.counts[states.state, 1]
    ends = np.searchsorted(states.group, np.arange(states.groups + 1))
    found = np.full(states.groups, np.nan)
    (filled,) = np.nonzero(np.diff(ends))
    if not filled.size:
        return found
    most = np.zeros(states.groups, np.int64)
    most[filled] = np.maximum.reduceat(n, ends[filled])
    short = n < most[states.group]
    found[states.group[short]] = 1.0
    # The test is costly, and its result is 1 unless the short questions of a group share something.
    differ = np.ones(states.groups, dtype=np.bool_)
    places, first = np.unique(states.group[short], return_index=True)
    for shared in (c[short], (n - c)[short]):
        alike = np.minimum.reduceat(shared, first) == np.maximum.reduceat(shared, first)
        differ[places[alike]] = False
    for group in np.flatnonzero(~differ).tolist():
        own = slice(ends[group], ends[group + 1])
        found[group] = pattern_p_value(n[own], c[own], states.questions[own])
    return found


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
