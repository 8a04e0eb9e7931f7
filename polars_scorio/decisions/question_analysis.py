"""Analysis of the questions of a benchmark: never solved, always solved, telling, reversed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from polars_scorio.arguments import (
    CHANCE,
    Compared,
    QuestionUnit,
    check_choice,
    check_confidence,
    check_number,
)
from polars_scorio.counting.roles import Roles
from polars_scorio.counting.trials import bind_roles, refuse_repeats
from polars_scorio.decisions.question_tables import QuestionTable, average_request, named_questions
from polars_scorio.decisions.strata import per_stratum
from polars_scorio.kernels.question_signals import question_signals
from polars_scorio.metrics.metric_arguments import Weights
from polars_scorio.reporting.judge_requests import refuse_judge
from polars_scorio.reporting.request import Request

FALSE_DISCOVERIES = 0.1  # the usual share of good questions among those that are called reversed
_DISCRIMINATING = 4  # with fewer trials of a question its discrimination is biased by .19 and more
_DISCRIMINATED = 4  # among fewer models it is close to 1 or -1 whatever the question
_SIGNALS = ("spread", "rest_correlation", "discrimination", "p_reversed", "q_reversed")
_OF_RANGE = ("solved_by", "always_by", "status", "rate_min", "rate_max")  # of the range of outcomes
_COLUMNS: dict[str, pl.DataType] = {
    "models": pl.UInt32(),
    "trials": pl.UInt64(),
    "rate": pl.Float64(),
    "solved_by": pl.UInt32(),
    "always_by": pl.UInt32(),
    "status": pl.String(),
    "rate_min": pl.Float64(),
    "rate_max": pl.Float64(),
    **dict.fromkeys(_SIGNALS, pl.Float64()),
    "reversed": pl.Boolean(),
}


def question_analysis(
    frame: pl.LazyFrame,
    roles: Roles,
    w: Weights | None = None,
    *,
    fdr: float = FALSE_DISCOVERIES,
    per: QuestionUnit = "question",
    questions: Compared = "same",
    confidence: float = 0.95,
) -> pl.LazyFrame:
    """The plan of the analysis of single questions; see `Scorio.questions`."""
    fdr = check_number("fdr", fdr, CHANCE)
    check_choice("per", per, QuestionUnit)
    confidence = check_confidence(confidence)
    trials = bind_roles(frame, roles)
    refuse_judge(trials, "questions")
    unit: dict[str, pl.DataType] = {trials.question.name: trials.question.dtype}
    if per == "cluster":
        if trials.cluster is None:
            raise ValueError('per="cluster" needs clusters: name their column with cluster=')
        unit = {trials.cluster.name: trials.cluster.dtype, "questions": pl.UInt32()}
    schema = {**unit, **_COLUMNS}
    refuse_repeats([*trials.strata, *schema])
    request = average_request(trials, w)
    analysis = _Analysis(request, per, fdr, (1 - confidence) / 2, schema)
    return per_stratum(named_questions(request, questions), trials, analysis, schema)


@dataclass(frozen=True, slots=True, eq=False)
class _Analysis:
    """The function from the questions of all models of a stratum to a row for each question."""

    request: Request
    per: QuestionUnit
    fdr: float
    tail: float
    schema: dict[str, pl.DataType]

    def __call__(self, groups: pl.DataFrame) -> pl.DataFrame:
        """A row for each question, or cluster of questions; the most suspect ones first."""
        read = QuestionTable.of_clusters if self.per == "cluster" else QuestionTable.read
        table = read(groups, self.request)
        name = next(iter(self.schema))
        rows = pl.DataFrame({name: table.names, "questions": table.size})
        rows = rows.hstack(_rate_columns(table, self.tail)).hstack(_signal_columns(table))
        rows = rows.fill_nan(None).with_columns(
            (pl.col("q_reversed") <= self.fdr).alias("reversed")
        )
        return rows.select(*self.schema).sort("q_reversed", name, nulls_last=True)


def _rate_columns(table: QuestionTable, tail: float) -> pl.DataFrame:
    """How often each question is solved, and by how many models."""
    (questions, models), outcomes = table.trials.shape, table.outcomes
    trials, ever, always = table.trials.sum(axis=1), outcomes.ever, outcomes.always
    low, high = outcomes.support or (np.nan, np.nan)
    unseen = (high - low) * -np.expm1(np.log(tail) / trials)  # what may be unseen beyond the trials
    numbers = {
        "models": np.full(questions, models),
        "trials": trials,
        "rate": outcomes.mean.mean(axis=1),
        "solved_by": ever.sum(axis=1),
        "always_by": always.sum(axis=1),
        "never": ~ever.any(axis=1),
        "always": always.all(axis=1),
        "rate_min": high - unseen,
        "rate_max": low + unseen,
    }
    rows = pl.DataFrame(numbers).with_columns(
        pl.when("always").then("rate_min"),
        pl.when("never").then("rate_max"),
        pl.when("never")
        .then(pl.lit("never"))
        .when("always")
        .then(pl.lit("always"))
        .alias("status"),
    )
    if outcomes.support is None:  # nobody knows which reward is the lowest
        rows = rows.with_columns(pl.lit(None).alias(name) for name in _OF_RANGE)
    return rows.drop("never", "always")


def _signal_columns(table: QuestionTable) -> pl.DataFrame:
    """How each question relates to the others."""
    outcomes = table.outcomes
    signals = question_signals(outcomes.mean, outcomes.noise, table.size)
    few = table.trials.min(axis=1) < _DISCRIMINATING * table.size
    few |= outcomes.mean.shape[1] < _DISCRIMINATED
    columns = {name: getattr(signals, name) for name in _SIGNALS}
    return pl.DataFrame(columns | {"discrimination": np.where(few, np.nan, signals.discrimination)})
