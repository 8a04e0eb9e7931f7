"""Metrics of weights, for which real-valued rewards can stand in."""

from __future__ import annotations

from abc import abstractmethod

from polars_scorio.kernels.rewards.group_rewards import GroupRewards
from polars_scorio.kernels.rewards.question_rewards import QuestionRewards
from polars_scorio.metrics.metric import Metric
from polars_scorio.metrics.metric_arguments import Bounds


class RewardMetric(Metric):
    """A metric to which, without a `w`, a column of floats holds the rewards themselves."""

    # Not by `dataclass(slots=True)`: before Python 3.11 it repeats the slots of `Metric`, and no
    # class can then have this one as a second base.
    __slots__ = ()

    @property
    def reward_range(self) -> Bounds | None:
        """The range of real-valued rewards that a user gave to the metric: its bounds."""
        return self.bounds

    @property
    def averages_rewards(self) -> bool:
        """Whether mean rewards are all that the metric needs of real-valued rewards."""
        return False

    @abstractmethod
    def reward_estimates(self, rewards: GroupRewards, k: int | None) -> QuestionRewards:
        """The estimate of each question from real-valued rewards, and its noise."""


def given_reward_range(metric: Metric, usual: Bounds | None) -> Bounds | None:
    """The range that a user gave for real-valued rewards: to the metric, else to all metrics."""
    own = metric.reward_range if isinstance(metric, RewardMetric) else None
    return own or usual
