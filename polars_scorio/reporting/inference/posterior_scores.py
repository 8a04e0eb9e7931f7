"""Models by their posterior means: differences are normal, or have Beta quantiles."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import polars as pl
import scipy

from polars_scorio.kernels.array_types import Floats, Ints
from polars_scorio.kernels.posterior_intervals import beta_interval
from polars_scorio.kernels.simultaneous.beta_score import beta_score
from polars_scorio.kernels.simultaneous.dunnett import baseline_of_each
from polars_scorio.kernels.simultaneous.rank_ranges import counts_by_score, lower_models
from polars_scorio.kernels.simultaneous.step_down import Decided, decided_by_score
from polars_scorio.metrics.metric import Metric
from polars_scorio.reporting.inference.score_differences import (
    Differences,
    IndependentScores,
    PairEnds,
    standardized_differences,
)


@dataclass(frozen=True, slots=True, eq=False)
class PosteriorScores(IndependentScores):
    """Models by posterior means: differences are normal, or Beta on the range of the metric.

    Attributes
    ----------
    range : float or None
        Largest difference that the metric allows; None: differences are normal.
    """

    range: float | None

    @classmethod
    def read(
        cls, metric: Metric, rows: pl.DataFrame, places: Ints, *, beta: bool
    ) -> PosteriorScores:
        """Read the models of strata from rows of a report.

        Parameters
        ----------
        metric : Metric
            The metric of the rows.
        rows : DataFrame
            With mu and sigma of each model.
        places : ndarray of int, shape (S, L)
            The row of each model of each stratum.
        beta : bool
            Whether differences have Beta quantiles, if the metric has a range.
        """
        mu, sigma = (rows[name].to_numpy()[places] for name in ("mu", "sigma"))
        low, high = metric.support
        width = high - low if beta and not metric.unbounded and low < high else None
        limit = np.inf if metric.bounds is None else metric.bounds[1] - metric.bounds[0]
        return cls(mu, sigma, limit, width)

    def decided_pairs(self, a: Ints, b: Ints) -> Decided:
        """Pairs that a critical value decides; for `step_down`."""
        return decided_by_score(self.pair_scores(a, b))

    def counts_at(self, c: Floats, strata: Ints) -> tuple[Ints, Ints]:
        """Numbers of better and of worse models in some strata, by critical values."""
        mu, sigma = self.ranked[strata], self.sigma[strata]
        c = np.broadcast_to(c, mu.shape)
        if self.range is not None:
            return counts_by_score(mu, c, replace(self, mu=mu, sigma=sigma).pair_scores)
        # Posterior means within bounds of no width differ by nothing.
        limit = np.inf if self.limit > 0 else 0.0
        better = lower_models(-mu, sigma, sigma, c, limit)
        return better, lower_models(mu, sigma, sigma, c, limit)

    def row_critical(self, confidence: float) -> Floats:
        """Critical values for all pairs of each model at once."""
        return baseline_of_each(np.where(np.isfinite(self.mu), self.sigma, np.nan), confidence)

    def pair_differences(self, a: Ints, b: Ints, c: Floats) -> Differences:
        """Differences of pairs of columns, by critical values."""
        diff, sigma, z = self._pair_moments(a, b)
        if self.range is None:
            lo, hi = diff - c * sigma, diff + c * sigma
        else:
            lo, hi = beta_interval(
                diff, sigma, 2 * scipy.special.ndtr(c) - 1, (-self.range, self.range)
            )
        lo, hi = (np.clip(end, -self.limit, self.limit) for end in (lo, hi))
        return Differences(diff, sigma, z, scipy.special.ndtr(z), lo, hi)

    def pair_ends(self, a: Ints, b: Ints) -> PairEnds:
        """Ends of the intervals of pairs of columns, as a function of critical values."""

        def ends(c: Floats) -> tuple[Floats, Floats]:
            found = self.pair_differences(a, b, c)
            return found.lo, found.hi

        return ends

    def _pair_moments(self, a: Ints, b: Ints) -> tuple[Floats, Floats, Floats]:
        diff = self.mu[:, a] - self.mu[:, b]
        sigma = np.hypot(self.sigma[:, a], self.sigma[:, b])
        return diff, sigma, standardized_differences(diff, sigma)

    def pair_scores(self, a: Ints, b: Ints) -> Floats:
        """Largest critical value at which the interval of a pair excludes zero."""
        diff, sigma, z = self._pair_moments(a, b)
        score = np.abs(z)
        if self.range is not None:
            score = beta_score(np.abs(diff) / self.range, sigma / self.range, score)
        return score if self.limit > 0 else np.zeros_like(score)
