"""Pass@k and Pass^k in closed form up to k = 1,000,000, against 50 digits."""

from itertools import product

import mpmath as mp
import numpy as np
import pytest

from polars_scorio.maths.best_of import best_moments, expected_best
from polars_scorio.maths.draws import (
    all_success,
    any_success,
    chances_and_growth,
    credit_covariance,
    credit_moments,
    expected_credit,
    no_success_drawn,
    power_covariance,
)

# Products up to 32 trials, sums of logs beyond; DESIGN.md asks for n up to 100,000.
SIZES = [1, 2, 32, 33, 64, 1_024, 100_003, 1_000_000]
CORNERS = [
    *((c + 1.0, n - c + 1.0) for n in (5, 1_000, 100_000) for c in (0, 1, n // 2, n - 1, n)),
    *product([1e-3, 2.5, 1e6], repeat=2),
]
# Logs of the chances in doubles: those near -700 are off by 1e-13.
ACCURATE = {"rtol": 1e-12, "atol": 1e-290}


def moment(a, b, k, m=0):
    """``E[q**k p**m]``."""
    return mp.beta(a + m, b + k) / mp.beta(a, b)


def no_success(a, b, k):
    """Chance that k trials all fail, its complement and the variance."""
    chance, rest, growth = chances_and_growth(a, b, k)
    return chance, rest, chance * growth


def exact(a, b, k):
    """Chance, its complement and the variance."""
    a, b = mp.mpf(a), mp.mpf(b)
    first = moment(a, b, k)
    return first, 1 - first, moment(a, b, 2 * k) - first**2


@pytest.mark.every(3)
@pytest.mark.parametrize("k", SIZES)
def test_moments_are_accurate_at_every_corner(k):
    # Differences of up to 290 digits' worth: the variance beside the square of the mean.
    with mp.workdps(400):
        oracle = np.array([exact(*corner, k) for corner in CORNERS], dtype=float).T
    found = no_success(*np.array(CORNERS).T, k)
    for part, expected in zip(found, oracle, strict=True):
        np.testing.assert_allclose(part, expected, **ACCURATE)


@pytest.mark.every(5)
@pytest.mark.parametrize("k", [1, 33, 1_000_000])
@pytest.mark.parametrize("m", [2, 1_000_000])
@pytest.mark.parametrize("mixed", [True, False])
def test_covariances_are_accurate_at_every_corner(k, m, mixed):
    with mp.workdps(400):
        oracle = []
        for a, b in (map(mp.mpf, corner) for corner in CORNERS):
            first = moment(a, b, k)
            both = (
                first * moment(a, b, 0, m) - moment(a, b, k, m)
                if mixed
                else moment(a, b, k + m) - first * moment(a, b, m)
            )
            oracle.append(float(both))
    found = power_covariance(*np.array(CORNERS).T, k, m, mixed=mixed)
    np.testing.assert_allclose(found, oracle, **ACCURATE)


@pytest.mark.parametrize("k", SIZES)
def test_estimates_are_accurate_at_every_corner(k):
    corners = [
        (n, c) for n in (k, k + 1, 2 * k + 7, 10 * k + 100_000) for c in (0, 1, 3, n // 2, n)
    ]
    corners = [(n, c) for n, c in corners if c <= n]
    with mp.workdps(50):
        oracle = [mp.binomial(n - c, k) / mp.binomial(n, k) for n, c in corners]
        expected = np.array([(each, 1 - each) for each in oracle], dtype=float).T
    found = no_success_drawn(*np.array(corners).T, k)
    for part, exactly in zip(found, expected, strict=True):
        np.testing.assert_allclose(part, exactly, **ACCURATE)


@pytest.mark.parametrize("k", [3, 1_000])
def test_estimates_on_a_bound_are_on_it(k):
    n = np.array([k, k, k + 5, k + 5])
    c = np.array([0, k, 0, 6])
    chance, rest = no_success_drawn(n, c, k)
    assert chance.tolist() == [1, 0, 1, 0]
    assert rest.tolist() == [0, 1, 0, 1]


@pytest.mark.parametrize("k", [64, 1_000_000])
def test_a_gain_is_what_multiplies_the_power(k):
    """The first or the last gain alone, whatever it is; the square of it in a variance."""
    a, b, n, c = np.array([3.0]), np.array([7.5]), np.array([k + 50]), np.array([20])
    for gains, mirrored in ((any_success(k), False), (all_success(k), True)):
        ends = (b, a) if mirrored else (a, b)
        chance, rest, variance = no_success(*ends, k)
        mean, spread = credit_moments(a, b, 0.25 * gains)
        assert mean == 0.25 * (chance if mirrored else rest)
        assert spread == 0.0625 * variance
        drawn = no_success_drawn(n, n - c if mirrored else c, k)[0 if mirrored else 1]
        assert expected_credit(n, c, 0.25 * gains) == 0.25 * drawn


def test_a_covariance_with_itself_is_the_variance():
    a, b = np.array(CORNERS).T
    for k, gains_of in product((5, 300), (any_success, all_success)):
        _, variance = credit_moments(a, b, gains_of(k))
        both = credit_covariance(a, b, gains_of(k), gains_of(k))
        # Both are accurate to 3e-13 at logs near 700, and nothing below 1e-290 is a number.
        np.testing.assert_allclose(both, variance, rtol=1e-12, atol=1e-290)


@pytest.mark.parametrize("k", [3, 300])
def test_no_digit_depends_on_which_states_come_together(k):
    a, b = np.array(CORNERS).T
    whole = np.array(no_success(a, b, k))
    alone = [no_success(a[[row]], b[[row]], k) for row in range(a.size)]
    np.testing.assert_array_equal(np.concatenate(alone, axis=1), whole)


@pytest.mark.parametrize("k", [5, 1_000_000])
def test_the_best_of_two_rewards_is_pass_at_k(k):
    a, b = np.array(CORNERS).T
    rewards, gains = np.array([0.0, 1.0]), any_success(k)
    for found, expected in zip(
        best_moments(np.column_stack([b, a]), rewards, k), credit_moments(a, b, gains), strict=True
    ):
        # The same logs and products.
        np.testing.assert_allclose(found, expected, rtol=1e-14)
    counts = np.array([[k, 7], [3, k], [k + 4, 0]])
    np.testing.assert_allclose(
        expected_best(counts, rewards, k),
        expected_credit(counts.sum(axis=1), counts[:, 1], gains),
        rtol=1e-14,  # as above
    )
