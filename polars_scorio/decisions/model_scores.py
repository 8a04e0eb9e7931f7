"""Scores of the models of strata, by inference and kind of data."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import polars as pl
import scipy

from polars_scorio.arguments import POSITIVE, Overall, Range, check_anytime, check_number
from polars_scorio.counting.checks import WholePlan
from polars_scorio.counting.common_questions import refuse_divided
from polars_scorio.counting.log import CLUSTER, Trials
from polars_scorio.decisions.cost_models import CostModels, CostRows, cost_models
from polars_scorio.decisions.models import (
    STRATUM,
    Block,
    ComparedModels,
    ComparedRows,
    ModelNumbers,
    ReportRows,
    SampledScores,
    ScoreEnds,
    aligned_options,
    refuse_large_covariance,
)
from polars_scorio.maths.array_rows import Floats, Ints, Mask
from polars_scorio.maths.covariance import Paired, adjusted_means, connected_parts, paired_means
from polars_scorio.maths.credit_at_rates import largest_bias
from polars_scorio.maths.families import anytime_critical
from polars_scorio.maths.ranks import lower_models
from polars_scorio.maths.sample_bound import UnitSample
from polars_scorio.metrics.from_text import check_metric
from polars_scorio.metrics.metric import Metric, given_reward_range
from polars_scorio.metrics.metric_arguments import Bounds
from polars_scorio.metrics.weighted import WeightedMetric, avg
from polars_scorio.study.cell_numbers import BOUNDS, REWARD_RANGE, WEIGHT
from polars_scorio.study.evaluate import report_columns
from polars_scorio.study.overall import with_all_questions
from polars_scorio.study.posterior import PosteriorScores
from polars_scorio.study.report import CURES, PriorWarning, grouped_rows
from polars_scorio.study.request import (
    DecisionOptions,
    Inference,
    Request,
    UnbiasedInference,
    view_of,
)
from polars_scorio.study.score_differences import PricedScores, Scores


def units_of_models(
    values: Floats,
    bias: Floats,
    sizes: Ints,
    cluster: Ints | None = None,
    share: Floats | None = None,
) -> UnitSample:
    """A sample of units for each model of each stratum, stratum after stratum.

    Parameters
    ----------
    values : ndarray of float, shape (Q, L)
        The estimate of each question under each model, inside [0, 1], stratum after stratum.
    bias : ndarray of float, shape (Q, L)
        Largest bias of these estimates.
    sizes : ndarray of int, shape (S,)
        Questions of each stratum.
    cluster : ndarray of int, shape (Q,), optional
        The cluster of each question; a number in two strata stands for two clusters.
    share : ndarray of float, shape (Q,), optional
        The share of each question in the mean, but for a factor; by default they are equal.

    Examples
    --------
    One stratum, two models; the first two questions are a cluster.

    >>> values = np.array([[0.0, 1.0], [1.0, 1.0], [0.5, 0.0]])
    >>> sample = units_of_models(values, 0 * values, np.array([3]), np.array([0, 0, 1]))
    >>> sample.values.tolist(), sample.weight.tolist(), sample.group.tolist()
    ([0.5, 1.0, 0.5, 0.0], [2.0, 2.0, 1.0, 1.0], [0, 1, 0, 1])
    """
    stratum, models = np.repeat(np.arange(sizes.size), sizes), values.shape[1]
    weight = np.ones(stratum.size) if share is None else share
    if cluster is not None:
        _, first, unit = np.unique(
            stratum * (cluster.max() + 1) + cluster, return_index=True, return_inverse=True
        )
        stratum, rows = stratum[first], weight
        weight = np.bincount(unit, rows).astype(np.float64)
        values, bias = (_cluster_means(each, rows, unit, weight) for each in (values, bias))
    group = stratum[:, None] * models + np.arange(models)
    one = np.ones(group.size, dtype=np.int64)
    weight, groups = np.repeat(weight, models), sizes.size * models
    return UnitSample(values.ravel(), weight, one, group.ravel(), groups, bias.ravel())


def _cluster_means(values: Floats, weight: Floats, unit: Ints, total: Floats) -> Floats:
    """Weighted mean of each column over the rows of each unit, whose weights have this sum."""
    sums = [np.bincount(unit, weight * of_model, total.size) for of_model in values.T]
    return np.stack(sums, axis=1) / total[:, None]


# The place of a row among those of a model that have the name of its question.
_OCCURRENCE = ":occurrence"


def sample_options(metric: Metric, options: DecisionOptions) -> DecisionOptions:
    """The options of the report that gives the estimates of the questions.

    Raises
    ------
    ValueError
        If an option is given that would not change them.
    """
    if not metric.per_question:
        raise ValueError(
            f"{metric.name}: a blend of the whole benchmark has no value for a single question, "
            'so that target="population" cannot compare them; ps.geom_at_k has'
        )
    idle = {
        "prior trials have no say, leave prior= out": options.get("prior") is not None,
        'a fitted population has no say, leave inference="pooled" out': (
            options.get("inference") == "pooled"
        ),
        "alpha0 and beta0 have no say, leave them out": metric.beta_prior != (1.0, 1.0),
    }
    for way_out in (text for text, given in idle.items() if given):
        raise ValueError(
            'target="population" compares what the trials themselves say of each question: '
            f"{way_out}"
        )
    return {**options, "target": "benchmark", "inference": "published", "anytime": None}


def refuse_unadjustable(metric: Metric, options: DecisionOptions, *, population: bool) -> None:
    """Refuse ``questions="adjusted"`` for targets and metrics that it does not serve.

    Raises
    ------
    ValueError
        If the target are these very questions, or for other metrics than `avg` and `bayes`.
    """
    if options.get("questions") != "adjusted":
        return
    if not population:
        raise ValueError(
            'questions="adjusted" takes the questions as a sample, some of which each model was '
            'asked: it needs target="population"'
        )
    additive = isinstance(metric, WeightedMetric)
    if not additive:
        raise ValueError(
            'questions="adjusted" adds up effects of models and questions, which ps.avg() and '
            f'ps.bayes() allow, got {metric!r}; questions="common" takes every metric'
        )


@dataclass(frozen=True, slots=True, eq=False)
class PairedQuestions:
    """Scores of the models on each question, of one metric and draw size.

    Attributes
    ----------
    rows : DataFrame
        Ascending by stratum, question and model.
    trials, metric
        The log, and the metric of the scores.
    """

    rows: pl.DataFrame
    trials: Trials
    metric: Metric

    @classmethod
    def read(
        cls,
        rows: pl.DataFrame,
        trials: Trials,
        metric: Metric,
        k: int | None,
        *,
        overall: bool = False,
    ) -> PairedQuestions:
        """Read the rows of a report per question, which know their `STRATUM`.

        `overall` says whether the last one has the questions of all others.
        """
        of_k = rows.filter(pl.col("k").eq_missing(pl.lit(k, pl.Int64)))
        if trials.cluster is not None:
            # Over all strata, a name stands for one question of each of them.
            in_stratum = [pl.col(name).is_not_null() for name in trials.strata]
            refuse_divided(of_k.filter(*in_stratum) if overall else of_k, trials)
        question, model = trials.question.name, [*trials.models]
        place = pl.int_range(pl.len()).over(STRATUM, question, *model).alias(_OCCURRENCE)
        ordered = of_k.with_columns(place).sort(STRATUM, question, _OCCURRENCE, *model)
        return cls(ordered, trials, metric)

    def scores(self, block: Block, *, adjusted: bool, anytime: int | None) -> SampledScores:
        """The models of some strata, whose intervals hold at every look if there is a plan."""
        found = self._scores_of_one_look(block, adjusted=adjusted)
        if anytime is None:
            return found
        return replace(found, information=self._block_questions(block) / anytime)

    def _block_questions(self, block: Block) -> Floats:
        """Number of questions of each stratum."""
        question = pl.struct(self.trials.question.name, _OCCURRENCE)
        inside = pl.col(STRATUM).is_in(pl.Series(block.strata).implode())
        strata = self.rows.filter(inside).group_by(STRATUM).agg(question.n_unique().alias("size"))
        return strata.sort(STRATUM)["size"].to_numpy().astype(np.float64)

    def _scores_of_one_look(self, block: Block, *, adjusted: bool) -> SampledScores:
        """The models of some strata."""
        refuse_large_covariance(block.rows.shape[1])
        low, unit, ends = self._score_range(block)
        span = float(np.any(np.less(*ends))) if self.of_rewards else self._known_span
        if adjusted:
            return SampledScores(self._adjusted_models(block, unit), unit, span, ends)
        values, sizes, cluster, weight = self._question_values(block)
        least, each = (
            np.repeat(np.broadcast_to(x, (sizes.size, 1)), sizes, 0) for x in (low, unit)
        )
        first = np.cumsum(sizes) - sizes
        single = self._single_trials(block, first)
        models = paired_means(values / each, first, span, cluster, weight, single)
        if not span:
            return SampledScores(models, unit, span, ends)
        bias = self._largest_bias(block).reshape(values.shape)
        units = units_of_models((values - least) / each, bias, sizes, cluster, weight)
        return SampledScores(models, unit, span, ends, low, units)

    @property
    def of_rewards(self) -> bool:
        """Whether the estimates are those of real-valued rewards, with a range of each stratum."""
        return BOUNDS in self.rows.columns and self.rows[BOUNDS].null_count() < len(self.rows)

    @property
    def _known_span(self) -> float:
        """The range of the metric in units of it: 0 if all its values are equal."""
        low, high = self.metric.support
        return float(low < high)

    def _score_range(self, block: Block) -> tuple[Floats | float, Floats | float, ScoreEnds]:
        """The least value and the unit of the scores of some strata, and the range of a score."""
        if not self.of_rewards:
            low, high = self.metric.support
            return low, high - low if low < high else 1.0, _score_ends(self.metric)
        bounds = pl.col(REWARD_RANGE).struct
        least, width = bounds.field("low"), bounds.field("width")
        of_block = self.rows.filter(pl.col(STRATUM).is_in(pl.Series(block.strata).implode()))
        # Over all strata, the range is that of all their rewards.
        ranges = of_block.group_by(STRATUM, maintain_order=True).agg(
            least.min(), high=(least + width).max()
        )
        lowest, highest = (ranges[name].to_numpy()[:, None] for name in ("low", "high"))
        # Rewards that are all equal tell nothing of their range.
        unit = np.where(highest > lowest, highest - lowest, np.nan)
        return lowest, unit, (lowest, highest)

    def _largest_bias(self, block: Block) -> Floats:
        """Largest bias of the estimate of each question of some strata, on the unit scale."""
        of_block = self.rows.filter(pl.col(STRATUM).is_in(pl.Series(block.strata).implode()))
        k = None if of_block.is_empty() else of_block["k"][0]
        draw = None if self.of_rewards else self.metric.draw(k)
        return largest_bias(draw, of_block["trials"].to_numpy().astype(np.int64))

    def _question_values(self, block: Block) -> tuple[Floats, Ints, Ints | None, Floats | None]:
        """Estimates of each question and model, questions of each stratum, clusters, weights."""
        stratum, models = self.rows[STRATUM].to_numpy(), block.rows.shape[1]
        of_block = np.isin(stratum, block.strata)
        values = self.rows["estimate"].to_numpy()[of_block].reshape(-1, models)
        sizes = np.unique(stratum[of_block], return_counts=True)[1] // models
        cluster = (
            None
            if self.trials.cluster is None
            else _value_places(self.rows[CLUSTER])[of_block][::models]
        )
        share = self.rows[WEIGHT].filter(pl.Series(of_block))
        weight = share.to_numpy()[::models] if share.null_count() == 0 else None
        return values, sizes, cluster, weight

    def _single_trials(self, block: Block, first: Ints) -> Mask:
        """Models with one trial of each question, by the first question of each stratum."""
        inside = self.rows[STRATUM].is_in(pl.Series(block.strata).implode())
        trials = self.rows["trials"].filter(inside).to_numpy().reshape(-1, block.rows.shape[1])
        return np.asarray(np.logical_and.reduceat(trials == 1, first, axis=0))

    def _adjusted_models(self, block: Block, unit: Floats | float) -> Paired:
        """Models on questions of which each was asked a part."""
        parts = self.rows.filter(
            pl.col(STRATUM).is_in(pl.Series(block.strata).implode())
        ).partition_by(STRATUM)
        units = np.broadcast_to(unit, (len(parts), 1)).ravel().tolist()
        each = [self._adjusted_stratum(*part) for part in zip(parts, units, strict=True)]
        moments = ("mean", "covariance", "freedom", "variance", "alike")
        return Paired.of_moments(
            *(np.concatenate([getattr(one, name) for one in each]) for name in moments)
        )

    def _adjusted_stratum(self, part: pl.DataFrame, unit: float) -> Paired:
        """The models of one stratum.

        Raises
        ------
        ValueError
            If some cannot be compared through common questions.
        """
        (model,), question = self.trials.models, self.trials.question.name
        names = part[model].unique().sort()
        place, asked = _value_places(part[model]), _value_places(part[question])
        cluster = None if self.trials.cluster is None else _value_places(part[CLUSTER])
        connected = connected_parts(place, asked)
        if connected.any():
            groups = [names.filter(connected == first).to_list() for first in np.unique(connected)]
            where = "".join(f"{name}={part[name][0]!r}: " for name in self.trials.strata)
            raise ValueError(
                f"{where}the models are in {len(groups)} parts without a common question, so that "
                f"no question connects them: {'; '.join(map(str, groups))}. Compare each part by "
                "itself."
            )
        return adjusted_means(place, asked, part["estimate"].to_numpy() / unit, 1.0, cluster)


def _value_places(column: pl.Series) -> Ints:
    """Place of each value among the distinct values, from 0 on, ascending."""
    return (column.rank("dense") - 1).to_numpy().astype(np.int64)


def _score_ends(metric: Metric) -> Bounds:
    """The range of a score, clipped to the bounds of the metric."""
    ends = metric.support if metric.bounds is None else np.clip(metric.support, *metric.bounds)
    return float(ends[0]), float(ends[1])


# Numbers of pairs in which the prior decides, and of all pairs. The warning takes their sums; the
# columns are then dropped.
PRIOR_DECIDES, PAIRS = ":prior_decides", ":pairs"
DOUBTS: dict[str, pl.DataType] = {PRIOR_DECIDES: pl.UInt64(), PAIRS: pl.UInt64()}

_ROUNDING = 1e-12  # of the largest score


def prior_decides(diff: Floats, lo: Floats, hi: Floats, metric: Metric) -> Mask:
    """Whether differences of unbiased estimates lie outside the intervals of the posteriors.

    Parameters
    ----------
    diff : ndarray of float
        Differences of the estimates; NaN, where there is none, is never outside.
    lo, hi : ndarray of float
        Intervals of the differences of the posterior means.
    metric : Metric
        Its bounds clip the intervals, and so the differences.
    """
    limit = np.inf if metric.bounds is None else metric.bounds[1] - metric.bounds[0]
    clipped, near = np.clip(diff, -limit, limit), rounding_error(metric)
    return np.asarray((clipped < lo - near) | (clipped > hi + near))


def rounding_error(metric: Metric) -> float:
    """Differences of scores that are no larger are rounding errors."""
    return float(_ROUNDING * np.abs(metric.support).max())


def warn_of_prior(rows: pl.DataFrame) -> pl.DataFrame:
    """Warn once of the pairs in which the prior decides."""
    outside, pairs = (int(rows[name].sum()) for name in DOUBTS)
    if outside:
        warnings.warn(
            f"in {outside:,} of {pairs:,} pairs of models the difference of the estimates "
            "lies outside the interval of the comparison: the uniform prior of each question "
            "outweighs its trials, so that a model may come out better only because it has more "
            f"trials, or fewer. {CURES}",
            PriorWarning,
            stacklevel=2,
        )
    return rows


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
) -> tuple[WholePlan, Models]:
    """The results of the models of a log, and how they are compared.

    For a gate they keep the questions; posterior means, and trials that stopped on their outcomes,
    are refused.

    Returns
    -------
    results : WholePlan
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
