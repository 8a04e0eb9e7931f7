"""Models that are worth their cost: none is as good and cheaper, or better and as cheap."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from polars_scorio.arguments import Unmatched, check_confidence, check_count
from polars_scorio.counting.checks import WholePlan
from polars_scorio.counting.log import Log, Trials, bind_roles, refuse_repeats
from polars_scorio.counting.roles import Roles
from polars_scorio.decisions.models import (
    STRATUM,
    aligned_options,
    in_evaluated_strata,
    metric_of,
    named_model,
    refuse_costs,
    single_k,
)
from polars_scorio.maths.array_rows import Floats, Ints
from polars_scorio.maths.cost_means import FrontierModels
from polars_scorio.maths.covariance import cluster_sums
from polars_scorio.metrics.costs import mean_cost
from polars_scorio.metrics.metric import Metric
from polars_scorio.study.evaluate import Evaluated, report_columns
from polars_scorio.study.report import evaluated_plan
from polars_scorio.study.request import Request, on_levels
from polars_scorio.subjects.scores import Row

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
    unmatched: Unmatched = "error",
) -> pl.LazyFrame:
    """The plan of a frontier; see `Scorio.frontier`."""
    evaluated, plan = _asked_frontier(log, roles, metric, confidence, unmatched)
    trials = evaluated.trials
    visible: dict[str, pl.DataType] = {
        **trials.models,
        "metric": pl.String(),
        "k": pl.Int64(),
        **dict.fromkeys((*_INTERVALS, *_COSTS), pl.Float64()),
        "on_frontier": pl.Boolean(),
        "prob_on_frontier": pl.Float64(),
        "dominated": pl.Boolean(),
    }
    refuse_repeats([*trials.strata, *visible])
    return in_evaluated_strata(plan, trials, evaluated.model_rows, visible)


def frontier_band(
    log: Log,
    roles: Roles,
    metric: Metric | None = None,
    *,
    confidence: float = 0.95,
    unmatched: Unmatched = "error",
    points: int = 60,
) -> pl.LazyFrame:
    """The plan of a band: the best score for at most each of some costs, over draws of the models.

    Columns by..., cost, lo and hi, for costs evenly spaced on a log axis.
    """
    scores, plan = _asked_frontier(log, roles, metric, confidence, unmatched)
    points = check_count("points", points)
    visible: dict[str, pl.DataType] = dict.fromkeys(("cost", "lo", "hi"), pl.Float64())

    def band_rows(groups: pl.DataFrame, evaluated: Evaluated) -> pl.DataFrame:
        return scores.band_rows(groups, evaluated, points)

    return in_evaluated_strata(plan, scores.trials, band_rows, visible)


def _asked_frontier(
    log: Log,
    roles: Roles,
    metric: Metric | None,
    confidence: float,
    unmatched: Unmatched,
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
    options: DecisionOptions = {"unmatched": unmatched, "confidence": confidence}
    alignment = aligned_options(options)["questions"]
    request = Request.from_trials(
        trials,
        [metric, mean_cost()],
        target="population",
        confidence=confidence,
    )
    plan = evaluated_plan(request, report_columns(trials), questions=alignment, named=True)
    return _Frontier(trials, metric, confidence), plan


@dataclass(frozen=True, slots=True, eq=False)
class _Frontier:
    """The functions from the results of all models to the frontier of each stratum."""

    trials: Trials
    metric: Metric
    confidence: float

    def model_rows(self, groups: pl.DataFrame, evaluated: Evaluated) -> pl.DataFrame:
        """A row for each stratum and model, the cheapest first."""
        (model,) = self.trials.models
        k = self.metric.row_sizes[0]
        size = len(groups)
        columns: dict[str, Floats] = {}
        for row, names in ((self._score_row, _INTERVALS), (self._cost_row, _COSTS)):
            scores = evaluated.parts[0].numbers[row]
            columns |= zip(names, (scores.estimate, scores.lo, scores.hi), strict=True)
        verdicts = np.full((3, size), np.nan)
        for places in self._strata_of(groups):
            models, here = self._models_of(evaluated, places)
            if here.size:
                verdicts[:, here] = models.on, models.chance(), models.dominated(self.confidence)
        on, chance, dominated = verdicts
        rows = groups.select(STRATUM, model).with_columns(
            pl.lit(self.metric.name).alias("metric"),
            pl.lit(k, pl.Int64).alias("k"),
            *(pl.Series(name, each, nan_to_null=True) for name, each in columns.items()),
            pl.Series("on_frontier", on, nan_to_null=True).cast(pl.Boolean),
            pl.Series("prob_on_frontier", chance, nan_to_null=True),
            pl.Series("dominated", dominated, nan_to_null=True).cast(pl.Boolean),
        )
        return rows.sort(STRATUM, "mean_cost", model)

    def band_rows(self, groups: pl.DataFrame, evaluated: Evaluated, points: int) -> pl.DataFrame:
        """A row for each stratum and cost."""
        parts = []
        for stratum, places in enumerate(self._strata_of(groups)):
            models, here = self._models_of(evaluated, places)
            if models.freedom <= 0 or not here.size:
                continue
            logs = np.linspace(models.cost.min(), models.cost.max(), points)
            ends = models.band(logs, self.confidence)
            lo, hi = np.sort(self.sign * np.stack(ends), axis=0)
            number = np.full(points, stratum, dtype=np.uint32)
            columns = {STRATUM: number, "cost": np.exp(logs), "lo": lo, "hi": hi}
            parts.append(pl.DataFrame(columns, nan_to_null=True))
        schema = {STRATUM: pl.UInt32(), **dict.fromkeys(("cost", "lo", "hi"), pl.Float64())}
        return pl.concat([pl.DataFrame(schema=schema), *parts])

    @property
    def _score_row(self) -> Row:
        return self.metric.name, self.metric.row_sizes[0]

    @property
    def _cost_row(self) -> Row:
        return mean_cost().name, None

    def _strata_of(self, groups: pl.DataFrame) -> list[Ints]:
        """The groups of each stratum."""
        stratum = groups[STRATUM].to_numpy()
        return np.split(np.arange(stratum.size), np.flatnonzero(np.diff(stratum)) + 1)

    def _models_of(self, evaluated: Evaluated, places: Ints) -> tuple[FrontierModels, Ints]:
        """The models of a stratum that have an estimate, and their groups."""
        numbers = evaluated.parts[0].numbers
        scores, costs = (numbers[row].estimate for row in (self._score_row, self._cost_row))
        here = places[~np.isnan(scores[places])]
        table, rows = evaluated.parts[0].table, np.empty((0, 0), np.int64)
        if here.size:
            rows = table.rows_of(here)
        values = [
            known[rows]
            for row in (self._score_row, self._cost_row)
            if (known := table.estimates(*evaluated.views[row], row[1])) is not None
        ]
        cluster = None if table.cluster is None or not here.size else table.cluster[rows[:, 0]]
        parts, freedom = _mean_parts(np.hstack(values), cluster)
        number = len(rows)
        low, high = self.metric.support
        width = 0.0 if evaluated.views[self._score_row][1] == "rewards" else high - low
        floor = 0.5 * width**2 / (number * (number + 1)) if number else 0.0
        parts[:, : here.size] *= self.sign
        score = self.sign * scores[here]
        return FrontierModels(score, np.log(costs[here]), parts, freedom, floor), here

    @property
    def sign(self) -> int:
        """-1 if lower scores are better."""
        return -1 if self.trials.roles.lower_is_better else 1


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
