"""Published inference: the posterior of each question under its own prior, normal intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial

import polars as pl
from polars.dataframe.group_by import GroupBy

from polars_scorio.arguments import View
from polars_scorio.kernels.array_types import Floats, Ints
from polars_scorio.kernels.posterior_intervals import normal_interval
from polars_scorio.kernels.posteriors import SeparatePosteriors
from polars_scorio.metrics.metric import Metric
from polars_scorio.metrics.summary import quiet_infinities
from polars_scorio.reporting.inference.cell_numbers import CellNumbers, RowNumbers
from polars_scorio.reporting.inference.posterior_scores import PosteriorScores
from polars_scorio.reporting.inference.stratum_means import error_of_mean, mean_of_strata
from polars_scorio.reporting.question_cells import QuestionCells


@dataclass(frozen=True, slots=True)
class PublishedInference:
    """Mu is the posterior mean, the interval ``mu -+ z sigma``, clipped to the bounds [1]_.

    References
    ----------
    .. [1] M. Hariri et al. (2026), Don't Pass@k, arXiv:2510.04265.
    """

    confidence: float

    def numbers(self, asked: Sequence[tuple[Metric, View]], cells: QuestionCells) -> RowNumbers:
        """The numbers of metrics, each with its view, for each draw size and cell."""
        posterior_of = cache(partial(self.posterior, cells=cells))
        return {
            (metric.name, k): self._cell_numbers(metric, k, posterior_of(view))
            for metric, view in asked
            for k in metric.row_sizes
        }

    def posterior(self, view: View, cells: QuestionCells) -> SeparatePosteriors:
        """The posterior of the questions in each cell."""
        return SeparatePosteriors(cells.seen_as(view))

    def ranking_numbers(
        self, metric: Metric, view: View, k: int | None, cells: QuestionCells
    ) -> Floats:
        """Mu of each cell, without an interval."""
        return metric.summary(self.posterior(view, cells), k).mu

    def model_scores(self, metric: Metric, rows: pl.DataFrame, places: Ints) -> PosteriorScores:
        """The models of strata, from rows of a report; differences of posteriors are normal."""
        return PosteriorScores.read(metric, rows, places, beta=False)

    def mean_interval(self, metric: Metric, strata: GroupBy) -> tuple[Floats, Floats]:
        """Ends of the interval of a mean over strata, from rows of a report."""
        means = strata.agg(mean_of_strata("mu"), error_of_mean("sigma"))
        mu, sigma = means["mu"].to_numpy(), means["sigma"].to_numpy()
        return normal_interval(mu, sigma, self.confidence, metric.interval_limits)

    def _cell_numbers(
        self, metric: Metric, k: int | None, posterior: SeparatePosteriors
    ) -> CellNumbers:
        with quiet_infinities(metric):
            estimate, mu, sigma, _ = metric.summary(posterior, k)
            lo, hi = normal_interval(mu, sigma, self.confidence, metric.interval_limits)
        return CellNumbers("published", estimate, mu, sigma, lo, hi)
