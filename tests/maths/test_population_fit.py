"""The fitted prior: what the data must do to it, and the edges."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from polars_scorio.maths import lattice as fit
from polars_scorio.maths.array_rows import Floats
from polars_scorio.maths.lattice import Grid, fit_binary_groups, fit_categories
from tests.made_logs import law
from tests.maths.groups import drawn_groups, fit_binary, small_groups
from tests.tensor import Tensor


def mean_of(grid: Grid, values: Floats) -> float:
    return float((grid.weight * values).sum())


@law
@given(small_groups())
def test_posterior_means_of_the_prior_equal_tensor_quadrature(data):
    n, c = data
    grid = fit_binary(n, c, np.ones_like(n))
    means = mean_of(grid, grid.mean[:, 1]), mean_of(grid, grid.rho)
    oracle = Tensor(n, c)
    expected = oracle.expected(oracle.q), oracle.expected(oracle.rho)
    # What the grid cuts off at both ends weighs up to 2e-6 (no success at all).
    assert means == pytest.approx(expected, rel=3e-6)


@law
@given(small_groups())
def test_weights_are_a_distribution_over_populations(data):
    n, c = data
    for grid in (
        fit_binary(n, c, np.ones_like(n)),
        fit_categories(np.stack([n - c, c, 0 * c], axis=1), np.ones_like(n)),
    ):
        assert (grid.weight > 0).all()
        assert ((grid.rho > 0) & (grid.rho < 1)).all()
        # Rounding of up to 1,952 terms; a mean is two or three roundings.
        assert grid.weight.sum() == pytest.approx(1, abs=1e-13)
        np.testing.assert_allclose(grid.mean.sum(axis=1), 1, rtol=1e-15)


@law
@given(st.integers(1, 200), st.integers(0, 200))
def test_single_trials_leave_rho_at_its_prior_and_q_a_beta(questions, right):
    right = min(right, questions)
    c, sizes = np.array([0, 1]), np.array([questions - right, right])
    grid = fit_binary(np.ones(2, int)[sizes > 0], c[sizes > 0], sizes[sizes > 0])
    # The grid of q ends where 2e-6 are missing (no success); rho ~ Beta(1, 2) has the mean 1/3.
    assert mean_of(grid, grid.rho) == pytest.approx(1 / 3, abs=1e-6)
    assert mean_of(grid, grid.mean[:, 1]) == pytest.approx((right + 1) / (questions + 2), rel=3e-6)


def test_equal_questions_pull_rho_to_zero():
    means = []
    for n in (2, 8, 32, 128):
        one = np.array([50])
        grid = fit_binary(np.array([n]), np.array([n // 2]), one)
        means.append(mean_of(grid, grid.rho))
    assert means == sorted(means, reverse=True)
    assert means[-1] < 2e-3


def test_questions_that_always_or_never_succeed_push_rho_to_one():
    grid = fit_binary(np.array([20, 20]), np.array([0, 20]), np.array([400, 600]))
    assert mean_of(grid, grid.rho) > 0.995
    # The prior is worth two questions beside 1,000: it moves the mean by far less.
    assert mean_of(grid, grid.mean[:, 1]) == pytest.approx(0.6, abs=0.01)


@pytest.mark.parametrize(
    ("n", "c"),
    [
        ([4, 4], [0, 4]),
        ([3, 50, 9], [1, 45, 0]),
        ([1, 1], [0, 1]),
        ([6, 6, 6], [2, 3, 5]),
    ],
)
def test_success_and_failure_are_interchangeable(n, c):
    trials, right, questions = np.array(n), np.array(c), np.arange(1, len(n) + 1)
    grid = fit_binary(trials, right, questions)
    mirror = fit_binary(trials, trials - right, questions)
    # The same sums with the nodes in reverse.
    means = mean_of(grid, grid.mean[:, 1]), mean_of(grid, grid.rho)
    assert means == pytest.approx(
        (mean_of(mirror, mirror.mean[:, 0]), mean_of(mirror, mirror.rho)), rel=1e-12
    )


def test_rare_failures_are_as_exact_as_rare_successes():
    n, none, questions = np.array([10**5]), np.array([0]), np.array([10**7])
    rare, often = fit_binary(n, none, questions), fit_binary(n, n, questions)
    assert mean_of(rare, rare.mean[:, 1]) < 1e-7
    # 1 - q, formed from q, would keep ten digits of it.
    assert mean_of(rare, rare.mean[:, 1] ** 0.5) == pytest.approx(
        mean_of(often, often.mean[:, 0] ** 0.5), rel=1e-13, abs=0
    )


def test_the_order_of_the_states_does_not_change_a_bit():
    rng = np.random.default_rng(1)
    n = rng.integers(1, 3000, 60)
    c = rng.integers(0, n + 1)
    questions, order = rng.integers(1, 9, 60), rng.permutation(60)
    first = fit_binary(n, c, questions)
    second = fit_binary(n[order], c[order], questions[order])
    counts = np.stack([n - c, c // 2, c - c // 2], axis=1)
    third = fit_categories(counts, questions)
    fourth = fit_categories(counts[order], questions[order])
    for one, other in ((first, second), (third, fourth)):
        np.testing.assert_array_equal(one.mean, other.mean)
        np.testing.assert_array_equal(one.rho, other.rho)
        np.testing.assert_array_equal(one.weight, other.weight)


def test_without_trials_the_prior_is_left():
    none = np.zeros(0, int)
    for n in (none, np.zeros(1, int)):
        grid = fit_binary(n, n, np.ones_like(n))
        # The grid spans 9 standard deviations of the logit: 3e-6 are missing at each end.
        assert mean_of(grid, grid.mean[:, 1]) == pytest.approx(1 / 2, rel=1e-12)
        assert mean_of(grid, grid.rho) == pytest.approx(1 / 3, rel=1e-5)
    grid = fit_categories(np.zeros((0, 3), int), none)
    # The same by symmetry: the rounding of sums of weights.
    np.testing.assert_allclose(grid.weight @ grid.mean, [1 / 3] * 3, rtol=1e-12)


@pytest.mark.parametrize(
    ("n", "c", "questions"),
    [
        pytest.param([10**5], [0], [10**7], id="never, 1e12 trials"),
        pytest.param([10**5, 10**5], [0, 1], [10**7, 10], id="once in 1e11 trials"),
        pytest.param([10**5], [50_000], [10**6], id="equal questions"),
        pytest.param([100, 100], [0, 100], [10**6, 10**6], id="all or nothing"),
        pytest.param([1, 10**9], [1, 3], [1, 1], id="one trial and a billion"),
        pytest.param([1], [1], [1], id="one trial"),
    ],
)
def test_extreme_data_give_finite_grids(n, c, questions):
    trials, right, sizes = np.array(n), np.array(c), np.array(questions)
    counts = np.stack([trials - right, right, 0 * right], axis=1)
    for grid in (fit_binary(trials, right, sizes), fit_categories(counts, sizes)):
        assert np.isfinite(grid.shape).all()
        assert (grid.shape > 0).all()
        # The rounding of a sum of some thousand weights.
        assert grid.weight.sum() == pytest.approx(1, abs=1e-12)


def test_categories_may_be_relabelled():
    counts = np.array([[4, 0, 0], [3, 1, 0], [0, 2, 2], [0, 0, 4]])
    questions, labels = np.array([6, 2, 1, 3]), [2, 0, 1]
    grid, other = fit_categories(counts, questions), fit_categories(counts[:, labels], questions)
    # The same terms in another order.
    np.testing.assert_allclose(
        (grid.weight @ grid.mean)[labels], other.weight @ other.mean, rtol=1e-12
    )
    assert mean_of(grid, grid.rho) == pytest.approx(mean_of(other, other.rho), rel=1e-12)


def test_points_of_one_correlation_have_the_moments_of_a_dirichlet_distribution():
    counts = np.array([[7, 2, 0], [3, 4, 2]])
    grid = fit_categories(counts, np.array([2, 1]))
    rho = grid.rho[0]
    own = grid.rho == rho
    share, means = grid.weight[own] / grid.weight[own].sum(), grid.mean[own]
    pooled = 0.5 + np.array([17, 8, 2]) / (1 + 8 * rho)
    pi = pooled / pooled.sum()
    # The rounding of sums of weights that are divided by their own sum.
    np.testing.assert_allclose(share @ means, pi, rtol=1e-13)
    covariance = (np.diag(pi) - np.outer(pi, pi)) / (pooled.sum() + 1)
    deviations = means - share @ means
    # Differences of numbers below 1.
    np.testing.assert_allclose((share * deviations.T) @ deviations, covariance, atol=1e-15)


@pytest.mark.parametrize("seed", range(4))
def test_wide_steps_are_taken_only_where_they_suffice(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    n = np.full(40, 4)
    c = rng.binomial(4, rng.beta(0.3, 2, 40))
    coarse = fit_binary(n, c, np.ones_like(n))
    monkeypatch.setattr(fit, "_WIDE", 0.0)
    fine = fit_binary(n, c, np.ones_like(n))
    assert fine.weight.size > 1.5 * coarse.weight.size
    for power in (1, 2, 64):
        value = mean_of(coarse, coarse.mean[:, 0] ** power)
        # What wide steps may cost, of numbers below 1; with these seeds it is 2e-13.
        assert value == pytest.approx(mean_of(fine, fine.mean[:, 0] ** power), abs=1e-9)


@pytest.mark.slow
def test_memory_stays_bounded_with_many_ragged_states():
    n, c = (part.ravel() for part in np.meshgrid(np.arange(1, 301), np.arange(301)))
    n, c = n[c <= n], c[c <= n]
    far = np.append(n, np.arange(10**5, 10**5 + 8000))
    tracemalloc.start()
    fit_binary(n, c, np.ones_like(n))
    fit_binary(far, far // 3, np.ones_like(far))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 64e6


def test_groups_are_fitted_as_if_each_were_alone():
    groups = drawn_groups()
    for grid, group in zip(fit_binary_groups(groups), groups, strict=True):
        alone = fit_binary(*group)
        for name in ("mean", "rho", "weight"):
            np.testing.assert_array_equal(getattr(grid, name), getattr(alone, name))
