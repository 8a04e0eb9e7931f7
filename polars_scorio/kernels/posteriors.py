"""Posteriors of groups of questions: with a prior for each question, or one fitted to the group."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from polars_scorio.kernels.array_types import Floats, Ints
from polars_scorio.kernels.dirichlet import weighted_moments
from polars_scorio.kernels.draws.expected_credit import DrawsOf, credit_moments
from polars_scorio.kernels.expected_variance import ExpectedVariance
from polars_scorio.kernels.pooling.integration import Posterior
from polars_scorio.kernels.pooling.pooled_moments import (
    Joint,
    JointMoments,
    Moments,
    draw_posterior,
    metric_covariance,
    metric_posterior,
    trial_variance,
    weighted_posterior,
)
from polars_scorio.kernels.pooling.population_fit import Grid, fit_binary_groups, fit_categories
from polars_scorio.kernels.states import States

Target = Literal["benchmark", "population"]


@dataclass(frozen=True, slots=True, eq=False)
class SeparatePosteriors:
    """Every question has its own prior, Dirichlet(1, ..., 1) unless a metric says otherwise.

    Weights are expected in units of their spread: their variances are in its square.
    """

    states: States

    def integrate(self, moments: Moments, alpha: Floats | float = 1.0) -> tuple[Floats, Floats]:
        """Mean and standard deviation of a metric in each group, shape (G,)."""
        mean, variance = moments(self._nu(alpha), self.states.n)
        return self.states.mean(mean), self.states.sigma(variance)

    def credit(self, draws: DrawsOf, alpha: Floats) -> tuple[Floats, Floats]:
        """Mean and standard deviation of the credit of a draw in each group, shape (G,)."""
        failures, successes = self._nu(alpha).T
        mean, variance = np.zeros((2, successes.size))
        for rows, gains in draws(self.states.n):
            mean[rows], variance[rows] = credit_moments(successes[rows], failures[rows], gains)
        return self.states.mean(mean), self.states.sigma(variance)

    def integrate_joint(self, moments: JointMoments, alpha: Floats | float = 1.0) -> Joint:
        """Means, variances and covariance of two metrics in each group."""
        x, y, *variances = moments(self._nu(alpha), self.states.n)
        return Joint(
            self.states.mean(x), self.states.mean(y), *map(self.states.variance, variances)
        )

    def weighted(self, w: Floats) -> tuple[Floats, Floats]:
        """Mean and standard deviation of the average weight in each group."""
        mean, variance = weighted_moments(self._nu(1.0), w)
        return self.states.mean(mean), self.states.sigma(variance)

    def average_sigma(self, w: Floats) -> Floats:
        """Uncertainty of the average weight of the trials in each group."""
        nu = (1 + self.states.counts).astype(np.float64)
        _, variance = weighted_moments(nu, w)
        scale = nu.sum(axis=1) / self.states.n
        return self.states.sigma(scale**2 * variance)

    def expected_variance(self, w: Floats) -> ExpectedVariance:
        """Variance of the average weight that is expected after further trials.

        Of the questions of each pair of a group and a state, shape (P,); the spread of the weights
        is 1. By the law of total variance a question with posterior variance v = S / (T + 1), where
        S is the expected scatter of one trial's weight, loses Var(E[. | trial]) = v / (T + 1) by
        one more trial: v T / (T + 1) is left, and v T / (T + m) after m.
        """
        nu = self._nu(1.0)
        total, (_, variance) = nu.sum(axis=1), weighted_moments(nu, w)
        return ExpectedVariance(total * variance, 0 * total, total).of(self.states.state)

    def expected_average_variance(self, w: Floats) -> ExpectedVariance:
        """Expected variance of the average of the trials: rescaled by T / n."""
        counts = self.states.counts
        nu, n = 1 + counts.astype(np.float64), counts.sum(axis=1).astype(np.float64)
        total, (_, variance) = nu.sum(axis=1), weighted_moments(nu, w)
        size = total * variance
        return ExpectedVariance(size, size * (total - n), n).of(self.states.state)

    def without_prior(self) -> SeparatePosteriors:
        """Posterior of the same questions without prior trials."""
        return SeparatePosteriors(self.states.observed())

    def _nu(self, alpha: Floats | float) -> Floats:
        nu: Floats = alpha + self.states.mass
        return nu


class _Group(NamedTuple):
    """The questions to which one prior is fitted, and what of them has results."""

    grid: Grid
    state: Ints  # the states of its questions
    questions: Ints
    cells: slice  # the group itself, or its questions
    place: Ints | None  # if its questions have results, where among `state` that of each is


@dataclass(frozen=True, slots=True, eq=False)
class Pooled:
    """The questions of a group share one prior, which is fitted to them: partial pooling.

    Weights are expected in units of their spread, as for `SeparatePosteriors`.

    Attributes
    ----------
    states : States
        The questions; its groups are what has results: groups, or each question on its own.
    fitted : States
        The same questions in the groups to which the priors are fitted.
    owner : ndarray of int, shape (G,)
        The group of `fitted` to which each group of `states` belongs, ascending.
    target : "benchmark" or "population"
        The mean over these questions, or over the population they come from.
    groups : list of _Group
        The fitted priors.
    """

    states: States
    fitted: States
    owner: Ints
    target: Target
    groups: list[_Group]

    @classmethod
    def fit(cls, states: States, fitted: States, owner: Ints, target: Target) -> Pooled:
        """Fit a prior to each group; prior trials count as data.

        Parameters
        ----------
        states, fitted, owner, target
            As above.
        """
        counts, groups = fitted.counts + fitted.prior, []
        ends = np.searchsorted(fitted.group, np.arange(fitted.groups + 1))
        parts = [slice(start, end) for start, end in pairwise(ends.tolist())]
        grids = _group_priors(
            [(counts[fitted.state[part]], fitted.questions[part]) for part in parts]
        )
        cells = np.searchsorted(owner, np.arange(fitted.groups + 1))
        for grid, part, (first, last) in zip(grids, parts, pairwise(cells), strict=True):
            state, questions = fitted.state[part], fitted.questions[part]
            own = slice(int(first), int(last))
            place = None if states is fitted else np.searchsorted(state, states.state[own])
            groups.append(_Group(grid, state, questions, own, place))
        return cls(states, fitted, owner, target, groups)

    def integrate(self, moments: Moments, alpha: Floats | float = 1.0) -> tuple[Floats, Floats]:
        """Mean and standard deviation of a metric in each group; `alpha` is what is fitted."""
        del alpha
        counts, n = self.states.counts + self.states.prior, self.states.n
        population = self.target == "population"
        return self._chosen(
            lambda grid, state, questions: metric_posterior(
                grid, counts[state], n[state], questions, moments, population=population
            )
        )

    def credit(self, draws: DrawsOf, alpha: Floats) -> tuple[Floats, Floats]:
        """Mean and standard deviation of the credit of a draw in each group."""
        del alpha
        counts, n = self.states.counts + self.states.prior, self.states.n
        population = self.target == "population"
        return self._chosen(
            lambda grid, state, questions: draw_posterior(
                grid, counts[state], n[state], questions, draws, population=population
            )
        )

    def integrate_joint(self, moments: JointMoments, alpha: Floats | float = 1.0) -> Joint:
        """Means, variances and covariance of two metrics in each group."""

        def of_x(nu: Floats, n: Ints) -> tuple[Floats, Floats]:
            joint = moments(nu, n)
            return joint.x, joint.var_x

        def of_y(nu: Floats, n: Ints) -> tuple[Floats, Floats]:
            joint = moments(nu, n)
            return joint.y, joint.var_y

        (x, sigma_x), (y, sigma_y) = self.integrate(of_x, alpha), self.integrate(of_y, alpha)
        counts, n = self.states.counts + self.states.prior, self.states.n
        covariance = np.empty(self.states.groups)
        for grid, state, questions, cells, place in self.groups:
            result = metric_covariance(grid, counts[state], n[state], questions, moments)
            chosen = result.benchmark if self.target == "benchmark" else result.population
            covariance[cells] = chosen if place is None else result.question[place]
        return Joint(x, y, sigma_x**2, sigma_y**2, covariance)

    def weighted(self, w: Floats) -> tuple[Floats, Floats]:
        """Mean and standard deviation of the average weight in each group."""
        counts = self.states.counts + self.states.prior
        return self._chosen(
            lambda grid, state, questions: weighted_posterior(grid, counts[state], questions, w)
        )

    def average_sigma(self, w: Floats) -> Floats:
        """Calibrated uncertainty of the average weight of the trials in each group."""
        counts, n = self.states.counts, self.states.n
        variance = np.empty(self.states.groups)
        for grid, state, questions, cells, place in self.groups:
            error = trial_variance(grid, counts[state], w) / n[state]
            if place is not None:
                variance[cells] = error[place]
                continue
            variance[cells] = (questions * error).sum() / questions.sum() ** 2
            if self.target == "population":
                variance[cells] += weighted_posterior(grid, counts[state], questions, w).between
        return np.sqrt(variance)

    def expected_variance(self, w: Floats) -> ExpectedVariance:
        """Variance of the average weight that is expected after further trials.

        With the fitted prior held fixed: v is the variance of a question, T its ratio to the
        expected variance of a trial, as for `SeparatePosteriors`.
        """
        counts = self.states.counts + self.states.prior
        a, x = np.zeros((2, self.states.state.size))
        for grid, state, questions, cells, place in self.groups:
            own = weighted_posterior(grid, counts[state], questions, w)
            rows = self._pairs(cells, place)
            chosen = slice(None) if place is None else place
            a[rows] = trial_variance(grid, counts[state], w)[chosen]
            x[rows] = own.question_sigma[chosen] ** 2
        return ExpectedVariance(a, 0 * a, np.divide(a, x, out=np.ones_like(a), where=x > 0))

    def expected_average_variance(self, w: Floats) -> ExpectedVariance:
        """Expected variance of the average of the trials: their variance over their number."""
        counts = self.states.counts
        a = np.zeros(self.states.state.size)
        for grid, state, _, cells, place in self.groups:
            chosen = slice(None) if place is None else place
            a[self._pairs(cells, place)] = trial_variance(grid, counts[state], w)[chosen]
        return ExpectedVariance(a, 0 * a, counts.sum(axis=1)[self.states.state].astype(np.float64))

    def _pairs(self, cells: slice, place: Ints | None) -> slice:
        """The pairs of a group and a state that belong to one fitted prior."""
        if place is not None:  # each question is a group with one state
            return cells
        first, last = np.searchsorted(self.states.group, [cells.start, cells.stop])
        return slice(int(first), int(last))

    def without_prior(self) -> Pooled:
        """Posterior of the same questions without prior trials, with a fit of its own."""
        if not self.states.prior.any():
            return self
        observed = self.states.observed()
        fitted = observed if self.fitted is self.states else self.fitted.observed()
        return Pooled.fit(observed, fitted, self.owner, self.target)

    def _chosen(self, result: Callable[[Grid, Ints, Ints], Posterior]) -> tuple[Floats, Floats]:
        """Mean and standard deviation of what is asked for, of each group's result."""
        mu, sigma = np.empty((2, self.states.groups))
        for grid, state, questions, cells, place in self.groups:
            own = result(grid, state, questions)
            if place is not None:
                mu[cells], sigma[cells] = own.question_mu[place], own.question_sigma[place]
            elif self.target == "population":
                mu[cells], sigma[cells] = own.population_mu, own.population_sigma
            else:
                mu[cells], sigma[cells] = own.mu, own.sigma
        return mu, sigma


def _group_priors(groups: Sequence[tuple[Ints, Ints]]) -> list[Grid]:
    """The prior of each group, from counts of states and questions: exact for two categories."""
    if all(counts.shape[1] == 2 for counts, _ in groups):  # failure and success
        return fit_binary_groups([(counts.sum(axis=1), counts[:, 1], q) for counts, q in groups])
    return [fit_categories(*group) for group in groups]


QuestionPosteriors: TypeAlias = "SeparatePosteriors | Pooled"
