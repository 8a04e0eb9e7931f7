"""Models that are compared on questions that are a sample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy

from polars_scorio.maths.array_rows import Floats, Ints, Mask
from polars_scorio.maths.comparison import Comparison, sampled
from polars_scorio.maths.covariance import Paired, paired_means
from polars_scorio.maths.credits import largest_bias
from polars_scorio.maths.families import anytime_critical
from polars_scorio.maths.interval import population_ends
from polars_scorio.maths.power import QuestionsAhead
from polars_scorio.maths.run_effects import widened
from polars_scorio.subjects.scores import (
    Law,
    ModelNumbers,
    StrataModels,
    share_of_plan,
    shared_questions,
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
        return self._numbers_at(models, np.full((len(models.groups), 1), models.z))

    def _numbers_at(self, models: StrataModels, c: Floats) -> ModelNumbers:
        """The numbers at critical values (S, L) of one look, with what runs bring to them."""
        sample = self._sample(models)
        c = sample.critical(c)
        mu, sigma, lo, hi = sample.numbers(c)
        if models.runs is None:
            return mu, sigma, lo, hi
        runs = models.runs.by_score
        lo, hi = sample.scale.clipped(widened(mu, lo, hi, runs.term(c), c))
        return mu, np.hypot(sigma, np.sqrt(runs.excess)), lo, hi

    def own_ends(self, models: StrataModels, confidence: Floats) -> tuple[Floats, Floats]:
        """Intervals of the models at confidences (S, 1)."""
        return self.ends_at(models, scipy.special.ndtri((1 + confidence) / 2))

    def ends_at(self, models: StrataModels, c: Floats) -> tuple[Floats, Floats]:
        """Ends at critical values (S, L) of one look."""
        return self._numbers_at(models, c)[2:]

    def further(
        self, models: StrataModels, sides: Sequence[Ints], planned: int | None = None
    ) -> QuestionsAhead:
        """Pairs of columns (S, P) after further questions, with the same trials of each."""
        sample, (a, b) = self._sample(models), sides
        unit = np.broadcast_to(sample.scale.unit, a.shape)
        return QuestionsAhead.from_models(sample.joint, a, b, unit, sample.information)

    def _sample(self, models: StrataModels) -> Sample:
        if self not in models.known:
            models.known[self] = shared_sample(models, self.planned)
        return models.known[self]  # type: ignore[no-any-return]  # as stored


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """The models of some strata on questions that are a sample."""

    joint: Paired  # in units of `scale.unit` above `scale.low`
    scale: Scale
    bias: Floats | float = 0.0  # largest bias of each model, (S, L)
    single: Mask | None = None  # models of one trial, right or wrong, on questions of equal weight
    information: Floats | None = None  # questions over planned ones, (S,)

    def comparison(self) -> Comparison:
        """The models as decisions take them."""
        low, high = self.scale.ends
        return sampled(self.joint, self.scale.unit, high - low, self.information)

    def numbers(self, c: Floats) -> ModelNumbers:
        """Mean, standard error and interval of each model by itself, at critical values (S, L)."""
        scale, mean = self.scale, self.joint.mean
        number = np.broadcast_to(self.joint.number[:, None], mean.shape)
        about = self.joint.models(), mean, number, scipy.special.ndtr(-c)
        lo, hi, sigma = population_ends(*about, self.bias, self.single)
        mu, lo, hi = (scale.low + scale.unit * each for each in (mean, lo, hi))
        return mu, scale.unit * sigma, *scale.clipped((lo, hi))

    def critical(self, c: Floats) -> Floats:
        """Critical values (S, L) of the intervals of models, by those of one look."""
        return c if self.information is None else anytime_critical(c, self.information[:, None])


def shared_sample(models: StrataModels, planned: int | None) -> Sample:
    """The models of some strata, compared on questions that all of them were asked."""
    refuse_large_covariance(models.groups.shape[1])
    shared, scale = shared_questions(models), Scale.from_models(models)
    information = None if planned is None else share_of_plan(shared.sizes, "population", planned)
    low, unit = (
        np.repeat(np.broadcast_to(each, (shared.sizes.size, 1)), shared.sizes, axis=0)
        for each in (scale.low, scale.unit)
    )
    of_strata = shared.first, scale.span, shared.cluster, shared.weight
    paired = paired_means((shared.values - low) / unit, *of_strata)
    draw = None if models.scores_rewards else models.metric.draw(models.k)
    if draw is None or not scale.span:
        return Sample(paired, scale, information=information)
    bias = largest_bias(draw, shared.trials.ravel()).reshape(shared.values.shape)
    biases = paired_means(bias, *of_strata).mean if bias.any() else 0.0
    alone = np.logical_and.reduceat(shared.trials == 1, shared.first, axis=0)
    binary = np.unique(models.metric.weights).size == len(models.metric.support)
    exact = binary and shared.cluster is None and shared.weight is None
    return Sample(paired, scale, biases, alone if exact else None, information)


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
        if not models.scores_rewards:
            low, high = models.metric.support
            ends = models.metric.support
            if models.metric.bounds is not None:
                ends = tuple(np.clip(ends, *models.metric.bounds).tolist())
            return cls(low, high - low if low < high else 1.0, ends, float(low < high))
        least, width = (each[models.groups] for each in models.table.ranges(models.metric))
        lowest = least.min(axis=1, keepdims=True)
        highest = (least + width).max(axis=1, keepdims=True)
        # Rewards that are all equal tell nothing of their range.
        unit = np.where(highest > lowest, highest - lowest, np.nan)
        return cls(lowest, unit, (lowest, highest), float(np.any(lowest < highest)))
