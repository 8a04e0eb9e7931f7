"""Sums of logs over very many trials, against closed forms in 80 digits."""

from itertools import product
from math import comb

import mpmath as mp
import numpy as np
import pytest
from scipy.stats import hypergeom

from polars_scorio.maths.draws import (
    draw_chance_rows,
    overlap_chances,
    sum_of_gaps,
    sum_of_logs,
)
from polars_scorio.maths.families import illinois_root

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


# Roots of many functions at once.


def test_finds_the_cube_roots_of_many_numbers():
    number = np.linspace(0.5, 8, 50)
    found = illinois_root(lambda x: x**3 - number, np.zeros(50), np.full(50, 3.0), 40)
    # Forty steps end at one of two neighbouring doubles, of numbers near 1.
    np.testing.assert_allclose(found, np.cbrt(number), rtol=1e-12)


def test_a_root_at_an_end_is_that_end():
    ends = np.array([1.0, 1.0]), np.array([2.0, 2.0])
    found = illinois_root(lambda x: x - np.array([1.0, 2.0]), *ends, 5)
    np.testing.assert_array_equal(found, [1.0, 2.0])


def test_no_root_hangs_on_those_beside_it():
    low, high, number = np.zeros(3), np.full(3, 9.0), np.array([0.1, 5.0, 60.0])
    together = illinois_root(lambda x: x**2 - number, low, high, 6)
    alone = [illinois_root(lambda x, n=n: x**2 - n, low[:1], high[:1], 6)[0] for n in number]
    np.testing.assert_array_equal(together, alone)


# Tables of hypergeometric chances against exact ones.


@pytest.mark.slow
def test_chances_of_a_draw():
    known = [[comb(u, j) * comb(9 - u, 4 - j) / comb(9, 4) for j in range(5)] for u in range(10)]
    # exp() of logs of binomials below 5: a few roundings.
    np.testing.assert_allclose(draw_chance_rows(9, 4, np.arange(10)), known, rtol=1e-13)
    large = draw_chance_rows(3000, 1000, np.arange(3001))
    # exp() of logs of binomials near 2,000, each rounded: 8e-12 here.
    np.testing.assert_allclose(large.sum(axis=1), 1, rtol=1e-10)


def test_some_rows_are_rows_of_the_whole_table():
    successes = np.array([0, 7, 300])
    np.testing.assert_array_equal(
        draw_chance_rows(300, 40, successes), draw_chance_rows(300, 40, np.arange(301))[successes]
    )


@pytest.mark.parametrize("total", [100, 4096, 4097, 20_000])
def test_two_draws_overlap_as_often_as_one_hits_marked_trials(total):
    known = hypergeom.pmf(np.arange(65), total, 64, 64)
    # A table of logs below 4,097 trials: its largest log is rounded at 5e-13.
    np.testing.assert_allclose(overlap_chances(total, 64), known, rtol=1e-10, atol=1e-290)


def test_draws_from_a_quadrillion_trials_hardly_overlap():
    np.testing.assert_allclose(overlap_chances(10**15, 1), [1.0, 1e-15], rtol=1e-14)
