"""Models that are compared on questions that are a sample."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

import numpy as np
import scipy

from polars_scorio.maths.array_rows import Floats, Ints, Mask
from polars_scorio.maths.covariance import Paired, adjusted_means, connected_parts, paired_means
from polars_scorio.maths.credit_at_rates import largest_bias
from polars_scorio.maths.families import (
    Critical,
    Decided,
    anytime_student_critical,
    decided_by_score,
    look_z,
    paired_critical,
    student_z,
)
from polars_scorio.maths.max_t import max_t_of_best, max_t_of_each
from polars_scorio.maths.ranks import better_and_worse, signal_share_paired
from polars_scorio.maths.sample_bound import UnitSample
from polars_scorio.subjects.cell_numbers import look_confidence
from polars_scorio.subjects.score_differences import (
    Differences,
    PairEnds,
    Places,
    StrataModels,
    simultaneous_verdicts,
    standardized_differences,
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


# Least and largest score of a model.
ScoreEnds: TypeAlias = "tuple[Floats | float, Floats | float]"


@dataclass(frozen=True, slots=True, eq=False)
class SampledScores:
    """The models of some strata, compared on questions that are a sample; see `Scores`."""

    models: Paired  # in units of `unit`
    unit: Floats | float  # the range of the metric, or of the rewards of each stratum; or 1
    span: float  # the range in units: 1, or 0 if all values are equal
    ends: ScoreEnds  # the range of a score, clipped to the bounds of the metric
    low: Floats | float = 0.0  # the least value of the metric, or of the rewards of each stratum
    # For the interval of each model; None, and Student's t, if the metric has no range, or the
    # means are adjusted for the questions that a model was asked.
    units: UnitSample | None = None
    information: Floats | None = None  # over the planned one, if intervals hold at every look

    @property
    def repeated(self) -> bool:
        """Whether the log is looked at again and again."""
        return self.information is not None

    @property
    def ranked(self) -> Floats:
        """Numbers by which the models are ranked."""
        return self.models.mean

    def quantile(self, probability: float) -> Floats:
        """Quantile of a standardized difference of one pair: Student's."""
        freedom = self.models.freedom
        return np.asarray(
            scipy.special.stdtrit(np.where(freedom > 0, freedom, np.nan), probability)
        )

    def pair_ends(self, a: Ints, b: Ints) -> PairEnds:
        """Ends of the intervals of pairs of columns, as a function of normal critical values."""
        freedom = np.where(self.models.freedom > 0, self.models.freedom, np.nan)[:, None]

        def ends(c: Floats) -> tuple[Floats, Floats]:
            student = -scipy.special.stdtrit(freedom, scipy.special.ndtr(-c))
            found = self.pair_differences(a, b, student)
            return found.lo, found.hi

        return ends

    def pair_information(self, a: Ints, b: Ints) -> Floats:
        """Questions over planned ones, the same for all pairs of columns; NaN for one look."""
        del b
        share = np.full(len(self.models.mean), np.nan)
        share = share if self.information is None else self.information
        return np.repeat(share[:, None], a.size, axis=1)

    def pair_z(self, a: Ints, b: Ints) -> Floats:
        """Signed critical values at which intervals of pairs stop to hold zero."""
        models, row = self.models, np.arange(len(self.models.mean))[:, None]
        diff = models.mean[row, a] - models.mean[row, b]
        z = student_z(
            standardized_differences(diff, self._pair_sigma()[row, a, b]), models.freedom[:, None]
        )
        z = np.where(np.less(*self.ends) | np.isnan(z), z, 0.0)
        return z if self.information is None else look_z(z, self.information[:, None])

    def critical(self, a: Ints, b: Ints, confidence: float, baseline: int | None) -> Critical:
        """Critical values for `step_down`."""
        return paired_critical(self.models, a, b, confidence)

    def decided_pairs(self, a: Ints, b: Ints) -> Decided:
        """Pairs that a critical value decides; for `step_down`."""
        decided = decided_by_score(self._pair_score(a, b))
        return lambda c, strata: decided(self._look_critical(c, strata), strata)

    def places(self, confidence: float, *, simultaneous: bool) -> Places:
        """Higher and lower models, by verdicts about pairs."""
        mean = self.models.mean
        strata, size = mean.shape
        if simultaneous:
            a, b = np.triu_indices(size, 1)
            differs = np.zeros((strata, size, size), np.bool_)
            verdicts, _ = simultaneous_verdicts(self, a, b, confidence)
            differs[:, a, b] = differs[:, b, a] = verdicts
        else:
            a, b = (each.ravel() for each in np.indices((size, size)))
            score = self._pair_score(a, b).reshape(strata, size, size)
            differs = (
                score > self._look_critical(max_t_of_each(self.models, confidence))[:, :, None]
            )
        higher = differs & (mean[:, None, :] > mean[:, :, None])
        return Places(*better_and_worse(mean, differs), higher)

    def signal_share(self) -> Floats:
        """Share of the spread of the models that is more than noise."""
        return signal_share_paired(self.models)

    def extreme_models(self, confidence: float) -> tuple[Mask, Mask]:
        """Models than which no other is higher, and lower, by one-sided verdicts against each."""
        mean = self.models.mean
        a, b = (each.ravel() for each in np.indices((mean.shape[1],) * 2))
        score = self._pair_score(a, b).reshape(*mean.shape, -1)
        # By a negative value the highest model would be below others.
        c = np.maximum(max_t_of_best(self.models, confidence), 0.0)
        higher, lower = better_and_worse(mean, score > self._look_critical(c)[:, :, None])
        here = np.isfinite(self.ranked)
        return here & (higher == 0), here & (lower == 0)

    def pair_differences(self, a: Ints, b: Ints, c: Floats) -> Differences:
        """Differences of pairs of columns, by critical values."""
        mean, freedom = self.models.mean, self.models.freedom[:, None]
        diff, sigma = mean[:, a] - mean[:, b], self._pair_sigma()[:, a, b]
        limit, c = (self.ends[1] - self.ends[0]) / self.unit, self._look_critical(c)
        lo, hi = (np.clip(end, -limit, limit) for end in (diff - c * sigma, diff + c * sigma))
        unit = self.unit
        diff = np.where(freedom > 0, diff, np.nan)
        return Differences(unit * diff, unit * sigma, unit * lo, unit * hi)

    def model_numbers(self, confidence: float) -> tuple[Floats, Floats, Floats, Floats]:
        """Mean, standard error and interval of each model by itself."""
        sigma = np.diagonal(self._pair_sigma(), axis1=1, axis2=2)
        mu, sigma = self.models.mean * self.unit, sigma * self.unit
        if self.units is None:
            far = self._look_critical(self.quantile((1 + confidence) / 2))[:, None] * sigma
            lo, hi = mu - far, mu + far
        else:
            bounds = self.units.bounds(self._look_confidence(confidence, mu.shape[1]))
            lo, hi = (self.low + self.unit * end.reshape(mu.shape) for end in bounds)
            lo, hi = np.minimum(lo, mu), np.maximum(hi, mu)
        return mu, sigma, np.clip(lo, *self.ends), np.clip(hi, *self.ends)

    def _look_critical(self, c: Floats, strata: Ints | None = None) -> Floats:
        """Critical values of one look, for all strata or some, as those of every look if wanted."""
        if self.information is None:
            return c
        rows = slice(None) if strata is None else strata
        shape = (-1, *[1] * (c.ndim - 1))
        share, freedom = (
            each[rows].reshape(shape) for each in (self.information, self.models.freedom)
        )
        return anytime_student_critical(c, share, np.where(freedom > 0, freedom, np.nan))

    def _look_confidence(self, confidence: float, models: int) -> Floats | float:
        """Confidence of the interval of each model by itself."""
        if self.information is None:
            return confidence
        return np.repeat(look_confidence(confidence, self.information), models)

    def _pair_sigma(self) -> Floats:
        return self.models.sigma()

    def _pair_score(self, a: Ints, b: Ints) -> Floats:
        """Differences of pairs in their standard errors, without sign."""
        mean = self.models.mean
        score = np.abs(
            standardized_differences(mean[:, a] - mean[:, b], self._pair_sigma()[:, a, b])
        )
        return np.where(np.less(*self.ends), score, 0.0)


