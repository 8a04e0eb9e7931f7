"""Rewards of questions as the arrays that kernels take."""

import numpy as np

from polars_scorio.maths.reward_variances import (
    QuestionRewards,
    RewardNoise,
    best_noise,
    best_of_rewards,
)


def question_rewards(logs, bounds, k=1):
    """The questions of one group."""
    low, high = bounds
    trials = np.array([len(rewards) for rewards in logs])
    flat = np.concatenate([np.asarray(rewards, float) for rewards in logs])
    unit = (flat - low) / ((high - low) or 1.0)
    offsets = np.append(0, np.cumsum(trials))
    values, noise = best_of_rewards(unit, offsets, k), best_noise(unit, offsets, k)
    return QuestionRewards(values, noise, trials, 0 * trials, 1, k).ordered()


def reward_variance(logs, bounds, k=1):
    """Their variance."""
    low, high = bounds
    questions = question_rewards(logs, bounds, k)
    return RewardNoise.from_questions(questions, np.array([low]), np.array([high - low]))
