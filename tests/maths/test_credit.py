"""The gains of every binary metric against the definitions of the papers, in exact fractions."""

from fractions import Fraction
from math import ceil, comb

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.stats import binom

from polars_scorio.maths.credits import (
    RootDraw,
    credit_at,
    largest_bias,
    root_credit,
)
from polars_scorio.maths.draws import (
    all_success,
    any_success,
    area_under_curve,
    at_least_share,
    excess_over_half,
    majority_gains,
)
from tests.documents import study_numbers
from tests.maths.credits import every_credit

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


# Mean credits at known success rates, against SciPy's binomial and 50 digits.


RATES = np.array([0.0, 1e-9, 1e-3, 0.2, 0.5, 0.9, 1 - 1e-6, 1.0])


@every_credit
@pytest.mark.parametrize("k", [1, 2, 40])
def test_is_the_mean_over_the_binomial(gains_of, k):
    gains = gains_of(k)
    earned = np.concatenate(([0.0], np.cumsum(gains)))
    oracle = binom.pmf(np.arange(k + 1), k, RATES[:, None]) @ earned
    # SciPy's chances are good to 1e-12 or so.
    np.testing.assert_allclose(credit_at(RATES, 1 - RATES, gains), oracle, rtol=1e-11)


@pytest.mark.parametrize("k", [64, 1_000_000])
def test_powers_and_area_are_accurate(k):
    p, q = RATES[1:-1], 1 - RATES[1:-1]
    with mp.workdps(50):
        power = [[mp.mpf(float(y)) ** k, mp.mpf(float(x)) ** k] for x, y in zip(p, q, strict=True)]
        some = [1 - (1 - mp.mpf(float(x))) ** k for x in p]
        sums = [
            k - (1 - mp.mpf(float(x))) / mp.mpf(float(x)) * each
            for x, each in zip(p, some, strict=True)
        ]
        area = [
            (total - mp.mpf(float(x)) / 2 - each / 2) / (k - 1)
            for x, each, total in zip(p, some, sums, strict=True)
        ]
    for gains_of, oracle in (
        (any_success, some),
        (all_success, [each for _, each in power]),
        (area_under_curve, area),
    ):
        found = credit_at(p, q, gains_of(k))
        # q = 1 - p is rounded: k of its factors are off by 1e-16 each.
        np.testing.assert_allclose(found, np.array(oracle, dtype=float), rtol=2e-10, atol=1e-300)


# The credit of Geom@k against a second calculation, exact cases and laws.


VECTORS = study_numbers("calibrated_2")["geom_credit"]


@pytest.mark.parametrize("case", VECTORS)
def test_vectors(case):
    credit, bias = root_credit(case["n"], case["k"], case["a"], case["b"])
    assert credit == pytest.approx(case["credit"], abs=1e-9)
    assert bias == pytest.approx(case["bias"], abs=1e-9)


@pytest.mark.parametrize("n", [1, 2, 5, 16])
def test_of_one_trial_with_powers_that_sum_to_one_it_is_the_share_of_successes(n):
    credit, bias = root_credit(n, 1, 0.3, 0.7)
    # The ridge pulls inner credits by about a thousandth of their distance.
    assert credit == pytest.approx(np.arange(n + 1) / n, abs=2e-3)
    assert bias < 1e-3


cases = st.integers(1, 24).flatmap(
    lambda n: st.tuples(st.just(n), st.integers(1, n), st.floats(0, 2), st.floats(0.05, 2))
)


@given(cases)
def test_the_mean_credit_is_within_the_bias_of_geom_at_k(case):
    n, k, a, b = case
    credit, bias = root_credit(n, k, a, b)
    assert credit[0] == 0.0
    assert credit[-1] == 1.0
    assert ((credit >= 0) & (credit <= 1)).all()
    # The bias is the largest on the grid of rates; between them it is a little larger.
    p = np.linspace(0.02, 0.98, 97)
    mean = stats.binom.pmf(np.arange(n + 1), n, p[:, None]) @ credit
    wanted = (1 - (1 - p) ** k) ** a * p ** (k * b)
    assert np.abs(mean - wanted).max() <= 1.01 * bias + 1e-4


def test_a_draw_takes_all_trials_or_256_of_more():
    draw = RootDraw(2, (0.5, 0.5))
    assert draw(5) == pytest.approx(np.diff(root_credit(5, 2, 0.5, 0.5).credit))
    assert draw(100_000).size == 256
    assert RootDraw(300, (0.5, 0.5))(1_000).size == 300
    # An estimate of fewer trials than k would need more of them.
    assert draw(1).size == 2
    assert largest_bias(draw, np.array([1, 2, 100_000])) == pytest.approx([0, 0.0352, 0], abs=1e-4)


def test_draws_of_thousands_are_refused_in_our_words():
    with pytest.raises(ValueError, match=r"geom_at_k: .* up to k = 2,048, got k=3000"):
        RootDraw(3_000, (0.5, 0.5))(4_000)
