"""Differences of models whose verdicts were given by an imperfect judge."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from polars_scorio.kernels.array_types import Floats, Ints
from polars_scorio.kernels.judges.judge_rates import JudgeRates
from polars_scorio.kernels.judges.judged_accuracy import judged_difference
from polars_scorio.reporting.inference.cell_numbers import JudgeCalibration
from polars_scorio.reporting.inference.estimate_scores import EstimatePairs, EstimateScores
from polars_scorio.reporting.inference.priced_scores import PricedScores
from polars_scorio.reporting.inference.score_differences import (
    Differences,
    standardized_differences,
)


@dataclass(frozen=True, slots=True, eq=False)
class JudgedScores(EstimateScores):
    """Models by the truth behind their verdicts.

    Attributes
    ----------
    calibration : JudgeCalibration
        The judge of each model, in the order of ``mu.ravel()``.
    """

    calibration: JudgeCalibration

    def pair_differences(self, a: Ints, b: Ints, c: Floats) -> Differences:
        """Differences of pairs of columns; NaN if the judge tells nothing."""
        pairs = self.pairs(a, b, np.arange(len(self.mu)))
        diff: Floats = pairs.diff  # type: ignore[attr-defined]  # both kinds of pairs have it
        z = standardized_differences(diff, pairs.sigma)
        lo, hi = self._clipped_ends(pairs, c)
        shown = np.clip(diff, -self.limit, self.limit)
        return Differences(shown, pairs.sigma, z, pairs.probability(z), lo, hi)


@dataclass(frozen=True, slots=True, eq=False)
class VerdictScores(JudgedScores):
    """Accuracies whose verdicts one judge gave.

    Attributes
    ----------
    verdicts : PricedScores
        The models by their verdicts.
    """

    verdicts: PricedScores

    def pairs(self, a: Ints, b: Ints, strata: Ints) -> VerdictPairs:
        """Pairs of columns of some strata."""
        row, models = strata[:, None], self.mu.shape[1]
        of_verdicts = self.verdicts.pairs(a, b, strata)
        diff = self.verdicts.mu[row, a] - self.verdicts.mu[row, b]
        judge = np.broadcast_to(row * models + a, diff.shape)
        return VerdictPairs(of_verdicts, diff, self.calibration.rates, judge)


@dataclass(frozen=True, slots=True, eq=False)
class VerdictPairs:
    """Pairs of accuracies whose verdicts one judge gave.

    Attributes
    ----------
    verdicts : EstimatePairs
        The pairs by their verdicts.
    judged : ndarray of float, shape (S, P)
        Differences of the rates of verdicts "right".
    rates : JudgeRates
        All judges.
    judge : ndarray of int, shape (S, P)
        The place of the judge of each pair.
    """

    verdicts: EstimatePairs
    judged: Floats
    rates: JudgeRates
    judge: Ints

    @property
    def diff(self) -> Floats:
        """The differences of the truth."""
        return np.asarray(self.judged / self._index)

    @property
    def sigma(self) -> Floats:
        """Standard deviations of the differences."""
        own = self.rates.at(self.judge)
        calibration = self.diff**2 * (own.sensitivity_variance + own.specificity_variance)
        return np.asarray(np.sqrt(self.verdicts.sigma**2 + calibration) / self._index)

    @property
    def _index(self) -> Floats:
        """The adjusted index; NaN for a judge like a coin."""
        index = self.rates.at(self.judge).adjusted_index
        return np.where(index > 0, index, np.nan)

    def probability(self, z: Floats) -> Floats:
        """Probability that the first model of a pair is better, from its z."""
        return self.verdicts.probability(z)

    def ends(self, c: Floats) -> tuple[Floats, Floats]:
        """Ends of the intervals by critical values."""
        lo, hi = self.verdicts.ends(c)
        reaches = self.judged - lo, hi - self.judged
        found = judged_difference(self.judged, reaches, self.rates.at(self.judge), c)
        return found.lo, found.hi

    def of_strata(self, strata: Ints) -> VerdictPairs:
        """The pairs of some of the strata."""
        pairs = self.verdicts.of_strata(strata)
        return VerdictPairs(pairs, self.judged[strata], self.rates, self.judge[strata])


@dataclass(frozen=True, slots=True, eq=False)
class DrawScores(JudgedScores):
    """Metrics of draws, by credits that are corrected for the errors of a judge."""

    def pairs(self, a: Ints, b: Ints, strata: Ints) -> DrawPairs:
        """Pairs of columns of some strata.

        Under one judge the slopes of both models subtract before they are squared.
        """
        row, models = strata[:, None], self.mu.shape[1]
        first, other = self.calibration.at(row * models + a), self.calibration.at(row * models + b)
        one, two = first.rates, other.rates
        noise = first.variance + other.variance
        for slope, variance in (
            ("sensitivity_slope", "sensitivity_variance"),
            ("specificity_slope", "specificity_variance"),
        ):
            up, down = getattr(first, slope), getattr(other, slope)
            shared = (up - down) ** 2 * getattr(one, variance)
            apart = up**2 * getattr(one, variance) + down**2 * getattr(two, variance)
            noise = noise + np.where(first.judge == other.judge, shared, apart)
        return DrawPairs(first.estimate - other.estimate, np.sqrt(noise))


@dataclass(frozen=True, slots=True, eq=False)
class DrawPairs:
    """Differences of metrics of draws with their standard deviations, shape (S, P)."""

    diff: Floats
    sigma: Floats

    def probability(self, z: Floats) -> Floats:
        """Probability that the first model of a pair is better: the normal one."""
        return np.asarray(scipy.special.ndtr(z))

    def ends(self, c: Floats) -> tuple[Floats, Floats]:
        """Ends of the intervals by critical values."""
        return self.diff - c * self.sigma, self.diff + c * self.sigma

    def of_strata(self, strata: Ints) -> DrawPairs:
        """The pairs of some of the strata."""
        return DrawPairs(self.diff[strata], self.sigma[strata])