def units_of_models(
    values: Floats,
    bias: Floats,
    sizes: Ints,
    cluster: Ints | None = None,
    share: Floats | None = None,
) -> UnitSample:
    """A sample of units for each model of each stratum, from values (Q, L) of all their questions.

    A number of a cluster in two strata stands for two clusters; without shares, all are equal.

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
    nothing = [np.empty((0, models.places.shape[1]), np.int64)]
    rows = np.concatenate([*nothing, *(table.rows_of(groups) for groups in models.places)])
    cluster, weight = (
        None if each is None else each[rows[:, 0]] for each in (table.cluster, table.weight)
    )
    sizes = table.size[models.places[:, 0]]
    return SharedQuestions(estimates[rows], table.trials[rows], sizes, cluster, weight)


def sampled_scores(models: StrataModels, planned: int | None = None) -> SampledScores:
    """The models of some strata, compared on questions that all of them were asked.

    `planned`: intervals hold at every look until there are so many questions.
    """
    shared, scale = shared_questions(models), _Scale.of(models)
    information = None if planned is None else shared.sizes / planned
    least, unit = (
        np.repeat(np.broadcast_to(each, (shared.sizes.size, 1)), shared.sizes, axis=0)
        for each in (scale.low, scale.unit)
    )
    single = np.logical_and.reduceat(shared.trials == 1, shared.first, axis=0)
    paired = paired_means(
        shared.values / unit, shared.first, scale.span, shared.cluster, shared.weight, single
    )
    found = SampledScores(paired, scale.unit, scale.span, scale.ends, information=information)
    if not scale.span:
        return found
    draw = None if models.of_rewards else models.metric.draw(models.k)
    bias = largest_bias(draw, shared.trials.ravel()).reshape(shared.values.shape)
    values = (shared.values - least) / unit
    units = units_of_models(values, bias, shared.sizes, shared.cluster, shared.weight)
    return replace(found, low=scale.low, units=units)


def adjusted_scores(models: StrataModels, planned: int | None = None) -> SampledScores:
    """The models of some strata, adjusted for the questions that each was asked."""
    scale, sizes, each = _Scale.of(models), list[int](), list[Paired]()
    units = np.broadcast_to(scale.unit, (len(models.places), 1)).ravel().tolist()
    for stratum, unit in enumerate(units):
        paired, number = _adjusted_stratum(models, stratum, unit)
        each.append(paired)
        sizes.append(number)
    moments = ("mean", "covariance", "freedom", "variance", "alike")
    paired = Paired.of_moments(
        *(np.concatenate([getattr(one, name) for one in each]) for name in moments)
    )
    information = None if planned is None else np.array(sizes) / planned
    return SampledScores(paired, scale.unit, scale.span, scale.ends, information=information)


class DividedError(Exception):
    """Models of a stratum in parts without a common question."""

    def __init__(self, stratum: int, parts: list[Ints]) -> None:
        super().__init__(stratum, parts)
        self.stratum = stratum
        self.parts = parts  # columns of the models of each part


def _adjusted_stratum(models: StrataModels, stratum: int, unit: float) -> tuple[Paired, int]:
    """The models of one stratum, and how many questions were asked in it."""
    table, groups = models.table, models.places[stratum]
    estimates = table.estimates(models.metric, models.view, models.k)
    assert estimates is not None  # averages have an estimate of each question
    rows = np.concatenate([table.start[each] + np.arange(table.size[each]) for each in groups])
    place = np.repeat(np.arange(groups.size), table.size[groups])
    names, asked = np.unique(table.name[rows], return_inverse=True)
    # Question after question, as the sums of models that share their questions.
    order = np.lexsort((place, asked))
    rows, place, asked = rows[order], place[order], asked[order]
    cluster = None
    if table.cluster is not None:
        cluster = np.unique(table.cluster[rows], return_inverse=True)[1].astype(np.int64)
    connected = connected_parts(place, asked)
    if connected.any():
        raise DividedError(
            stratum, [np.flatnonzero(connected == first) for first in np.unique(connected)]
        )
    return adjusted_means(place, asked, estimates[rows] / unit, 1.0, cluster), names.size


class _Scale(NamedTuple):
    """The scale of the scores of some strata: numbers, or columns (S, 1) of real-valued rewards."""

    low: Floats | float
    unit: Floats | float
    ends: ScoreEnds
    span: float  # the range in units: 1, or 0 if all values are equal

    @classmethod
    def of(cls, models: StrataModels) -> _Scale:
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
