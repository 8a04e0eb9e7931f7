"""Metrics under partial pooling: laws, and extreme data."""

from dataclasses import astuple
from math import sqrt

import numpy as np
import pytest
from hypothesis import given

from polars_scorio.maths.pooled_moments import Credits, posterior_moments, trial_variance
from tests.made_logs import law
from tests.maths.groups import (
    HARD,
    accuracy,
    average_variance,
    binary_posterior,
    counts_of,
    small_groups,
    weighed,
)


def test_with_many_trials_the_prior_does_not_matter():
    rng = np.random.default_rng(2)
    n = np.full(20, 100_000)
    c = rng.binomial(n, rng.uniform(0.05, 0.95, 20))
    group = n, c, np.ones_like(n)
    result = binary_posterior(group, accuracy)
    mean, variance = accuracy(np.asarray(1.0 + c), np.asarray(1.0 + n - c))
    # Both priors are worth a few trials of 100,000.
    assert result.mu == pytest.approx(mean.mean(), rel=1e-4)
    assert sqrt(result.covariance) == pytest.approx(np.sqrt(variance.sum()) / 20, rel=1e-4)
    assert average_variance(group) == pytest.approx(result.covariance, rel=2e-4)


@law
@given(small_groups())
def test_the_variance_of_a_trial_is_what_a_rate_leaves_of_it(data):
    n, c = data
    group = n, c, np.ones_like(n)
    result = binary_posterior(group, accuracy)
    expected = result.question_mu * (1 - result.question_mu) - result.question_covariance
    np.testing.assert_allclose(
        trial_variance(weighed(group), counts_of(group)), expected, rtol=1e-9
    )


def test_a_metric_is_told_the_trials_and_those_alone():
    counts, n = counts_of(HARD), np.array([2, 1, 0, 4])

    def trials(_, n):
        return Credits(n.astype(float), n.astype(float), np.zeros(n.size))

    result = posterior_moments(weighed(HARD), counts, n, np.array([6, 2, 1, 3]), trials)
    # Means of whole numbers: the rounding of weights that sum to 1.
    np.testing.assert_allclose(result.question_mu, n, rtol=1e-14)
    # 6, 2, 1 and 3 questions; two pseudo-questions have no trials.
    assert result.mu == pytest.approx((6 * 2 + 2 + 3 * 4) / 12, rel=1e-14)
    assert result.population_mu == pytest.approx((6 * 2 + 2 + 3 * 4) / 14, rel=1e-14)


@pytest.mark.parametrize(
    ("n", "c", "questions"),
    [
        pytest.param([10**5], [0], [10**7], id="never, 1e12 trials"),
        pytest.param([10**5, 10**5], [0, 1], [10**7, 10], id="once in 1e11 trials"),
        pytest.param([10**5], [10**5], [10**7], id="always"),
        pytest.param([10**5], [50_000], [10**6], id="equal questions"),
        pytest.param([100, 100], [0, 100], [10**6, 10**6], id="all or nothing"),
        pytest.param([1, 10**9], [1, 3], [1, 1], id="one trial and a billion"),
        pytest.param([0, 3], [0, 1], [2, 1], id="questions without trials"),
    ],
)
def test_extreme_data_give_finite_moments(n, c, questions):
    group = np.array(n), np.array(c), np.array(questions)
    result = binary_posterior(group, accuracy)
    numbers = np.concatenate([np.atleast_1d(part) for part in astuple(result)])
    assert np.isfinite(numbers).all()
    assert (numbers > 0).all()
    assert (numbers <= 1).all()
