"""From counted questions to numbers, in one callback."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import polars as pl

from polars_scorio.arguments import Per, View
from polars_scorio.counting.categories import Need
from polars_scorio.counting.checks import AS_ROWS
from polars_scorio.counting.log import Trials
from polars_scorio.counting.tally import QUESTIONS
from polars_scorio.maths.array_rows import Floats, Ints, Mask
from polars_scorio.metrics.metric import NUMBERS, Metric
from polars_scorio.study.request import Request
from polars_scorio.subjects.question_cells import (
    CLUSTERS,
    GROUP,
    UNSCORED,
    QuestionCells,
    QuestionTable,
    RewardSubject,
    Subject,
)
from polars_scorio.subjects.scores import (
    INFERENCE,
    Law,
    Noise,
    Row,
    RowScores,
    Scores,
    StrataModels,
    Values,
)


@dataclass(frozen=True, slots=True)
class ReportColumns:
    """The columns of a report with their types, in their order."""

    keys: dict[str, pl.DataType]  # the strata and the model
    question: dict[str, pl.DataType]  # if each question has rows of its own
    labels: dict[str, pl.DataType]  # metric and draw size
    facts: dict[str, pl.DataType]  # counts that all metrics share
    numbers: dict[str, pl.DataType]  # what is said of a metric

    @property
    def visible(self) -> list[str]:
        """The names of all columns of the result."""
        return [*self.keys, *self.question, *self.beside_keys]

    @property
    def beside_keys(self) -> dict[str, pl.DataType]:
        """The columns that each metric has in a report, beside the keys."""
        return self.labels | self.facts | self.numbers

    @property
    def schema(self) -> dict[str, pl.DataType]:
        """The columns of a row beside the keys of its group."""
        return self.question | self.beside_keys


def report_columns(
    trials: Trials, per: Per = "model", needs: Sequence[Need] = (), *, bands: bool = False
) -> ReportColumns:
    """The columns of a report of a log, with those that are about what it counts.

    With `bands`, intervals hold for whole curves, and a column says for which rows.
    """
    whole = per == "model"
    facts: dict[str, pl.DataType] = {"questions": pl.UInt32()}
    if whole and trials.cluster is not None:
        facts[CLUSTERS] = pl.UInt32()
    facts |= {"trials": pl.UInt64(), "dropped": pl.UInt64()}
    if whole and trials.roles.unscored == "drop":
        facts[UNSCORED] = pl.UInt64()
    numbers: dict[str, pl.DataType] = dict.fromkeys(NUMBERS, pl.Float64())
    for need in needs:
        numbers |= need.visible
    numbers |= dict.fromkeys(("adjusted_for",) * bands + (INFERENCE,), pl.String())
    return ReportColumns(
        keys=trials.strata | trials.models,
        question={} if whole else {trials.question.name: trials.question.dtype},
        labels={"metric": pl.String(), "k": pl.Int64()},
        facts=facts,
        numbers=numbers,
    )


# The rows of a report in a list for each group.
RESULTS = ":results"

_RUN_VIEWS = ("success", "categories", "rewards")


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


@dataclass(frozen=True, eq=False)  # no slots: the table is kept
class EvaluatedGroups:
    """Groups of a log, or the means over their strata, with their numbers."""

    cells: QuestionCells
    facts: pl.DataFrame  # counts of each cell, that all metrics share
    numbers: RowScores  # of each cell; empty if nobody asked for more than the questions
    question: str
    noise: Mapping[Row, Noise] = field(default_factory=dict)  # what is known of runs; without `own`

    @cached_property
    def table(self) -> QuestionTable:
        """The questions of each group in an order that models share."""
        return QuestionTable(self.cells, self.question)

    def scores(self, row: Row, law: Law | None = None) -> Scores:
        """The scores of each cell, or a law that needs the questions alone."""
        scores = self.numbers[row] if law is None else Scores.from_law(law, len(self.facts))
        if row in self.noise:
            scores = scores._replace(
                noise=self.noise[row]._replace(independent=scores.noise.independent)
            )
        return scores

    def lacks_estimate(self, row: Row, metric: Metric, view: View) -> Mask:
        """Groups without an estimate."""
        if row in self.numbers:
            return np.isnan(self.numbers[row].estimate)
        values = self.table.estimates(metric, view, row[1])
        if values is None:
            return np.zeros(self.table.size.size, np.bool_)
        return np.bincount(self.table.group, np.isnan(values), self.table.size.size) > 0

    def rows(self, columns: ReportColumns) -> pl.DataFrame:
        """All rows of each cell, cell after cell, with the `GROUP` of the cell."""
        size = len(self.facts)
        cell = np.repeat(np.arange(size), len(self.numbers))
        facts = {fact.name: fact for fact in self.facts[cell]}
        for name, labels in zip(("metric", "k"), zip(*self.numbers, strict=True), strict=True):
            facts[name] = pl.Series(name, [*labels] * size, columns.labels[name])
        rows = [self.scores(row).columns() for row in self.numbers]
        schema = {GROUP: pl.Int64(), **columns.schema}
        return pl.DataFrame(
            [
                facts[name].cast(dtype)
                if name in facts
                else joined_column(name, dtype, [row.get(name) for row in rows], size)
                for name, dtype in schema.items()
            ]
        )


@dataclass(frozen=True, eq=False)  # no slots: what is asked for is kept
class Evaluated:
    """The numbers of a request: those of its groups, and behind them those over all strata."""

    request: Request
    groups: pl.DataFrame  # keys and `QUESTIONS` of all groups
    views: dict[Row, tuple[Metric, View]]  # of each row of the report
    parts: tuple[EvaluatedGroups, ...]  # of the groups, in their order; the last one may be means
    weights: Floats = field(default_factory=lambda: np.empty(0))  # of the strata in these means

    @cached_property
    def keys(self) -> pl.DataFrame:
        """The keys of all groups."""
        return self.groups.drop(QUESTIONS)

    @property
    def run_views(self) -> dict[Row, tuple[Metric, View]]:
        """The calibrated rows, which runs may bring something to; of decisions on a sample all."""
        sampled, prior_of = not self.parts[0].numbers, self.request.choice.prior_of
        return {
            row: (metric, view)
            for row, (metric, view) in self.views.items()
            if view in _RUN_VIEWS and (sampled or prior_of(metric, view) is None)
        }

    @property
    def bounds(self) -> str | None:
        """Whether the range of rewards was "given" or "observed"; None: all rewards are 0 or 1."""
        rewards = self.parts[0].cells.classes.need(RewardSubject)
        asked = [metric for metric, view in self.views.values() if view == "rewards"]
        return rewards.bounds_of(asked[0]) if rewards and asked and self.groups.height else None

    def models(self, row: Row, places: Ints, law: Law | None = None) -> StrataModels:
        """Some groups, all of them over all strata or none, by one metric and draw size.

        By the law of their scores, or by one that needs the questions alone.
        """
        first, (metric, view) = self.parts[0], self.views[row]
        size = first.cells.fitted.groups
        means = places.min(initial=size) >= size and len(self.parts) > 1
        part, inside = (self.parts[1], places - size) if means else (first, places)
        asked = metric, view, row[1], self.request.choice.confidence, part.table, inside
        return StrataModels(*asked, part.scores(row, law))

    def words(self, row: Row, law: Law | None) -> pl.Series:
        """The words for what each group relies on: inference, and runs."""
        every = [part.scores(row, law).words() for part in self.parts]
        return pl.Series(INFERENCE, np.concatenate(every).tolist(), pl.String)

    def of_groups(self, row: Row, name: str) -> Floats:
        """A number of one metric and draw size, of each group."""
        each = [part.scores(row).columns().get(name) for part in self.parts]
        missing = np.full(len(self.groups), np.nan)
        known = [values for values in each if values is not None]
        return np.concatenate(known).astype(np.float64) if len(known) == len(each) else missing

    def lacks_estimate(self, row: Row) -> Mask:
        """Groups of which a metric draws more trials than some question has."""
        return np.concatenate([part.lacks_estimate(row, *self.views[row]) for part in self.parts])

    def rows(self, columns: ReportColumns) -> pl.DataFrame:
        """The rows of a report, group after group, with their keys."""
        rows = self._rows(columns)
        return self.keys[rows[GROUP]].hstack(rows.drop(GROUP))

    def lists(self, columns: ReportColumns) -> pl.DataFrame:
        """The keys of all groups, with the rows of a report in a list."""
        rows = self._rows(columns)
        lists = rows.group_by(GROUP, maintain_order=True).agg(pl.struct(*columns.schema))
        return self.keys.hstack([lists.to_series(1).alias(RESULTS)])

    def _rows(self, columns: ReportColumns) -> pl.DataFrame:
        """The rows of a report with the number of their group."""
        rows = [part.rows(columns) for part in self.parts]
        size = len(self.parts[0].facts)
        return pl.concat([rows[0], *(each.with_columns(pl.col(GROUP) + size) for each in rows[1:])])


def evaluated_groups(
    groups: pl.DataFrame, request: Request, *, per_question: bool = False, numbers: bool = True
) -> Evaluated:
    """The numbers of the questions of all groups, which share states.

    Without `numbers` nothing is asked for but the estimates of questions.
    """
    trials = request.trials
    strata = stratum_numbers(groups, [*trials.strata])
    cells = request.cells(groups[QUESTIONS], per_question=per_question, strata=strata)
    subjects = request.classes.needs_of(Subject)
    for subject in subjects:
        subject.prepare(cells, groups.select(trials.groups), strata, trials)
    asked = cells.settled(request.metrics)
    known = request.numbers(asked, cells) if numbers else {}
    facts = cells.facts()
    if per_question:
        facts = facts.with_columns(cells.flat[trials.question.name])
    elif known:
        for subject in subjects:
            subject.warn(known, groups.drop(QUESTIONS), trials, cells.states.trials)
    views = {row: (metric, view) for metric, view in asked for row in metric.rows}
    part = EvaluatedGroups(cells, facts, known, trials.question.name)
    return Evaluated(request, groups, views, (part,))


def joined_column(
    name: str, dtype: pl.DataType, rows: Sequence[Values | None], cells: int
) -> pl.Series:
    """A column of some rows of each cell, cell after cell, from the values of each row.

    Null for a number that is NaN, and for a row that has no such column.

    >>> halves = np.array([0.5, 0.25])
    >>> joined_column("mu", pl.Float64(), [halves, 2 * halves], 2).to_list()
    [0.5, 1.0, 0.25, 0.5]
    """
    missing = np.full(cells, np.nan if dtype.is_numeric() else None)
    every = np.stack([missing if values is None else values for values in rows], axis=1).ravel()
    each = every.tolist() if every.dtype == object else every  # words, which take less time
    return pl.Series(name, each, nan_to_null=True).cast(dtype)
