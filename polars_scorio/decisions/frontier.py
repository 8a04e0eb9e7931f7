"""Models that are worth their cost: none is as good and cheaper, or better and as cheap."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from polars_scorio.arguments import Compared, check_confidence, check_count
from polars_scorio.counting.checks import AS_ROWS, WholePlan
from polars_scorio.counting.log import Log, Trials, bind_roles, refuse_repeats
from polars_scorio.counting.roles import Roles
from polars_scorio.decisions.cost_models import refuse_costs
from polars_scorio.decisions.model_scores import metric_of
from polars_scorio.decisions.models import (
    STRATUM,
    aligned_options,
    in_all_strata,
    named_model,
    single_k,
)
from polars_scorio.maths.array_rows import Floats, Ints
from polars_scorio.maths.cost_means import FrontierModels
from polars_scorio.maths.covariance import cluster_sums
from polars_scorio.metrics.costs import mean_cost
from polars_scorio.metrics.metric import Metric
from polars_scorio.study.cell_numbers import LOG_COST, VALUE_CLUSTERS, VALUES
from polars_scorio.study.evaluate import report_columns, tidy_rows
from polars_scorio.study.report import grouped_rows
from polars_scorio.study.request import Request, on_levels

if TYPE_CHECKING:
    from polars_scorio.study.request import DecisionOptions

_INTERVALS = ("estimate", "lo", "hi")
_COSTS = ("mean_cost", "cost_lo", "cost_hi")


def frontier(
    log: Log,
    roles: Roles,
    metric: Metric | None = None,
    *,
    confidence: float = 0.95,
    questions: Compared = "same",
) -> pl.LazyFrame:
    """The plan of a frontier; see `Scorio.frontier`."""
    found, grouped = _asked_frontier(log, roles, metric, confidence, questions)
    trials = found.trials
    shown: dict[str, pl.DataType] = {
        **trials.models,
        "metric": pl.String(),
        "k": pl.Int64(),
        **dict.fromkeys((*_INTERVALS, *_COSTS), pl.Float64()),
        "on_frontier": pl.Boolean(),
        "p_frontier": pl.Float64(),
        "dominated": pl.Boolean(),
    }
    refuse_repeats([*trials.strata, *shown])
    return in_all_strata(grouped, trials, found.model_rows, shown)


def frontier_band(
    log: Log,
    roles: Roles,
    metric: Metric | None = None,
    *,
    confidence: float = 0.95,
    questions: Compared = "same",
    points: int = 60,
) -> pl.LazyFrame:
    """The plan of a band: the best score for at most each of some costs, over draws of the models.

    Columns by..., cost, lo and hi, for costs evenly spaced on a log axis.
    """
    found, grouped = _asked_frontier(log, roles, metric, confidence, questions)
    points = check_count("points", points)
    shown: dict[str, pl.DataType] = dict.fromkeys(("cost", "lo", "hi"), pl.Float64())

    def band_rows(groups: pl.DataFrame) -> pl.DataFrame:
        return found.band_rows(groups, points)

    return in_all_strata(grouped, found.trials, band_rows, shown)


def _asked_frontier(
    log: Log,
    roles: Roles,
    metric: Metric | None,
    confidence: float,
    questions: Compared,
) -> tuple[_Frontier, WholePlan]:
    """The frontier of a log, and the rows of a report from which it is made."""
    metric = metric_of(metric, "frontier")
    single_k(metric, "frontier")
    refuse_costs(metric, "frontier", "it sets a metric of successes against the mean cost")
    trials = bind_roles(log, roles)
    metric = on_levels(metric, trials).with_unbiased_estimate()
    if not metric.per_question:
        raise ValueError(
            f"frontier: {metric.name} blends means of the whole benchmark, and has no value for a "
            "single question, which costs could be paired with; take ps.avg(), or a metric of the "
            "Pass@k family"
        )
    named_model(trials, "frontier")
    confidence = check_confidence(confidence)
    options: DecisionOptions = {"questions": questions, "confidence": confidence}
    alignment = aligned_options(options)["questions"]
    request = Request.of(
        trials,
        [metric, mean_cost()],
        target="population",
        inference="calibrated",
        confidence=confidence,
    )
    rewards = request.classes.rewards is not None
    columns = report_columns(trials, rewards=rewards, costs=True).with_price()
    grouped = grouped_rows(request, columns, questions=alignment)
    return _Frontier(trials, metric, confidence), grouped


@dataclass(frozen=True, slots=True, eq=False)
class _Frontier:
    """The functions from the results of all models to the frontier of each stratum."""

    trials: Trials
    metric: Metric
    confidence: float

    def model_rows(self, groups: pl.DataFrame) -> pl.DataFrame:
        """A row for each stratum and model, the cheapest first."""
        (model,) = self.trials.models
        parts = [self._model_part(rows, model) for rows in self._strata_of(groups)]
        if not parts:
            return groups.select(STRATUM, model).with_columns(
                *(pl.lit(None, pl.Float64).alias(name) for name in (*_INTERVALS, *_COSTS)),
                metric=pl.lit(None, pl.String),
                k=pl.lit(None, pl.Int64),
                on_frontier=pl.lit(None, pl.Boolean),
                p_frontier=pl.lit(None, pl.Float64),
                dominated=pl.lit(None, pl.Boolean),
            )
        return pl.concat(parts)

    def band_rows(self, groups: pl.DataFrame, points: int) -> pl.DataFrame:
        """A row for each stratum and cost."""
        parts = []
        for rows in self._strata_of(groups):
            models, here = self._models_of(rows)
            if models.freedom <= 0 or not here.any():
                continue
            logs = np.linspace(models.cost.min(), models.cost.max(), points)
            lo, hi = models.band(logs, self.confidence)
            stratum = np.full(points, rows[STRATUM][0], dtype=np.uint32)
            columns = {STRATUM: stratum, "cost": np.exp(logs), "lo": lo, "hi": hi}
            parts.append(pl.DataFrame(columns, nan_to_null=True))
        schema = {STRATUM: pl.UInt32(), **dict.fromkeys(("cost", "lo", "hi"), pl.Float64())}
        return pl.concat([pl.DataFrame(schema=schema), *parts])

    def _strata_of(self, groups: pl.DataFrame) -> Iterator[pl.DataFrame]:
        """The rows of a report of each stratum."""
        if groups.height:
            yield from tidy_rows(groups).partition_by(STRATUM, maintain_order=True)

    def _model_part(self, rows: pl.DataFrame, model: str) -> pl.DataFrame:
        """The rows of one stratum, the cheapest model first."""
        models, here = self._models_of(rows)
        scores, costs = self._score_rows(rows), rows.filter(metric=mean_cost().name)
        every = [np.full(here.size, np.nan) for _ in range(3)]
        on, chance, dominated = every
        if here.any():
            on[here], chance[here] = models.on, models.chance()
            dominated[here] = models.dominated(self.confidence)
        return (
            scores.select(STRATUM, model, "metric", "k", *_INTERVALS)
            .hstack(costs.select(_renamed_columns(_INTERVALS, _COSTS)))
            .with_columns(
                pl.Series("on_frontier", on, nan_to_null=True).cast(pl.Boolean),
                pl.Series("p_frontier", chance, nan_to_null=True),
                pl.Series("dominated", dominated, nan_to_null=True).cast(pl.Boolean),
            )
            .sort("mean_cost", model)
        )

    def _score_rows(self, rows: pl.DataFrame) -> pl.DataFrame:
        """The rows of the metric."""
        return rows.filter(pl.col("metric") == self.metric.name)

    def _models_of(self, rows: pl.DataFrame) -> tuple[FrontierModels, Floats]:
        """The models of a stratum that have an estimate, and which of all these are."""
        scores, costs = self._score_rows(rows), rows.filter(metric=mean_cost().name)
        here = scores["estimate"].is_not_null().to_numpy()
        values = np.hstack([_value_matrix(each.filter(here)) for each in (scores, costs)])
        number = len(values)
        cluster = None
        if self.trials.cluster is not None and number:
            cluster = costs[VALUE_CLUSTERS][0].to_numpy()
        parts, freedom = _mean_parts(values, cluster)
        low, high = self.metric.support
        width = 0.0 if self._of_rewards(rows) else high - low
        floor = 0.5 * width**2 / (number * (number + 1)) if number else 0.0
        score = scores["estimate"].to_numpy()[here]
        cost = costs[LOG_COST].to_numpy()[here]
        return FrontierModels(score, cost, parts, freedom, floor), here

    def _of_rewards(self, rows: pl.DataFrame) -> bool:
        return "bounds" in rows.columns and rows["bounds"].null_count() < len(rows)


def _renamed_columns(old: tuple[str, ...], new: tuple[str, ...]) -> list[pl.Expr]:
    """Columns under new names."""
    return [pl.col(one).alias(other) for one, other in zip(old, new, strict=True)]


def _value_matrix(rows: pl.DataFrame) -> Floats:
    """Values of the questions of each model, a column for each."""
    values = rows[VALUES].explode(**AS_ROWS).to_numpy()
    return np.asarray(values.reshape(len(rows), -1).T if len(rows) else np.empty((0, 0)))


def _mean_parts(values: Floats, cluster: Ints | None) -> tuple[Floats, float]:
    """Parts of each question, or cluster, in the means, and their degrees of freedom.

    Squares of the parts sum to the variance of a mean.
    """
    number = len(values)
    if not number:
        return values, 0.0
    away = (values - values.mean(axis=0)) / number
    parts = away if cluster is None else cluster_sums(away, cluster)
    units = len(parts)
    if units == 1:
        return 0 * parts, 0.0
    return np.sqrt(units / (units - 1)) * parts, units - 1.0
