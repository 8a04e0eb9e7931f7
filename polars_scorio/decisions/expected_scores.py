"""Expected scores of the groups of a log after further trials."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from polars_scorio.kernels.array_types import Floats, Ints
from polars_scorio.kernels.expected_variance import ExpectedVariance, expected_squared_sigma
from polars_scorio.kernels.posteriors import QuestionPosteriors
from polars_scorio.metrics.weighted import WeightedMetric


@dataclass(frozen=True, slots=True, eq=False)
class ExpectedScores:
    """Expected scores of all groups after further trials, in units of the weights."""

    mu: Floats  # of each group, as sigma
    sigma: Floats
    variance: ExpectedVariance  # of each state, as the next three
    questions: Ints
    trials: Ints
    group: Ints

    @classmethod
    def of(cls, posterior: QuestionPosteriors, metric: WeightedMetric) -> ExpectedScores:
        """Expectations from a posterior."""
        _, mu, sigma, _ = metric.summary(posterior, None)
        states, variance = posterior.states, metric.expected_variance(posterior)
        trials = states.counts.sum(axis=1)[states.state]
        return cls(
            mu / metric.unit, sigma / metric.unit, variance, states.questions, trials, states.group
        )

    def after(self, m: Ints) -> Floats:
        """Expected squared sigma of each group after m further trials of each question."""
        return expected_squared_sigma(
            self.variance, m[self.group], self.questions, self.group, self.sigma
        )

    def ends(self) -> tuple[Ints, Ints]:
        """The fewest and the most trials of a question of each group."""
        fewest, most = np.full(self.mu.shape, np.iinfo(np.int64).max), np.zeros(self.mu.shape, int)
        np.minimum.at(fewest, self.group, self.trials)
        np.maximum.at(most, self.group, self.trials)
        return fewest, most

    def sizes(self) -> Ints:
        """Questions of each group."""
        return np.bincount(self.group, self.questions, self.mu.size).astype(np.int64)
