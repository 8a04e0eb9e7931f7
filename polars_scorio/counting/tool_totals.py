"""Plan and score of a log as its tool says them, beside the coverage of the log."""

from __future__ import annotations

import polars as pl

from polars_scorio.counting.trials import EVERYTHING, Trials

TOTALS_COLUMNS = ("planned", "reported")


def has_totals(totals: pl.DataFrame | None, trials: Trials) -> bool:
    """Whether the tool's totals are known for the strata and models of a report."""
    return totals is not None and {*trials.keys} <= {*totals.columns}


def with_totals(summary: pl.LazyFrame, totals: pl.DataFrame, trials: Trials) -> pl.LazyFrame:
    """A summary of models with the columns `planned` and `reported`.

    Parameters
    ----------
    summary : LazyFrame
        One row per stratum and model.
    totals : DataFrame
        Rows of the runs, with the keys of the summary, planned (trials) and reported (a score).
    trials : Trials
        The roles of the log.

    Returns
    -------
    LazyFrame
        Over several runs of a model, planned is their sum, and reported their mean, weighted with
        the planned trials; null if a run does not say it.
    """
    planned, reported = pl.col("planned"), pl.col("reported")
    known = totals.lazy().select(pl.lit(0).alias(EVERYTHING), *trials.keys, *TOTALS_COLUMNS)
    added = known.group_by(trials.groups).agg(
        pl.when(planned.is_not_null().all()).then(planned.sum()),
        pl.when(pl.len() == 1)
        .then(reported.first())
        .when(planned.is_not_null().all(), reported.is_not_null().all())
        .then((reported * planned).sum() / planned.sum()),
    )
    dtypes = summary.collect_schema()
    keys = [pl.col(name).cast(dtypes[name]) for name in trials.groups]
    return summary.join(
        added.with_columns(keys),
        on=trials.groups,
        how="left",
        nulls_equal=True,
        maintain_order="left",
    )
