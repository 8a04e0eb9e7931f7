"""Models in the order of their scores, with ties where scores are equal or not told apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl
from scipy.special import ndtri

from polars_scorio.arguments import (
    NOT_NEGATIVE,
    RankMethod,
    RankTies,
    check_choice,
    check_column,
    check_number,
)
from polars_scorio.counting.roles import Roles, Trials, bind, refuse_repeats
from polars_scorio.decisions.strata import aligned, named_model, single_k
from polars_scorio.metrics.base import Metric
from polars_scorio.metrics.weighted import bayes
from polars_scorio.reporting.evaluate import RESULTS
from polars_scorio.reporting.options import DecisionOptions
from polars_scorio.reporting.report import results

if TYPE_CHECKING:
    from typing_extensions import Unpack

# How Polars names the ways to rank what is tied.
_METHODS = {"competition": "min", "competition_max": "max", "dense": "dense", "average": "average"}


def rank(
    frame: pl.LazyFrame,
    roles: Roles,
    metric: Metric | None = None,
    *,
    method: RankMethod = "competition",
    ties: RankTies = "z",
    **options: Unpack[DecisionOptions],
) -> pl.LazyFrame:
    """The plan of a ranking; see `Scorio.rank`."""
    metric, trials = metric or bayes(), bind(frame, roles)
    named_model(trials, "rank")
    single_k(metric, "rank")
    check_choice("method", method, RankMethod)
    check_choice("ties", ties, RankTies)
    strata = [*trials.strata]
    refuse_repeats([*trials.keys, "rank", "rank_ci", "mu", "sigma", "lo", "hi", "z_next"])
    grouped = results(trials, [metric], per="model", **aligned(options))
    tidy = grouped.explode(RESULTS).unnest(RESULTS)
    return ranked(tidy, trials, strata, method=method, ties=ties, **options)


def ranked(
    tidy: pl.LazyFrame,
    trials: Trials,
    strata: Sequence[str],
    *,
    method: RankMethod = "competition",
    ties: RankTies = "z",
    **options: Unpack[DecisionOptions],
) -> pl.LazyFrame:
    """The rows of a report of one metric, in the order and with the columns of `Scorio.rank`.

    Parameters
    ----------
    tidy : LazyFrame
        The rows.
    trials : Trials
        The log, for the name of its model column.
    strata : sequence of str
        Within which columns the models are ranked.
    method, ties, **options
        As in `Scorio.rank`.
    """
    descending = [False] * len(strata) + [True] + [False]

    def within(expr: pl.Expr) -> pl.Expr:
        return expr.over(strata) if strata else expr

    mu, last = pl.col("mu"), pl.col("mu").shift(1)
    gap = within(last) - mu
    spread = (within(pl.col("sigma").shift(1)) ** 2 + pl.col("sigma") ** 2).sqrt()
    z = pl.when(gap == 0).then(0.0).otherwise(gap / spread)
    if ties == "z":
        apart = z >= ndtri(float(options.get("confidence", 0.95)))
    else:
        apart = pl.col("hi") < within(pl.col("lo").shift(1))
    place = pl.when(mu.is_not_null()).then(pl.col("rank_ci").fill_null(value=False).cum_sum())
    return (
        tidy.sort(*strata, "mu", trials.keys[-1], descending=descending, nulls_last=True)
        .with_columns(rank=within(rank_scores("mu", method=method)), z_next=z, rank_ci=apart)
        .with_columns(
            within(pl.col("z_next").shift(-1)),
            rank_ci=within(_ranked(place, method)),
        )
        .select(*strata, "rank", "rank_ci", trials.keys[-1], "mu", "sigma", "lo", "hi", "z_next")
    )


def rank_scores(
    column: str | pl.Expr, *, method: RankMethod = "competition", tol: float = 1e-12
) -> pl.Expr:
    """Ranks of scores, the highest first, with ties.

    Parameters
    ----------
    column : str or Expr
        The scores.
    method : "competition", "competition_max", "dense" or "average"
        What scores that are tied get: the best of their places (1, 2, 2, 4), the worst
        (1, 3, 3, 4), no gap after them (1, 2, 2, 3), or the mean (1, 2.5, 2.5, 4).
    tol : float
        Walking down the list, a score within `tol` of the one before is tied with it.

    Returns
    -------
    Expr
        Unsigned integers, floats for "average"; null for scores that are null or NaN. Use
        ``.over(...)`` to rank within strata.

    Raises
    ------
    ValueError
        If `method` is not known, or `tol` is negative or not a number.

    Examples
    --------
    >>> import polars as pl
    >>> import polars_scorio as ps
    >>> scores = pl.DataFrame({"mu": [0.7, 0.9, 0.7, 0.5]})
    >>> scores.select(
    ...     ps.rank_scores("mu"), average=ps.rank_scores("mu", method="average")
    ... ).rows()
    [(2, 2.5), (1, 1.0), (2, 2.5), (4, 4.0)]
    """
    check_choice("method", method, RankMethod)
    tol = check_number("tol", tol, NOT_NEGATIVE)
    check_column("column", column)
    given = pl.col(column) if isinstance(column, str) else column
    scores = given.cast(pl.Float64).fill_nan(None)
    order = scores.arg_sort(descending=True, nulls_last=True)
    # Between two infinite scores the gap is NaN, which Polars holds for larger than any number.
    gap = scores.gather(order).diff().abs().fill_nan(0.0).fill_null(0.0)
    place = (gap > tol).cum_sum().gather(order.arg_sort())
    return _ranked(pl.when(scores.is_not_null()).then(place), method)


def _ranked(places: pl.Expr, method: RankMethod) -> pl.Expr:
    """Ranks of the places in a list, where those that are tied have the same place."""
    return places.rank(_METHODS[method])  # type: ignore[arg-type]  # one of Polars' names
