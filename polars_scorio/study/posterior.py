"""Posteriors under a prior of each question, or of a population."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from typing import ClassVar, Literal, TypeAlias

import numpy as np

from polars_scorio.arguments import View
from polars_scorio.maths.array_rows import Floats, Ints, Mask
from polars_scorio.maths.comparison import (
    Compared,
    Comparison,
    Pairs,
    Reaches,
    beta_pairs,
    independent_pairs,
)
from polars_scorio.maths.posteriors import (
    Pooled,
    QuestionPosteriors,
    SeparatePosteriors,
    Target,
    beta_interval,
    normal_interval,
    small_sample_factor,
)
from polars_scorio.metrics.metric import Metric, quiet_infinities
from polars_scorio.subjects.question_cells import QuestionCells
from polars_scorio.subjects.scores import (
    ClusterSample,
    Inference,
    Law,
    MeanEnds,
    Noise,
    RowScores,
    Scores,
    StrataMeans,
    StrataModels,
    cluster_samples,
)


@dataclass(frozen=True, slots=True, eq=False)
class PosteriorLaw(Law):
    """Posterior means, whose differences are normal, or Beta on the range of the metric."""

    beta: bool
    # Mean and standard deviation from which Beta intervals are made, of groups that have them.
    center: Floats = field(default_factory=lambda: np.empty(0))
    reach: Floats = field(default_factory=lambda: np.empty(0))

    ranges: ClassVar[bool] = False

    def compared(self, models: StrataModels) -> Comparison:
        """The models of some strata."""
        mu, sigma, _, _ = models.reported
        return posterior_comparison(models.metric, mu, sigma, beta=self.beta)


def posterior_comparison(metric: Metric, mu: Floats, sigma: Floats, *, beta: bool) -> Comparison:
    """Models by mu and sigma (S, L); their differences are Beta if the metric has a range."""
    low, high = metric.support
    limit = np.inf if metric.bounds is None else metric.bounds[1] - metric.bounds[0]
    normal = independent_pairs(Reaches(mu, sigma, sigma, sigma))

    def between(a: Ints, b: Ints) -> Pairs:
        pairs = normal(a, b)
        return beta_pairs(pairs.diff, pairs.sigma, high - low)

    none = np.full_like(mu, np.nan)
    compared = Compared.from_numbers(mu, sigma, none, none)
    ranged = beta and not metric.unbounded and low < high
    return Comparison(compared, between if ranged else normal, limit)


# Prior of each question: that of the weighted populations, or alpha and beta of a Beta
# distribution of its rate of success. With other than two categories it is uniform.
QuestionPrior: TypeAlias = "Literal['population'] | tuple[float, float]"
UNIFORM = (1.0, 1.0)


@dataclass(frozen=True, slots=True)
class PosteriorInference(Inference):
    """Mu is the posterior mean under a prior of each question.

    Given a prior the interval is ``mu -+ z sigma``, clipped to the bounds (M. Hariri et al. 2026,
    arXiv:2510.04265). Under the weighted populations it has Beta quantiles on the range of the
    weights; a metric that can be infinite, or has one weight only, has a normal interval.
    """

    confidence: float
    target: Target = "benchmark"
    prior: QuestionPrior = UNIFORM

    @property
    def pooled(self) -> bool:
        """Whether the questions of a group share one prior: populations that they weigh."""
        return self.prior == "population"

    def numbers(self, asked: Sequence[tuple[Metric, View]], cells: QuestionCells) -> RowScores:
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

    def posterior(self, view: View, cells: QuestionCells) -> QuestionPosteriors:
        """The posterior of the questions in each cell."""
        states = cells.seen_as(view)
        if self.prior != "population":
            alpha = 1.0 if self.prior == UNIFORM else np.array(self.prior[::-1])
            return SeparatePosteriors(states, alpha)
        fitted = cells.seen_as(view, cells.fitted) if cells.per_question else states
        return Pooled.fit(states, fitted, cells.group_of_cell, self.target)

    def ranking_numbers(
        self, metric: Metric, view: View, k: int | None, cells: QuestionCells
    ) -> Floats:
        """Mu of each cell, without an interval."""
        return metric.summary(self.posterior(view, cells), k).mu

    def mean_interval(self, metric: Metric, numbers: Scores, strata: StrataMeans) -> MeanEnds:
        """Ends of the interval of means over strata, and the law of these means."""
        law = PosteriorLaw(beta=self.pooled)
        if not self.pooled:
            mu, sigma = strata.mean(numbers.mu), strata.root_of_squares(numbers.sigma)
            return *normal_interval(mu, sigma, self.confidence, metric.interval_limits), law
        low, high = metric.support
        lowest = (numbers.lo[strata.groups] == low).all(axis=1)
        highest = (numbers.hi[strata.groups] == high).all(axis=1)
        assert isinstance(numbers.law, PosteriorLaw)  # of the strata, by this inference
        center = strata.mean(numbers.law.center)
        reach = strata.root_of_squares(numbers.law.reach)
        lo, hi = self._beta_interval(metric, center, reach, lowest, highest)
        # A stratum without success (or failure) has its interval around another number.
        mu = np.clip(strata.mean(numbers.mu), low, high)
        return np.minimum(lo, mu), np.maximum(hi, mu), law

    def _cell_numbers(
        self,
        metric: Metric,
        k: int | None,
        posterior: QuestionPosteriors,
        sample: ClusterSample | None,
    ) -> Scores:
        with quiet_infinities(metric):
            estimate, mu, sigma, centre = metric.summary(posterior, k)
            if not posterior.shared_prior:
                lo, hi = normal_interval(mu, sigma, self.confidence, metric.interval_limits)
                law = PosteriorLaw(beta=False)
                return Scores("posterior", estimate, mu, Noise(sigma), lo, hi, law)
            center, reach = (mu, sigma) if centre is None else centre
            if self.target == "population":  # of which these questions are a sample
                size, stretch = sample or (posterior.states.size, 1.0)
                reach = stretch * reach * small_sample_factor(size, self.confidence)
            extremes = _at_extremes(metric, posterior)
            lo, hi = self._beta_interval(metric, center, reach, *extremes)
        sigma = sigma if sample is None else sample.stretch * sigma
        law = PosteriorLaw(beta=True, center=center, reach=reach)
        return Scores("population posterior", estimate, mu, Noise(sigma), lo, hi, law)

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


def _at_extremes(metric: Metric, posterior: QuestionPosteriors) -> tuple[Mask, Mask]:
    """Whether all that was observed in a cell has the least, and the largest, weight."""
    w, states = metric.weights, posterior.states
    if not metric.uses_prior:
        states = states.observed()
    lowest, highest = (states.only(np.flatnonzero(w == end).tolist()) for end in metric.support)
    return lowest, highest
