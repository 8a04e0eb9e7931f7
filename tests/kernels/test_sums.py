"""Sums over very many trials by few points, against closed forms in 50 digits."""

import mpmath as mp
import numpy as np
import pytest

from polars_scorio.kernels.sums import sum_points


@pytest.mark.parametrize("k", [2, 15, 16, 17, 64, 1_000, 4_097, 1_000_000])
@pytest.mark.parametrize("a", [1e-3, 1.0, 1e6])
@pytest.mark.parametrize("b", [1e-3, 0.5, 1.0, 700.0, 1e6])
def test_sums_logs_of_ratios(k, a, b):
    points, weights = sum_points(k)
    found = weights @ np.log1p(a / (b + points))
    with mp.workdps(50):
        x, y = mp.mpf(a), mp.mpf(b)
        up = mp.loggamma(x + y + k) - mp.loggamma(x + y)
        exact = float(up - (mp.loggamma(y + k) - mp.loggamma(y)))
    # 3e-16 with numbers wider than a double, 4e-15 on platforms that have none.
    assert found == pytest.approx(exact, rel=5e-15)


@pytest.mark.parametrize("k", [2, 18, 64, 10_000, 999_999])
def test_points_are_trials_in_between_and_weights_are_their_number(k):
    points, weights = sum_points(k)
    assert 0 <= points.min() <= points.max() <= k - 1
    assert weights.min() > 0
    # A constant is none of the functions that the rule is for.
    assert weights.sum() == pytest.approx(k, rel=1e-8)


def test_points_grow_with_the_logarithm_alone():
    sizes = [sum_points(10**digits)[0].size for digits in range(1, 7)]
    assert sizes == [10, 18, 23, 29, 34, 39]
