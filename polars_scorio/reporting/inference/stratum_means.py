"""Means over the strata of a model, as aggregations of the rows of a report."""

from __future__ import annotations

import polars as pl


def mean_of_strata(name: str) -> pl.Expr:
    """The mean of a column, null if a stratum lacks it."""
    return unless_lacking(name, pl.col(name).mean())


def error_of_mean(name: str) -> pl.Expr:
    """Standard deviation of the mean of independent numbers, null if a stratum lacks it.

    From a column of their standard deviations.
    """
    return unless_lacking(name, root_of_squares(pl.col(name)))


def root_of_squares(deviation: pl.Expr) -> pl.Expr:
    """The root of the summed squares of deviations, over their number."""
    return (deviation**2).sum().sqrt() / pl.len()


def unless_lacking(name: str, mean: pl.Expr) -> pl.Expr:
    """An aggregation of a column under its name, null if a stratum lacks the column."""
    return pl.when(pl.col(name).null_count() == 0).then(mean).alias(name)
