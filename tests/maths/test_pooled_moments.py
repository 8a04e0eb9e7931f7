"""Metrics under partial pooling: laws, and the formulas one by one."""

from dataclasses import astuple
from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.polynomial.legendre import leggauss
from scipy.special import gammaln

from polars_scorio.maths.array_rows import Floats, Ints
from polars_scorio.maths.lattice import fit_categories
from polars_scorio.maths.pooled_moments import metric_posterior, trial_variance, weighted_posterior
from tests.made_logs import law
from tests.maths.groups import (
    CATEGORIES,
    HARD,
    UNIT,
    W,
    accuracy,
    average_variance,
    binary_posterior,
    counts_of,
    fit_binary,
    small_groups,
)
from tests.tensor import Tensor

POINTS, WEIGHTS = leggauss(200)


def oracle_categories(counts: Ints, questions: Ints, w: Floats) -> list[float]:
    """mu, sigma for both targets (6.2, 6.3, 6.5) and sigma of the calibrated average (6.4).

    The published formulas as they stand, one correlation at a time, without any zoom.
    """
    states = np.repeat(counts, questions, axis=0)
    n = states.sum(axis=1)
    parts, logs = [], []
    for rho, width in zip((POINTS + 1) / 2, WEIGHTS, strict=True):
        s = (1 - rho) / rho
        pooled_counts = 0.5 + (states / (1 + (n - 1) * rho)[:, None]).sum(axis=0)
        total = pooled_counts.sum()
        pi = pooled_counts / total
        omega = pi @ w
        tau2 = (pi @ w**2 - omega**2) / (total + 1)
        nu, t = s * pi + states, s + n
        f, m = s / t, nu @ w / t
        v = (nu @ w**2 / t - m**2 - f**2 * tau2) / (t + 1)
        v0 = (pi @ w**2 - omega**2 - tau2) / (s + 1)
        likelihood = (gammaln(nu) - gammaln(s * pi)).sum() - (gammaln(t) - gammaln(s)).sum()
        density = gammaln(total) + ((pooled_counts - 1) * np.log(pi)).sum()
        density -= gammaln(pooled_counts).sum()
        logs.append(likelihood - density + np.log((1 - rho) * width))
        size, more = len(n), len(n) + 2
        squares = (m**2 + f**2 * tau2 + v).sum() + 2 * (omega**2 + tau2 + v0)
        parts.append(
            [
                m.mean(),
                v.sum() / size**2 + f.mean() ** 2 * tau2,
                (m.sum() + 2 * omega) / more,
                v.sum() / more**2 + ((f.sum() + 2) / more) ** 2 * tau2,
                squares / more,
                (v * t / n).sum() / size**2,
            ]
        )
    weight = np.exp(np.array(logs) - max(logs))
    weight /= weight.sum()
    mean, variance, star, own, squares, average = np.array(parts).T
    mu, mu_star = weight @ mean, weight @ star
    known = weight @ (own + (star - mu_star) ** 2)
    spread = weight @ squares - mu_star**2 - known
    return [
        mu,
        np.sqrt(weight @ (variance + (mean - mu) ** 2)),
        mu_star,
        np.sqrt(known + spread / (len(n) + 3)),
        np.sqrt(weight @ average),
    ]


@st.composite
def category_groups(draw: st.DrawFn) -> tuple[Ints, Ints, Floats]:
    top = draw(st.integers(2, 4))
    state = st.lists(st.integers(0, 4), min_size=top, max_size=top).filter(any)
    counts = np.array(draw(st.lists(state, min_size=1, max_size=5)))
    questions = np.array([draw(st.integers(1, 4)) for _ in counts])
    return counts, questions, np.array([draw(st.floats(-3, 3)) for _ in range(top - 1)] + [4.0])


