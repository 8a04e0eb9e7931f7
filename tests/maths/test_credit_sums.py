"""Sums of credits: the variance of an estimate to 50 digits, and its means."""

from functools import lru_cache
from math import comb

import mpmath
import numpy as np
import pytest
from scipy.special import roots_jacobi
from scipy.stats import binom

from polars_scorio.maths.draws import (
    all_success,
    any_success,
    area_under_curve,
    excess_over_half,
    majority_gains,
)
from polars_scorio.maths.free_fit import rate_nodes
from polars_scorio.maths.variance import (
    CreditSum,
    Draw,
    Questions,
    credit_complement,
    credit_of,
    fixed_gains,
    noise_estimates,
    posterior_means,
    rate_moments,
    smooth_moments,
)

SHAPES = {
    "any": any_success,
    "all": all_success,
    "majority": majority_gains,
    "area": area_under_curve,
    "excess": excess_over_half,
}


def metric_of(gains):
    return CreditSum([(1.0, fixed_gains(gains))])


@lru_cache(maxsize=4)
def exact_estimates(n, credit):
    """``U_n(c)`` of c = 0..n successes in 50 digits."""
    with mpmath.workdps(50):
        k, values = len(credit) - 1, [mpmath.mpf(value) for value in credit]
        return [
            sum(comb(c, j) * comb(n - c, k - j) * values[j] for j in range(k + 1)) / comb(n, k)
            for c in range(n + 1)
        ]


def definition(n, values, p):
    """``Var(U_n(C) | p)`` in 50 digits."""
    estimates = exact_estimates(n, tuple(map(float, values)))
    with mpmath.workdps(50):
        p = mpmath.mpf(p)
        chances = [comb(n, c) * p**c * (1 - p) ** (n - c) for c in range(n + 1)]
        mean = sum(w * u for w, u in zip(chances, estimates, strict=True))
        return float(sum(w * (u - mean) ** 2 for w, u in zip(chances, estimates, strict=True)))


@pytest.mark.every(3)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("n", "k"), [(1, 1), (2, 1), (4, 1), (4, 4), (5, 3), (9, 4), (20, 3)])
def test_the_variance_at_a_rate_is_that_of_the_estimate(shape, n, k):
    gains, size = SHAPES[shape](k), 301
    p, _ = rate_nodes(size)
    found = rate_moments(size, np.array([n + 7, n]), metric_of(gains))
    for place in (1, 40, 150, 299):
        known = definition(n, credit_of(gains), p[place])
        # 1 - p itself has lost digits where p is near 1: hence not 1e-14.
        assert found.variance[1, place] == pytest.approx(known, rel=1e-9, abs=1e-30)


@pytest.mark.parametrize("gains", [[0.4, -0.3, 1.2], [-0.25], [0.0, 0.0, 2.5]])
def test_a_weighted_sum_of_credits_may_fall(gains):
    found = rate_moments(121, np.array([7]), metric_of(np.array(gains)))
    p, _ = rate_nodes(121)
    # Up to seven terms, each of them a rounded sum: 5e-15 here.
    known = definition(7, credit_of(np.array(gains)), p[50])
    assert found.variance[0, 50] == pytest.approx(known, rel=1e-12)


@pytest.mark.parametrize(("n", "k"), [(70, 65), (200, 65)])
def test_large_draws(n, k):
    found = rate_moments(121, np.array([n]), metric_of(any_success(k)))
    p, _ = rate_nodes(121)
    known = definition(n, credit_of(any_success(k)), p[10])
    # exp() of logs of up to 300: 2e-13 here.
    assert found.variance[0, 10] == pytest.approx(known, rel=1e-11)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("n", "k"), [(4, 4), (9, 4), (30, 12), (60, 40)])
@pytest.mark.parametrize(("a", "b"), [(0.3, 2.5), (40.0, 1e-3), (1e-3, 7.0), (900.0, 80.0)])
def test_posterior_means_are_integrals_over_the_rate(shape, n, k, a, b):
    gains, c = SHAPES[shape](k), n if b < 1 else 0 if a < 1 else n // 2
    # Exact for polynomials of up to 2 k + 1, and the variance has a degree of 2 k.
    nodes, weight = roots_jacobi(k + 1, b + n - c - 1, a + c - 1)
    p, weight = (1 + nodes) / 2, weight / weight.sum()
    values = credit_of(gains)
    chances = binom.pmf(np.arange(k + 1), k, p[:, None])
    variance = [definition(n, values, rate) for rate in p] @ weight
    one, prior = np.ones((1, 1)), np.array([[b, a]])
    questions = Questions(np.array([n]), np.array([c]), one, one, prior, one)
    found = smooth_moments(questions, [metric_of(gains)])[:3]
    known = weight @ chances @ values, weight @ chances @ (1 - values), variance
    # The nodes near a pole keep few digits of their distance from it: 4e-8 for 60 trials.
    np.testing.assert_allclose(np.ravel(found), known, rtol=1e-7, atol=1e-14)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    ("n", "k"),
    # Draws of more than 256 have no polynomial, but for powers.
    [(2, 1), (9, 1), (9, 4), (60, 30), pytest.param(520, 260, marks=pytest.mark.slow)],
)
def test_estimates_of_the_noise_are_unbiased(shape, n, k):
    gains, every = SHAPES[shape](k), np.arange(n + 1)
    noise = noise_estimates(Draw.from_gains(gains), np.full(n + 1, n), every)
    for p in (1 / k**0.7 / 2, 0.45):  # a success in few draws; about as often as half of them
        # Sums of up to 520 terms, of chances that SciPy knows to 1e-12.
        known = definition(n, credit_of(gains), p)
        assert binom.pmf(every, n, p) @ noise == pytest.approx(known, rel=1e-9)


def test_the_noise_of_a_quadrillion_trials_keeps_its_digits():
    n, c = np.array([10**15]), np.array([3])
    # One of k trials succeeds: k c / n, with the variance k^2 c / n^2.
    noise = noise_estimates(Draw.from_gains(any_success(1000)), n, c)
    assert noise[0] == pytest.approx(3e6 / 1e30, rel=1e-10)


def test_a_million_draws_take_no_more_terms_than_a_hundred():
    a, b = np.array([[0.5, 3.0]]), np.array([[2e6, 3e6]])
    found = posterior_means(Draw.from_gains(any_success(10**6)), a, b, np.array([2 * 10**6]))
    assert (found[2] > 0).all()
    assert (found[2] <= found[0] * found[1] + 1e-15).all()


@pytest.mark.parametrize("gains", [any_success(4), excess_over_half(5)])
def test_a_credit_and_its_complement_sum_to_one(gains):
    np.testing.assert_allclose(credit_of(gains) + credit_complement(gains), 1, rtol=1e-15)


def test_gains_of_a_sum_are_sums_of_gains():
    terms = [(2.0, fixed_gains(any_success(2))), (-0.5, fixed_gains(all_success(2)))]
    assert CreditSum(terms).gains(5).tolist() == [2.0, -0.5]
    ((rows, draw),) = CreditSum(terms).draws(np.array([5, 6]))
    assert (rows, draw.gains.tolist()) == (slice(None), [2.0, -0.5])


def test_draws_of_all_trials_go_by_their_number():
    (first, two), (second, four) = CreditSum([(1.0, all_success)]).draws(np.array([4, 2, 4]))
    assert (first.tolist(), two.gains.size, second.tolist(), four.gains.size) == ([1], 2, [0, 2], 4)
