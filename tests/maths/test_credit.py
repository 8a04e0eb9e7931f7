"""The gains of every binary metric against the definitions of the papers, in exact fractions."""

from fractions import Fraction
from math import ceil, comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from polars_scorio.maths.draws import (
    all_success,
    any_success,
    area_under_curve,
    at_least_share,
    excess_over_half,
    majority_gains,
)

EVERY_CREDIT = [
    any_success,
    all_success,
    majority_gains,
    excess_over_half,
    area_under_curve,
    lambda k: at_least_share(k, 0.5),
]


def pass_at(i: int, k: int, j: int) -> Fraction:
    """Chance that i of k trials, j of which succeed, hold a success."""
    return 1 - Fraction(comb(k - j, i), comb(k, i))


def auc(k: int, j: int) -> Fraction:
    """Area under Pass@1..Pass@k of a draw with j successes, as the mean of k - 1 trapezoids."""
    if k == 1:
        return pass_at(1, k, j)
    return sum(pass_at(i, k, j) + pass_at(i + 1, k, j) for i in range(1, k)) / Fraction(2 * (k - 1))


DEFINITIONS = {
    any_success: lambda k, j: j / k > 0,
    all_success: lambda k, j: j == k,
    majority_gains: lambda k, j: j > k / 2,
    excess_over_half: lambda k, j: Fraction(2, k) * max(j - ceil(k / 2), 0),
    area_under_curve: auc,
}


@pytest.mark.parametrize("gains", DEFINITIONS, ids=lambda function: function.__name__)
@pytest.mark.parametrize("k", [1, 2, 3, 4, 5, 8, 25, 64])
def test_gains_add_up_to_the_published_credit(gains, k):
    expected = [float(DEFINITIONS[gains](k, j)) for j in range(k + 1)]
    # k sums of doubles below 1: each rounds by 1e-16 at most.
    np.testing.assert_allclose(np.cumsum([0.0, *gains(k)]), expected, rtol=0, atol=k * 1e-16)


@pytest.mark.parametrize("gains", EVERY_CREDIT)
@pytest.mark.parametrize("k", [1, 2, 3, 1024])
def test_gains_are_one_double_per_success_and_never_negative(gains, k):
    assert gains(k).shape == (k,)
    assert gains(k).dtype == np.float64
    assert gains(k).min() >= 0


@pytest.mark.parametrize("r", [1, 2, 3, 512, 1023, 1024])
def test_area_under_curve_is_accurate_for_draws_of_1024(r):
    k = 1024
    # Two roundings to double; the difference of two credits in doubles would lose 4 digits.
    assert area_under_curve(k)[r - 1] == pytest.approx(
        float(auc(k, r) - auc(k, r - 1)), rel=1e-15, abs=0
    )


def test_at_least_share_asks_for_j_successes_where_tau_is_j_of_k():
    for k in range(1, 101):
        asked = [np.argmax(at_least_share(k, j / k)) + 1 for j in range(1, k + 1)]
        assert asked == list(range(1, k + 1))


@given(st.integers(1, 300), st.floats(0, 1))
def test_at_least_share_asks_for_the_smallest_share_that_reaches_tau(k, tau):
    (j,) = np.flatnonzero(at_least_share(k, tau)) + 1
    assert j / k >= tau
    assert j == 1 or (j - 1) / k < tau


@pytest.mark.parametrize("k", [1, 2, 5])
def test_the_shares_0_and_1_ask_for_any_and_for_all_successes(k):
    np.testing.assert_array_equal(at_least_share(k, 0.0), any_success(k))
    np.testing.assert_array_equal(at_least_share(k, 1.0), all_success(k))
