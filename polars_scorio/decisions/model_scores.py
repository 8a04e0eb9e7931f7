"""The models of a log, to compare them: on these very questions, or on a population of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import polars as pl
import scipy

from polars_scorio.arguments import POSITIVE, Overall, Range, check_anytime, check_number
from polars_scorio.counting.trials import Trials
from polars_scorio.decisions.compared_models import (
    ComparedModels,
    ComparedRows,
    ModelNumbers,
    ReportRows,
)
from polars_scorio.decisions.cost_models import CostModels, CostRows, cost_models
from polars_scorio.decisions.paired_population import (
    PairedQuestions,
    refuse_unadjustable,
    sample_options,
)
from polars_scorio.decisions.prior_dominance import prior_decides, rounding_error
from polars_scorio.decisions.sampled_scores import SampledScores
from polars_scorio.decisions.strata import aligned_options
from polars_scorio.decisions.strata_arrays import Block
from polars_scorio.kernels.anytime import anytime_critical
from polars_scorio.kernels.array_types import Floats, Ints, Mask
from polars_scorio.kernels.simultaneous.rank_ranges import lower_models
from polars_scorio.metrics.from_text import check_metric
from polars_scorio.metrics.metric import Metric
from polars_scorio.metrics.reward_metric import given_reward_range
from polars_scorio.metrics.weighted import avg
from polars_scorio.reporting.inference.cell_numbers import BOUNDS
from polars_scorio.reporting.inference.choice import Inference, UnbiasedInference
from polars_scorio.reporting.inference.posterior_scores import PosteriorScores
from polars_scorio.reporting.inference.priced_scores import PricedScores
from polars_scorio.reporting.inference.score_differences import Scores
from polars_scorio.reporting.options import DecisionOptions
from polars_scorio.reporting.overall import with_all_questions
from polars_scorio.reporting.report import grouped_rows
from polars_scorio.reporting.report_columns import report_columns
from polars_scorio.reporting.request import Request, view_of


def metric_of(metric: Metric | None, method: str) -> Metric:
    """The metric, by default `ps.avg()`.

    Raises
    ------
    TypeError
        If it is something else.
    """
    if metric is None:
        return avg()
    check_metric(metric, f"{method} takes a metric")
    return metric


def value_range(metric: Metric, trials: Trials) -> float:
    """The range of a metric; infinite if nobody gave the range of real-valued rewards."""
    ends = metric.support
    if view_of(metric, trials) == "rewards":
        ends = given_reward_range(metric, trials.roles.bounds) or (-np.inf, np.inf)
    return ends[1] - ends[0]


def check_goal(keyword: str, value: float, limit: float, within: Range = POSITIVE) -> float:
    """A half-width or margin as a float, at most the limit, beyond which it is always met.

    Raises
    ------
    ValueError
        If it is no number, or larger than the limit.
    """
    number = check_number(keyword, value, within)
    if number > limit > 0:
        raise ValueError(
            f"{keyword} must be at most {limit:g}, beyond which it is always met, got {number:g}. "
            "Two points of a hundred are 0.02"
        )
    return number


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class BenchmarkModels(ComparedModels):
    """Models on these very questions: each has an error of its own.

    Attributes
    ----------
    inference : Inference
        The inference that gives its numbers.
    warns : bool
        Whether to warn of pairs in which the prior decides: nobody chose the inference.
    """

    inference: Inference
    warns: bool

    @property
    def confidence(self) -> float:
        """Confidence of the intervals."""
        return self.inference.confidence

    def of_k(self, rows: pl.DataFrame, k: int | None) -> BenchmarkRows:
        """The rows of a report of one draw size: one of each model, ascending."""
        return BenchmarkRows(rows.filter(pl.col("k").eq_missing(pl.lit(k, pl.Int64))), self)


@dataclass(frozen=True, slots=True, eq=False)
class BenchmarkRows(ReportRows):
    """Rows of a report of one metric and draw size, one of each model."""

    models: BenchmarkModels

    def scores(self, block: Block) -> Scores:
        """The models of some strata."""
        models = self.models
        return models.inference.model_scores(models.metric, self.rows, block.rows)

    def lower_ends(self, block: Block, scores: Scores, confidence: Floats) -> Floats:
        """Lower ends of the intervals of the models at a confidence of each stratum.

        Without a price, the intervals of the report are stretched. The ends are never above those
        of the report.
        """
        mu, _, lo, _ = self.model_numbers(block, scores)
        wanted, of_report = (
            self._look_critical(scores, np.full_like(mu, 1) * np.reshape(level, (-1, 1)))
            for level in (confidence, self.models.confidence)
        )
        if isinstance(scores, PricedScores):
            tail = scipy.special.ndtr(-wanted)
            ends = scores.price.lower_ends(tail.ravel()).reshape(mu.shape)
        else:
            ends = mu - wanted / of_report * (mu - lo)
        bounds = self.models.metric.bounds
        # The bounds of rewards are a range, in which all ends lie.
        rewards = self.rows[BOUNDS].is_not_null().any() if BOUNDS in self.rows.columns else False
        least = -np.inf if bounds is None or rewards else bounds[0]
        return np.minimum(np.maximum(ends, least), lo)

    def _look_critical(self, scores: Scores, confidence: Floats) -> Floats:
        """Critical values of the interval of each model by itself, shape (S, L)."""
        z = np.asarray(scipy.special.ndtri((1 + confidence) / 2))
        every = np.arange(confidence.shape[1])
        if not scores.repeated:
            return z
        return anytime_critical(z, scores.pair_information(every, every))

    def outweighed_pairs(self, block: Block, scores: Scores, a: Ints, b: Ints) -> Mask:
        """Pairs of columns in which the prior decides although nobody chose the inference."""
        if not (self.models.warns and isinstance(scores, PosteriorScores)):
            return ReportRows.outweighed_pairs(self, block, scores, a, b)
        estimate = self.of_models("estimate", block)
        pairs = scores.pair_differences(a, b, self._single_critical(scores, a.size))
        gap = estimate[:, a] - estimate[:, b]
        return prior_decides(gap, pairs.lo, pairs.hi, self.models.metric)

    def number_outweighed(self, block: Block, scores: Scores) -> Ints:
        """Number of `outweighed_pairs` of each stratum, counted without a table of all pairs.

        The intervals are not clipped to bounds; this matters for bounds narrower than the metric.
        """
        if not (self.models.warns and isinstance(scores, PosteriorScores)):
            return ReportRows.number_outweighed(self, block, scores)
        estimate = self.of_models("estimate", block)
        c = self._single_critical(scores, estimate.shape[1])
        sigma = scores.sigma + rounding_error(self.models.metric)
        # The interval of a pair is about its posterior means: one estimate is too far from it.
        return np.asarray(lower_models(estimate - scores.mu, sigma, sigma, c, np.inf).sum(axis=1))

    def _single_critical(self, scores: Scores, columns: int) -> Floats:
        """The critical value of a single pair in each stratum, shape (S, columns)."""
        c = scores.quantile((1 + self.models.confidence) / 2)
        return np.repeat(c[:, None], columns, axis=1)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PopulationModels(ComparedModels):
    """Models on all questions that could have been asked: those of the log are a sample.

    Attributes
    ----------
    confidence : float
        Of the intervals.
    adjusted : bool
        Whether each model was asked only a part of the questions.
    anytime : int or None
        Planned questions, if intervals are to hold at every look.
    """

    confidence: float
    adjusted: bool
    anytime: int | None = None

    def of_k(self, rows: pl.DataFrame, k: int | None) -> PopulationRows:
        """The rows of a report of one draw size: one of each question of each model."""
        return PopulationRows(
            self,
            PairedQuestions.read(
                rows, self.trials, self.metric, k, overall=self.overall is not None
            ),
        )


@dataclass(frozen=True, slots=True, eq=False)
class PopulationRows(ComparedRows):
    """Rows of a report of one metric and draw size, one of each question of each model."""

    models: PopulationModels
    questions: PairedQuestions

    def scores(self, block: Block) -> SampledScores:
        """The models of some strata."""
        models = self.models
        return self.questions.scores(block, adjusted=models.adjusted, anytime=models.anytime)

    def model_numbers(self, block: Block, scores: Scores) -> ModelNumbers:
        """The numbers of each model by itself."""
        assert isinstance(scores, SampledScores)  # as `scores` makes them
        return scores.model_numbers(self.models.confidence)

    def lower_ends(self, block: Block, scores: Scores, confidence: Floats) -> Floats:
        """Lower ends of the intervals of the models at a confidence of each stratum."""
        assert isinstance(scores, SampledScores)  # as `scores` makes them
        ends = np.empty(scores.ranked.shape)
        for level in np.unique(confidence):
            strata = confidence == level
            ends[strata] = scores.model_numbers(float(level))[2][strata]
        return ends


Models: TypeAlias = BenchmarkModels | PopulationModels | CostModels
ModelRows: TypeAlias = BenchmarkRows | PopulationRows | CostRows


def models_of(
    trials: Trials,
    metric: Metric,
    options: DecisionOptions,
    overall: Overall | None = None,
    *,
    for_gate: bool = False,
) -> tuple[pl.LazyFrame, Models]:
    """The results of the models of a log, and how they are compared.

    For a gate they keep the questions; posterior means, and trials that stopped on their outcomes,
    are refused.

    Returns
    -------
    results : LazyFrame
        A row for each group, with the rows of a report in `RESULTS`.
    models : BenchmarkModels or PopulationModels

    Raises
    ------
    TypeError, ValueError
        If the models cannot be compared, as far as arguments and schema tell.
    """
    if metric.looks_at == "costs":
        return cost_models(trials, metric, options, overall, for_gate=for_gate)
    # The truth behind the verdicts of a judge has no estimate for single questions.
    population = options.get("target") == "population" and not trials.judged
    if population:
        anytime = None if options.get("anytime") is None else check_anytime(options["anytime"])
        metric, options = metric.with_unbiased_estimate(), sample_options(metric, options)
    if overall is not None and options.get("questions") == "adjusted":
        raise ValueError(
            f'overall={overall!r} needs all questions of each model: questions="adjusted" fits '
            "each stratum by itself"
        )
    asked = aligned_options(options, adjustable=True)
    refuse_unadjustable(metric, options, population=population)
    questions = asked.pop("questions")
    request = Request.of(
        trials,
        [metric],
        per="question" if population else "model",
        rewards="always" if population else "allowed",
        **asked,  # type: ignore[misc]  # options of a report
    )
    rewards = request.classes.rewards is not None
    if population:
        adjusted = options.get("questions") == "adjusted"
        confidence = request.choice.confidence
        models: Models = PopulationModels(
            trials=trials,
            metric=metric,
            overall=overall,
            classes=request.classes,
            confidence=confidence,
            adjusted=adjusted,
            anytime=anytime,
        )
        columns = (
            report_columns(trials, "question", rewards=rewards).with_cluster(trials).with_weight()
        )
        grouped = grouped_rows(
            request,
            columns,
            questions=questions,
            watched=for_gate or anytime is not None,
            keeps_questions=for_gate,
        )
        return (with_all_questions(grouped, trials, overall) if overall else grouped), models
    models = benchmark_models(request, overall, warns=options.get("inference") is None)
    calibrated = isinstance(models.inference, UnbiasedInference)
    if for_gate and not calibrated:
        raise ValueError(
            f"{metric.name}: gate needs unbiased estimates, and these are posterior means: "
            'take ps.avg() or a metric of the Pass@k family, with inference="calibrated" and '
            "no prior trials"
        )
    columns = report_columns(trials, rewards=rewards).with_information(request.choice.anytime)
    if calibrated:
        columns = columns.with_price()
    grouped = grouped_rows(
        request,
        columns,
        overall=overall,
        questions=questions,
        watched=for_gate,
        keeps_questions=for_gate,
    )
    return grouped, models


def bounds_dtype(models: Models) -> dict[str, pl.DataType]:
    """The column `bounds` of a result about real-valued rewards, which other results lack."""
    rewards = None if models.classes is None else models.classes.rewards
    return {} if rewards is None else {BOUNDS: pl.String()}


def bounds_column(rows: pl.DataFrame) -> pl.Expr:
    """Whether the range of rewards was "given" or "observed"; null if all rewards are 0 or 1."""
    seen = rows[BOUNDS].drop_nulls() if BOUNDS in rows.columns else pl.Series([], dtype=pl.String)
    return pl.lit(seen.first(), pl.String).alias(BOUNDS)


def benchmark_models(
    request: Request, overall: Overall | None = None, *, warns: bool
) -> BenchmarkModels:
    """The models of a log on these very questions, by the first metric of a request."""
    metric, view = request.metrics[0]
    inference = request.choice.inference_of(metric, view)
    return BenchmarkModels(
        trials=request.trials,
        metric=metric,
        overall=overall,
        classes=request.classes,
        inference=inference,
        warns=warns,
    )
