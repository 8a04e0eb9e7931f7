"""Intervals of posteriors: normal, or by the quantiles of a Beta distribution."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import polars as pl

from polars_scorio.kernels.array_types import Floats, Mask
from polars_scorio.kernels.posterior_intervals import (
    beta_interval,
    normal_interval,
    small_sample_factor,
)
from polars_scorio.kernels.posteriors import Questions, Target
from polars_scorio.kernels.states import Rewards
from polars_scorio.metrics.metric import Metric
from polars_scorio.metrics.summary import NUMBERS, Summary, number_column, quiet_infinities

# What an interval is made of, where it is not mu and sigma: means over strata need it.
CENTER, REACH = ":center", ":reach"


class Sample(NamedTuple):
    """The questions as a sample of clusters.

    Attributes
    ----------
    size : ndarray of float
        Clusters of each group, as far as they count.
    stretch : ndarray of float
        By how much they are noisier than as many questions without clusters.
    """

    size: Floats
    stretch: Floats


@dataclass(frozen=True, slots=True)
class Intervals:
    """Which intervals a user wants, and about what; see `Scorio.report`."""

    confidence: float = 0.95
    target: Target = "benchmark"
    quantiles: bool = False  # of a Beta distribution, in place of mu -+ z sigma

    def numbers(
        self,
        metric: Metric,
        k: int | None,
        posterior: Questions | Rewards,
        sample: Sample | None = None,
    ) -> dict[str, pl.Series]:
        """What a metric says of each group, null where there is no such number.

        Parameters
        ----------
        metric : Metric
            What is asked.
        k : int or None
            One of its draw sizes.
        posterior : Independent, Pooled or Rewards
            What the metric looks at, as in `Metric.summary`.
        sample : Sample, optional
            For the population, where questions come in clusters.

        Returns
        -------
        dict of str to Series
            The `NUMBERS`, `CENTER` and `REACH`, a value for each group. What is infinite is left
            for others to refuse, who know its place.
        """
        with quiet_infinities(metric):
            summary = metric.summary(posterior, k)
            center, reach = self.around(summary, posterior, sample)
            lo, hi = self.ends(metric, center, reach, posterior)
        sigma = summary.sigma if sample is None else sample.stretch * summary.sigma
        numbers = [summary.estimate, summary.mu, sigma, lo, hi, center, reach]
        return dict(zip((*NUMBERS, CENTER, REACH), map(number_column, numbers), strict=True))

    def around(
        self, summary: Summary, posterior: Questions | Rewards, sample: Sample | None = None
    ) -> tuple[Floats, Floats]:
        """Mean and standard deviation that the interval of each cell is made of."""
        mu, sigma = (summary.mu, summary.sigma) if summary.around is None else summary.around
        if self.target == "benchmark" or isinstance(posterior, Rewards):
            return mu, sigma
        size, stretch = sample or (posterior.states.size, 1.0)
        return mu, stretch * sigma * small_sample_factor(size, self.confidence)

    def ends(
        self, metric: Metric, mu: Floats, sigma: Floats, posterior: Questions | Rewards
    ) -> tuple[Floats, Floats]:
        """The credible interval of each cell, from what it is `around`."""
        if isinstance(posterior, Rewards):
            return mu, mu
        if self._normal(metric):  # Which asks for no state on the edge.
            return normal_interval(mu, sigma, self.confidence, metric.bounds)
        w, states = metric.weights, posterior.states
        if not metric.uses_prior:
            states = states.observed()
        lowest, highest = (states.only(np.flatnonzero(w == end).tolist()) for end in metric.support)
        return self.interval_around(metric, mu, sigma, lowest, highest)

    def _normal(self, metric: Metric) -> bool:
        """Whether the interval is mu -+ z sigma."""
        low, high = metric.support
        return not self.quantiles or metric.unbounded or low == high

    def interval_around(
        self, metric: Metric, mu: Floats, sigma: Floats, lowest: Mask, highest: Mask
    ) -> tuple[Floats, Floats]:
        """The interval of means and standard deviations, clipped to the bounds of the metric.

        `lowest` and `highest` tell where all that was observed is the least (the most) there is.
        """
        if self._normal(metric):
            return normal_interval(mu, sigma, self.confidence, metric.bounds)
        low, high = metric.support
        uncertain = sigma > 0
        lo, hi = beta_interval(
            mu,
            sigma,
            self.confidence,
            (low, high),
            lowest=lowest & uncertain,
            highest=highest & uncertain,
        )
        lower, upper = metric.bounds or (-np.inf, np.inf)
        return np.clip(lo, lower, upper), np.clip(hi, lower, upper)
