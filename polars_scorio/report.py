"""States and metrics to a tidy frame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl

from polars_scorio.alignment import Alignment
from polars_scorio.checks import checked
from polars_scorio.counts import STATES
from polars_scorio.evaluation import COLUMNS, Evaluation
from polars_scorio.inquiry import inquiry
from polars_scorio.metrics.metric import Metric
from polars_scorio.options import ReportOptions
from polars_scorio.roles import EVERYTHING, Roles, Trials, bind, refuse_repeats

if TYPE_CHECKING:
    from typing_extensions import Unpack

RESULTS = ":results"


def report(
    frame: pl.LazyFrame, roles: Roles, metrics: Sequence[Metric], **options: Unpack[ReportOptions]
) -> pl.LazyFrame:
    """The plan of a report; see `Scorio.report`."""
    trials = bind(frame, roles)
    grouped = results(trials, metrics, **options).select(*trials.keys, RESULTS)
    tidy = grouped.explode(RESULTS).unnest(RESULTS)
    if options.get("per") != "question":
        return tidy
    # A stable sort: the metrics of a question keep the order in which they were asked for.
    return tidy.sort(*trials.keys, trials.question.name, maintain_order=True)


def results(
    trials: Trials,
    metrics: Sequence[Metric],
    *,
    questions: Alignment = "any",
    **options: Unpack[ReportOptions],
) -> pl.LazyFrame:
    """The rows of a report in a list for each group.

    Parameters
    ----------
    trials : Trials
        The log.
    metrics : sequence of Metric
        What to report.
    questions : "any", "same" or "common"
        Whether the models of a stratum may have different questions; see `counts.states`.
    **options
        As in `Scorio.report`.

    Returns
    -------
    LazyFrame
        One row per group, ascending: its keys, and the rows in `RESULTS`.
    """
    asked, per_question = inquiry(trials, metrics, **options), options.get("per") == "question"
    question = {trials.question.name: trials.question.dtype} if per_question else {}
    refuse_repeats([*trials.keys, *question, *COLUMNS])
    schema = question | COLUMNS
    evaluate = Evaluation(asked.asked, asked.inference, schema, asked.prior is not None)
    evaluated = pl.col(STATES).map_batches(
        evaluate, return_dtype=pl.List(pl.Struct(schema)), is_elementwise=True
    )
    groups = asked.states(per_question=per_question, questions=questions)
    grouped = groups.select(*trials.groups, evaluated.alias(RESULTS))
    return checked(grouped, _refuse_infinite) if any(m.poles for m in metrics) else grouped


def _refuse_infinite(grouped: pl.DataFrame) -> pl.DataFrame:
    """Refuse a blend with a negative power of zero."""
    rows = grouped.explode(RESULTS).unnest(RESULTS).drop(EVERYTHING, strict=False)
    infinite = pl.any_horizontal(pl.col("estimate", "mu", "sigma").is_infinite())
    bad = rows.filter(infinite | pl.col("sigma").is_null())
    if bad.height:
        keys = [name for name in bad.columns if name not in COLUMNS]
        first = bad.sort(*keys, maintain_order=True) if keys else bad
        place = first.select(*keys, "metric", "k").row(0, named=True)
        where = ", ".join(f"{name}={value!r}" for name, value in place.items())
        raise ValueError(
            f"{bad.height:,} results have a negative power of zero, the first at {where}: a metric "
            "to which it is applied is 0 there, or nearly so. Use powers that are not negative."
        )
    return grouped