@law
@given(category_groups())
def test_weighted_moments_equal_the_published_formulas(data):
    counts, questions, w = data
    grid = fit_categories(counts, questions)
    result = weighted_posterior(grid, counts, questions, w)
    error = np.ptp(w) ** 2 * trial_variance(grid, counts, w) / counts.sum(axis=1)
    average = sqrt((questions * error).sum()) / questions.sum()
    # 32 nodes against 200, and 1e-8 of the mass of rho cut off; weights of up to 4.
    expected = oracle_categories(counts, questions, w)
    assert (*astuple(result)[:4], average) == pytest.approx(expected, rel=1e-7, abs=1e-7)


@law
@given(category_groups())
def test_dirichlet_moments_and_weights_are_two_ways_to_the_same(data):
    counts, questions, w = data

    def weighted(nu: Floats, _: Ints) -> tuple[Floats, Floats]:
        total = nu.sum(axis=1)
        mean = (nu * w).sum(axis=1) / total
        square = (nu * (w - mean[:, None]) ** 2).sum(axis=1) / total
        return mean, square / (total + 1)

    grid = fit_categories(counts, questions)
    left = metric_posterior(grid, counts, counts.sum(axis=1), questions, weighted)
    right = weighted_posterior(grid, counts, questions, w)
    # The same closed form, rounded differently; weights of up to 4.
    np.testing.assert_allclose(astuple(left)[:4], astuple(right)[:4], rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(left.question_mu, right.question_mu, rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(left.question_sigma, right.question_sigma, rtol=1e-10, atol=1e-13)


@law
@given(small_groups())
def test_bayes_is_pass_at_1(data):
    group = (*data, np.ones_like(data[0]))
    weighted = weighted_posterior(fit_binary(*group), counts_of(group), group[2], UNIT)
    single = binary_posterior(group, accuracy)
    # The same numbers in two closed forms.
    np.testing.assert_allclose(astuple(weighted)[:4], astuple(single)[:4], rtol=1e-12)
    np.testing.assert_allclose(weighted.question_mu, single.question_mu, rtol=1e-12)
    np.testing.assert_allclose(weighted.question_sigma, single.question_sigma, rtol=1e-12)


@law
@given(st.integers(1, 300), st.integers(0, 300))
def test_single_trials_have_an_exact_posterior_mean(questions, right):
    right = min(right, questions)
    c, sizes = np.array([0, 1]), np.array([questions - right, right])
    group = np.ones(2, int)[sizes > 0], c[sizes > 0], sizes[sizes > 0]
    exact = 2 / 3 * (right + 1) / (questions + 2) + right / (3 * questions)
    # Of the mass of the grid 2e-6 are cut off where an outcome is missing, else 1e-7 at most.
    rel = 1e-7 if 0 < right < questions else 3e-6
    assert binary_posterior(group, accuracy).mu == pytest.approx(exact, rel=rel)


def test_with_many_trials_the_prior_does_not_matter():
    rng = np.random.default_rng(2)
    n = np.full(20, 100_000)
    c = rng.binomial(n, rng.uniform(0.05, 0.95, 20))
    group = n, c, np.ones_like(n)
    result = binary_posterior(group, accuracy)
    mean, variance = accuracy(np.asarray(1.0 + c), np.asarray(1.0 + n - c))
    # Both priors are worth a few trials of 100,000.
    assert result.mu == pytest.approx(mean.mean(), rel=1e-4)
    assert result.sigma == pytest.approx(np.sqrt(variance.sum()) / 20, rel=1e-4)
    assert sqrt(average_variance(group)) == pytest.approx(result.sigma, rel=1e-4)


def test_equal_questions_share_all_their_trials():
    group = np.array([50]), np.array([20]), np.array([40])
    result = binary_posterior(group, accuracy)
    # Close to 2,000 trials of one question: rho is near 0, not at it.
    assert result.sigma == pytest.approx(sqrt(0.24 / 2000), rel=0.01)
    assert result.question_sigma[0] < 0.3 * sqrt(0.24 / 50)


def test_labels_of_categories_do_not_matter():
    counts, questions = CATEGORIES
    order = [2, 0, 1]
    first = weighted_posterior(fit_categories(counts, questions), counts, questions, W)
    second = weighted_posterior(
        fit_categories(counts[:, order], questions), counts[:, order], questions, W[order]
    )
    # The same terms in another order.
    np.testing.assert_allclose(astuple(first)[:4], astuple(second)[:4], rtol=1e-12)


@pytest.mark.parametrize("scale", [1e-150, 1e155, -3.0])
def test_weights_carry_their_unit(scale):
    counts, questions = CATEGORIES
    grid = fit_categories(counts, questions)
    one, other = (weighted_posterior(grid, counts, questions, w) for w in (W, scale * W))
    # Rounding of the weights.
    assert other.mu == pytest.approx(scale * one.mu, rel=1e-12, abs=0)
    assert other.sigma == pytest.approx(abs(scale) * one.sigma, rel=1e-12, abs=0)
    constant = weighted_posterior(grid, counts, questions, np.full(3, scale))
    assert (constant.mu, constant.sigma) == (scale, 0)


def test_binary_data_as_categories_give_nearly_the_same():
    counts = counts_of(HARD)
    first = weighted_posterior(fit_categories(counts, HARD[2]), counts, HARD[2], UNIT)
    second = binary_posterior(HARD, accuracy)
    # 6.3 takes the mean's prior to be Dirichlet(1/2, 1/2), 6.1 takes U(0, 1).
    assert first.mu == pytest.approx(second.mu, rel=0.02)
    assert first.sigma == pytest.approx(second.sigma, rel=0.1)


@law
@given(small_groups())
def test_the_variance_of_a_trial_equals_tensor_quadrature(data):
    n, c = data
    variance = trial_variance(fit_binary(n, c, np.ones_like(n)), np.stack([n - c, c], axis=1), UNIT)
    oracle = Tensor(n, c)
    # The grid's own error.
    expected = oracle.expected(oracle.mean({(1, 1): 1})[:-1])
    np.testing.assert_allclose(variance, expected, rtol=4e-6)


def test_a_metric_is_told_the_trials_and_those_alone():
    grid, counts, n = fit_categories(*CATEGORIES), CATEGORIES[0], np.array([2, 1, 0, 4])

    def trials(_, n):
        return n.astype(float), np.zeros(n.size)

    result = metric_posterior(grid, counts, n, CATEGORIES[1], trials)
    # Means of whole numbers: the rounding of weights that sum to 1.
    np.testing.assert_allclose(result.question_mu, n, rtol=1e-14)
    # 6, 2, 1 and 3 questions; two pseudo-questions have no trials.
    assert result.mu == pytest.approx((6 * 2 + 2 + 3 * 4) / 12, rel=1e-14)
    assert result.population_mu == pytest.approx((6 * 2 + 2 + 3 * 4) / 14, rel=1e-14)


def test_no_questions_have_no_mean():
    none = np.zeros(0, int)
    grid = fit_binary(none, none, none)
    empty = np.zeros((0, 2), int)
    for result in (
        binary_posterior((none, none, none), accuracy),
        weighted_posterior(grid, empty, none, UNIT),
    ):
        assert np.isnan(astuple(result)[:4]).all()
        assert result.question_mu.shape == result.question_sigma.shape == (0,)
    assert trial_variance(grid, empty, UNIT).shape == (0,)


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
    for result in (
        binary_posterior(group, accuracy),
        weighted_posterior(fit_binary(*group), counts_of(group), group[2], UNIT),
        weighted_posterior(
            fit_categories(counts_of(group), group[2]), counts_of(group), group[2], UNIT
        ),
    ):
        numbers = np.concatenate([np.atleast_1d(part) for part in astuple(result)])
        assert np.isfinite(numbers).all()
        assert (numbers > 0).all()
        assert (numbers <= 1).all()
