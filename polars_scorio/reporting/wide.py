"""Metrics as columns: a report with one row for each stratum and model."""

from __future__ import annotations

import re
from collections.abc import Sequence

import polars as pl

from polars_scorio.counting.trials import EVERYTHING, STAND_IN, refuse_repeats
from polars_scorio.metrics.metric import Metric


def wide_rows(rows: pl.LazyFrame, keys: Sequence[str], columns: Sequence[pl.Expr]) -> pl.LazyFrame:
    """The rows of a report as one row for each of the keys."""
    groups = [pl.col(name) for name in keys] or [STAND_IN]
    board = rows.group_by(groups).agg(columns).sort(*keys or [EVERYTHING], nulls_last=True)
    return board.select(pl.exclude(EVERYTHING))


def wide_columns(
    metrics: Sequence[Metric],
    keys: Sequence[str],
    shared: Sequence[str],
    judged: Sequence[str] = (),
) -> list[pl.Expr]:
    """One aggregation for each column of a report with metrics as columns.

    The columns of `judged` are those that a metric has if the outcomes are verdicts of a judge.

    Raises
    ------
    ValueError
        If two columns would have the same name.
    """
    columns = [pl.col(name).first() for name in shared]
    for metric in metrics:
        beside = [*(["mu"] * (metric.headline != "mu")), "sigma", "lo", "hi", *judged]
        for k in metric.row_sizes:
            plain = plain_name(metric, k)
            row = (pl.col("metric") == metric.name) & pl.col("k").eq_missing(pl.lit(k, pl.Int64))
            for number in (metric.headline, *beside):
                name = plain if number == metric.headline else f"{plain}_{number}"
                columns.append(pl.col(number).filter(row).first().alias(name))
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
