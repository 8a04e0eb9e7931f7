"""The columns of a report: one value, made once for each report."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import polars as pl

from polars_scorio.arguments import Per
from polars_scorio.counting.cluster_membership import cluster_dtype
from polars_scorio.counting.trials import CLUSTER, Trials
from polars_scorio.metrics.summary import NUMBERS
from polars_scorio.reporting.inference.cell_numbers import (
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
)
from polars_scorio.reporting.question_cells import CLUSTERS, UNSCORED


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
