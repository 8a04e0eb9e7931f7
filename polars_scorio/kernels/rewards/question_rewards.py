"""Estimates of the questions of some groups from real-valued rewards, with their noise."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from polars_scorio.kernels.array_types import Floats, Ints, Mask
from polars_scorio.kernels.calibrated.population_mean import UnitSample
from polars_scorio.kernels.clusters import clustered_variance

_NO_NOISE = 1e-18  # of the squared range: what rounding leaves of equal rewards


@dataclass(frozen=True, slots=True, eq=False)
class QuestionRewards:
    """The questions of some groups, by their rewards on the scale of the range: inside [0, 1].

    Attributes
    ----------
    values : ndarray of float, shape (Q,)
        Unbiased estimate of each question.
    noise : ndarray of float, shape (Q,)
        Variance of that estimate; NaN for a question with a single trial.
    trials : ndarray of int, shape (Q,)
        Trials of each question.
    group : ndarray of int, shape (Q,)
        Group of each question.
    groups : int
        Number of groups, G.
    k : int
        Trials of a draw: 1 for averages.
    cluster : ndarray of int, shape (Q,), or None
        Cluster of each question, if questions come in clusters.
    """

    values: Floats
    noise: Floats
    trials: Ints
    group: Ints
    groups: int
    k: int = 1
    cluster: Ints | None = None

    def ordered(self) -> QuestionRewards:
        """The questions in an order that does not depend on that of the rows.

        Sums over them are then the same on each run, to the last bit.
        """
        keys = [self.noise, self.values, self.trials, self.group]
        keys = keys if self.cluster is None else [*keys[:-1], self.cluster, keys[-1]]
        order = np.lexsort(keys)
        cluster = None if self.cluster is None else self.cluster[order]
        return replace(
            self,
            values=self.values[order],
            noise=self.noise[order],
            trials=self.trials[order],
            group=self.group[order],
            cluster=cluster,
        )

    def total(self, of_questions: Floats | Ints | Mask) -> Floats:
        """Sum over the questions of each group, shape (G,)."""
        return np.bincount(self.group, of_questions, self.groups).astype(np.float64)

    @property
    def size(self) -> Floats:
        """Questions of each group, shape (G,)."""
        return self.total(np.ones(self.group.size))

    @property
    def mean(self) -> Floats:
        """The estimate of each group, shape (G,); NaN if a question has none."""
        return np.asarray(self.total(self.values) / self.size)

    @property
    def silent(self) -> Mask:
        """Questions whose trials show no noise: all alike, or a single one."""
        return np.asarray((self.noise <= _NO_NOISE) | (self.trials == 1))

    def variance_between(self) -> Floats:
        """Variance of the mean by the spread of the questions; NaN for a single question."""
        size = self.size
        square = self.total((self.values - self.mean[self.group]) ** 2)
        known = size > 1
        unknown = np.full(size.shape, np.nan)
        return np.asarray(np.divide(square, size * (size - 1), out=unknown, where=known))

    def full_noise(self) -> Floats:
        """Noise of each question, with that of single trials priced by other questions.

        Trials are often fewest where the noise is largest. So a question with a single trial has
        the larger one of two variances: the mean variance of a trial of the questions with several,
        and the variance between the single trials. NaN if all questions of a group are single.
        """
        single = self.trials == 1
        several = self.total(~single)
        of_trial = self.total(np.where(single, 0.0, self.trials * self.noise))
        within = np.divide(of_trial, several, out=np.full(several.shape, np.nan), where=several > 0)
        number = self.total(single)
        mean = self.total(np.where(single, self.values, 0.0)) / np.maximum(number, 1)
        square = self.total(np.where(single, (self.values - mean[self.group]) ** 2, 0.0))
        between = square / np.maximum(number - 1, 1)
        return np.where(single, np.maximum(within, between)[self.group], self.noise)

    def population_sigma(self) -> Floats:
        """Standard error of the mean of a population of questions, or of clusters of them.

        NaN for a single question, or a single cluster.
        """
        variance = self.variance_between()
        if self.cluster is not None:
            clustered, number = clustered_variance(
                self.values, self._cluster_codes(), self.group, self.groups
            )
            # Clusters of one question each tell nothing beside the questions.
            several = (number < self.size) | (number == 1)
            variance = np.where(several, np.maximum(variance, clustered), variance)
        return np.sqrt(variance)

    def sample(self) -> UnitSample:
        """The questions as a sample of a population: each a unit, or each cluster of them."""
        if self.cluster is None:
            every = np.ones(self.group.size)
            number = every.astype(np.int64)
            return UnitSample(self.values, every, number, self.group, self.groups)
        code = self._cluster_codes()
        size = np.bincount(code)
        first = np.unique(code, return_index=True)[1]
        means = np.bincount(code, self.values) / size
        return UnitSample(
            means, size.astype(np.float64), np.ones_like(size), self.group[first], self.groups
        )

    def _cluster_codes(self) -> Ints:
        """The cluster of each question as a number from 0 on; no two groups share one."""
        assert self.cluster is not None
        both = np.stack([self.group, self.cluster])
        return np.unique(both, axis=1, return_inverse=True)[1].reshape(-1).astype(np.int64)
