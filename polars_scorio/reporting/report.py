"""The plan of a report: from a log to a tidy frame."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import polars as pl

from polars_scorio.arguments import Overall, Per, check_flag
from polars_scorio.counting.checks import check_frame, once_whole
from polars_scorio.counting.cluster_samples import check_sample
from polars_scorio.counting.common_questions import Alignment
from polars_scorio.counting.roles import Roles
from polars_scorio.counting.stopped_logs import check_stopping
from polars_scorio.counting.tally import QUESTIONS, class_columns
from polars_scorio.counting.trials import CLUSTER, EVERYTHING, bind_roles, refuse_repeats
from polars_scorio.metrics.metric import Metric
from polars_scorio.metrics.summary import INFINITE
from polars_scorio.reporting.evaluate import RESULTS, Evaluation, tidy_rows
from polars_scorio.reporting.inference.calibrated import CalibratedInference
from polars_scorio.reporting.inference.cell_numbers import JUDGE_DTYPES
from polars_scorio.reporting.inference.published import PublishedInference
from polars_scorio.reporting.options import InferenceOptions
from polars_scorio.reporting.overall import check_overall, with_mean, with_pool
from polars_scorio.reporting.prior_warning import warn_of_rows
from polars_scorio.reporting.report_columns import ReportColumns, report_columns
from polars_scorio.reporting.request import Request
from polars_scorio.reporting.threshold_curves import curve_columns, with_curves
from polars_scorio.reporting.wide import wide_columns, wide_rows

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
    trials, inference = bind_roles(frame, roles), options.get("inference")
    request = Request.of(trials, metrics, per=per, **options)
    columns = report_columns(
        trials,
        per,
        rewards=request.classes.rewards is not None,
        costs=request.classes.costs is not None,
    )
    columns = columns.with_information(request.choice.anytime)
    keys = [*columns.keys, *columns.question]
    judged = [name for name in columns.numbers if name in JUDGE_DTYPES]
    wanted = wide_columns(metrics, keys, [*columns.facts], judged) if wide else []
    grouped = grouped_rows(request, columns, overall=overall)
    if inference is None and _publishes_numbers(request):
        grouped = check_frame(grouped, warn_of_rows(metrics))
    rows = tidy_rows(grouped).select(columns.shown)
    if wide:
        return wide_rows(rows, keys, wanted)
    rows = with_curves(rows, metrics).select(curve_columns(columns.shown, metrics))
    # A stable sort: the metrics of a question keep the order in which they were asked for.
    return rows.sort(*keys, maintain_order=True) if columns.question else rows


def _publishes_numbers(request: Request) -> bool:
    """Whether a metric has published numbers, if its outcomes are success and failure."""
    return any(
        isinstance(request.choice.inference_of(metric, "success"), PublishedInference)
        for metric, _ in request.metrics
    )


def grouped_rows(
    request: Request,
    columns: ReportColumns,
    *,
    overall: Overall | None = None,
    questions: Alignment = "any",
    watched: bool = False,
    keeps_questions: bool = False,
    warns_of_stopping: bool = True,
) -> pl.LazyFrame:
    """The rows of a report in a list for each group.

    Parameters
    ----------
    request : Request
        What is asked of the log.
    columns : ReportColumns
        The columns of the rows.
    overall
        As in `Scorio.report`.
    questions : "any", "same" or "common"
        Whether the models of a stratum may have different questions; see `counting.groups`.
    watched : bool
        Whether trials that stopped on outcomes are refused; they are too if looks are repeated.
    keeps_questions : bool
        Whether the groups keep their `QUESTIONS`; groups over all strata have none.
    warns_of_stopping : bool
        Whether to warn of trials that stopped on their outcomes, unless all numbers are pooled.

    Returns
    -------
    LazyFrame
        One row per group, ascending: its keys, and the rows in `RESULTS`.
    """
    trials, per_question = request.trials, bool(columns.question)
    if overall is not None:
        check_overall(overall, trials, per_question=per_question)
    refuse_repeats(columns.shown)
    if overall == "macro":
        columns = columns.with_intervals()
    groups = request.groups(per_question=columns.names_questions, questions=questions)
    if watched or request.choice.anytime is not None:
        groups = check_frame(groups, check_stopping(trials, class_columns(request.classes)))
    sampled = CLUSTER in columns.hidden or request.choice.target == "population"
    if trials.cluster is not None and sampled:
        groups = check_frame(groups, check_sample(trials, class_columns(request.classes)))
    if overall == "micro":
        groups = with_pool(groups, trials)
    # Calibrated means over strata need the questions of all strata once more.
    again = keeps_questions or (
        overall == "macro"
        and any(
            isinstance(request.choice.inference_of(metric, view), CalibratedInference)
            for metric, view in request.metrics
        )
    )
    whole = {
        **(columns.keys or {EVERYTHING: pl.UInt8()}),
        **({QUESTIONS: groups.collect_schema()[QUESTIONS]} if again else {}),
        RESULTS: pl.List(pl.Struct(columns.schema)),
    }
    evaluation = Evaluation(
        request, columns, keeps_questions=again, warns_of_stopping=warns_of_stopping
    )
    # A filter below would change the range of the rewards, and whether all of them are 0 or 1.
    # So it would change which labels of other models count for the judge that all share.
    filters = request.classes.rewards is None and trials.truth is None
    grouped = once_whole(groups, evaluation, whole, filters=filters)
    if any(metric.unbounded for metric, _ in request.metrics):
        forecasts = request.choice.kind in {None, "calibrated"}
        grouped = check_frame(
            grouped, partial(_refuse_infinite, columns=columns, forecasts=forecasts)
        )
    if overall != "macro":
        return grouped
    means = with_mean(grouped, request, columns)
    return means if keeps_questions else means.drop(QUESTIONS, strict=False)


def _refuse_infinite(
    grouped: pl.DataFrame, *, columns: ReportColumns, forecasts: bool
) -> pl.DataFrame:
    """Refuse a blend with a negative power of zero.

    With `forecasts`, a row without numbers is one with more draws than trials.
    """
    rows = tidy_rows(grouped)
    bad = rows.filter(INFINITE & ~(pl.col("mu").is_null() & forecasts))
    if bad.height:
        keys = [*columns.keys, *columns.question]
        first = bad.sort(*keys, maintain_order=True) if keys else bad
        place = first.select(*keys, "metric", "k").row(0, named=True)
        where = ", ".join(f"{name}={value!r}" for name, value in place.items())
        raise ValueError(
            f"{bad.height:,} results have a negative power of zero, the first at {where}: a metric "
            "to which it is applied is 0 there, or nearly so. Use powers that are not negative."
        )
    return grouped
