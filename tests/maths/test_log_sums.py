"""Sums of logs over very many trials, against closed forms in 80 digits."""

from itertools import product

import mpmath as mp
import numpy as np
import pytest

from polars_scorio.maths.draws import sum_of_gaps, sum_of_logs

# Tiny, huge, and on both sides of where the series begins.
CORNERS = [
    *product([1e-9, 1e-3, 0.5, 1.0, 17.0, 300.0, 1e6, 1e9], repeat=2),
    *product([1e-9, 1.0, 1e6], [15.999, 16.0, 20.0]),
]
SIZES = [1, 2, 15, 16, 17, 64, 1_000, 1_000_000]


def exact(a, b, k):
    """``sum_{i < k} log1p(a / (b + i))``."""
    up = mp.loggamma(a + b + k) - mp.loggamma(a + b)
    return up - (mp.loggamma(b + k) - mp.loggamma(b))


@pytest.mark.parametrize("k", SIZES)
def test_sums_logs_of_ratios(k):
    with mp.workdps(80):
        oracle = [float(exact(*map(mp.mpf, corner), k)) for corner in CORNERS]
    found = sum_of_logs(*np.array(CORNERS).T, k)
    # Of three logs: a few roundings.
    np.testing.assert_allclose(found, oracle, rtol=2e-15)


@pytest.mark.parametrize("k", SIZES)
@pytest.mark.parametrize("m", [1, 15, 64, 1_000_000])
def test_sums_gaps_without_taking_a_difference(k, m):
    with mp.workdps(80):
        ends = [tuple(map(mp.mpf, corner)) for corner in CORNERS]
        oracle = [float(exact(a, b, k) - exact(a, b + m, k)) for a, b in ends]
    found = sum_of_gaps(*np.array(CORNERS).T, k, m)
    # Of four logs, of which the largest is up to three times the sum; and what the series leaves
    # off is more of a difference of differences, for k, m << 16.
    np.testing.assert_allclose(found, oracle, rtol=1e-14)


def test_no_digit_depends_on_which_states_come_together():
    a, b = np.array(CORNERS * 200).T
    whole = sum_of_logs(a, b, 64), sum_of_gaps(a, b, 64, 9)
    for row in range(len(CORNERS)):
        alone = sum_of_logs(a[[row]], b[[row]], 64), sum_of_gaps(a[[row]], b[[row]], 64, 9)
        for found, each in zip(whole, alone, strict=True):
            assert (found[row :: len(CORNERS)] == each).all()
