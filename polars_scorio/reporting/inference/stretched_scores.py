"""Means over strata by their estimates, which have an interval and no price."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from polars_scorio.kernels.array_types import Floats, Ints
from polars_scorio.reporting.inference.estimate_scores import EstimateScores


@dataclass(frozen=True, slots=True, eq=False)
class StretchedScores(EstimateScores):
    """Estimates with an interval and no price, such as means over strata.

    Attributes
    ----------
    z : float or ndarray of float, shape (S, L)
        Critical value of each interval, which is stretched to other critical values.
    """

    z: Floats | float

    def pairs(self, a: Ints, b: Ints, strata: Ints) -> StretchedPairs:
        """Pairs of columns of some strata."""
        row = strata[:, None]
        mu, down, up = self.mu, (self.mu - self.lo) / self.z, (self.hi - self.mu) / self.z
        return StretchedPairs(
            mu[row, a] - mu[row, b],
            np.hypot(self.sigma[row, a], self.sigma[row, b]),
            np.hypot(down[row, a], up[row, b]),
            np.hypot(up[row, a], down[row, b]),
        )


@dataclass(frozen=True, slots=True, eq=False)
class StretchedPairs:
    """Pairs of models; both sides reach as far as their stretched intervals.

    Attributes
    ----------
    diff, sigma : ndarray of float, shape (S, P)
        Differences and their standard deviations.
    down, up : ndarray of float
        How far the differences reach at a critical value of 1.
    """

    diff: Floats
    sigma: Floats
    down: Floats
    up: Floats

    def probability(self, z: Floats) -> Floats:
        """Probability that the first model of a pair is better: the normal one."""
        return np.asarray(scipy.special.ndtr(z))

    def ends(self, c: Floats) -> tuple[Floats, Floats]:
        """Ends of the intervals by critical values."""
        return self.diff - c * self.down, self.diff + c * self.up

    def of_strata(self, strata: Ints) -> StretchedPairs:
        """The pairs of some of the strata."""
        return StretchedPairs(
            self.diff[strata], self.sigma[strata], self.down[strata], self.up[strata]
        )
