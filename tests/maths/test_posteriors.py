"""Posteriors of groups of questions: by hand with separate priors, by laws with a fitted one."""

from dataclasses import astuple
from math import sqrt

import numpy as np
import pytest
from hypothesis import given

from polars_scorio.maths.pooled_moments import Credits, Joint, posterior_moments, trial_variance
from polars_scorio.maths.posteriors import Pooled, SeparatePosteriors, draw_moments
from polars_scorio.maths.questions import States
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

W = np.array([0.0, 1.0])
TARGETS = ["benchmark", "population"]


def tallied(counts, questions, group=None, prior=None):
    """The states of some groups, from the counts by category."""
    counts, questions = np.array(counts), np.array(questions)
    group = np.zeros_like(questions) if group is None else np.array(group)
    prior = 0 * counts if prior is None else np.array(prior)
    return States.tally(counts, prior, group, questions, int(group.max()) + 1)


def pooled(states, target="benchmark"):
    return Pooled.fit(states, states, np.arange(states.groups), target)


def average(nu, _):
    """Mean and variance of the success rate, by textbook."""
    total = nu.sum(axis=1)
    mean = nu[:, 1] / total
    return mean, mean * (1 - mean) / (total + 1)


TWO = tallied([[3, 1], [0, 4]], [1, 1])


def test_separate_priors_are_uniform():
    # Beta(2, 4) and Beta(5, 1): means 1/3 and 5/6, variances 8/(36 7) and 5/(36 7).
    mu, sigma = SeparatePosteriors(TWO).weighted(W)
    assert mu == pytest.approx((1 / 3 + 5 / 6) / 2)
    assert sigma == pytest.approx(sqrt(13 / (36 * 7)) / 2)
    assert SeparatePosteriors(TWO).integrate(average) == (
        pytest.approx(mu),
        pytest.approx(sigma),
    )


def test_the_prior_of_a_question_need_not_be_uniform():
    # Beta(1 + 3, 3 + 1) of failures and successes, and Beta(1 + 0, 3 + 4).
    mu, _ = SeparatePosteriors(TWO, np.array([1.0, 3.0])).integrate(average)
    assert mu == pytest.approx((4 / 8 + 7 / 8) / 2)


def test_prior_trials_count_until_they_are_taken_away():
    states = tallied([[1, 1]], [1], prior=[[0, 3]])
    posterior = SeparatePosteriors(states)
    assert posterior.weighted(W)[0] == pytest.approx(5 / 7)
    assert posterior.without_prior().weighted(W)[0] == pytest.approx(1 / 2)


def test_the_credit_of_one_draw_is_the_success_rate():
    def one_of_one(_):
        yield slice(None), np.array([1.0])

    posterior = SeparatePosteriors(TWO)
    assert posterior.integrate(draw_moments(one_of_one)) == (
        pytest.approx(posterior.weighted(W)[0]),
        pytest.approx(posterior.weighted(W)[1]),
    )


def test_the_average_of_trials_has_the_scale_of_its_trials():
    # Of n trials and the prior's two: the posterior's sigma times (n + 2) / n.
    posterior = SeparatePosteriors(tallied([[3, 1]], [1]))
    assert posterior.average_sigma(W) == pytest.approx(6 / 4 * posterior.weighted(W)[1])


def test_a_trial_has_the_expected_variance_of_its_question():
    # Of Beta(2, 4): E[p (1 - p)] = 8 / 42.
    noise = SeparatePosteriors(tallied([[3, 1]], [1])).trial_noise(W)
    assert noise == pytest.approx(8 / 42)
    fitted = pooled(tallied([[4, 0], [2, 2], [0, 4]], [10, 10, 10])).trial_noise(W)
    assert fitted[1] > fitted[0] == pytest.approx(fitted[2])


def test_a_fitted_prior_draws_questions_together():
    states = tallied([[4, 0], [2, 2], [0, 4]], [10, 10, 10])
    fitted = pooled(states)
    assert fitted.weighted(W)[0] == pytest.approx(0.5)
    each = tallied([[4, 0], [2, 2], [0, 4]], [10, 10, 10], [0, 1, 2])
    own = Pooled.fit(
        each, tallied([[4, 0], [2, 2], [0, 4]], [10, 10, 10]), np.zeros(3, int), "benchmark"
    )
    rates, _ = own.weighted(W)
    assert 0 < rates[0] < rates[1] < rates[2] < 1
    assert rates[1] == pytest.approx(0.5)


def test_a_population_is_less_certain_than_its_questions():
    states = tallied([[4, 0], [2, 2], [0, 4]], [10, 10, 10])
    (mean, inside), (expected, outside) = (
        pooled(states, target).weighted(W) for target in ("benchmark", "population")
    )
    assert outside > 1.5 * inside
    assert mean == pytest.approx(expected, abs=0.01)


def test_groups_are_fitted_apart():
    counts, questions = [[4, 0], [2, 2], [0, 4], [1, 3]], [9, 5, 3, 8]
    both = pooled(tallied(counts, questions, [0, 0, 1, 1])).weighted(W)
    first = pooled(tallied(counts[:2], questions[:2])).weighted(W)
    second = pooled(tallied(counts[2:], questions[2:])).weighted(W)
    # Fits of the same questions: rounding.
    np.testing.assert_allclose(both, np.concatenate([first, second], axis=1), rtol=1e-9)


def test_without_prior_trials_nothing_is_fitted_anew():
    fitted = pooled(TWO)
    assert fitted.without_prior() is fitted
    again = pooled(tallied([[3, 1], [0, 4]], [1, 1], prior=[[9, 0], [9, 0]])).without_prior()
    # The same questions, fitted twice.
    assert again.weighted(W)[0] == pytest.approx(fitted.weighted(W)[0], rel=1e-9)


def test_a_metric_goes_with_itself():
    def twice(nu, n):
        mean, variance = average(nu, n)
        return Joint(mean, mean, variance, variance, variance)

    for posterior in (SeparatePosteriors(TWO), pooled(TWO)):
        joint = posterior.integrate_joint(twice)
        mu, sigma = posterior.integrate(average)
        assert joint.x == pytest.approx(mu)
        # Both are sums over the same grid.
        assert joint.var_x == pytest.approx(sigma**2, rel=1e-9)
        assert joint.covariance == pytest.approx(joint.var_x, rel=1e-6)


def test_the_average_of_a_population_adds_the_spread_of_its_questions():
    states = tallied([[4, 0], [2, 2], [0, 4]], [10, 10, 10])
    inside, outside = (pooled(states, target).average_sigma(W) for target in TARGETS)
    # Thirty rates with a standard deviation of nearly .4 have a mean that is off by .07.
    assert 0.05 < np.sqrt(outside**2 - inside**2).item() < 0.1


@pytest.mark.parametrize("target", TARGETS)
def test_a_fitted_credit_of_one_draw_is_the_success_rate(target):
    def one_of_one(_):
        yield slice(None), np.array([1.0])

    posterior = pooled(tallied([[4, 0], [2, 2], [0, 4]], [10, 10, 10]), target)
    found, known = posterior.integrate(draw_moments(one_of_one)), posterior.integrate(average)
    # Both are sums over the same grid, with another order of the moments.
    np.testing.assert_allclose(found, known, rtol=1e-6)


# Metrics under partial pooling: laws, and extreme data.


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
