"""One number over all strata: their mean, or all their questions in one pool."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl
from polars.dataframe.group_by import GroupBy

from polars_scorio.arguments import Overall, Per, View, check_choice
from polars_scorio.counting.checks import once_whole
from polars_scorio.counting.lists import AS_ROWS
from polars_scorio.counting.tally import QUESTIONS
from polars_scorio.counting.trials import EVERYTHING, STAND_IN, Trials
from polars_scorio.metrics.metric import Metric
from polars_scorio.metrics.summary import number_column
from polars_scorio.reporting.evaluate import (
    AROUND,
    RESULTS,
    result_columns,
    shared_columns,
    tidy,
)
from polars_scorio.reporting.inference.choice import Inference
from polars_scorio.reporting.inference.intervals import CENTER, REACH
from polars_scorio.reporting.request import Request

_LOWEST, _HIGHEST = ":lowest", ":highest"


def check_overall(overall: Overall, trials: Trials, per: Per) -> None:
    """Refuse rows over strata where there are none.

    Raises
    ------
    ValueError
        If it is not known what is wanted, or there are no strata, or questions have rows.
    """
    check_choice("overall", overall, Overall)
    if not trials.by:
        raise ValueError(f"overall={overall!r} needs strata: name their columns with by=")
    if per == "question":
        raise ValueError(f'overall={overall!r} is about models: it has no per="question"')


def with_pool(groups: pl.LazyFrame, trials: Trials) -> pl.LazyFrame:
    """Add a group for each model, without a stratum, that has the questions of all its strata."""

    def pooled(strata: pl.DataFrame) -> pl.DataFrame:
        return _per_model(strata, trials).agg(pl.col(QUESTIONS).explode(**AS_ROWS))

    return _with_overall(groups, trials, pooled)


def with_mean(grouped: pl.LazyFrame, request: Request) -> pl.LazyFrame:
    """Add a group for each model, without a stratum, that has the mean results of its strata."""
    trials = request.trials

    def averaged(strata: pl.DataFrame) -> pl.DataFrame:
        rows = tidy(strata)
        means = pl.concat(
            _means(rows, trials, request.inference, (metric, view), k)
            for metric, view in request.metrics
            for k in metric.k
        )
        columns = result_columns(trials, "model")
        return _per_model(means, trials).agg(pl.struct(*columns, *AROUND).alias(RESULTS))

    return _with_overall(grouped, trials, averaged)


def _with_overall(
    groups: pl.LazyFrame, trials: Trials, overall: Callable[[pl.DataFrame], pl.DataFrame]
) -> pl.LazyFrame:
    """Add what a function makes of the strata of each model, after them."""

    def apply(strata: pl.DataFrame) -> pl.DataFrame:
        _refuse_lacking(strata, trials)
        rows = overall(strata).sort(*trials.models, EVERYTHING).drop(EVERYTHING)
        return pl.concat([strata, rows], how="diagonal_relaxed")

    # A filter must not go below: it would change what is averaged.
    return once_whole(groups, apply, filters=False)


def _per_model(frame: pl.DataFrame, trials: Trials) -> GroupBy:
    return frame.group_by(*trials.models, STAND_IN, maintain_order=True)


def _means(
    rows: pl.DataFrame,
    trials: Trials,
    inference: Inference,
    seen: tuple[Metric, View],
    k: int | None,
) -> pl.DataFrame:
    """The mean of one metric over the strata of each model, with its interval."""
    metric, view = seen
    columns = result_columns(trials, "model")
    own = rows.filter(pl.col("metric") == metric.name, pl.col("k").eq_missing(pl.lit(k, pl.Int64)))
    low, high = metric.support
    means = _per_model(own, trials).agg(
        pl.col("metric", "k").first(),
        pl.col(shared_columns(trials)).sum(),
        _complete("estimate", pl.col("estimate").mean()),
        _complete("mu", pl.col("mu").mean()),
        _complete("sigma", _root_of_squares("sigma")),
        _complete(CENTER, pl.col(CENTER).mean()),
        _complete(REACH, _root_of_squares(REACH)),
        (pl.col("lo") == low).all().alias(_LOWEST),
        (pl.col("hi") == high).all().alias(_HIGHEST),
        *_ends(),
    )  # fmt: skip
    if not inference.calibrates(metric, view):
        around = (means[name].to_numpy() for name in (CENTER, REACH, _LOWEST, _HIGHEST))
        lo, hi = inference.intervals.interval_around(metric, *around)
        means = means.with_columns(number_column(lo).alias("lo"), number_column(hi).alias("hi"))
    return means.select(*trials.models, *columns, *AROUND)


def _ends() -> list[pl.Expr]:
    """The interval of the mean of independent calibrated numbers [1]_.

    It reaches from the mean as far as the root of the summed squares of what their own intervals
    reach; of ranges, which have no sigma, it is the mean.

    References
    ----------
    .. [1] G. Y. Zou, A. Donner (2008), Construction of confidence limits about effect measures,
       Statistics in Medicine 27, 1693-1702.
    """
    mu, lo, hi = pl.col("mu"), pl.col("lo"), pl.col("hi")
    known = pl.col("sigma").null_count() == 0

    def far(reach: pl.Expr) -> pl.Expr:
        return (reach**2).sum().sqrt() / pl.len()

    return [
        _complete("lo", pl.when(known).then(mu.mean() - far(mu - lo)).otherwise(lo.mean())),
        _complete("hi", pl.when(known).then(mu.mean() + far(hi - mu)).otherwise(hi.mean())),
    ]


def _root_of_squares(name: str) -> pl.Expr:
    """Standard deviation of the mean of independent numbers, from their standard deviations."""
    return (pl.col(name) ** 2).sum().sqrt() / pl.len()


def _complete(name: str, mean: pl.Expr) -> pl.Expr:
    """A mean of a column, null if a stratum lacks it."""
    return pl.when(pl.col(name).null_count() == 0).then(mean).alias(name)


def _refuse_lacking(groups: pl.DataFrame, trials: Trials) -> None:
    """Raise if models lack a stratum that others have."""
    if trials.model is None:
        return
    strata, model = [*trials.strata], trials.model.name
    models, all_strata = groups.select(model).unique(), groups.select(strata).unique()
    lacking = models.join(all_strata, how="cross").join(groups, on=[*strata, model], how="anti")
    if lacking.height:
        first = lacking.sort(model, *strata).row(0, named=True)
        place = ", ".join(f"{name}={first[name]!r}" for name in strata)
        names = sorted(map(repr, lacking[model].unique().to_list()))
        raise ValueError(
            f"overall: {len(names):,} of the models lack a stratum: {', '.join(names)}; the first "
            f"has no trial at {place}. Filter the log to the strata that all models have, or "
            "leave overall= out."
        )
