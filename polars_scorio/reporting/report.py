"""States and metrics to a tidy frame."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import polars as pl

from polars_scorio.arguments import Overall, Per, check_flag
from polars_scorio.counting.checks import checked, once_whole
from polars_scorio.counting.cluster_membership import cluster_dtype
from polars_scorio.counting.cluster_samples import check_sample
from polars_scorio.counting.common_questions import Alignment
from polars_scorio.counting.roles import Roles
from polars_scorio.counting.tally import class_columns
from polars_scorio.counting.trials import CLUSTER, EVERYTHING, Trials, bind, refuse_repeats
from polars_scorio.metrics.metric import Metric
from polars_scorio.metrics.summary import INFINITE
from polars_scorio.reporting.evaluate import (
    AROUND,
    CLUSTERS,
    COLUMNS,
    RESULTS,
    UNSCORED,
    Evaluation,
    result_columns,
    shared_columns,
    tidy,
)
from polars_scorio.reporting.inference.calibrated import PRICE, PRICE_DTYPE
from polars_scorio.reporting.options import InferenceOptions
from polars_scorio.reporting.overall import check_overall, with_mean, with_pool
from polars_scorio.reporting.prior_warning import warn_of_rows
from polars_scorio.reporting.request import Request
from polars_scorio.reporting.threshold_curves import curve_columns, with_curves
from polars_scorio.reporting.wide import wide_columns, widened

if TYPE_CHECKING:
    from typing_extensions import Unpack


def report(
    frame: pl.LazyFrame,
    roles: Roles,
    metrics: Sequence[Metric],
    *,
    per: Per = "model",
    overall: Overall | None = None,
    wide: bool = False,
    **options: Unpack[InferenceOptions],
) -> pl.LazyFrame:
    """The plan of a report; see `Scorio.report`."""
    wide = check_flag("wide", wide)
    trials = bind(frame, roles)
    keys = [*trials.keys, *([trials.question.name] if per == "question" else [])]
    inference, shared = options.get("inference"), shared_columns(trials, per)
    columns = wide_columns(metrics, keys, shared, inference) if wide else []
    grouped = results(trials, metrics, per=per, overall=overall, **options)
    if inference is None:
        grouped = checked(grouped, warn_of_rows(metrics))
    rows = tidy(grouped).select(*keys, *result_columns(trials, per))
    if wide:
        return widened(rows, keys, columns)
    named = curve_columns([*keys, *result_columns(trials, per)], metrics)
    refuse_repeats(named)
    rows = with_curves(rows, metrics).select(named)
    # A stable sort: the metrics of a question keep the order in which they were asked for.
    return rows.sort(*keys, maintain_order=True) if per == "question" else rows


def results(
    trials: Trials,
    metrics: Sequence[Metric],
    *,
    per: Per = "model",
    overall: Overall | None = None,
    questions: Alignment = "any",
    priced: bool = False,
    clustered: bool = False,
    **options: Unpack[InferenceOptions],
) -> pl.LazyFrame:
    """The rows of a report in a list for each group.

    Parameters
    ----------
    trials : Trials
        The log.
    metrics : sequence of Metric
        What to report.
    per, overall, **options
        As in `Scorio.report`.
    questions : "any", "same" or "common"
        Whether the models of a stratum may have different questions; see `counting.groups`.
    priced : bool
        Whether rows have `PRICE` too, for comparisons of calibrated numbers.
    clustered : bool
        Whether rows of questions have their `CLUSTER` too, where the log has clusters, for
        comparisons that take them as a sample.

    Returns
    -------
    LazyFrame
        One row per group, ascending: its keys, and the rows in `RESULTS`.
    """
    request = Request.of(trials, metrics, per=per, **options)
    if overall is not None:
        check_overall(overall, trials, per)
    question = {trials.question.name: trials.question.dtype} if per == "question" else {}
    columns = result_columns(trials, per)
    refuse_repeats([*trials.keys, *question, *columns])
    schema = question | columns | (AROUND if overall == "macro" else {})
    schema |= {PRICE: PRICE_DTYPE} if priced else {}
    sampled = clustered or request.inference.intervals.target == "population"
    if clustered and trials.cluster is not None:
        schema |= {CLUSTER: cluster_dtype(trials.cluster)}
    groups = request.groups(per_question=per == "question", questions=questions)
    if trials.cluster is not None and sampled:
        check = check_sample(trials, class_columns(request.inference.classes))
        groups = checked(groups, check)
    if overall == "micro":
        groups = with_pool(groups, trials)
    evaluate = Evaluation(request.metrics, request.inference, schema, request.prior is not None)
    keys = trials.strata | trials.models or {EVERYTHING: pl.UInt8()}
    whole = {**keys, RESULTS: pl.List(pl.Struct(schema))}
    grouped = once_whole(groups, evaluate, whole, filters=True)
    if any(metric.unbounded for metric in metrics):
        ahead = request.inference.kind == "calibrated"
        grouped = checked(grouped, partial(_refuse_infinite, ahead=ahead))
    return with_mean(grouped, request) if overall == "macro" else grouped


def _refuse_infinite(grouped: pl.DataFrame, *, ahead: bool) -> pl.DataFrame:
    """Refuse a blend with a negative power of zero; `ahead`: where k > n there are no numbers."""
    rows = tidy(grouped).drop(EVERYTHING, *AROUND, strict=False)
    bad = rows.filter(INFINITE & ~(pl.col("mu").is_null() & ahead))
    if bad.height:
        keys = [name for name in bad.columns if name not in {*COLUMNS, CLUSTERS, UNSCORED}]
        first = bad.sort(*keys, maintain_order=True) if keys else bad
        place = first.select(*keys, "metric", "k").row(0, named=True)
        where = ", ".join(f"{name}={value!r}" for name, value in place.items())
        raise ValueError(
            f"{bad.height:,} results have a negative power of zero, the first at {where}: a metric "
            "to which it is applied is 0 there, or nearly so. Use powers that are not negative."
        )
    return grouped
