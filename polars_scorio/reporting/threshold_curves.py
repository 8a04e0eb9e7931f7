"""Curves over thresholds: rows with a column t beside k."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from polars_scorio.counting.trials import refuse_repeats
from polars_scorio.metrics.metric import Metric

THRESHOLD = "t"


def curve_columns(columns: Sequence[str], metrics: Sequence[Metric]) -> list[str]:
    """The columns of a result, with that of the thresholds if there are any.

    Raises
    ------
    ValueError
        If a key has the name of the column of thresholds.
    """
    if all(metric.t is None for metric in metrics):
        return [*columns]
    after = columns.index("k") + 1
    named = [*columns[:after], THRESHOLD, *columns[after:]]
    refuse_repeats(named)
    return named


def with_curves(rows: pl.LazyFrame, metrics: Sequence[Metric]) -> pl.LazyFrame:
    """The rows, those of curves with their t beside their k.

    The rows of a curve come with the thresholds in place of the draw size.
    """
    drawn = {metric.name: metric.k[0] for metric in metrics if metric.t is not None}
    if not drawn:
        return rows
    sizes = pl.col("metric").replace_strict(drawn, default=None, return_dtype=pl.Int64)
    return rows.with_columns(
        pl.coalesce(sizes, "k").alias("k"),
        pl.when(sizes.is_not_null()).then("k").alias(THRESHOLD),
    )


def in_one_column(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows of a result with the t of a curve in place of its k."""
    columns = rows.columns
    place = columns.index("k") + 1 if "k" in columns else 0
    if not place or columns[place : place + 1] != [THRESHOLD]:
        return rows
    return rows.with_columns(pl.coalesce(THRESHOLD, "k").alias("k")).drop(THRESHOLD)
