"""Models in the order of their scores, with ties where scores are equal or not told apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import polars.selectors as cs
from scipy.special import ndtri

from polars_scorio.arguments import (
    NOT_NEGATIVE,
    RankMethod,
    RankTies,
    check_choice,
    check_column,
    check_number,
)
from polars_scorio.counting.checks import checked
from polars_scorio.counting.roles import Roles, Trials, bind, refuse_repeats
from polars_scorio.decisions.compare import standardized
from polars_scorio.decisions.outweighed import warn_of_rows
from polars_scorio.decisions.population import Sample, sample_options
from polars_scorio.decisions.strata import (
    aligned,
    named_model,
    per_stratum,
    refuse_rewards,
    single_k,
)
from polars_scorio.metrics.base import Metric
from polars_scorio.metrics.weighted import bayes
from polars_scorio.reporting.evaluate import tidy
from polars_scorio.reporting.options import DecisionOptions
from polars_scorio.reporting.report import results
from polars_scorio.reporting.request import on_levels

if TYPE_CHECKING:
    from typing_extensions import Unpack

_NUMBERS = ("mu", "sigma", "lo", "hi")

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
    check_choice("method", method, RankMethod)
    check_choice("ties", ties, RankTies)
    single_k(metric or bayes(), "rank")
    trials = bind(frame, roles)
    metric = on_levels(metric or bayes(), trials)
    named_model(trials, "rank")
    strata = [*trials.strata]
    refuse_repeats([*trials.keys, "rank", "rank_ci", *_NUMBERS, "z_next"])
    if options.get("target") == "population":
        ordered = _paired(trials, metric, ties, options)
        return _placed(ordered, trials, strata, method)
    refuse_rewards(metric, trials, "rank")
    grouped = results(trials, [metric], per="model", **aligned(options))
    rows = tidy(grouped)
    if options.get("inference") is None:
        confidence = float(options.get("confidence", 0.95))
        rows = checked(rows, warn_of_rows(metric, strata, confidence))
    return ranked(rows, trials, strata, method=method, ties=ties, **options)


def ranked(
    rows: pl.LazyFrame,
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
    rows : LazyFrame
        The rows.
    trials : Trials
        The log, for the name of its model column.
    strata : sequence of str
        Within which columns the models are ranked.
    method, ties, **options
        As in `Scorio.rank`.
    """

    def before(column: str) -> pl.Expr:
        return _within(pl.col(column).shift(1), strata)

    gap = before("mu") - pl.col("mu")
    spread = (before("sigma") ** 2 + pl.col("sigma") ** 2).sqrt()
    z = pl.when(gap == 0).then(0.0).otherwise(gap / spread)
    if ties == "z":
        apart = z >= ndtri(float(options.get("confidence", 0.95)))
    else:
        apart = pl.col("hi") < before("lo")
    ordered = _sorted(rows, trials, strata).with_columns(z_last=z, apart=apart)
    return _placed(ordered, trials, strata, method)


def _paired(
    trials: Trials, metric: Metric, ties: RankTies, options: DecisionOptions
) -> pl.LazyFrame:
    """The models in their order on the population of questions, each against the one before."""
    options = sample_options(metric, options)
    grouped = results(trials, [metric], per="question", **aligned(options))
    ranking = _Sampled(trials, metric, ties, float(options.get("confidence", 0.95)))
    schema: dict[str, pl.DataType] = {
        **trials.models,
        **dict.fromkeys((*_NUMBERS, "z_last"), pl.Float64()),
        "apart": pl.Boolean(),
    }
    return _sorted(per_stratum(grouped, trials, ranking, schema), trials, [*trials.strata])


@dataclass(frozen=True, slots=True, eq=False)
class _Sampled:
    """The function from the questions of a stratum's models to their scores and gaps."""

    trials: Trials
    metric: Metric
    ties: RankTies
    confidence: float

    def __call__(self, groups: pl.DataFrame) -> pl.DataFrame:
        """A row for each model, the best first."""
        rows = tidy(groups)
        sample = Sample.read(rows, self.trials, self.metric, self.metric.k[0])
        mu, sigma = sample.scores()
        far = sample.quantile((1 + self.confidence) / 2) * sigma
        limits = sample.limits(self.metric)
        lo, hi = np.clip(mu - far, *limits), np.clip(mu + far, *limits)
        # Stable: of equal models the first by name is the first; NaN comes last.
        order = np.argsort(-mu, kind="stable")
        gap, spread = sample.differences(order[:-1], order[1:])
        z = standardized(gap, spread)
        apart = z >= sample.quantile(self.confidence)
        if self.ties == "overlap":
            apart = hi[order[1:]] < lo[order[:-1]]
        numbers = dict(zip(_NUMBERS, (mu, sigma, lo, hi), strict=True))
        return pl.DataFrame(
            {
                **{name: groups[name].gather(order) for name in self.trials.models},
                **{name: values[order] for name, values in numbers.items()},
                "z_last": np.r_[np.nan, z],
                "apart": np.r_[False, apart],
            }
        ).with_columns(cs.float().fill_nan(None))


def _sorted(rows: pl.LazyFrame, trials: Trials, strata: Sequence[str]) -> pl.LazyFrame:
    """The best model of each stratum first."""
    descending = [*(False for _ in strata), True, False]
    return rows.sort(*strata, "mu", trials.keys[-1], descending=descending, nulls_last=True)


def _placed(
    ordered: pl.LazyFrame, trials: Trials, strata: Sequence[str], method: RankMethod
) -> pl.LazyFrame:
    """Add both ranks to models in their order, of which each knows its gap to the one before."""
    place = pl.col("apart").fill_null(value=False).cum_sum()
    places = pl.when(pl.col("mu").is_not_null()).then(place)
    return ordered.with_columns(
        rank=_within(rank_scores("mu", method=method), strata),
        rank_ci=_within(_ranked(places, method), strata),
        z_next=_within(pl.col("z_last").shift(-1), strata),
    ).select(*strata, "rank", "rank_ci", trials.keys[-1], *_NUMBERS, "z_next")


def _within(expr: pl.Expr, strata: Sequence[str]) -> pl.Expr:
    return expr.over(strata) if strata else expr


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
