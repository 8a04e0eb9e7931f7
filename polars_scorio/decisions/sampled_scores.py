"""The models of strata, compared on questions that are a sample of a population."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import scipy

from polars_scorio.kernels.anytime import anytime_student_critical
from polars_scorio.kernels.array_types import Floats, Ints, Mask
from polars_scorio.kernels.calibrated.population_mean import UnitSample
from polars_scorio.kernels.simultaneous.max_t import max_t_of_best, max_t_of_each
from polars_scorio.kernels.simultaneous.paired_means import Paired
from polars_scorio.kernels.simultaneous.probability_best import p_best_paired
from polars_scorio.kernels.simultaneous.rank_ranges import better_and_worse
from polars_scorio.kernels.simultaneous.signal_share import signal_share_paired
from polars_scorio.kernels.simultaneous.step_down import (
    Critical,
    Decided,
    decided_by_score,
    paired_critical,
)
from polars_scorio.reporting.inference.planned_looks import look_confidence
from polars_scorio.reporting.inference.score_differences import (
    Differences,
    PairEnds,
    simultaneous_verdicts,
    standardized_differences,
)

# Least and largest score of a model.
ScoreEnds: TypeAlias = "tuple[Floats | float, Floats | float]"


@dataclass(frozen=True, slots=True, eq=False)
class SampledScores:
    """The models of some strata, compared on questions that are a sample; see `Scores`.

    Attributes
    ----------
    models : Paired
        In units of `unit`.
    unit : float or ndarray of float, shape (S, 1)
        The range of the metric, or of the rewards of each stratum; 1 if it has none.
    span : float
        The range in units: 1, or 0 if all values are equal.
    ends : tuple of float or ndarray of float, shape (S, 1)
        The range of a score, clipped to the bounds of the metric.
    low : float or ndarray of float, shape (S, 1)
        The least value of the metric, or of the rewards of each stratum.
    units : UnitSample or None
        The questions, or clusters, of each model, for its own interval. None if the metric has no
        range, or the means are adjusted for the questions that a model was asked: its interval is
        then that of Student's t.
    information : ndarray of float, shape (S,), or None
        Questions over planned ones, if intervals hold at every look.
    """

    models: Paired
    unit: Floats | float
    span: float
    ends: ScoreEnds
    low: Floats | float = 0.0
    units: UnitSample | None = None
    information: Floats | None = None

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

    def z_of_neighbours(self, order: Ints) -> Floats:
        """Standardized differences of neighbours in an order."""
        a, b = order[:, :-1], order[:, 1:]
        strata, mean = np.arange(len(order))[:, None], self.models.mean
        return standardized_differences(
            mean[strata, a] - mean[strata, b], self._pair_sigma()[strata, a, b]
        )

    def critical(self, a: Ints, b: Ints, confidence: float, baseline: int | None) -> Critical:
        """Critical values for `step_down`."""
        return paired_critical(self.models, a, b, confidence)

    def decided_pairs(self, a: Ints, b: Ints) -> Decided:
        """Pairs that a critical value decides; for `step_down`."""
        decided = decided_by_score(self._pair_score(a, b))
        return lambda c, strata: decided(self._look_critical(c, strata), strata)

    def better_and_worse(self, confidence: float, *, simultaneous: bool) -> tuple[Ints, Ints]:
        """Numbers of better and of worse models."""
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
        return better_and_worse(mean, differs)

    def p_best(self) -> Floats:
        """Chance of each model to be the best, after shrinking the gaps."""
        models = self.models
        shrinkage = np.sqrt(self.signal_share())
        return p_best_paired(replace(models, mean=shrinkage[:, None] * models.mean))

    def signal_share(self) -> Floats:
        """Share of the spread of the models that is more than noise."""
        return signal_share_paired(self.models)

    def could_be_best(self, confidence: float) -> Mask:
        """Models than which no other is better, by one-sided verdicts against each model."""
        mean = self.models.mean
        a, b = (each.ravel() for each in np.indices((mean.shape[1],) * 2))
        score = self._pair_score(a, b).reshape(*mean.shape, -1)
        # By a negative value the highest model would be worse than others.
        c = np.maximum(max_t_of_best(self.models, confidence), 0.0)
        better, _ = better_and_worse(mean, score > self._look_critical(c)[:, :, None])
        return np.asarray(np.isfinite(self.ranked) & (better == 0))

    def pair_differences(self, a: Ints, b: Ints, c: Floats) -> Differences:
        """Differences of pairs of columns, by critical values."""
        mean, freedom = self.models.mean, self.models.freedom[:, None]
        diff, sigma = mean[:, a] - mean[:, b], self._pair_sigma()[:, a, b]
        z = standardized_differences(np.where(freedom > 0, diff, np.nan), sigma)
        prob = scipy.special.stdtr(np.where(freedom > 0, freedom, np.nan), z)
        limit, c = (self.ends[1] - self.ends[0]) / self.unit, self._look_critical(c)
        lo, hi = (np.clip(end, -limit, limit) for end in (diff - c * sigma, diff + c * sigma))
        unit = self.unit
        diff = np.where(freedom > 0, diff, np.nan)
        return Differences(unit * diff, unit * sigma, z, prob, unit * lo, unit * hi)

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
