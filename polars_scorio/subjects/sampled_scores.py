"""Models that are compared on questions that are a sample."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy

from polars_scorio.maths.array_rows import Floats, Ints
from polars_scorio.maths.comparison import Comparison, sampled
from polars_scorio.maths.covariance import Paired, paired_means
from polars_scorio.maths.credit_at_rates import largest_bias
from polars_scorio.maths.families import anytime_critical, student_critical
from polars_scorio.maths.power import QuestionsAhead
from polars_scorio.maths.run_effects import widened
from polars_scorio.maths.sample_bound import UnitSample
from polars_scorio.subjects.scores import (
    Law,
    ModelNumbers,
    StrataModels,
    look_confidence,
    share_of_plan,
)

_CELL = 128  # bytes of a pair, in both orders, in the tables of a population of questions
LIMIT = 2_000_000_000  # bytes


def refuse_large_covariance(models: int) -> None:
    """Refuse models on a sample of questions, if their covariances would exceed `LIMIT`."""
    if models**2 * _CELL > LIMIT:
        raise ValueError(
            f'target="population" needs the covariances of all pairs of {models:,} models, '
            f"about {models**2 * _CELL / 1e9:,.1f} GB; the limit is {LIMIT / 1e9:,.1f} GB. Filter "
            'the models, or use target="benchmark"'
        )


@dataclass(frozen=True, slots=True, eq=False)
class SampleLaw(Law):
    """Questions that are a sample of all that could have been asked."""

    planned: int | None = None  # questions; None: this is the only look

    def compared(self, models: StrataModels) -> Comparison:
        """The models on the questions that they share."""
        return self._sample(models).comparison()

    def numbers(self, models: StrataModels) -> ModelNumbers:
        """Mean, standard error and interval of each model by itself."""
        return self._numbers_at(models, models.confidence)

    def _numbers_at(self, models: StrataModels, confidence: float) -> ModelNumbers:
        """The numbers at any confidence, with what runs bring to them."""
        sample = self._sample(models)
        mu, sigma, lo, hi = sample.numbers(confidence)
        if models.runs is None:
            return mu, sigma, lo, hi
        c = sample.critical(confidence)
        lo, hi = sample.scale.clipped(widened(mu, lo, hi, models.runs.term(c), c))
        return mu, np.hypot(sigma, np.sqrt(models.runs.excess)), lo, hi

    def own_ends(self, models: StrataModels, confidence: Floats) -> tuple[Floats, Floats]:
        """Intervals of the models at confidences (S, 1)."""
        lo, hi = np.empty((2, *models.places.shape))
        for level in np.unique(confidence):
            strata = confidence.ravel() == level
            ends = self._numbers_at(models, float(level))[2:]
            lo[strata], hi[strata] = (end[strata] for end in ends)
        return lo, hi

    def further(
        self, models: StrataModels, a: Ints, b: Ints, planned: int | None = None
    ) -> QuestionsAhead:
        """Pairs of columns (S, P) after further questions, with the same trials of each."""
        sample = self._sample(models)
        unit, span = np.broadcast_to(sample.scale.unit, a.shape), sample.scale.span
        return QuestionsAhead.from_models(sample.joint, a, b, unit, span, sample.information)

    def _sample(self, models: StrataModels) -> Sample:
        if self not in models.known:
            models.known[self] = shared_sample(models, self.planned)
        return models.known[self]  # type: ignore[no-any-return]  # as stored


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """The models of some strata on questions that are a sample."""

    joint: Paired  # in units of `scale.unit`
    scale: Scale
    units: UnitSample | None = None  # of each model, for its own interval; None: it is Student's
    information: Floats | None = None  # questions over planned ones, (S,)

    def comparison(self) -> Comparison:
        """The models as decisions take them."""
        low, high = self.scale.ends
        return sampled(self.joint, self.scale.unit, high - low, self.information)

    def numbers(self, confidence: float) -> ModelNumbers:
        """Mean, standard error and interval of each model by itself."""
        scale = self.scale
        sigma = np.diagonal(self.joint.sigma(), axis1=1, axis2=2)
        mu, sigma = self.joint.mean * scale.unit, sigma * scale.unit
        if self.units is None:
            c = self.critical(confidence)[:, 0]
            far = student_critical(c, self.joint.freedom)[:, None] * sigma
            lo, hi = mu - far, mu + far
        else:
            sure: Floats | float = confidence
            if self.information is not None:
                sure = np.repeat(look_confidence(confidence, self.information), mu.shape[1])
            bounds = self.units.bounds(sure)
            lo, hi = (scale.low + scale.unit * end.reshape(mu.shape) for end in bounds)
            lo, hi = np.minimum(lo, mu), np.maximum(hi, mu)
        return mu, sigma, *scale.clipped((lo, hi))

    def critical(self, confidence: float) -> Floats:
        """Critical values (S, 1) of the intervals of models."""
        c = np.full(len(self.joint.mean), scipy.special.ndtri((1 + confidence) / 2))
        c = c if self.information is None else anytime_critical(c, self.information)
        return c[:, None]


def units_of_models(
    values: Floats,
    bias: Floats,
    sizes: Ints,
    cluster: Ints | None = None,
    share: Floats | None = None,
) -> UnitSample:
    """Units of each model of each stratum, from values (Q, L) of all their questions."""
    # A number of a cluster in two strata stands for two clusters; without shares, all are equal.
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


class SharedQuestions(NamedTuple):
    """Questions that the models of some strata share, Q rows, stratum after stratum."""

    values: Floats  # estimates, (Q, L)
    trials: Ints  # of each question and model, (Q, L)
    sizes: Ints  # questions of each stratum, (S,)
    cluster: Ints | None
    weight: Floats | None

    @property
    def first(self) -> Ints:
        """The first question of each stratum."""
        return np.cumsum(self.sizes) - self.sizes


def shared_questions(models: StrataModels) -> SharedQuestions:
    """The questions of the models of some strata, which have the same ones."""
    refuse_large_covariance(models.places.shape[1])
    table, estimates = models.table, models.table.estimates(models.metric, models.view, models.k)
    assert estimates is not None  # as the options of a comparison see to
    empty = [np.empty((0, models.places.shape[1]), np.int64)]
    rows = np.concatenate([*empty, *(table.rows_of(groups) for groups in models.places)])
    cluster, weight = (
        None if each is None else each[rows[:, 0]] for each in (table.cluster, table.weight)
    )
    sizes = table.size[models.places[:, 0]]
    return SharedQuestions(estimates[rows], table.trials[rows], sizes, cluster, weight)


def shared_sample(models: StrataModels, planned: int | None) -> Sample:
    """The models of some strata, compared on questions that all of them were asked."""
    shared, scale = shared_questions(models), Scale.from_models(models)
    information = None if planned is None else share_of_plan(shared.sizes, "population", planned)
    least, unit = (
        np.repeat(np.broadcast_to(each, (shared.sizes.size, 1)), shared.sizes, axis=0)
        for each in (scale.low, scale.unit)
    )
    single = np.logical_and.reduceat(shared.trials == 1, shared.first, axis=0)
    paired = paired_means(
        shared.values / unit, shared.first, scale.span, shared.cluster, shared.weight, single
    )
    if not scale.span:
        return Sample(paired, scale, None, information)
    draw = None if models.of_rewards else models.metric.draw(models.k)
    bias = largest_bias(draw, shared.trials.ravel()).reshape(shared.values.shape)
    values = (shared.values - least) / unit
    units = units_of_models(values, bias, shared.sizes, shared.cluster, shared.weight)
    return Sample(paired, scale, units, information)


class Scale(NamedTuple):
    """The scale of the scores of some strata: numbers, or columns (S, 1) of real-valued rewards."""

    low: Floats | float
    unit: Floats | float
    ends: tuple[Floats | float, Floats | float]  # of a score, clipped to the bounds
    span: float  # the range in units: 1, or 0 if all values are equal

    def clipped(self, ends: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
        """Ends of intervals within those of scores."""
        lo, hi = (np.clip(end, *self.ends) for end in ends)
        return lo, hi

    @classmethod
    def from_models(cls, models: StrataModels) -> Scale:
        """The scale of a metric, or of the rewards of the models of each stratum."""
        if not models.of_rewards:
            low, high = models.metric.support
            ends = models.metric.support
            if models.metric.bounds is not None:
                ends = tuple(np.clip(ends, *models.metric.bounds).tolist())
            return cls(low, high - low if low < high else 1.0, ends, float(low < high))
        least, width = (
            each[models.places] for each in models.table.ranges(models.metric, models.view)
        )
        lowest = least.min(axis=1, keepdims=True)
        highest = (least + width).max(axis=1, keepdims=True)
        # Rewards that are all equal tell nothing of their range.
        unit = np.where(highest > lowest, highest - lowest, np.nan)
        return cls(lowest, unit, (lowest, highest), float(np.any(lowest < highest)))
