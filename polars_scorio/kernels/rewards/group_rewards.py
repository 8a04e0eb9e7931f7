"""The rewards of the questions of some groups: what averages, the best and the worst of k need."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from polars_scorio.kernels.array_types import Floats, Ints
from polars_scorio.kernels.rewards.best_of_rewards import best_noise, best_of_rewards
from polars_scorio.kernels.rewards.question_rewards import QuestionRewards


@dataclass(frozen=True, slots=True, eq=False)
class GroupRewards:
    """Real-valued rewards, question after question, with the range that they are measured on.

    Attributes
    ----------
    trials, group : ndarray of int, shape (Q,)
        Trials of each question, and its group.
    groups : int
        Number of groups, G.
    low, width : ndarray of float, shape (G,)
        The least reward of the range, and how far the largest lies above it; a width of 0 where
        all rewards are equal and no range is known.
    mean, error : ndarray of float, shape (Q,), or None
        Mean reward of each question and its standard error, NaN for a single trial; None if no
        metric averages.
    rewards : ndarray of float, shape (R,), or None
        Rewards of all trials, question after question; None if no metric needs them.
    cluster : ndarray of int, shape (Q,), or None
        Cluster of each question.
    """

    trials: Ints
    group: Ints
    groups: int
    low: Floats
    width: Floats
    mean: Floats | None = None
    error: Floats | None = None
    rewards: Floats | None = None
    cluster: Ints | None = None

    def averages(self) -> QuestionRewards:
        """The mean reward of each question.

        Examples
        --------
        >>> zero, one = np.zeros(1, dtype=int), np.ones(1)
        >>> rewards = GroupRewards(zero + 2, zero, 1, -one, 4 * one, one, 2 * one)
        >>> averages = rewards.averages()
        >>> averages.values, averages.noise
        (array([0.5]), array([0.25]))
        """
        assert self.mean is not None  # counted for metrics that average
        assert self.error is not None
        noise = (self.error / self._unit) ** 2
        return self._questions(self._unit_scale(self.mean), noise, 1)

    def best(self, k: int) -> QuestionRewards:
        """The expected best of k trials of each question."""
        unit, offsets = self._listed()
        return self._questions(best_of_rewards(unit, offsets, k), best_noise(unit, offsets, k), k)

    def worst(self, k: int) -> QuestionRewards:
        """The expected worst of k trials of each question."""
        unit, offsets = self._listed()
        return self._questions(
            1 - best_of_rewards(1 - unit, offsets, k), best_noise(1 - unit, offsets, k), k
        )

    @property
    def _unit(self) -> Floats:
        """The range of the rewards of each question."""
        return np.where(self.width > 0, self.width, 1.0)[self.group]

    def _unit_scale(self, mean: Floats) -> Floats:
        """Mean rewards on the scale of the range, inside [0, 1] up to rounding."""
        return np.asarray(np.clip((mean - self.low[self.group]) / self._unit, 0.0, 1.0))

    def _listed(self) -> tuple[Floats, Ints]:
        """The rewards on the scale of the range, and where those of each question begin."""
        assert self.rewards is not None  # listed for metrics that need them
        low, unit = self.low[self.group], self._unit
        scaled = (self.rewards - np.repeat(low, self.trials)) / np.repeat(unit, self.trials)
        return scaled, np.append(0, np.cumsum(self.trials))

    def _questions(self, values: Floats, noise: Floats, k: int) -> QuestionRewards:
        return QuestionRewards(values, noise, self.trials, self.group, self.groups, k, self.cluster)
