"""Numbers of a metric for all groups."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, fields, replace
from functools import cache
from typing import NamedTuple, TypeAlias

import numpy as np
import polars as pl
import scipy
from numpy.typing import NDArray

from polars_scorio.arguments import InferenceKind, View
from polars_scorio.maths.array_rows import Floats, Ints
from polars_scorio.maths.families import anytime_critical
from polars_scorio.maths.judges import JudgeRates
from polars_scorio.maths.posteriors import Pooled, Target
from polars_scorio.maths.price import PRICE_PARTS, Price
from polars_scorio.maths.questions import States
from polars_scorio.maths.reward_prices import RewardPrice
from polars_scorio.maths.sample_bound import QuestionSample
from polars_scorio.maths.scores import Numbers, sample_numbers
from polars_scorio.metrics.metric import NUMBERS, Metric, quiet_infinities
from polars_scorio.study.question_cells import QuestionCells

Words: TypeAlias = NDArray[np.str_]

# The last column of a report: the inference of the row, or `RANGE` where k exceeds the trials.
INFERENCE, RANGE = "inference", "range"
# Information at this look over the planned information, if intervals hold at every look.
INFORMATION = "information"
# Mean and standard deviation from which an interval is made if those are not mu and sigma: an
# interval of the mean over strata is made from them.
CENTER, REACH = ":center", ":reach"
# The variance estimate that comparisons of calibrated numbers need.
PRICE, REWARD_PRICE = ":price", ":reward_price"
# The least reward of the range of a row, and how far the largest lies above it.
REWARD_RANGE = ":reward_range"
# Whether the range of real-valued rewards was given, or is that of the rewards that were seen.
BOUNDS = "bounds"
# The estimates of the questions, in an order that all models share, for the same purpose.
VALUES = ":values"
# The share of a question, or of each of these questions, in a mean over strata, but for a factor.
WEIGHT = ":weight"
# The estimate from the verdicts of a judge as they are, and the labels behind its correction.
JUDGED, LABEL_COUNT = "judged", "labels"
# The judge of a row, and how its errors move the estimate: what comparisons need.
CALIBRATION = ":calibration"
_RATE_PARTS = [field.name for field in fields(JudgeRates)]
# Facts beside a metric of costs: whether its interval has no upper end, the share of the questions
# without a success, and the share of the dearest trial in the cost of all trials.
UNBOUNDED, UNSOLVED, LARGEST_SHARE = "unbounded", "unsolved", "largest_cost_share"
COST_FACTS: dict[str, pl.DataType] = {
    UNBOUNDED: pl.Boolean(),
    UNSOLVED: pl.Float64(),
    LARGEST_SHARE: pl.Float64(),
}
# The log of a ratio of costs, its standard error with the degrees of freedom, and the clusters of
# `VALUES`.
LOG_COST, LOG_ERROR, LOG_FREEDOM = ":log_cost", ":log_error", ":log_freedom"
VALUE_CLUSTERS = ":value_clusters"
_REWARD_PARTS = [field.name for field in fields(RewardPrice)]
JUDGE_DTYPES: dict[str, pl.DataType] = {JUDGED: pl.Float64(), LABEL_COUNT: pl.UInt64()}
_CALIBRATION_PARTS = (
    *("judge", *_RATE_PARTS, "estimate", "variance", "sensitivity_slope", "specificity_slope"),
)
CALIBRATION_DTYPES: dict[str, pl.DataType] = {
    CALIBRATION: pl.Struct(dict.fromkeys(_CALIBRATION_PARTS, pl.Float64()))
}
# Columns that rows of a report have inside a plan, for means over strata and for comparisons.
INTERVAL_DTYPES: dict[str, pl.DataType] = {CENTER: pl.Float64(), REACH: pl.Float64()}
COMPARISON_DTYPES: dict[str, pl.DataType] = {
    PRICE: pl.Struct(dict.fromkeys(PRICE_PARTS, pl.Float64())),
    REWARD_PRICE: pl.Struct(dict.fromkeys(_REWARD_PARTS, pl.Float64())),
    VALUES: pl.List(pl.Float64()),
    WEIGHT: pl.List(pl.Float64()),
    LOG_COST: pl.Float64(),
    LOG_ERROR: pl.Float64(),
    LOG_FREEDOM: pl.Float64(),
    VALUE_CLUSTERS: pl.List(pl.Int64()),
}
SAMPLE_DTYPES: dict[str, pl.DataType] = {
    WEIGHT: pl.Float64(),
    REWARD_RANGE: pl.Struct({"low": pl.Float64(), "width": pl.Float64()}),
}


class JudgeCalibration(NamedTuple):
    """The judges of some estimates, and how their errors move them, arrays of shape (G,).

    Attributes
    ----------
    judge : ndarray of int
        Number of the judge; estimates with the same number share one.
    rates : JudgeRates
        Their rates.
    estimate, variance : ndarray of float
        The estimate, not clipped, and its variance at these rates; NaN for accuracies.
    sensitivity_slope, specificity_slope : ndarray of float
        By how much the estimate changes with either rate; NaN for accuracies.
    """

    judge: Ints | Floats
    rates: JudgeRates
    estimate: Floats
    variance: Floats
    sensitivity_slope: Floats
    specificity_slope: Floats

    def at(self, places: Ints) -> JudgeCalibration:
        """Some of the estimates, in the given order."""
        numbers = (number[places] for number in self[2:])
        return JudgeCalibration(self.judge[places], self.rates.at(places), *numbers)

    def column(self) -> pl.Series:
        """The parts as a column of structs."""
        rates = {name: getattr(self.rates, name) for name in _RATE_PARTS}
        parts = {"judge": self.judge.astype(np.float64), **rates}
        names = ("estimate", "variance", "sensitivity_slope", "specificity_slope")
        parts |= dict(zip(names, self[2:], strict=True))
        return pl.DataFrame(parts).to_struct()


def read_calibration(rows: pl.DataFrame) -> JudgeCalibration:
    """The judges of rows of a report."""
    parts = rows[CALIBRATION].struct.unnest().with_columns(pl.all().fill_null(np.nan))
    numbers = {name: parts[name].to_numpy() for name in parts.columns}
    rates = JudgeRates(*(numbers[name] for name in _RATE_PARTS))
    names = ("estimate", "variance", "sensitivity_slope", "specificity_slope")
    return JudgeCalibration(numbers["judge"], rates, *(numbers[name] for name in names))


class CellNumbers(NamedTuple):
    """A metric at one k: arrays with a number for each cell, NaN if there is no such number.

    Attributes
    ----------
    inference : str
        The name of the inference that made the numbers.
    estimate, mu, sigma, lo, hi : ndarray of float
        The columns of a report.
    center, reach : ndarray of float or None
        Mean and standard deviation from which lo and hi are made, if they are made from such.
    price : Price, RewardPrice or None
        The noise of the estimate, if lo and hi are made from that.
    bounds : str or None
        Whether the range of real-valued rewards was "given", or "observed".
    information : ndarray of float or None
        Information over the planned one, if lo and hi hold at every look.
    judged, labels : ndarray of float or None
        The estimate from the verdicts of a judge as they are, and the number of labels behind its
        correction.
    calibration : JudgeCalibration or None
        The judges, for comparisons.
    costs : DataFrame or None
        The columns that a metric of costs has beside the others.
    """

    inference: InferenceKind
    estimate: Floats
    mu: Floats
    sigma: Floats
    lo: Floats
    hi: Floats
    center: Floats | None = None
    reach: Floats | None = None
    price: Price | RewardPrice | None = None
    bounds: str | None = None
    information: Floats | None = None
    judged: Floats | None = None
    labels: Floats | None = None
    calibration: JudgeCalibration | None = None
    costs: pl.DataFrame | None = None

    def columns(self) -> pl.DataFrame:
        """The columns of a report, and those inside a plan as far as they are known."""
        return pl.DataFrame({**self.arrays(), **self.comparison_columns()}, nan_to_null=True)

    def arrays(self) -> dict[str, Floats | Words | pl.Series]:
        """The columns of a report as arrays, with those of means over strata if they are known."""
        columns: dict[str, Floats | Words | pl.Series] = {
            name: getattr(self, name) for name in NUMBERS
        }
        columns[INFERENCE] = self._inference_names()
        if self.center is not None and self.reach is not None:
            columns |= {CENTER: self.center, REACH: self.reach}
        if self.information is not None:
            columns[INFORMATION] = self.information
        if self.judged is not None and self.labels is not None:
            columns |= {JUDGED: self.judged, LABEL_COUNT: pl.Series(self.labels).cast(pl.UInt64)}
        if self.costs is not None:
            columns |= self.costs.to_dict()
        elif self.bounds is not None:
            columns[BOUNDS] = np.full(self.estimate.size, self.bounds)
        return columns

    def comparison_columns(self) -> dict[str, pl.Series]:
        """The columns of structs that comparisons need, as far as they are known."""
        columns = dict[str, pl.Series]()
        if isinstance(self.price, RewardPrice):
            parts = pl.DataFrame(asdict(self.price))
            columns[REWARD_PRICE] = parts.to_struct()
            columns[REWARD_RANGE] = parts.select("low", "width").to_struct()
        elif self.price is not None:
            columns[PRICE] = pl.DataFrame(
                {name: getattr(self.price, name) for name in PRICE_PARTS}
            ).to_struct()
        if self.calibration is not None:
            columns[CALIBRATION] = self.calibration.column()
        return columns

    def _inference_names(self) -> Words:
        """Name of the inference of each cell; `RANGE` for a range of forecasts."""
        forecast = (self.inference == "calibrated") & np.isnan(self.estimate) & ~np.isnan(self.lo)
        forecast &= self.costs is None  # without any success the estimate is infinite
        return np.where(forecast, RANGE, self.inference)


# Metric name and draw size: what tells the rows of one cell apart.
Row: TypeAlias = "tuple[str, int | None]"
RowNumbers: TypeAlias = Mapping[Row, CellNumbers]


def clipped_numbers(numbers: Numbers, metric: Metric) -> CellNumbers:
    """Calibrated numbers of a metric, the interval clipped to the bounds of the metric."""
    refuse_outside(numbers.mu, metric)
    bounds = metric.bounds or (-np.inf, np.inf)
    lo, hi = np.clip(numbers.lo, *bounds), np.clip(numbers.hi, *bounds)
    estimate, mu, sigma = numbers.estimate, numbers.mu, numbers.sigma
    return CellNumbers("calibrated", estimate, mu, sigma, lo, hi, price=numbers.price)


def refuse_outside(mu: Floats, metric: Metric) -> None:
    """Refuse numbers outside bounds that a user gave.

    Raises
    ------
    ValueError
        If there are any. How many is not said: these may be a part of the groups.
    """
    low, high = metric.bounds or (-np.inf, np.inf)
    near = 1e-9 * metric.unit
    outside = ((mu < low - near) | (mu > high + near)) & np.isfinite(mu)
    if "bounds" in dict(metric.given) and outside.any():
        raise ValueError(
            f"{metric.name}: the value of some model lies outside these bounds, so no interval "
            "within them contains it: leave bounds= out, or give wider ones"
        )


def read_price(rows: pl.DataFrame, metric: Metric) -> Price:
    """The price that rows of a report of one metric carry."""
    low, high = metric.support
    price = rows[PRICE].struct.unnest()
    parts: dict[str, Floats] = {name: price[name].to_numpy() for name in PRICE_PARTS}
    return Price(**parts, low=low, width=high - low, bounded=not metric.unbounded)


def read_reward_price(rows: pl.DataFrame) -> RewardPrice:
    """The price of real-valued rewards that rows of a report of one metric carry."""
    price = rows[REWARD_PRICE].struct.unnest()
    return RewardPrice(**{name: price[name].to_numpy() for name in _REWARD_PARTS})


class ClusterSample(NamedTuple):
    """The questions of each group as a sample of clusters.

    Attributes
    ----------
    size : ndarray of float
        Effective number of clusters.
    stretch : ndarray of float
        Factor by which the mean is noisier than that of as many questions without clusters.
    """

    size: Floats
    stretch: Floats


# From a metric, its draw size and its view to the sample that its groups are.
SampleOf = Callable[[Metric, "int | None", View], "ClusterSample | None"]


def cluster_samples(cells: QuestionCells, target: Target) -> SampleOf:
    """Noise of each metric if the questions are a sample of clusters.

    Parameters
    ----------
    cells : QuestionCells
        The questions of each group.
    target : "benchmark" or "population"
        The questions are a sample only of a population.

    Returns
    -------
    callable
        From a metric and a draw size to the design effect [1]_: the variance of the mean of the
        posterior means of single questions, under the fitted population, with clusters over that
        without. The shrinkage of the questions cancels, and each k has its own effect. None if
        questions are no sample, or have no clusters.

    References
    ----------
    .. [1] L. Kish (1965), Survey Sampling, section 5.4.
    """
    clusters, states = cells.clusters, cells.fitted
    if clusters is None or target == "benchmark":
        return lambda *_: None
    pairs = np.arange(states.group.size)
    alone = replace(states, group=pairs, questions=1 + 0 * pairs, groups=pairs.size)

    @cache
    def single_posterior(view: View) -> Pooled:
        single, fitted = cells.seen_as(view, alone), cells.seen_as(view, states)
        return Pooled.fit(single, fitted, states.group, target)

    def sample(metric: Metric, k: int | None, view: View) -> ClusterSample:
        with quiet_infinities(metric):
            values = metric.summary(single_posterior(view), k).mu / metric.unit
            clustered = clusters.variance(states, values)
        effect = _variance_ratio(clustered, _independent_variance(states, values))
        return ClusterSample(clusters.effective, np.sqrt(np.maximum(effect, 1.0)))

    return sample


def _independent_variance(states: States, values: Floats) -> Floats:
    """Variance of the mean of a value for each pair of a group and a state, without clusters."""
    size, group = states.size, states.group
    mean = np.bincount(group, states.questions * values, states.groups) / size
    square = np.bincount(group, states.questions * (values - mean[group]) ** 2, states.groups)
    return np.asarray(square / (size * np.maximum(size - 1, 1)))


def _variance_ratio(above: Floats, below: Floats) -> Floats:
    """The ratio of two variances, 1 if the lower one is zero."""
    return np.divide(above, below, out=np.ones_like(above), where=below > 0)


def sampled_numbers(
    price: Price, sample: QuestionSample, values: Floats, confidence: Floats | float
) -> Numbers:
    """The numbers of a metric that is no credit, about the population of the questions.

    The variance is that of the estimates between the questions, or between their clusters, and
    never below the noise of the trials: questions that all say the same are no proof that others
    do.

    Parameters
    ----------
    price : Price
        The noise of the trials.
    sample : QuestionSample
        The questions of each group, or their clusters.
    values : ndarray of float, shape (S,)
        The estimate of a question in each state, on the scale of the metric.
    confidence : float or ndarray of float, shape (G,)
        Of the intervals.
    """
    unit = (values - price.low) / (price.width or 1.0)
    independent = np.maximum(sample.variance_between(unit), price.variance)
    sigma = sample.sigma(unit, independent)
    return sample_numbers(unit, sigma, sample, confidence).scaled(price.low, price.width)


def mean_of_strata(name: str) -> pl.Expr:
    """The mean of a column, null if a stratum lacks it."""
    return unless_lacking(name, pl.col(name).mean())


def error_of_mean(name: str) -> pl.Expr:
    """Standard deviation of the mean of independent numbers, null if a stratum lacks it.

    From a column of their standard deviations.
    """
    return unless_lacking(name, root_of_squares(pl.col(name)))


def root_of_squares(deviation: pl.Expr) -> pl.Expr:
    """The root of the summed squares of deviations, over their number."""
    return (deviation**2).sum().sqrt() / pl.len()


def unless_lacking(name: str, mean: pl.Expr) -> pl.Expr:
    """An aggregation of a column under its name, null if a stratum lacks the column."""
    return pl.when(pl.col(name).null_count() == 0).then(mean).alias(name)


_SUREST = 1 - 2.0**-52  # the largest confidence below 1 of which half of the rest is a number


def planned_share(cells: QuestionCells, target: Target, plan: int) -> Floats:
    """Information of each cell, over the planned one.

    Parameters
    ----------
    cells : QuestionCells
        The questions.
    target : "benchmark" or "population"
        About these questions, the harmonic mean of their trials counts; about a population, their
        number.
    plan : int
        Planned trials of each question, or planned questions.
    """
    states = cells.states
    if target == "population":
        return np.asarray(states.size / plan)
    return np.asarray(1 / (states.mean(1 / states.n) * plan))


def look_confidence(confidence: float, information: Floats) -> Floats:
    """The confidence of one look with the critical value of a look that is one of many.

    Comparisons do not use it, but the tail itself: of the tail of a look at a hundredth of the plan
    no digit is left here, and the interval is the whole range.
    """
    z = scipy.special.ndtri((1 + confidence) / 2)
    tail = scipy.special.ndtr(-anytime_critical(z, information))
    return np.asarray(np.minimum(1 - 2 * tail, _SUREST))


def information_of_strata(target: Target) -> pl.Expr:
    """Information of a mean over strata, from that of the strata and their numbers of questions."""
    information, questions = pl.col(INFORMATION), pl.col("questions").cast(pl.Float64)
    pooled = questions.sum() / (questions / information).sum()
    return (information.sum() if target == "population" else pooled).alias(INFORMATION)
