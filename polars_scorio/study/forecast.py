"""Forecasts: ranges for draws of more trials than there were."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import polars as pl

from polars_scorio.arguments import value_text
from polars_scorio.counting.log import Log, bind_roles, refuse_repeats
from polars_scorio.counting.roles import Roles
from polars_scorio.counting.tally import QUESTIONS
from polars_scorio.maths.credit_at_rates import RootDraw
from polars_scorio.maths.credit_numbers import forecast_numbers, holdout_error
from polars_scorio.maths.free_fit import Calibrated, Group
from polars_scorio.maths.variance import GainsOf
from polars_scorio.metrics.from_text import makes_draws
from polars_scorio.metrics.metric import DrawSizes, Metric, number_column
from polars_scorio.metrics.success import pass_at_k
from polars_scorio.study.calibrated import credited_classes
from polars_scorio.study.evaluate import RESULTS, tidy_rows
from polars_scorio.study.request import Request, refuse_judge

# A metric, or the function that makes it of draw sizes.
Drawn: TypeAlias = "Metric | Callable[[DrawSizes], Metric]"

DEFAULT_SIZES = (100, 1_000, 10_000)
COLUMNS: dict[str, pl.DataType] = {
    "metric": pl.String(),
    "k": pl.Int64(),
    "trials_max": pl.Int64(),
    **dict.fromkeys(
        ("extrapolation", "mu", "lo", "hi", "misfit", "holdout_error"), pl.Float64()
    ),
}  # fmt: skip


def forecast(
    log: Log,
    roles: Roles,
    k: DrawSizes | None = None,
    metric: Drawn = pass_at_k,
    *,
    confidence: float = 0.95,
) -> pl.LazyFrame:
    """The plan of a forecast; see `Scorio.forecast`."""
    trials, drawn = bind_roles(log, roles), drawn_by(metric, k)
    refuse_judge(trials, "forecast")
    refuse_repeats([*trials.keys, *COLUMNS])
    request = Request.from_trials(trials, [drawn], confidence=confidence)
    forecasts = _GroupForecasts(request, forecast_successes(request))

    def forecast_rows(groups: pl.DataFrame) -> pl.DataFrame:
        listed = groups.select(*trials.keys, forecasts(groups[QUESTIONS]).alias(RESULTS))
        return tidy_rows(listed).select(*trials.keys, *COLUMNS)

    schema = {**trials.strata, **trials.models, **COLUMNS}
    return request.groups().then(forecast_rows, schema).plan()


def drawn_by(metric: Drawn, k: DrawSizes | None) -> Metric:
    """The metric of these draw sizes."""
    if isinstance(metric, Metric):
        if None in metric.row_sizes:
            raise _without_draws(repr(metric))
        if k is not None:
            raise TypeError(
                f"k is given twice: {metric!r} has draw sizes. Leave k out, or pass the function, "
                f"as in metric=ps.{metric.function}"
            )
        return metric
    if not callable(metric):
        raise TypeError(
            "forecast takes a metric of k draws, such as ps.pass_at_k or ps.pass_hat_k([100]), got "
            f"{value_text(metric)}"
        )
    if not makes_draws(metric):
        raise _without_draws(f"ps.{metric.__name__}")
    made = metric(DEFAULT_SIZES if k is None else k)
    if not isinstance(made, Metric):
        raise TypeError(
            "metric must be a function that makes metrics of draw sizes, got "
            f"{value_text(metric)}, which makes {value_text(made)}"
        )
    return made


def _without_draws(name: str) -> ValueError:
    """The error for a metric that has no draw sizes."""
    return ValueError(
        f"forecast needs a metric of k draws, such as ps.pass_at_k or ps.pass_hat_k; {name} has "
        "no k"
    )


def forecast_successes(request: Request) -> tuple[int, ...]:
    """The classes that count as success of the metric of a forecast."""
    ((metric, view),) = request.metrics
    if metric.t is not None:
        raise ValueError(
            f"{metric.name} is a curve over thresholds: forecast ps.g_pass_at_k_tau, or report it "
            "without a prior, where k may exceed the trials"
        )
    successes = None if view == "rewards" else credited_classes(metric, view, request.classes)
    if successes is None:
        raise ValueError(
            f"{metric.name} has no forecast: a range is known for the mean credit of draws with "
            "success and failure alone. Forecast what it is made of, such as ps.pass_at_k and "
            "ps.pass_hat_k, with success= for what counts as one"
        )
    return successes


@dataclass(frozen=True, slots=True, eq=False)
class _GroupForecasts:
    """The function from the questions of each group to its rows of the forecast."""

    request: Request
    successes: tuple[int, ...]

    def __call__(self, groups: pl.Series) -> pl.Series:
        """A list of rows for each group; Polars calls it with a part of the groups."""
        states = self.request.cells(groups).states
        fitted = Calibrated.fit(states.binary([*self.successes]))
        shared = [self._of_group(group) for group in fitted.groups]
        columns = [self._of_draws(fitted, k) for k in self._drawn_metric.row_sizes if k is not None]
        rows = [
            [{**facts, **numbers} for numbers in of_draws]
            for facts, of_draws in zip(shared, zip(*columns, strict=True), strict=True)
        ]
        return pl.Series(rows, dtype=pl.List(pl.Struct(COLUMNS)), strict=False)

    @property
    def _drawn_metric(self) -> Metric:
        return self.request.metrics[0][0]

    def _of_group(self, group: Group) -> dict[str, object]:
        """Numbers of a group that all draws share."""
        error = self._holdout_error(group)
        return {
            "metric": self._drawn_metric.name,
            "trials_max": int(group.n.max()),
            "misfit": group.fits.misfit[0],
            "holdout_error": None if np.isnan(error) else error,
        }

    def _holdout_error(self, group: Group) -> float:
        """The holdout error on the scale of the metric; NaN if the metric has no draw of n."""
        n, (low, high) = int(group.n[0]), self._drawn_metric.support
        draw = self._metric_draw(n)
        gains = None if isinstance(draw, RootDraw) else draw(n)  # Geom@k is no credit
        if gains is None or gains.size != n:  # the weights of a spectrum are those of one draw size
            return float("nan")
        return holdout_error(group, gains) * (high - low)

    def _of_draws(self, fitted: Calibrated, k: int) -> list[dict[str, float | None]]:
        """Numbers of the draws of one size, for each group."""
        low, high = self._drawn_metric.support
        drawn = forecast_numbers(fitted, self._metric_draw(k), self.request.choice.confidence)
        numbers = [low + (high - low) * each for each in (drawn.mu, drawn.lo, drawn.hi)]
        fewest = fitted.fewest_trials
        names = ("k", "extrapolation", "mu", "lo", "hi")
        # Null for NaN: beyond twice the trials there is no mean.
        columns = (number_column(each).to_list() for each in numbers)
        rows = zip(np.full(fewest.size, k), k / fewest, *columns, strict=True)
        return [dict(zip(names, row, strict=True)) for row in rows]

    def _metric_draw(self, k: int) -> GainsOf:
        """Gains of each success of k trials; or Geom@k, which is no sum of gains."""
        draw = self._drawn_metric.draw(k)
        assert draw is not None  # `forecast_successes` has seen to that
        return draw
