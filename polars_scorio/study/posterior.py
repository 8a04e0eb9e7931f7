"""Posteriors under a prior of each question, or of a population."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Literal, TypeAlias

import numpy as np
import scipy

from polars_scorio.arguments import View
from polars_scorio.maths.array_rows import Floats, Ints, Mask
from polars_scorio.maths.families import Decided, beta_score, decided_by_score
from polars_scorio.maths.independent import baseline_of_each
from polars_scorio.maths.posteriors import (
    Pooled,
    QuestionPosteriors,
    SeparatePosteriors,
    Target,
    beta_interval,
    normal_interval,
    small_sample_factor,
)
from polars_scorio.maths.ranks import counts_by_score, lower_models
from polars_scorio.metrics.metric import Metric, Summary, quiet_infinities
from polars_scorio.subjects.cell_numbers import ClusterSample, cluster_samples, root_of_squares
from polars_scorio.subjects.question_cells import QuestionCells
from polars_scorio.subjects.score_differences import (
    CellNumbers,
    Differences,
    IndependentScores,
    Law,
    PairEnds,
    RowNumbers,
    StrataNumbers,
    standardized_differences,
)


@dataclass(frozen=True, slots=True, eq=False)
class PosteriorScores(IndependentScores):
    """Models by posterior means: differences are normal, or Beta on the range of the metric."""

    range: float | None  # largest difference that the metric allows; None: differences are normal

    @classmethod
    def of(cls, metric: Metric, mu: Floats, sigma: Floats, *, beta: bool) -> PosteriorScores:
        """Models by mu and sigma (S, L); their differences are Beta if the metric has a range."""
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

    def shown_better(self, a: Ints, b: Ints, c: Floats) -> Mask:
        """Whether columns `b` are shown to be better than `a`, by critical values (S, P)."""
        return (self.pair_scores(a, b) > c) & (self.mu[:, a] < self.mu[:, b])

    def row_critical(self, confidence: float) -> Floats:
        """Critical values for all pairs of each model at once."""
        return baseline_of_each(np.where(np.isfinite(self.mu), self.sigma, np.nan), confidence)

    def pair_differences(self, a: Ints, b: Ints, c: Floats) -> Differences:
        """Differences of pairs of columns, by critical values."""
        diff, sigma = self._pair_moments(a, b)
        if self.range is None:
            lo, hi = diff - c * sigma, diff + c * sigma
        else:
            lo, hi = beta_interval(
                diff, sigma, 2 * scipy.special.ndtr(c) - 1, (-self.range, self.range)
            )
        lo, hi = (np.clip(end, -self.limit, self.limit) for end in (lo, hi))
        return Differences(diff, sigma, lo, hi)

    def pair_ends(self, a: Ints, b: Ints) -> PairEnds:
        """Ends of the intervals of pairs of columns, as a function of critical values."""

        def ends(c: Floats) -> tuple[Floats, Floats]:
            found = self.pair_differences(a, b, c)
            return found.lo, found.hi

        return ends

    def pair_z(self, a: Ints, b: Ints) -> Floats:
        """Signed critical values at which intervals of pairs stop to hold zero."""
        return np.asarray(np.sign(self._pair_moments(a, b)[0]) * self.pair_scores(a, b))

    def _pair_moments(self, a: Ints, b: Ints) -> tuple[Floats, Floats]:
        row = np.arange(len(self.mu))[:, None]
        return self.mu[row, a] - self.mu[row, b], np.hypot(self.sigma[row, a], self.sigma[row, b])

    def pair_scores(self, a: Ints, b: Ints) -> Floats:
        """Largest critical value at which the interval of a pair excludes zero."""
        diff, sigma = self._pair_moments(a, b)
        score = np.abs(standardized_differences(diff, sigma))
        if self.range is not None:
            score = beta_score(np.abs(diff) / self.range, sigma / self.range, score)
        return score if self.limit > 0 else np.zeros_like(score)


@dataclass(frozen=True, slots=True, eq=False)
class PosteriorLaw:
    """Posterior means, whose differences are normal, or Beta on the range of the metric."""

    beta: bool
    # Mean and standard deviation from which Beta intervals are made, of groups that have them.
    center: Floats = field(default_factory=lambda: np.empty(0))
    reach: Floats = field(default_factory=lambda: np.empty(0))

    ranges = False

    def scores(self, models: StrataNumbers) -> PosteriorScores:
        """The models of some strata."""
        mu, sigma, _, _ = models.basics
        return PosteriorScores.of(models.metric, mu, sigma, beta=self.beta)


# Prior of each question: that of the population, which is fitted, or alpha and beta of a Beta
# distribution of its rate of success. With other than two categories it is uniform.
QuestionPrior: TypeAlias = "Literal['population'] | tuple[float, float]"
UNIFORM = (1.0, 1.0)


@dataclass(frozen=True, slots=True)
class PosteriorInference:
    """Mu is the posterior mean under a prior of each question.

    A prior that is given: the interval is ``mu -+ z sigma``, clipped to the bounds [1]_. Under the
    fitted population it has Beta quantiles, of the distribution with the moments of the posterior
    on the range of the weights of the metric; a metric that can be infinite, or has one weight
    only, has a normal interval.

    References
    ----------
    .. [1] M. Hariri et al. (2026), Don't Pass@k, arXiv:2510.04265.
    """

    confidence: float
    target: Target = "benchmark"
    prior: QuestionPrior = UNIFORM

    @property
    def pooled(self) -> bool:
        """Whether the questions of a group share one prior, which is fitted to them."""
        return self.prior == "population"

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

    def mean_law(self) -> Law:
        """The law of means over strata."""
        return PosteriorLaw(beta=self.pooled)

    def mean_interval(
        self, metric: Metric, numbers: CellNumbers, strata: Ints
    ) -> tuple[Floats, Floats]:
        """Ends of the interval of means over strata, whose groups are (L, S)."""
        if not self.pooled:
            mu, sigma = numbers.mu[strata].mean(axis=1), root_of_squares(numbers.sigma[strata])
            return normal_interval(mu, sigma, self.confidence, metric.interval_limits)
        (low, high), law = metric.support, numbers.law
        assert isinstance(law, PosteriorLaw)  # as `_cell_numbers` makes it
        lowest = (numbers.lo[strata] == low).all(axis=1)
        highest = (numbers.hi[strata] == high).all(axis=1)
        center, reach = law.center[strata].mean(axis=1), root_of_squares(law.reach[strata])
        lo, hi = self._beta_interval(metric, center, reach, lowest, highest)
        # A stratum without success (or failure) has its interval around another number.
        mu = np.clip(numbers.mu[strata].mean(axis=1), low, high)
        return np.minimum(lo, mu), np.maximum(hi, mu)

    def _cell_numbers(
        self,
        metric: Metric,
        k: int | None,
        posterior: QuestionPosteriors,
        sample: ClusterSample | None,
    ) -> CellNumbers:
        with quiet_infinities(metric):
            summary = metric.summary(posterior, k)
            if isinstance(posterior, SeparatePosteriors):
                estimate, mu, sigma, _ = summary
                lo, hi = normal_interval(mu, sigma, self.confidence, metric.interval_limits)
                law = PosteriorLaw(beta=False)
                return CellNumbers("posterior", estimate, mu, sigma, lo, hi, law)
            center, reach = self._center_and_reach(summary, posterior, sample)
            extremes = _at_extremes(metric, posterior)
            lo, hi = self._beta_interval(metric, center, reach, *extremes)
        estimate, mu, sigma, _ = summary
        sigma = sigma if sample is None else sample.stretch * sigma
        law = PosteriorLaw(beta=True, center=center, reach=reach)
        return CellNumbers("population posterior", estimate, mu, sigma, lo, hi, law)

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
