"""The best of k from real-valued rewards, and its noise."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from polars_scorio.maths.reward_variances import best_noise, best_of_rewards
from tests.maths.rewards_oracle import best_estimate

EIGHTHS = st.integers(-40, 40).map(lambda i: i / 8)  # exact, and often tied
# Sums of at most nine trials of at most 5, squared: a few units in the last place of 25.
CLOSE = {"rtol": 1e-12, "atol": 1e-13}


@given(st.lists(EIGHTHS, min_size=2, max_size=9), st.data())
def test_noise_equals_that_of_all_draws_without_each_trial(rewards, data):
    k = data.draw(st.integers(1, len(rewards)))
    estimate, noise = (float(each) for each in best_estimate(rewards, k))
    offsets = np.array([0, len(rewards)])
    np.testing.assert_allclose(best_of_rewards(np.array(rewards), offsets, k), estimate, **CLOSE)
    np.testing.assert_allclose(best_noise(np.array(rewards), offsets, k), noise, **CLOSE)


@given(st.lists(EIGHTHS, min_size=2, max_size=9))
def test_noise_of_single_draws_is_the_variance_of_the_mean(rewards):
    noise = best_noise(np.array(rewards), np.array([0, len(rewards)]), 1)
    expected = np.var(rewards, ddof=1) / len(rewards)
    np.testing.assert_allclose(noise, expected, **CLOSE)


def test_equal_rewards_have_no_noise_at_all():
    rewards = np.full(7, 0.1)
    assert [best_noise(rewards, np.array([0, 7]), k).item() for k in (1, 3, 7)] == [0.0, 0.0, 0.0]


def test_a_single_trial_and_too_few_have_no_noise_that_is_known():
    assert np.isnan(best_noise(np.array([0.5, 0.1, 0.2]), np.array([0, 1, 3]), 1)).tolist() == [
        True,
        False,
    ]
    assert np.isnan(best_noise(np.array([0.1, 0.2]), np.array([0, 2]), 3)).all()


# Efron and Stein (1981): on average the noise is not below the variance, whatever the rewards are.
@pytest.mark.parametrize(("n", "k"), [(2, 2), (3, 1), (3, 2), (4, 2), (4, 3), (4, 4), (5, 2)])
@pytest.mark.parametrize("chances", [(0.2, 0.3, 0.5), (0.9, 0.05, 0.05), (0.5, 0.0, 0.5)])
def test_noise_is_conservative_on_average(n, k, chances):
    levels, offsets = np.array([0.0, 0.4, 1.0]), np.array([0, n])
    logs = [np.array(log) for log in product(range(3), repeat=n)]
    chance = np.array([np.prod(np.take(chances, log)) for log in logs])
    estimate = np.array([best_of_rewards(levels[log], offsets, k).item() for log in logs])
    noise = np.array([best_noise(levels[log], offsets, k).item() for log in logs])
    variance = chance @ estimate**2 - (chance @ estimate) ** 2
    assert chance @ noise >= variance * (1 - 1e-12)
    if k == 1:
        assert chance @ noise == pytest.approx(variance, rel=1e-12)
