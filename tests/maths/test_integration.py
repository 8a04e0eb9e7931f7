"""Moments under weighted populations: an oracle of Beta integrals, covariances, bits."""

from dataclasses import astuple
from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import betaln
from scipy.stats import binom

from polars_scorio.maths import array_rows
from polars_scorio.maths.pooled_moments import (
    Credits,
    state_blocks,
    trial_variance,
)
from tests.made_logs import law
from tests.maths import interval_oracle as oracle
from tests.maths.groups import (
    HARD,
    accuracy,
    all_fail,
    average_variance,
    binary_posterior,
    counts_of,
    pass_at,
    posterior_of,
    small_groups,
    weighed,
)

RHOS = 0.003, 0.03, 0.1, 0.25, 0.5, 0.8
SHAPES = [
    (e, mu * (1 / rho - 1), (1 - mu) * (1 / rho - 1))
    for e in (0, 0.1, 0.4)
    for mu in np.sin(oracle.ANGLE) ** 2
    for rho in RHOS
]


def power_mean(shape, n, c, k):
    """Mean of ``q^k`` of a question under one population, from Beta integrals."""
    e, a, b = shape

    def chance(k):
        return (1 - e) * np.exp(betaln(a + c, b + n - c + k) - betaln(a, b)) + e * np.exp(
            betaln(1 + c, 1 + n - c + k)
        )

    return chance(k) / chance(0)


def expected_moments(n, c, k):
    """Mean of ``1 - q^k`` of some questions and its standard deviation, and those of each."""
    logs = np.array(
        [
            sum(np.log(among @ binom.pmf(b, a, oracle.RATES)) for a, b in zip(n, c, strict=True))
            for among in oracle.POPULATIONS
        ]
    )
    weight = np.exp(logs - logs.max())
    weight /= weight.sum()
    questions = [*zip(n, c, strict=True)]
    mean = 1 - np.array([[power_mean(shape, *each, k) for each in questions] for shape in SHAPES])
    square = np.array([[power_mean(shape, *each, 2 * k) for each in questions] for shape in SHAPES])
    variance = square - (1 - mean) ** 2
    mu, of_each = weight @ mean.mean(axis=1), weight @ mean
    total = weight @ (variance.sum(axis=1) / len(n) ** 2 + (mean.mean(axis=1) - mu) ** 2)
    spread = weight @ (variance + (mean - of_each) ** 2)
    return mu, np.sqrt(total), of_each, np.sqrt(spread)


def covariance_of(group, joint):
    return posterior_of(group, lambda nu, _: Credits(*joint(*nu.T[::-1])))


@law
@given(small_groups(), st.sampled_from([1, 3]))
def test_moments_equal_beta_integrals(data, k):
    n, c = data
    result = binary_posterior((n, c, np.ones_like(n)), pass_at(k))
    mu, sigma, of_each, spread = expected_moments(n, c, k)
    # The variances of the oracle are differences of squares.
    assert (result.mu, sqrt(result.covariance)) == pytest.approx((mu, sigma), rel=1e-6)
    np.testing.assert_allclose(result.question_mu, of_each, rtol=1e-9)
    np.testing.assert_allclose(np.sqrt(result.question_covariance), spread, rtol=1e-6)


def test_what_more_trials_would_not_take_away_is_the_spread_of_the_questions():
    # Of 1e9 trials each, no error is left: a third of 3,000,000 questions at 0.1, 0.3, 0.8 each.
    n, c = np.full(3, 10**9), np.array([1, 3, 8]) * 10**8
    result = binary_posterior((n, c, np.full(3, 10**6)), accuracy)
    # Two pseudo-questions among 3,000,000 weigh about 1e-6.
    assert result.between == pytest.approx(np.var([0.1, 0.3, 0.8]) / 3e6, rel=2e-6)
    assert result.between == pytest.approx(result.population_covariance, rel=2e-6)
    few = binary_posterior((np.array([2, 2]), np.array([0, 1]), np.array([3, 3])), accuracy)
    assert 0 < few.between < few.population_covariance


