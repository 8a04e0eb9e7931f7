"""Models by their unbiased estimates, whose differences have an interval for each pair."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from polars_scorio.kernels.anytime import anytime_critical
from polars_scorio.kernels.array_types import Floats, Ints, Mask
from polars_scorio.kernels.batches import row_slices
from polars_scorio.kernels.calibrated.further_draws import Range
from polars_scorio.kernels.calibrated.paired_difference import forecast_difference
from polars_scorio.kernels.simultaneous.dunnett import baseline_of_each
from polars_scorio.kernels.simultaneous.step_down import Decided
from polars_scorio.reporting.inference.score_differences import (
    Differences,
    IndependentScores,
    PairEnds,
    standardized_differences,
)


class EstimatePairs(Protocol):
    """Pairs of models of some strata: what their intervals need beside a critical value."""

    @property
    def sigma(self) -> Floats:
        """Standard deviations of the differences, shape (S, P)."""

    def probability(self, z: Floats) -> Floats:
        """Probability that the first model of a pair is better, from its z."""

    def ends(self, c: Floats) -> tuple[Floats, Floats]:
        """Ends of the intervals, not clipped, by critical values of shape (S, P)."""

    def of_strata(self, strata: Ints) -> EstimatePairs:
        """The pairs of some of the strata."""


@dataclass(frozen=True, slots=True, eq=False)
class RepeatedPairs:
    """Pairs of models whose intervals hold at every look.

    Attributes
    ----------
    pairs : EstimatePairs
        The same pairs at one look.
    information : ndarray of float, shape (S, P)
        Information of the model that has less of it, over the planned one.
    """

    pairs: EstimatePairs
    information: Floats

    @property
    def sigma(self) -> Floats:
        """Standard deviations of the differences."""
        return self.pairs.sigma

    def probability(self, z: Floats) -> Floats:
        """Probability that the first model of a pair is better, from its z."""
        return self.pairs.probability(z)

    def ends(self, c: Floats) -> tuple[Floats, Floats]:
        """Ends of the intervals, by critical values of one look."""
        return self.pairs.ends(anytime_critical(c, self.information))

    def of_strata(self, strata: Ints) -> RepeatedPairs:
        """The pairs of some of the strata."""
        return RepeatedPairs(self.pairs.of_strata(strata), self.information[strata])


@dataclass(frozen=True, slots=True, eq=False)
class EstimateScores(IndependentScores):
    """Models by unbiased estimates; a model without one has a range.

    Attributes
    ----------
    lo, hi : ndarray of float
        Interval of each model, or its range.
    information : ndarray of float, shape (S, L), or None
        Information of each model over the planned one, if intervals hold at every look.
    """

    lo: Floats
    hi: Floats
    information: Floats | None = field(default=None, kw_only=True)

    @property
    def repeated(self) -> bool:
        """Whether the log is looked at again and again."""
        return self.information is not None

    @abstractmethod
    def pairs(self, a: Ints, b: Ints, strata: Ints) -> EstimatePairs:
        """Pairs of columns of some strata; each array has the shape (S, P) or (P,)."""

    def interval_pairs(self, a: Ints, b: Ints, strata: Ints) -> EstimatePairs:
        """Pairs of columns of some strata, whose intervals hold at every look if that is wanted."""
        pairs = self.pairs(a, b, strata)
        if not self.repeated:
            return pairs
        return RepeatedPairs(pairs, self.pair_information(a, b)[strata])

    def pair_ends(self, a: Ints, b: Ints) -> PairEnds:
        """Ends of the intervals of pairs of columns, as a function of critical values."""
        pairs = self.interval_pairs(a, b, np.arange(len(self.mu)))
        return lambda c: self._clipped_ends(pairs, c)

    def pair_information(self, a: Ints, b: Ints) -> Floats:
        """Information of pairs of columns over the planned one; NaN for one look."""
        if self.information is None:
            return np.full((len(self.mu), a.shape[-1]), np.nan)
        return np.minimum(self.information[:, a], self.information[:, b])

    def decided_pairs(self, a: Ints, b: Ints) -> Decided:
        """Pairs that a critical value decides; for `step_down`."""
        every = self.interval_pairs(a, b, np.arange(len(self.mu)))

        def decided(c: Floats, strata: Ints) -> Mask:
            lo, hi = self._clipped_ends(every.of_strata(strata), c[:, None])
            return np.asarray((lo > 0) | (hi < 0))

        return decided

    def counts_at(self, c: Floats, strata: Ints) -> tuple[Ints, Ints]:
        """Numbers of better and of worse models in some strata, by critical values.

        The models are compared with all others, some at a time.
        """
        models = self.mu.shape[1]
        better, worse = np.zeros((2, strata.size, models), np.int64)
        for rows in row_slices(models, strata.size * models):
            first = np.arange(models)[rows]
            a, b = np.repeat(first, models), np.tile(np.arange(models), first.size)
            critical = c if c.shape[-1] == 1 else np.broadcast_to(c, (strata.size, models))[:, a]
            lo, hi = self._clipped_ends(self.interval_pairs(a, b, strata), critical)
            for counts, decided in ((better, hi < 0), (worse, lo > 0)):
                counts[:, rows] = decided.reshape(strata.size, -1, models).sum(axis=2)
        return better, worse

    def row_critical(self, confidence: float) -> Floats:
        """Critical value for all pairs of each model at once: the largest of its stratum.

        With a value for each model, each pair would need intervals of its own.
        """
        each = baseline_of_each(np.where(np.isfinite(self.mu), self.sigma, np.nan), confidence)
        known = np.where(np.isnan(each), -np.inf, each)
        return np.asarray(known.max(axis=1, keepdims=True, initial=0.0))

    def z_of_neighbours(self, order: Ints) -> Floats:
        """Standardized differences of neighbours in an order."""
        a, b = order[:, :-1], order[:, 1:]
        ranked = np.take_along_axis(self.ranked, order, axis=1)
        gaps = ranked[:, :-1] - ranked[:, 1:]
        return standardized_differences(gaps, self.pairs(a, b, np.arange(len(order))).sigma)

    def pair_differences(self, a: Ints, b: Ints, c: Floats) -> Differences:
        """Differences of pairs of columns; of a model with a range, the range of the difference."""
        pairs = self.interval_pairs(a, b, np.arange(len(self.mu)))
        diff, beyond = self.mu[:, a] - self.mu[:, b], np.isnan(pairs.sigma)
        one, other = (Range(self.mu[:, x], self.lo[:, x], self.hi[:, x]) for x in (a, b))
        ranges = forecast_difference(one, other)
        lo, hi = (
            np.where(beyond, np.clip(range_, -self.limit, self.limit), end)
            for range_, end in zip(ranges[1:], self._clipped_ends(pairs, c), strict=True)
        )
        z = np.where(beyond, np.nan, standardized_differences(diff, pairs.sigma))
        return Differences(diff, pairs.sigma, z, pairs.probability(z), lo, hi)

    def _clipped_ends(self, pairs: EstimatePairs, c: Floats) -> tuple[Floats, Floats]:
        """Ends of intervals within the largest difference that is shown."""
        lo, hi = (np.clip(end, -self.limit, self.limit) for end in pairs.ends(c))
        return lo, hi
