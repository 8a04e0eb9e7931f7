"""Posterior moments of questions under separate or pooled priors, and their intervals."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from operator import attrgetter
from typing import ClassVar, Literal, NamedTuple, TypeAlias

import numpy as np
import scipy
from numpy.typing import NDArray

from polars_scorio.maths.array_rows import (
    Floats,
    Ints,
    require_weight_per_category,
    row_slices,
    weight_range,
)
from polars_scorio.maths.draws import DrawsOf, credit_moments
from polars_scorio.maths.pooled_moments import (
    CreditMoments,
    Credits,
    Joint,
    JointMoments,
    Moments,
    Posterior,
    WeightedPopulations,
    posterior_moments,
    trial_variance,
)
from polars_scorio.maths.populations import beta_quantile
from polars_scorio.maths.questions import States


def weighted_average(counts: Ints, w: Floats) -> Floats:
    """Mean weight of the observed trials of each state, (S,); counts (S, K), at least one trial."""
    # Only weights of different sign can cancel.
    require_weight_per_category(counts, w)
    n = counts.sum(axis=1)
    if np.any(n == 0):
        empty = np.flatnonzero(n == 0)
        raise ValueError(
            f"{empty.size:,} of {n.size:,} states have no trial, the first is state {empty[0]}. "
            "Leave them out: their average is undefined."
        )
    average = np.empty(n.size)
    for rows in row_slices(n.size, w.size):
        average[rows] = _average_weight(np.ascontiguousarray(counts[rows].T) / n[rows], w)
    return average


def weighted_moments(nu: Floats, w: Floats) -> tuple[Floats, Floats]:
    """Mean and variance of ``sum_j w_j p_j``, ``p ~ Dirichlet(nu)``, for each state."""
    # M. Hariri et al. (2026), arXiv:2510.04265, the posterior of Bayes@N for one question. The
    # variance is ``(sum_j w_j**2 nu_j / T - mean**2) / (T + 1)``, T the sum of nu, in units of
    # ``weight_range(w) ** 2``.
    require_weight_per_category(nu, w)
    mean, variance = np.empty(len(nu)), np.empty(len(nu))
    for rows in row_slices(len(nu), w.size):
        # Category after category: sums over few columns of a row are slow.
        values = np.ascontiguousarray(nu[rows].T)
        total = _row_sum(values)
        share = values / total
        mean[rows] = _average_weight(share, w)
        variance[rows] = _weight_variance(share, w) / (total + 1)
    return mean, variance


def unit_weights(w: Floats) -> tuple[Floats, float, float]:
    """Weights moved to [0, 1], and what moves them back: squares then cannot overflow."""
    low = float(w.min())
    scale = float(w.max()) - low
    return (w - low) / (scale or 1.0), low, scale


def _row_sum(rows: Floats) -> Floats:
    """Sum of the rows in their order; the order of `sum` depends on the number of columns."""
    total: Floats = reduce(np.add, rows)
    return total


def _average_weight(share: Floats, w: Floats) -> Floats:
    """Mean weight of each column of shares."""
    # Counted from the weight nearest to zero, no two terms of one sign ever cancel.
    origin = np.clip(0.0, w.min(), w.max())
    average: Floats = origin + _row_sum(share * (w - origin)[:, None])
    return average


def _weight_variance(share: Floats, w: Floats) -> Floats:
    """Variance of the weights under each column of shares, in units of ``weight_range(w) ** 2``."""
    unit = weight_range(w) or 1.0
    # Counted from the weight of the largest share, the mean is no larger than about the
    # scatter: with shares (1e-9, .5, .5) and w = (0, 1 - 1e-5, 1) any other origin costs digits.
    largest, origin = share[0], np.full(share.shape[1], w[0])
    for other, weight in zip(share[1:], w[1:], strict=True):  # several times as fast as `argmax`
        origin = np.where(other > largest, weight, origin)
        largest = np.maximum(largest, other)
    deviation = (w[:, None] - origin) / unit
    deviation -= _row_sum(share * deviation)
    deviation *= deviation
    return _row_sum(share * deviation)


_NARROWEST = 1e-49  # of standard deviations; shapes are at most 1e98


def normal_interval(
    mu: Floats, sigma: Floats, confidence: Floats | float, bounds: tuple[float, float] | None
) -> tuple[Floats, Floats]:
    """``mu +- z sigma``, both ends clipped into both bounds; None: no clipping."""
    reach = -scipy.special.ndtri(_tail_chance(confidence)) * sigma
    low, high = (-np.inf, np.inf) if bounds is None else bounds
    return np.clip(mu - reach, low, high), np.clip(mu + reach, low, high)


def beta_interval(
    mu: Floats,
    sigma: Floats,
    confidence: Floats | float,
    bounds: tuple[float, float],
    *,
    lowest: NDArray[np.bool_] | bool = False,
    highest: NDArray[np.bool_] | bool = False,
) -> tuple[Floats, Floats]:
    """Central quantiles of the Beta distribution with these moments, on the bounds, around `mu`."""
    # `lowest` (`highest`): all trials are in the lowest (highest) category, and that end is the
    # bound. `normal_interval` if no Beta is that wide; populations need `small_sample_factor`.
    low, high = bounds
    width = high - low
    u, sd = (mu - low) / width, sigma / width
    kappa = u * (1 - u) / np.clip(sd, _NARROWEST, 1) ** 2 - 1
    beta, tail = (sd > 0) & (kappa > 0), _tail_chance(confidence)
    a, b = (np.where(beta, share * kappa, 1.0) for share in (u, 1 - u))
    quantiles = (beta_quantile(a, b, tail, upper=upper) for upper in (False, True))
    lo, hi = (
        np.where(beta, low + width * quantile, end)
        for quantile, end in zip(
            quantiles, normal_interval(mu, sigma, confidence, bounds), strict=True
        )
    )
    inside = np.clip(mu, low, high)
    lo, hi = np.minimum(lo, inside), np.maximum(hi, inside)
    known = ~np.isnan(mu + sigma)
    return np.where(lowest & known, low, lo), np.where(highest & known, high, hi)


def small_sample_factor(questions: Ints | Floats, confidence: float) -> Floats:
    """``t_{M-1} / z``: widening of a population's sigma for M questions or effective clusters."""
    # NaN for ``M <= 1``: one question says nothing about the others.
    freedom = np.maximum(questions - 1, 1)
    tail = _tail_chance(confidence)
    return np.where(
        questions > 1, scipy.special.stdtrit(freedom, tail) / scipy.special.ndtri(tail), np.nan
    )


