"""Models that are worth their cost: none is as good and cheaper, or better and as cheap."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from polars_scorio.arguments import Unmatched
from polars_scorio.counting.log import Log, Trials, bind_roles, result_schema
from polars_scorio.counting.roles import Roles
from polars_scorio.decisions.models import (
    STRATUM,
    aligned_questions,
    in_all_strata,
    metric_of,
    named_model,
)
from polars_scorio.maths.array_rows import Floats, Ints, Mask
from polars_scorio.maths.cost_means import (
    FrontierModels,
    chance_of,
    frontier_of,
    reach_draws,
)
from polars_scorio.maths.covariance import cluster_sums
from polars_scorio.maths.posteriors import Target
from polars_scorio.metrics.costs import cost_per_success, mean_cost
from polars_scorio.metrics.metric import Metric
from polars_scorio.study.evaluate import Evaluated, report_columns
from polars_scorio.study.report import evaluated_plan
from polars_scorio.study.request import Request, on_levels, view_of
from polars_scorio.subjects.scores import CORRELATION, Row

_INTERVALS = ("estimate", "lo", "hi")
_COSTS = ("mean_cost", "cost_lo", "cost_hi")


def frontier(
    log: Log,
    roles: Roles,
    metric: Metric | None = None,
    *,
    target: Target | None = None,
    confidence: float | None = None,
    unmatched: Unmatched = "error",
) -> pl.LazyFrame:
    """The plan of a frontier; see `Scorio.frontier`."""
    metric = metric_of(metric, "frontier", "it sets a metric of successes against the mean cost")
    trials = bind_roles(log, roles)
    metric = on_levels(metric, trials).with_unbiased_estimate()
    if not metric.per_question:
        raise ValueError(
            f"frontier: {metric.name} blends means of the whole benchmark, and has no value for a "
            "single question that could be paired with its cost: use ps.avg(), or a metric of the "
            "Pass@k family"
        )
    named_model(trials, "frontier")
    # The correlation of cost and success is beside the cost of a success.
    beside = [cost_per_success()] if view_of(metric, trials) == "success" else []
    asked = [metric, mean_cost(), *beside]
    request = Request.from_trials(trials, asked, target=target, confidence=confidence)
    questions = aligned_questions(unmatched)
    plan = evaluated_plan(request, report_columns(trials), questions=questions, named=True)
    made = _Frontier(trials, metric, request.choice.target, request.choice.confidence)
    numbers: dict[str, pl.DataType] = {
        "metric": pl.String(),
        "k": pl.Int64(),
        **dict.fromkeys((*_INTERVALS, *_COSTS, "prob_on_frontier"), pl.Float64()),
        **dict.fromkeys(("on_frontier", "dominated"), pl.Boolean()),
    }
    visible = result_schema(trials.strata, trials.models, numbers)
    return in_all_strata(plan, trials, made.model_rows, visible)


@dataclass(frozen=True, slots=True, eq=False)
class _Frontier:
    """The functions from the results of all models to the frontier of each stratum."""

    trials: Trials
    metric: Metric
    target: Target
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
        known = np.flatnonzero(~np.isnan(columns["estimate"]))
        stratum = groups[STRATUM].to_numpy()[known]
        for here in np.split(known, np.flatnonzero(np.diff(stratum)) + 1):
            if here.size and self._has_trial_noise(evaluated, here):
                score, cost, correlation = self._reaches(evaluated, here)
                on = frontier_of(score[0], cost[0])
                chances = chance_of(reach_draws(score, cost, correlation))
                verdicts[:, here] = on, chances, self._dominated(evaluated, here)
            elif here.size:
                models = self._sampled_models(evaluated, here)
                on, chances = frontier_of(models.score, models.cost), models.chance()
                verdicts[:, here] = on, chances, models.dominated(self.confidence)
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

    @property
    def _score_row(self) -> Row:
        return self.metric.name, self.metric.row_sizes[0]

    @property
    def _cost_row(self) -> Row:
        return mean_cost().name, None

    def _has_trial_noise(self, evaluated: Evaluated, here: Ints) -> bool:
        """Whether the noise is that of trials: of single ones nobody knows the noise of costs."""
        cells = evaluated.parts[0].cells
        n = cells.scored_trials()[np.isin(cells.cell_of_row, here)]
        return self.target == "benchmark" and bool((n > 1).all())

    def _reaches(self, evaluated: Evaluated, here: Ints) -> tuple[Floats, Floats, Floats]:
        """Scores and log costs with how far they reach (3, L), the better up; their correlation."""
        # Reaches are in units of the normal value that the intervals have.
        numbers, z = evaluated.parts[0].numbers, evaluated.models(self._score_row, here[None]).z

        def of_row(row: Row) -> tuple[Floats, Floats, Floats]:
            each = numbers[row]
            return each.lo[here], each.estimate[here], each.hi[here]

        lo, score, hi = of_row(self._score_row)
        down, up = (score - lo, hi - score)[:: self.sign]
        cheap, cost, dear = map(np.log, of_row(self._cost_row))
        beside = numbers.get((cost_per_success().name, None))
        correlation = np.zeros(here.size) if beside is None else beside.facts[CORRELATION][here]
        return (
            np.stack([self.sign * score, down / z, up / z]),
            np.stack([cost, (cost - cheap) / z, (dear - cost) / z]),
            self.sign * np.nan_to_num(np.asarray(correlation, np.float64)),
        )

    def _dominated(self, evaluated: Evaluated, here: Ints) -> Mask:
        """Models that `compare` calls worse and dearer than some other, for all models at once."""
        size = here.size
        tail = (1 - self.confidence) / max(size * (size - 1), 1)
        one, other = map(np.ravel, np.indices((size, size)))
        surely = np.ones(size * size, np.bool_)
        for row, sign in ((self._score_row, self.sign), (self._cost_row, 1)):
            models = replace(evaluated.models(row, here[None]), confidence=1 - 2 * tail)
            surely &= (sign * models.comparison().z(one, other) > models.z)[0]
        return np.asarray(surely.reshape(size, size).any(axis=0))

    def _sampled_models(self, evaluated: Evaluated, here: Ints) -> FrontierModels:
        """The models `here`, whose questions are a sample."""
        numbers = evaluated.parts[0].numbers
        scores, costs = (numbers[row].estimate for row in (self._score_row, self._cost_row))
        table = evaluated.parts[0].table
        rows = table.rows_of(here)
        values = [
            known[rows]
            for row in (self._score_row, self._cost_row)
            if (known := table.estimates(*evaluated.views[row], row[1])) is not None
        ]
        cluster = None if table.cluster is None else table.cluster[rows[:, 0]]
        parts, freedom = _mean_parts(np.hstack(values), cluster)
        number = len(rows)
        low, high = self.metric.support
        width = 0.0 if evaluated.views[self._score_row][1] == "rewards" else high - low
        floor = 0.5 * width**2 / (number * (number + 1)) if number else 0.0
        parts[:, : here.size] *= self.sign
        return FrontierModels(self.sign * scores[here], np.log(costs[here]), parts, freedom, floor)

    @property
    def sign(self) -> int:
        """-1 if lower scores are better."""
        return -1 if self.trials.roles.lower_is_better else 1


def _mean_parts(values: Floats, cluster: Ints | None) -> tuple[Floats, float]:
    """Parts of questions, or clusters, in means, whose squares sum to the variance; freedom."""
    number = len(values)
    if not number:
        return values, 0.0
    away = (values - values.mean(axis=0)) / number
    parts = away if cluster is None else cluster_sums(away, cluster)
    units = len(parts)
    if units == 1:
        return 0 * parts, 0.0
    return np.sqrt(units / (units - 1)) * parts, units - 1.0