def test_a_covariance_of_a_metric_with_itself_is_its_variance():
    def twice(a, b):
        mean, variance = pass_at(3)(a, b)
        return 1 - mean, 1 - mean, variance

    pair, single = covariance_of(HARD, twice), binary_posterior(HARD, pass_at(3))
    # Sums of complements.
    assert pair.covariance == pytest.approx(single.covariance, rel=1e-13, abs=0)
    assert pair.population_covariance == pytest.approx(
        single.population_covariance, rel=1e-13, abs=0
    )
    np.testing.assert_allclose(pair.question_covariance, single.question_covariance, rtol=1e-13)


def test_variance_of_a_sum_is_the_sum_of_all_covariances():
    def both(a, b):
        x, y = accuracy(a, b)[0], all_fail(2)(a, b)[0]
        # Cov(p, q^2) = E[p q^2] - E[p] E[q^2], with E[p q^2] from three draws.
        t = a + b
        return x, y, a * b * (b + 1) / (t * (t + 1) * (t + 2)) - x * y

    def total(a, b):
        x, y, xy = both(a, b)
        return x + y, accuracy(a, b)[1] + all_fail(2)(a, b)[1] + 2 * xy

    x, y, z = (binary_posterior(HARD, moments) for moments in (accuracy, all_fail(2), total))
    pair = covariance_of(HARD, both)
    # Variances and covariances of opposite signs: some digits cancel.
    for of in ("covariance", "population_covariance", "question_covariance"):
        parts = getattr(x, of) + getattr(y, of) + 2 * getattr(pair, of)
        np.testing.assert_allclose(getattr(z, of), parts, rtol=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_the_states_does_not_change_a_bit(seed):
    rng = np.random.default_rng(seed)
    n, c = (part.ravel() for part in np.meshgrid(np.arange(1, 21), np.arange(21)))
    n, c = n[c <= n], c[c <= n]
    order, questions = rng.permutation(n.size), rng.integers(1, 9, n.size)
    group, shuffled = (n, c, questions), (n[order], c[order], questions[order])
    first, second = (binary_posterior(some, pass_at(3)) for some in (group, shuffled))
    assert astuple(first)[:5] == astuple(second)[:5]
    np.testing.assert_array_equal(first.question_mu[order], second.question_mu)
    np.testing.assert_array_equal(first.question_covariance[order], second.question_covariance)
    errors = [trial_variance(weighed(some), counts_of(some)) for some in (group, shuffled)]
    np.testing.assert_array_equal(errors[0][order], errors[1])


def test_blocks_change_only_the_rounding(monkeypatch):
    rng = np.random.default_rng(3)
    n = rng.integers(1, 9, 40)
    group = n, rng.integers(0, n + 1), rng.integers(1, 4, 40)
    whole, average = binary_posterior(group, pass_at(3)), average_variance(group)
    monkeypatch.setattr(array_rows, "CELLS", 2**13)
    parts = binary_posterior(group, pass_at(3))
    # Averages of 40 states, taken in another order.
    np.testing.assert_allclose(astuple(whole)[:5], astuple(parts)[:5], rtol=1e-13)
    np.testing.assert_array_equal(whole.question_mu, parts.question_mu)
    np.testing.assert_array_equal(whole.question_covariance, parts.question_covariance)
    assert average_variance(group) == pytest.approx(average, rel=1e-13)


def test_blocks_hold_every_state_once_and_sorted():
    states = np.random.default_rng(4).integers(0, 9, (50_000, 2))
    parts = list(state_blocks(weighed(HARD), states))
    order = np.concatenate(parts)
    assert len(parts) > 1
    assert sorted(order.tolist()) == list(range(50_000))
    assert states[order][:, ::-1].tolist() == sorted(states[:, ::-1].tolist())


@pytest.mark.parametrize("k", [1, 8])
def test_credits_are_asked_for_in_bounded_arrays(k):
    sizes = []

    def noting(a, b):
        sizes.append(2 * a.size)
        return pass_at(k)(a, b)

    n, c = (part.ravel() for part in np.meshgrid(np.arange(1, 161), np.arange(161)))
    binary_posterior((n[c <= n], c[c <= n], n[c <= n]), noting)
    assert max(sizes) <= 131_072
    assert len(sizes) > 2
