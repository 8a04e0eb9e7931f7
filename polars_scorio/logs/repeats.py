"""Trials of a question, for logs that have only their mean."""

from __future__ import annotations

import polars as pl

_NEAR = 1e-6


def trials_of_means(frame: pl.LazyFrame, metric: str) -> pl.LazyFrame:
    """One row per trial, for rows that summarise several trials.

    Parameters
    ----------
    frame : LazyFrame
        Columns trial (String, of the run), asked (trials), answered (those with an outcome), mean
        (successes / asked; null where nothing was scored), and others.
    metric : str
        The name of the mean, for the error.

    Returns
    -------
    LazyFrame
        The other columns, trial and category. With one trial the category is the mean itself. With
        several it is 1 for the successes, 0 for the failures, and null for trials without an
        answer, in this order: the log does not keep the true one.

    Raises
    ------
    ValueError
        At collection: if a mean is no share of the trials.
    """
    several = pl.col("asked") > 1
    successes = pl.struct("mean", "asked", "answered").map_batches(
        lambda rows: _success_counts(rows.struct.unnest(), metric),
        return_dtype=pl.Int64,
        is_elementwise=True,
    )
    place = pl.when(several).then(pl.int_ranges(0, pl.col("asked"))).otherwise(pl.lit([None]))
    rows = frame.with_columns(pl.col("mean").fill_nan(None), _place=place, _successes=successes)
    answered = pl.when(pl.col("mean").is_not_null()).then("answered").otherwise(0)
    outcome = (
        pl.when(pl.col("_place").is_null())
        .then("mean")
        .when(pl.col("_place") < pl.col("_successes"))
        .then(1.0)
        .when(pl.col("_place") < answered)
        .then(0.0)
    )
    trial = (
        pl.when(pl.col("_place").is_null())
        .then("trial")
        .otherwise(pl.concat_str("trial", "_place", separator="/"))
    )
    return (
        rows.explode("_place")
        .with_columns(trial=trial, category=outcome)
        .drop("asked", "answered", "mean", "_place", "_successes")
    )


def _success_counts(rows: pl.DataFrame, metric: str) -> pl.Series:
    """The number of successes, which must be whole."""
    exact = rows["mean"].fill_nan(None) * rows["asked"]
    whole = exact.round()
    wrong = rows.filter(
        (rows["asked"] > 1) & (((exact - whole).abs() > _NEAR) | (whole > rows["answered"]))
    )
    if wrong.height:
        raise ValueError(
            f"the metric {metric!r} is not the share of right answers: a question with several "
            "answers has a score that no number of right answers gives. Name another metric with "
            "metric="
        )
    return whole.cast(pl.Int64)