def _tail_chance(confidence: Floats | float) -> Floats | float:
    return (1 - confidence) / 2


Target = Literal["benchmark", "population"]


@dataclass(frozen=True, slots=True, eq=False)
class SeparatePosteriors:
    """Questions with a prior of their own, Dirichlet(alpha): of the rates by category."""

    states: States
    alpha: Floats | float = 1.0

    shared_prior: ClassVar[bool] = False

    def integrate(self, moments: Moments) -> tuple[Floats, Floats]:
        """Mean and standard deviation of a metric in each group, shape (G,)."""
        mean, variance = moments(self._nu, self.states.n)
        return self.states.mean(mean), self.states.sigma(variance)

    def integrate_joint(self, moments: JointMoments) -> Joint:
        """Means, variances and covariance of two metrics in each group."""
        x, y, *variances = moments(self._nu, self.states.n)
        return Joint(
            self.states.mean(x), self.states.mean(y), *map(self.states.variance, variances)
        )

    def weighted(self, w: Floats) -> tuple[Floats, Floats]:
        """Mean and standard deviation of the average weight in each group."""
        return self.integrate(lambda nu, _: weighted_moments(nu, w))

    def average_sigma(self, w: Floats) -> Floats:
        """Uncertainty of the average weight of the trials in each group."""
        nu = (1 + self.states.counts).astype(np.float64)
        _, variance = weighted_moments(nu, w)
        scale = nu.sum(axis=1) / self.states.n
        return self.states.sigma(scale**2 * variance)

    def trial_noise(self, w: Floats) -> Floats:
        """Expected variance of the weight of a trial of each pair of a group and a state, (P,)."""
        nu = 1 + self.states.counts.astype(np.float64)
        _, variance = weighted_moments(nu, w)
        noise: Floats = (nu.sum(axis=1) * variance)[self.states.state]
        return noise

    def without_prior(self) -> SeparatePosteriors:
        """Posterior of the same questions without prior trials."""
        return SeparatePosteriors(self.states.observed())

    @property
    def _nu(self) -> Floats:
        nu: Floats = self.alpha + self.states.mass
        return nu


_BINARY = 2


class _PriorGroup(NamedTuple):
    """Questions that share populations, and which of the results are theirs."""

    among: WeightedPopulations
    state: Ints  # the states of its questions
    questions: Ints
    cells: slice  # the group itself, or its questions
    place: Ints | None  # if its questions have results, where among `state` that of each is


