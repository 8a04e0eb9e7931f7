"""Pooled inference: one Beta (Dirichlet) population of questions, fitted to each group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial

import numpy as np
import polars as pl
from polars.dataframe.group_by import GroupBy

from polars_scorio.arguments import View
from polars_scorio.kernels.array_types import Floats, Ints, Mask
from polars_scorio.kernels.posterior_intervals import (
    beta_interval,
    normal_interval,
    small_sample_factor,
)
from polars_scorio.kernels.posteriors import Pooled, Target
from polars_scorio.metrics.metric import Metric
from polars_scorio.metrics.summary import Summary, quiet_infinities
from polars_scorio.reporting.inference.cell_numbers import CENTER, REACH, CellNumbers, RowNumbers
from polars_scorio.reporting.inference.cluster_noise import ClusterSample, cluster_samples
from polars_scorio.reporting.inference.posterior_scores import PosteriorScores
from polars_scorio.reporting.inference.stratum_means import error_of_mean, mean_of_strata
from polars_scorio.reporting.question_cells import QuestionCells

_LOWEST, _HIGHEST = ":lowest", ":highest"


@dataclass(frozen=True, slots=True)
class PooledInference:
    """Mu is the posterior mean under the fitted population, the interval has Beta quantiles.

    The Beta distribution has the mean and the standard deviation of the posterior, on the range of
    the weights of the metric. A metric that can be infinite, or has one weight only, has a normal
    interval.
    """

    confidence: float
    target: Target

    def numbers(self, asked: Sequence[tuple[Metric, View]], cells: QuestionCells) -> RowNumbers:
        """The numbers of metrics, each with its view, for each draw size and cell."""
        posterior_of = cache(partial(self.posterior, cells=cells))
        sample_of = cluster_samples(cells, self.target)
        return {
            (metric.name, k): self._cell_numbers(
                metric, k, posterior_of(view), sample_of(metric, k, view)
            )
            for metric, view in asked
            for k in metric.row_sizes
        }

    def posterior(self, view: View, cells: QuestionCells) -> Pooled:
        """The posterior of the questions in each cell, under the population of its group."""
        states = cells.seen_as(view)
        fitted = cells.seen_as(view, cells.fitted) if cells.per_question else states
        return Pooled.fit(states, fitted, cells.group_of_cell, self.target)

    def ranking_numbers(
        self, metric: Metric, view: View, k: int | None, cells: QuestionCells
    ) -> Floats:
        """Mu of each cell, without an interval."""
        return metric.summary(self.posterior(view, cells), k).mu

    def model_scores(self, metric: Metric, rows: pl.DataFrame, places: Ints) -> PosteriorScores:
        """The models of strata, from rows of a report; their differences have Beta quantiles."""
        return PosteriorScores.read(metric, rows, places, beta=True)

    def mean_interval(self, metric: Metric, strata: GroupBy) -> tuple[Floats, Floats]:
        """Ends of the interval of a mean over strata, from rows of a report."""
        low, high = metric.support
        means = strata.agg(
            mean_of_strata("mu"),
            mean_of_strata(CENTER),
            error_of_mean(REACH),
            (pl.col("lo") == low).all().alias(_LOWEST),
            (pl.col("hi") == high).all().alias(_HIGHEST),
        )
        made_of = (means[name].to_numpy() for name in (CENTER, REACH, _LOWEST, _HIGHEST))
        lo, hi = self._beta_interval(metric, *made_of)
        # A stratum without success (or failure) has its interval around another number.
        mu = np.clip(means["mu"].to_numpy(), low, high)
        return np.minimum(lo, mu), np.maximum(hi, mu)

    def _cell_numbers(
        self, metric: Metric, k: int | None, posterior: Pooled, sample: ClusterSample | None
    ) -> CellNumbers:
        with quiet_infinities(metric):
            summary = metric.summary(posterior, k)
            center, reach = self._center_and_reach(summary, posterior, sample)
            extremes = _at_extremes(metric, posterior)
            lo, hi = self._beta_interval(metric, center, reach, *extremes)
        estimate, mu, sigma, _ = summary
        sigma = sigma if sample is None else sample.stretch * sigma
        return CellNumbers("pooled", estimate, mu, sigma, lo, hi, center, reach)

    def _center_and_reach(
        self, summary: Summary, posterior: Pooled, sample: ClusterSample | None
    ) -> tuple[Floats, Floats]:
        """Mean and standard deviation from which the interval of each cell is made."""
        mu, sigma = (summary.mu, summary.sigma) if summary.around is None else summary.around
        if self.target == "benchmark":
            return mu, sigma
        size, stretch = sample or (posterior.states.size, 1.0)
        return mu, stretch * sigma * small_sample_factor(size, self.confidence)

    def _beta_interval(
        self, metric: Metric, mu: Floats, sigma: Floats, lowest: Mask, highest: Mask
    ) -> tuple[Floats, Floats]:
        """The interval of means and standard deviations, clipped to the bounds of the metric.

        `lowest` (`highest`) tells for each mean whether all observed outcomes are the worst (the
        best) that there are: the interval ends there then.
        """
        low, high = metric.support
        if metric.unbounded or low == high:
            return normal_interval(mu, sigma, self.confidence, metric.bounds)
        uncertain = sigma > 0
        lo, hi = beta_interval(
            mu,
            sigma,
            self.confidence,
            (low, high),
            lowest=lowest & uncertain,
            highest=highest & uncertain,
        )
        bounds = metric.bounds or (-np.inf, np.inf)
        return np.clip(lo, *bounds), np.clip(hi, *bounds)


def _at_extremes(metric: Metric, posterior: Pooled) -> tuple[Mask, Mask]:
    """Whether all that was observed in a cell has the least, and the largest, weight."""
    w, states = metric.weights, posterior.states
    if not metric.uses_prior:
        states = states.observed()
    lowest, highest = (states.only(np.flatnonzero(w == end).tolist()) for end in metric.support)
    return lowest, highest
