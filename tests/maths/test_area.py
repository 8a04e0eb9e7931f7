"""AUC@k of many trials, against sums and closed forms in 50 digits and more."""

from fractions import Fraction
from itertools import accumulate, product
from math import comb

import mpmath as mp
import numpy as np
import pytest

from polars_scorio.maths import draws
from polars_scorio.maths.draws import (
    area_drawn,
    area_moments,
    area_under_curve,
    credit_moments,
    expected_credit,
)

CORNERS = [*product([1e-3, 0.5, 1.0, 2.5, 17.0, 1_000.0, 1e5, 1e6], repeat=2)]


def moments(a, b, k):
    """Mean and variance of the trapezoid sum, from all moments of q up to 2 k."""
    a, b = mp.mpf(a), mp.mpf(b)
    ratios = ((b + i) / (a + b + i) for i in range(2 * k))
    q = list(accumulate(ratios, mp.fmul, initial=mp.mpf(1)))
    weight = [0, *[mp.mpf(1)] * k]
    weight[1] = weight[k] = mp.mpf(1) / 2
    mean = mp.fsum(w * each for w, each in zip(weight, q, strict=False))
    square = mp.fsum(
        weight[i] * weight[j] * q[i + j] for i in range(1, k + 1) for j in range(1, k + 1)
    )
    return 1 - mean / (k - 1), (square - mean**2) / (k - 1) ** 2


def closed_mean(a, b, k):
    """The mean by the telescoping sum of ``E[q^i]``."""
    a, b = mp.mpf(a), mp.mpf(b)
    if a == 1:
        total = b * (mp.digamma(b + 1 + k) - mp.digamma(b + 1))
    else:
        total = b / (a - 1) * (1 - mp.beta(a - 1, b + 1 + k) / mp.beta(a - 1, b + 1))
    ends = (1 - b / (a + b)) / 2 + (1 - mp.beta(a, b + k) / mp.beta(a, b)) / 2
    return (k - total - ends) / (k - 1)


@pytest.mark.slow
@pytest.mark.parametrize("k", [24, 64])
def test_moments_are_accurate_at_every_corner(k):
    with mp.workdps(100):
        oracle = np.array([moments(*corner, k) for corner in CORNERS], dtype=float).T
    mean, variance = area_moments(*np.array(CORNERS).T, k)
    np.testing.assert_allclose(mean, oracle[0], rtol=1e-12)
    np.testing.assert_allclose(variance, oracle[1], rtol=1e-12)


@pytest.mark.parametrize("k", [1_024, 1_000_000])
def test_means_of_very_many_trials_are_accurate(k):
    with mp.workdps(60):
        oracle = [float(closed_mean(*corner, k)) for corner in CORNERS]
    mean, _ = area_moments(*np.array(CORNERS).T, k)
    np.testing.assert_allclose(mean, oracle, rtol=1e-12)


@pytest.mark.parametrize(("a", "b"), [(1.0, 1.0), (3.0, 98.0), (60.0, 2.5), (5e4, 7e4)])
def test_variances_of_very_many_trials_agree_with_those_of_the_sum_over_successes(
    a, b, monkeypatch
):
    k, ends = 1_500, (np.array([a]), np.array([b]))
    _, variance = credit_moments(*ends, area_under_curve(k))
    monkeypatch.setattr(draws, "_LONG", k + 1)
    _, summed = credit_moments(*ends, area_under_curve(k))
    # Some 3 k roundings of 1e-16 in the other sum.
    np.testing.assert_allclose(variance, summed, rtol=3e-13)


@pytest.mark.parametrize("k", [2, 5, 24, 300, 5_000])
def test_estimates_are_exact(k):
    """The trapezoid sum over the chances of no success, in fractions."""
    corners = [
        (n, c) for n in (k, k + 1, 3 * k, 100_000) for c in (0, 1, 2, n // 7, n // 2, n - 1, n)
    ]
    sizes = [1, k, *(range(1, k + 1) if k < 400 else ())]

    def exact(n, c):
        if len(sizes) == 2:
            none = Fraction(comb(max(n - c - 1, 0), k), comb(n, k))
            total = Fraction(n - c, c + 1) * (1 - none)
        else:
            total = sum(Fraction(comb(n - c, i), comb(n, i)) for i in range(1, k + 1))
        ends = Fraction(n - c, n) / 2 + Fraction(comb(n - c, k), comb(n, k)) / 2
        return float(1 - (total - ends) / (k - 1))

    oracle = [exact(*corner) for corner in corners]
    found = area_drawn(*np.array(corners).T, k)
    np.testing.assert_allclose(found, oracle, rtol=1e-12)
    for (n, c), value in zip(corners, found, strict=True):
        assert value == 0 if c == 0 else value == 1 if c == n else 0 < value < 1


def test_the_metric_takes_the_sums_that_cost_less():
    k, n, c = 100, np.array([200, 120]), np.array([3, 77])
    gains = area_under_curve(k)
    assert np.array_equal(expected_credit(n, c, gains.copy()), area_drawn(n, c, k))
    a, b = c + 1.0, n - c + 1.0
    assert np.array_equal(credit_moments(a, b, gains), area_moments(a, b, k))


def test_no_digit_depends_on_which_states_come_together():
    # Those of 60 trials have rates in common, the corners none.
    a, b = np.array([*((c + 1.0, 61.0 - c) for c in range(61)), *CORNERS]).T
    whole = np.array(area_moments(a, b, 64))
    alone = [area_moments(a[[row]], b[[row]], 64) for row in range(a.size)]
    np.testing.assert_array_equal(np.concatenate(alone, axis=1), whole)