@dataclass(frozen=True, slots=True, eq=False)
class Pooled:
    """The questions of a group share the populations that their counts leave: partial pooling."""

    states: States  # its groups are what has results: groups, or single questions
    fitted: States  # the same questions in the groups that share populations
    owner: Ints  # group of `fitted` of each group of `states`, ascending
    target: Target
    groups: list[_PriorGroup]

    shared_prior: ClassVar[bool] = True

    @classmethod
    def fit(cls, states: States, fitted: States, owner: Ints, target: Target) -> Pooled:
        """Weigh the populations by each group; prior trials count as data."""
        counts, groups = fitted.counts + fitted.prior, []
        if counts.shape[1] != _BINARY:
            raise ValueError(
                f'prior="population" is known for success and failure, not for {counts.shape[1]} '
                'categories: pass prior="uniform", or success= for those that are right'
            )
        ends = np.searchsorted(fitted.group, np.arange(fitted.groups + 1))
        parts = [slice(start, end) for start, end in pairwise(ends.tolist())]
        cells = np.searchsorted(owner, np.arange(fitted.groups + 1))
        for part, (first, last) in zip(parts, pairwise(cells), strict=True):
            state, questions = fitted.state[part], fitted.questions[part]
            among = WeightedPopulations.from_counts(counts[state], questions)
            members = slice(int(first), int(last))
            place = None if states is fitted else np.searchsorted(state, states.state[members])
            groups.append(_PriorGroup(among, state, questions, members, place))
        return cls(states, fitted, owner, target, groups)

    def integrate(self, moments: Moments) -> tuple[Floats, Floats]:
        """Mean and standard deviation of a metric in each group."""
        mu, variance = self._integrated(_paired_moments(moments))
        return mu, np.sqrt(variance)

    def integrate_joint(self, moments: JointMoments) -> Joint:
        """Means, variances and covariance of two metrics in each group."""

        def chosen(*names: str) -> tuple[Floats, Floats]:
            some = attrgetter(*names)
            return self._integrated(lambda nu, n: Credits(*some(moments(nu, n))))

        (x, var_x), (y, var_y) = chosen("x", "x", "var_x"), chosen("y", "y", "var_y")
        return Joint(x, y, var_x, var_y, chosen("x", "y", "covariance")[1])

    def weighted(self, w: Floats) -> tuple[Floats, Floats]:
        """Mean and standard deviation of the average weight in each group."""
        unit, low, scale = unit_weights(w)
        mu, sigma = self.integrate(lambda nu, _: weighted_moments(nu, unit))
        return low + scale * mu, scale * sigma

    def average_sigma(self, w: Floats) -> Floats:
        """Calibrated uncertainty of the average weight of the trials in each group."""
        (unit, _, scale), counts, n = unit_weights(w), self.states.counts, self.states.n
        variance = np.empty(self.states.groups)
        of_unit = _paired_moments(lambda nu, _: weighted_moments(nu, unit))
        for group in self.groups:
            among, state, questions, cells, place = group
            error = trial_variance(among, counts[state]) / n[state]
            if place is not None:
                variance[cells] = error[place]
                continue
            variance[cells] = (questions * error).sum() / questions.sum() ** 2
            if self.target == "population":
                variance[cells] += self._posterior(group, of_unit).between
        return scale * np.sqrt(variance)

    def trial_noise(self, w: Floats) -> Floats:
        """Expected variance of the weight of a trial of each pair of a group and a state, (P,)."""
        (_, _, scale), counts = unit_weights(w), self.states.counts
        noise = np.zeros(self.states.state.size)
        for among, state, _, cells, place in self.groups:
            chosen = slice(None) if place is None else place
            noise[self._pairs(cells, place)] = trial_variance(among, counts[state])[chosen]
        return scale**2 * noise

    def _pairs(self, cells: slice, place: Ints | None) -> slice:
        """The pairs of a group and a state that share populations."""
        if place is not None:  # each question is a group with one state
            return cells
        first, last = np.searchsorted(self.states.group, [cells.start, cells.stop])
        return slice(int(first), int(last))

    def without_prior(self) -> Pooled:
        """Posterior of the same questions without prior trials, weighed anew."""
        if not self.states.prior.any():
            return self
        observed = self.states.observed()
        fitted = observed if self.fitted is self.states else self.fitted.observed()
        return Pooled.fit(observed, fitted, self.owner, self.target)

    def _posterior(self, group: _PriorGroup, moments: CreditMoments) -> Posterior:
        """Posterior moments of one group."""
        counts, n, state = self.states.counts + self.states.prior, self.states.n, group.state
        of_states = counts[state], n[state], group.questions
        population = self.target == "population"
        return posterior_moments(group.among, *of_states, moments, population=population)

    def _integrated(self, moments: CreditMoments) -> tuple[Floats, Floats]:
        """Means and covariances for the target."""
        mu, covariance = np.empty((2, self.states.groups))
        for group in self.groups:
            cells, place, result = group.cells, group.place, self._posterior(group, moments)
            if place is not None:
                mu[cells] = result.question_mu[place]
                covariance[cells] = result.question_covariance[place]
            elif self.target == "population":
                mu[cells], covariance[cells] = result.population_mu, result.population_covariance
            else:
                mu[cells], covariance[cells] = result.mu, result.covariance
        return mu, covariance


def _paired_moments(moments: Moments) -> CreditMoments:
    """Moments of a metric, as those of two."""

    def of_both(nu: Floats, n: Ints) -> Credits:
        mean, variance = moments(nu, n)
        return Credits(mean, mean, variance)

    return of_both


def draw_moments(draws: DrawsOf) -> Moments:
    """Posterior moments of the credit of draws; 0 where nothing is drawn."""

    def moments(nu: Floats, n: Ints) -> tuple[Floats, Floats]:
        mean, variance = np.zeros((2, n.size))
        for rows, gains in draws(n):
            mean[rows], variance[rows] = credit_moments(nu[rows, 1], nu[rows, 0], gains)
        return mean, variance

    return moments


QuestionPosteriors: TypeAlias = "SeparatePosteriors | Pooled"
