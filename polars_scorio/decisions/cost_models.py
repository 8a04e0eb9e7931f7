"""The models of a log by what their trials cost, compared by ratios."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
import scipy

from polars_scorio.arguments import Overall
from polars_scorio.counting.checks import AS_ROWS, WholePlan
from polars_scorio.counting.log import Trials
from polars_scorio.decisions.models import (
    Block,
    ComparedModels,
    ReportRows,
    SampledScores,
    aligned_options,
    refuse_large_covariance,
)
from polars_scorio.maths.array_rows import Floats, Ints
from polars_scorio.maths.covariance import paired_means
from polars_scorio.maths.posteriors import Target
from polars_scorio.metrics.metric import Metric
from polars_scorio.study.cell_numbers import (
    LOG_COST,
    LOG_ERROR,
    LOG_FREEDOM,
    VALUE_CLUSTERS,
    VALUES,
    WEIGHT,
)
from polars_scorio.study.evaluate import report_columns
from polars_scorio.study.report import grouped_rows
from polars_scorio.study.request import DecisionOptions, Request
from polars_scorio.study.score_differences import Differences, Scores, StretchedScores


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class CostModels(ComparedModels):
    """Models by the log of a ratio of costs, of which less is better.

    Attributes
    ----------
    confidence : float
        Of the intervals.
    target : "benchmark" or "population"
        Whether the questions are a sample.
    """

    confidence: float
    target: Target

    def of_k(self, rows: pl.DataFrame, k: int | None) -> CostRows:
        """The rows of a report of one draw size: one of each model, ascending."""
        return CostRows(rows.filter(pl.col("k").eq_missing(pl.lit(k, pl.Int64))), self)


@dataclass(frozen=True, slots=True, eq=False)
class CostRows(ReportRows):
    """Rows of a report of one metric of costs and one draw size, one of each model."""

    models: CostModels

    def scores(self, block: Block) -> Scores:
        """The models of some strata by the negative log of their cost.

        About these very questions each model has the noise of its own trials. If some question has
        too few of these, the questions are taken as a sample.
        """
        freedom = self.of_models(LOG_FREEDOM, block)
        if self.models.target == "population" or np.isfinite(freedom).any():
            return self._sampled_scores(block)
        score, sigma = -self.of_models(LOG_COST, block), self.of_models(LOG_ERROR, block)
        z = float(scipy.special.ndtri((1 + self.models.confidence) / 2))
        return StretchedScores(score, sigma, np.inf, score - z * sigma, score + z * sigma, z)

    def _sampled_scores(self, block: Block) -> SampledScores:
        """The models of some strata on questions that are a sample."""
        refuse_large_covariance(block.rows.shape[1])
        parts = [self._question_parts(rows) for rows in block.rows]
        values, weight, cluster = (np.concatenate(each) for each in zip(*parts, strict=True))
        sizes = np.array([len(each) for each, _, _ in parts])
        first = np.cumsum(sizes) - sizes
        clustered = self.models.trials.cluster is not None
        weighted = np.ptp(weight / np.repeat(weight[first], sizes)) > _ROUNDED
        models = paired_means(
            -values, first, 0.0, cluster if clustered else None, weight if weighted else None
        )
        return SampledScores(models, 1.0, 1.0, (-np.inf, np.inf))

    def _question_parts(self, rows: Ints) -> tuple[Floats, Floats, Ints]:
        """Parts of each question in the logs of the models of a stratum, weights and clusters."""
        lists = [self.rows[name].gather(rows) for name in (VALUES, WEIGHT, VALUE_CLUSTERS)]
        values, weight, cluster = (each.explode(**AS_ROWS).to_numpy() for each in lists)
        by_model = values.reshape(rows.size, -1)
        questions = by_model.shape[1]
        return by_model.T, weight[:questions], cluster[:questions].astype(np.int64)


_ROUNDED = 1e-9  # weights that differ by less are equal


def cost_models(
    trials: Trials,
    metric: Metric,
    options: DecisionOptions,
    overall: Overall | None = None,
    *,
    for_gate: bool = False,
) -> tuple[WholePlan, CostModels]:
    """The results of the models of a log by a metric of costs; see `model_scores.models_of`."""
    asked = aligned_options(options)
    questions = asked.pop("questions")
    request = Request.of(trials, [metric], **asked)  # type: ignore[misc]  # options of a report
    grouped = grouped_rows(
        request,
        report_columns(trials, costs=True).with_price(),
        overall=overall,
        questions=questions,
        keeps_questions=for_gate,
    )
    choice = request.choice
    models = CostModels(
        trials=trials,
        metric=metric,
        overall=overall,
        classes=request.classes,
        confidence=choice.confidence,
        target=choice.target,
    )
    return grouped, models


def cost_ratios(found: Differences) -> Differences:
    """Differences of negative logs of costs as ratios of costs; sigma is that of the log.

    >>> logs = Differences(*(np.array([x]) for x in (-np.log(2), 0.1, -7.0, 0.0, -0.9, -0.5)))
    >>> [float(each.round(2)[0]) for each in cost_ratios(logs)]
    [2.0, 0.1, -7.0, 0.0, 1.65, 2.46]
    """
    ratio, lo, hi = (np.exp(-each) for each in (found.diff, found.hi, found.lo))
    return found._replace(diff=ratio, lo=lo, hi=hi)


def refuse_costs(metric: Metric, method: str, way_out: str) -> None:
    """Refuse a metric of costs.

    Raises
    ------
    ValueError
        With what answers the question.
    """
    if metric.looks_at == "costs":
        raise ValueError(f"{method} takes no metric of costs, got {metric.name}: {way_out}")
