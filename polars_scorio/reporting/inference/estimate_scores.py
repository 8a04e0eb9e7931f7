"""Models by their unbiased estimates, whose differences reach as far as both estimates do."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
import scipy

from polars_scorio.kernels.array_types import Floats, Ints, Mask
from polars_scorio.kernels.calibrated.clopper_pearson import Reach, reach
from polars_scorio.kernels.calibrated.further_draws import Range
from polars_scorio.kernels.calibrated.paired_difference import (
    difference_within,
    forecast_difference,
)
from polars_scorio.kernels.calibrated.variance_price import Price
from polars_scorio.kernels.simultaneous.dunnett import baseline_of_each
from polars_scorio.kernels.simultaneous.rank_ranges import lower_models
from polars_scorio.kernels.simultaneous.step_down import Decided
from polars_scorio.reporting.inference.score_differences import (
    Differences,
    IndependentScores,
    standardized,
)


@dataclass(frozen=True, slots=True, eq=False)
class EstimateScores(IndependentScores):
    """Models by unbiased estimates; a model without one has a range.

    Attributes
    ----------
    lo, hi : ndarray of float
        Interval of each model, or its range.
    """

    lo: Floats
    hi: Floats

    @abstractmethod
    def reach_at(self, c: Floats, strata: Ints) -> tuple[Floats, Floats]:
        """Reaches down and up of the models of some strata, by one critical value each."""

    @abstractmethod
    def pair_ends(self, a: Ints, b: Ints, c: Floats) -> tuple[Floats, Floats]:
        """Ends of the intervals of differences of two estimates, by critical values."""

    def decided_pairs(self, a: Ints, b: Ints) -> Decided:
        """Pairs that a critical value decides; for `step_down`."""

        def decided(c: Floats, strata: Ints) -> Mask:
            down, up = self.reach_at(c, strata)
            gap = self.ranked[strata][:, a] - self.ranked[strata][:, b]
            above = np.minimum(gap, self.limit) > np.hypot(down[:, a], up[:, b])
            below = np.minimum(-gap, self.limit) > np.hypot(up[:, a], down[:, b])
            return np.asarray(above | below)

        return decided

    def counts_at(self, c: Floats, strata: Ints) -> tuple[Ints, Ints]:
        """Numbers of better and of worse models in some strata, by critical values."""
        down, up = self.reach_at(c[:, 0], strata)
        mu, one = self.ranked[strata], np.ones(down.shape)
        better = lower_models(-mu, up, down, one, self.limit)
        return better, lower_models(mu, down, up, one, self.limit)

    def row_critical(self, confidence: float) -> Floats:
        """Critical value for all pairs of each model at once: the largest of its stratum.

        With a value for each model, each pair would need intervals of its own.
        """
        each = baseline_of_each(np.where(np.isfinite(self.mu), self.sigma, np.nan), confidence)
        known = np.where(np.isnan(each), -np.inf, each)
        return np.asarray(known.max(axis=1, keepdims=True, initial=0.0))

    def pair_differences(self, a: Ints, b: Ints, c: Floats) -> Differences:
        """Differences of pairs of columns; of a model with a range, the range of the difference."""
        diff, sigma = self.mu[:, a] - self.mu[:, b], np.hypot(self.sigma[:, a], self.sigma[:, b])
        one, other = (Range(self.mu[:, x], self.lo[:, x], self.hi[:, x]) for x in (a, b))
        ranges, beyond = forecast_difference(one, other), np.isnan(sigma)
        lo, hi = (
            np.clip(np.where(beyond, range_, end), -self.limit, self.limit)
            for range_, end in zip(ranges[1:], self.pair_ends(a, b, c), strict=True)
        )
        z = np.where(beyond, np.nan, standardized(diff, sigma))
        return Differences(diff, sigma, z, scipy.special.ndtr(np.abs(z)), lo, hi)


@dataclass(frozen=True, slots=True, eq=False)
class PricedScores(EstimateScores):
    """Estimates with a price: differences reach as far as the price of both.

    Attributes
    ----------
    price : Price
        Price of the models in the order of ``mu.ravel()``.
    """

    price: Price

    def reach_at(self, c: Floats, strata: Ints) -> tuple[Floats, Floats]:
        """Reaches down and up at the confidence of a critical value."""
        models = self.mu.shape[1]
        rows = (strata[:, None] * models + np.arange(models)).ravel()
        reached = reach(self.price.at(rows), np.repeat(2 * scipy.special.ndtr(c) - 1, models))
        return reached.down.reshape(-1, models), reached.up.reshape(-1, models)

    def pair_ends(self, a: Ints, b: Ints, c: Floats) -> tuple[Floats, Floats]:
        """Ends of intervals; both sides reach as far as at the confidence of the critical value."""
        first_model = np.arange(len(self.mu))[:, None] * self.mu.shape[1]
        sides = [(first_model + side).ravel() for side in (a, b)]
        first, second = (self.price.at(side) for side in sides)
        ends = difference_within(first, second, *self._pair_reaches(sides, c))
        return ends.lo.reshape(c.shape), ends.hi.reshape(c.shape)

    def _pair_reaches(self, sides: list[Ints], c: Floats) -> list[Reach]:
        """Reaches of both sides of each pair, computed once for each model and critical value."""
        levels, level = np.unique(c.ravel(), return_inverse=True)
        wanted = np.concatenate(sides) * levels.size + np.tile(level.ravel(), 2)
        distinct, place = np.unique(wanted, return_inverse=True)
        confidence = 2 * scipy.special.ndtr(levels) - 1
        far = reach(self.price.at(distinct // levels.size), confidence[distinct % levels.size])
        halves = np.split(place.ravel(), 2)
        return [Reach(*(values[half] for values in far)) for half in halves]


@dataclass(frozen=True, slots=True, eq=False)
class StretchedScores(EstimateScores):
    """Estimates with an interval and no price, such as means over strata.

    Attributes
    ----------
    z : float
        Critical value of the interval, which is stretched to other critical values.
    """

    z: float

    def reach_at(self, c: Floats, strata: Ints) -> tuple[Floats, Floats]:
        """Reaches down and up of the stretched intervals."""
        stretch = c[:, None] / self.z
        mu, lo, hi = self.mu[strata], self.lo[strata], self.hi[strata]
        return stretch * (mu - lo), stretch * (hi - mu)

    def pair_ends(self, a: Ints, b: Ints, c: Floats) -> tuple[Floats, Floats]:
        """Ends of intervals; both sides reach as far as their stretched intervals."""
        down, up, diff = self.mu - self.lo, self.hi - self.mu, self.mu[:, a] - self.mu[:, b]
        stretch = c / self.z
        lo = diff - stretch * np.hypot(down[:, a], up[:, b])
        return lo, diff + stretch * np.hypot(up[:, a], down[:, b])
