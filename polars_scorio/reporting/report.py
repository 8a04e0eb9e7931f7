"""States and metrics to a tidy frame."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import polars as pl

from polars_scorio.arguments import InferenceKind, Overall, Per, check_flag
from polars_scorio.counting.checks import checked
from polars_scorio.counting.common_questions import Alignment
from polars_scorio.counting.counts import STATES
from polars_scorio.counting.roles import EVERYTHING, Roles, Trials, bind, refuse_repeats
from polars_scorio.metrics.base import Metric
from polars_scorio.metrics.results import INFINITE
from polars_scorio.reporting.calibrated import PRICE, PRICE_DTYPE
from polars_scorio.reporting.evaluate import (
    AROUND,
    COLUMNS,
    RESULTS,
    UNSCORED,
    Evaluation,
    result_columns,
    shared_columns,
    tidy,
)
from polars_scorio.reporting.options import InferenceOptions
from polars_scorio.reporting.overall import check_overall, with_mean, with_pool
from polars_scorio.reporting.prior_warning import warn_of_rows
from polars_scorio.reporting.request import Request, check_metrics

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
        everything = {} if keys else {EVERYTHING: pl.lit(0, pl.UInt8)}
        groups = keys or [EVERYTHING]
        board = rows.with_columns(**everything).group_by(*groups).agg(columns)
        return board.sort(*groups, nulls_last=True).select(pl.exclude(EVERYTHING))
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
        Whether the models of a stratum may have different questions; see `counts.states`.
    priced : bool
        Whether rows have `PRICE` too, for comparisons of calibrated numbers.

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
    groups = request.states(per_question=per == "question", questions=questions)
    if overall == "micro":
        groups = with_pool(groups, trials)
    evaluate = Evaluation(request.metrics, request.inference, schema, request.prior is not None)
    evaluated = pl.col(STATES).map_batches(
        evaluate, return_dtype=pl.List(pl.Struct(schema)), is_elementwise=True
    )
    grouped = groups.select(*trials.groups, evaluated.alias(RESULTS))
    if any(metric.unbounded for metric in metrics):
        ahead = request.inference.kind == "calibrated"
        grouped = checked(grouped, partial(_refuse_infinite, ahead=ahead))
    return with_mean(grouped, request) if overall == "macro" else grouped


def wide_columns(
    metrics: Sequence[Metric],
    keys: Sequence[str],
    shared: Sequence[str],
    inference: InferenceKind | None = None,
) -> list[pl.Expr]:
    """One aggregation for each column of a report with metrics as columns.

    Calibrated, the number of all metrics is mu, where there is an estimate: the same, but for
    posterior means, whose interval need not hold the estimate. Rewards of any value have no mu.

    Raises
    ------
    ValueError
        If two columns would have the same name.
    """
    check_metrics(metrics)
    columns = [pl.col(name).first() for name in shared]
    for metric in metrics:
        others = ["sigma", "lo", "hi"] if metric.headline == "mu" else ["mu", "sigma", "lo", "hi"]
        for k in metric.k:
            plain = plain_name(metric, k)
            row = (pl.col("metric") == metric.name) & pl.col("k").eq_missing(pl.lit(k, pl.Int64))
            for number in (metric.headline, *others):
                name = plain if number == metric.headline else f"{plain}_{number}"
                value = pl.col(number)
                if number == "estimate" and inference == "calibrated":
                    value = pl.when(value.is_not_null()).then(pl.coalesce("mu", "estimate"))
                columns.append(value.filter(row).first().alias(name))
    names = [column.meta.output_name() for column in columns]
    repeated = [name for name in names if names.count(name) > 1]
    if repeated:
        raise ValueError(
            f"wide=True would have two columns named {repeated[0]!r}: name one of their metrics "
            "otherwise with name="
        )
    refuse_repeats([*keys, *names])
    return columns


def plain_name(metric: Metric, k: int | None) -> str:
    """The name of a metric as a column that SQL need not quote.

    Letters and digits of ASCII with single underscores between them, after `m_` where no letter
    comes first. A `name` that is a word of SQL, such as "order", stays what it is.

    Examples
    --------
    >>> import polars_scorio as ps
    >>> metric = ps.g_pass_at_k_tau(4, 0.5)
    >>> metric.name, plain_name(metric, 4)
    ('g_pass_at_k_tau(tau=0.5)', 'g_pass_at_k_tau_tau_0_5_4')
    """
    words = re.findall(r"[0-9A-Za-z]+", metric.name)
    name = "_".join([*words, *([] if k is None else [str(k)])])
    return name if name[:1].isalpha() else f"m_{name}"


def _refuse_infinite(grouped: pl.DataFrame, *, ahead: bool) -> pl.DataFrame:
    """Refuse a blend with a negative power of zero; `ahead`: where k > n there are no numbers."""
    rows = tidy(grouped).drop(EVERYTHING, *AROUND, strict=False)
    bad = rows.filter(INFINITE & ~(pl.col("mu").is_null() & ahead))
    if bad.height:
        keys = [name for name in bad.columns if name not in {*COLUMNS, UNSCORED}]
        first = bad.sort(*keys, maintain_order=True) if keys else bad
        place = first.select(*keys, "metric", "k").row(0, named=True)
        where = ", ".join(f"{name}={value!r}" for name, value in place.items())
        raise ValueError(
            f"{bad.height:,} results have a negative power of zero, the first at {where}: a metric "
            "to which it is applied is 0 there, or nearly so. Use powers that are not negative."
        )
    return grouped
