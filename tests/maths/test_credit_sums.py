"""Sums of credits: estimates of metrics, and the variance of an estimate to 50 digits."""

from math import comb

import mpmath
import numpy as np
import pytest

from polars_scorio.maths import credit, variance
from polars_scorio.maths.draws import binomial_chances
from polars_scorio.maths.variance import (
    CreditSum,
    credit_complement,
    credit_of,
    elevate_degree,
    fixed_gains,
    variance_credit,
    variance_degree,
)

SHAPES = {
    "any": credit.any_success,
    "all": credit.all_success,
    "majority": credit.majority_gains,
    "area": credit.area_under_curve,
    "excess": credit.excess_over_half,
}


def definition(n, values, p):
    """``Var(U_n(C) | p)`` in 50 digits."""
    with mpmath.workdps(50):
        k, p = len(values) - 1, mpmath.mpf(p)
        values = [mpmath.mpf(float(value)) for value in values]
        estimates = [
            sum(comb(c, j) * comb(n - c, k - j) * values[j] for j in range(k + 1)) / comb(n, k)
            for c in range(n + 1)
        ]
        chances = [comb(n, c) * p**c * (1 - p) ** (n - c) for c in range(n + 1)]
        mean = sum(w * u for w, u in zip(chances, estimates, strict=True))
        return float(sum(w * (u - mean) ** 2 for w, u in zip(chances, estimates, strict=True)))


@pytest.mark.every(3)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("n", "k"), [(1, 1), (2, 1), (4, 1), (4, 4), (5, 3), (9, 4), (20, 3)])
@pytest.mark.parametrize("p", [1e-6, 0.01, 0.3, 0.99, 1 - 1e-6])
def test_variance_credit_is_the_variance_of_the_estimate(shape, n, k, p):
    values = credit_of(SHAPES[shape](k))
    found = variance_credit(n, values)
    assert found.size == variance_degree(n, k) + 1
    chances = binomial_chances(found.size - 1, np.array([p]), np.array([1 - p]))
    # 1 - p itself has lost digits where p is near 1: hence not 1e-14.
    known = definition(n, values, p)
    assert (chances @ found)[0] == pytest.approx(known, rel=1e-9, abs=1e-30)


def test_a_weighted_sum_of_credits_may_fall():
    values = credit_of(np.array([0.4, -0.3, 1.2]))
    found = variance_credit(7, values)
    chances = binomial_chances(6, np.array([0.35]), np.array([0.65]))
    # Seven terms, each of them a rounded sum: 5e-15 here.
    assert (chances @ found)[0] == pytest.approx(definition(7, values, 0.35), rel=1e-12)


@pytest.mark.parametrize(("n", "k"), [(70, 65), (200, 65)])
def test_large_draws(n, k):
    values = credit_of(credit.any_success(k))
    found = variance_credit(n, values)
    chances = binomial_chances(found.size - 1, np.array([0.02]), np.array([0.98]))
    # Coefficients are sums of up to 200 products of exp() of logs: 2e-13 here.
    assert (chances @ found)[0] == pytest.approx(definition(n, values, 0.02), rel=1e-11)


def test_elevation_keeps_the_polynomial():
    values = credit_of(credit.area_under_curve(3))
    p = np.linspace(0, 1, 7)
    before = binomial_chances(3, p, 1 - p) @ values
    after = binomial_chances(9, p, 1 - p) @ elevate_degree(values, 9)
    # Averages of at most ten rounded values; atol is for the zero at p = 0.
    np.testing.assert_allclose(after, before, rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("gains", [credit.any_success(4), credit.excess_over_half(5)])
def test_a_credit_and_its_complement_sum_to_one(gains):
    np.testing.assert_allclose(credit_of(gains) + credit_complement(gains), 1, rtol=1e-15)


def test_estimates_of_a_sum_are_sums_of_estimates():
    both = CreditSum(
        [(2.0, fixed_gains(credit.any_success(2))), (-0.5, fixed_gains(credit.all_success(2)))]
    )
    first, second = (CreditSum([term]) for term in both.terms)
    c = np.arange(6)
    np.testing.assert_array_equal(
        both.estimates(5, c), first.estimates(5, c) + second.estimates(5, c)
    )
    for whole, one, other in zip(
        *(each.polynomials(5)[:2] for each in (both, first, second)), strict=True
    ):
        np.testing.assert_array_equal(whole, one + other)


def test_a_polynomial_of_all_trials_needs_no_table(monkeypatch):
    """One of 2,000 trials has four million chances; Pass@k of a hundred k took 12 s for them."""
    monkeypatch.setattr(variance, "draw_chances", lambda *_: pytest.fail("a table was made"))
    polynomial = np.linspace(0, 1, 2001)
    np.testing.assert_array_equal(elevate_degree(polynomial, 2000), polynomial)
