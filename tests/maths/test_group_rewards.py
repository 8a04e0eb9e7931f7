"""Rewards of questions on the scale of their range."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from polars_scorio.maths.reward_variances import GroupRewards

EIGHTHS = st.integers(-40, 40).map(lambda i: i / 8)
LOGS = st.lists(st.lists(EIGHTHS, min_size=3, max_size=6), min_size=1, max_size=4)


def group_rewards(logs, low, high):
    trials = np.array([len(rewards) for rewards in logs])
    every = np.concatenate([np.asarray(rewards) for rewards in logs])
    mean = np.array([np.mean(rewards) for rewards in logs])
    error = np.array([np.std(rewards, ddof=1) / len(rewards) ** 0.5 for rewards in logs])
    low, high = np.array([float(low)]), np.array([float(high)])
    return GroupRewards(trials, 0 * trials, 1, low, high - low, mean, error, every)


@given(LOGS)
def test_averages_are_the_best_and_the_worst_of_one(logs):
    rewards = group_rewards(logs, -6, 10)
    average = rewards.averages()
    for other in (rewards.best(1), rewards.worst(1)):
        assert other.values == pytest.approx(average.values, abs=1e-12)
        assert other.noise == pytest.approx(average.noise, abs=1e-12)


@given(LOGS, st.integers(1, 3))
def test_the_worst_is_the_best_of_the_negative_rewards(logs, k):
    worst = group_rewards(logs, -6, 10).worst(k)
    mirrored = [[-reward for reward in rewards] for rewards in logs]
    best = group_rewards(mirrored, -10, 6).best(k)
    assert worst.values == pytest.approx(1 - best.values, abs=1e-12)
    assert worst.noise == pytest.approx(best.noise, abs=1e-12)


def test_equal_rewards_without_a_range_keep_their_scale():
    rewards = group_rewards([[0.7, 0.7]], 0.7, 0.7)
    assert rewards.averages().values.tolist() == [0.0]
    assert rewards.best(2).noise.tolist() == [0.0]
