"""Credible intervals from moments: published numbers, 30-digit quantiles, edges."""

from math import erfc, pi, sqrt

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from polars_scorio.maths import populations
from polars_scorio.maths.array_rows import Floats
from polars_scorio.maths.posteriors import beta_interval, normal_interval, small_sample_factor
from tests.made_logs import law

UNIT = (0.0, 1.0)


def normal(
    mu: float, sigma: float, confidence: float = 0.95, bounds: tuple[float, float] | None = None
) -> tuple[float, float]:
    lo, hi = normal_interval(np.array([mu]), np.array([sigma]), confidence, bounds)
    return lo.item(), hi.item()


def beta(mu: float, sigma: float, confidence: float = 0.95, **ends: bool) -> tuple[float, float]:
    lo, hi = beta_interval(np.array(mu), np.array(sigma), confidence, UNIT, **ends)
    return lo.item(), hi.item()


# --- mu +- z sigma


# Quantiles of the normal distribution as tables have them; the first is one standard deviation.
@pytest.mark.parametrize(
    ("confidence", "z"),
    [
        *((0.6826894921, 1.0), (0.5, 0.6744897502), (0.9, 1.6448536270)),
        *((0.95, 1.9599639845), (0.99, 2.5758293035), (0.999, 3.2905267315)),
    ],
)
def test_reaches_as_many_standard_deviations_as_the_confidence_says(confidence, z):
    # Both: the tables print ten decimals, the first row ten of its confidence.
    assert normal(0.0, 1.0, confidence) == pytest.approx((-z, z), abs=1e-9)
    assert normal(7.0, 0.1, confidence) == pytest.approx((7 - z / 10, 7 + z / 10), abs=1e-9)


@pytest.mark.parametrize("confidence", [1e-300, 0.5, 0.999])
@pytest.mark.parametrize("mu", [-3.0, 0.0, 0.1])
def test_without_doubt_the_interval_is_a_point(mu, confidence):
    assert normal(mu, 0.0, confidence) == (mu, mu)


def test_next_to_no_confidence_makes_an_interval_of_next_to_no_width():
    lo, hi = normal(0.0, 1.0, confidence=1e-9)
    # The density of the normal at zero is 1 / sqrt(2 pi).
    # 1 - 1e-9 keeps seven digits of the 1e-9.
    assert hi - lo == pytest.approx(1e-9 * sqrt(2 * pi), rel=1e-6)


@pytest.mark.parametrize("confidence", [0.5, 0.95, 1 - 1e-6, 1 - 1e-12, 1 - 2**-53])
def test_the_highest_confidence_is_as_exact_as_any(confidence):
    _, hi = normal(0.0, 1.0, confidence)
    # A tail moves up to 70 times as fast as its end is rounded, the square of z.
    assert erfc(hi / sqrt(2)) == pytest.approx(1 - confidence, rel=1e-9)
    assert normal(0.5, 0.0, confidence) == (0.5, 0.5)


@pytest.mark.parametrize(
    ("mu", "bounds", "expected"),
    [
        pytest.param(0.5, (-9, 9), (-0.5, 1.5), id="none"),
        pytest.param(0.5, (0, 9), (0, 1.5), id="lower"),
        pytest.param(0.5, (-9, 1), (-0.5, 1), id="upper"),
        pytest.param(0.5, (0, 1), (0, 1), id="both"),
        pytest.param(0.5, (0.2, 0.2), (0.2, 0.2), id="point"),
        pytest.param(5.0, (0, 1), (1, 1), id="mu above"),
        pytest.param(-5.0, (0, 1), (0, 0), id="mu below"),
        pytest.param(0.5, (-np.inf, 1), (-0.5, 1), id="half line"),
    ],
)
def test_both_ends_are_clipped_into_both_bounds(mu, bounds, expected):
    # The confidence has all digits: rounding.
    assert normal(mu, 1.0, 0.6826894921370859, bounds) == pytest.approx(expected, abs=1e-12)


def test_every_group_has_its_own_interval():
    lo, hi = normal_interval(np.array([0.2, 0.8]), np.array([0.1, 0.2]), 0.5, (0.0, 0.9))
    # Both: printed to eleven decimals.
    np.testing.assert_allclose(lo, [0.13255102498, 0.66510204996], rtol=1e-9)
    np.testing.assert_allclose(hi, [0.26744897502, 0.9], rtol=1e-9)


# --- Beta quantiles


# From the calibration study; the same by mpmath.
@pytest.mark.parametrize(
    ("mu", "sigma", "confidence", "bounds", "expected"),
    [
        (0.642857, 0.118451, 0.95, (0, 1), (0.397137, 0.853420)),
        (0.98, 0.015, 0.8, (0, 1), (0.959874, 0.995366)),
        (0.2, 0.1, 0.95, (-1, 1), (0.000488, 0.391533)),
    ],
)
def test_reproduces_published_beta_intervals(mu, sigma, confidence, bounds, expected):
    lo, hi = beta_interval(np.array([mu]), np.array([sigma]), confidence, bounds)
    # Both the moments and the ends are printed to six decimals.
    assert (lo[0], hi[0]) == pytest.approx(expected, abs=1e-6)


@pytest.mark.slow
@law
@given(
    a=st.floats(0.05, 60),
    b=st.floats(0.05, 60),
    confidence=st.sampled_from([0.5, 0.9, 0.95, 0.999]),
)
def test_the_ends_leave_equal_tails_of_the_beta_distribution(a, b, confidence):
    mean, sd = a / (a + b), np.sqrt(a * b / (a + b + 1)) / (a + b)
    lo, hi = beta(mean, sd, confidence)
    with mpmath.workdps(30):
        below = mpmath.betainc(a, b, 0, lo, regularized=True)
        upto = mpmath.betainc(a, b, 0, hi, regularized=True)
    tail = (1 - confidence) / 2
    assert lo <= mean <= hi
    # a and b come back from the moments with up to 1e-11 of error (1 / sd^2 - 1).
    assert float(below) == pytest.approx(tail, rel=1e-6) or lo == mean
    # An end this close to 1 is rounded to the next double, which moves its tail.
    close = pytest.approx(1 - tail, abs=1e-6 if hi < 1 - 1e-12 else 0.02)
    assert float(upto) == close or hi == mean


def test_the_interval_ends_at_the_mean_if_quantiles_leave_it_out():
    # Half of a Beta(.1, 1) lies below 1e-3, three quarters below .0563; its mean is 1 / 11.
    mean, sd = 1 / 11, sqrt(0.1 / 2.1) / 1.1
    lo, hi = beta(mean, sd, 0.5)
    assert (lo, hi) == (pytest.approx(0.25**10, rel=1e-6), mean)
    assert beta(1 - mean, sd, 0.5)[0] == 1 - mean


@law
@given(st.floats(1e-6, 1 - 1e-6), st.floats(1e-9, 0.7))
def test_a_mirrored_mean_has_the_mirrored_interval(mu, sigma):
    lo, hi = beta(mu, sigma)
    mirrored = beta(1 - mu, sigma)
    assert 0 <= lo <= hi <= 1
    # 1 - mu is rounded, by up to 1e-10 of a mu of 1e-6.
    assert mirrored == pytest.approx((1 - hi, 1 - lo), abs=1e-9)


def too_low(end: float, mu: float, sigma: float, tail: float) -> float:
    """By how many standard deviations an end lies below a quantile, by a sum over the density."""
    with mpmath.workdps(40):
        mean, sd = mpmath.mpf(mu), mpmath.mpf(sigma)
        kappa = mean * (1 - mean) / sd**2 - 1
        a, b = mean * kappa, (1 - mean) * kappa
        scale = mpmath.log(sd) - mpmath.log(mpmath.beta(a, b))

        def density(z: mpmath.mpf) -> mpmath.mpf:
            x = mean + z * sd
            return mpmath.exp(scale + (a - 1) * mpmath.log(x) + (b - 1) * mpmath.log1p(-x))

        z = (mpmath.mpf(end) - mean) / sd
        below = mpmath.quad(density, mpmath.linspace(-12, z, 8))
        return float((tail - below) / density(z))


@pytest.mark.every(3)
@pytest.mark.parametrize("mu", [1e-9, 1e-3, 0.4, 0.5, 0.9])
def test_narrow_intervals_continue_the_inverse_of_the_beta_integral(mu, monkeypatch):
    # A shape of 2e8: both ways work. At 99 % the fourth moment, left out by the narrow one, moves
    # an end by 1e-8; the inverse is that of SciPy, which in old versions errs by 3e-8.
    sigma = np.sqrt(mu * (1 - mu) * min(mu, 1 - mu) / 2e8)
    narrow = beta(mu, sigma, 0.99)
    monkeypatch.setattr(populations, "_NARROW", 1e12)
    inverse = beta(mu, sigma, 0.99)
    assert narrow != inverse
    for ends, error in ((narrow, 2e-8), (inverse, 1e-7)):
        for end, tail in zip(ends, (0.005, 0.995), strict=True):
            assert too_low(end, mu, sigma, tail) == pytest.approx(0, abs=error)


@pytest.mark.parametrize("sigma", [1e-6, 1e-7, 1e-8, 1e-9, 1e-13])
def test_very_narrow_intervals_are_normal(sigma):
    ends = (np.array(beta(0.4, sigma)) - 0.4) / sigma
    # Skewness of up to 1e-6, and the spacing of doubles at 0.4.
    np.testing.assert_allclose(ends, [-1.959964, 1.959964], atol=1e-6 + 1e-16 / sigma)


@pytest.mark.parametrize("mu", [0.0, 1e-290, 1e-12, 0.3, 1.0])
def test_without_spread_both_ends_are_the_mean(mu):
    assert beta(mu, 0.0) == (mu, mu)


def test_more_spread_than_any_beta_distribution_has_gives_the_clipped_normal():
    assert beta(0.5, 0.5) == (0, 1)
    # Both: printed to six decimals.
    assert beta(0.1, 0.4) == pytest.approx((0, 0.883986), abs=1e-6)
    assert beta(0.0, 0.1) == pytest.approx((0, 0.195996), abs=1e-6)


def test_the_end_is_the_bound_where_all_trials_are_in_the_last_category_there():
    lo, hi = beta(0.004, 0.0062, lowest=True)
    assert (lo, hi) == (0, beta(0.004, 0.0062)[1])
    lo, hi = beta(0.996, 0.0062, highest=True)
    assert (lo, hi) == (beta(0.996, 0.0062)[0], 1)
    mu, sigma = np.array([0.1, 0.1]), np.array([0.05, 0.05])
    low, _ = beta_interval(mu, sigma, 0.95, UNIT, lowest=np.array([True, False]))
    assert low[0] == 0 < low[1]


# --- missing numbers, few questions


def test_missing_moments_have_a_missing_interval():
    nan = np.array([np.nan, 0.5, np.nan])
    for ends in (
        beta_interval(nan, nan[::-1] * [1, np.nan, 1], 0.95, UNIT, lowest=True, highest=True),
        normal_interval(nan * np.nan, nan, 0.95, UNIT),
    ):
        assert np.isnan(ends).all()


def test_no_groups_have_no_intervals():
    none: Floats = np.zeros(0)
    for ends in (
        beta_interval(none, none, 0.95, UNIT),
        normal_interval(none, none, 0.95, None),
    ):
        assert [end.shape for end in ends] == [(0,), (0,)]
    assert small_sample_factor(np.zeros(0, int), 0.95).shape == (0,)


@pytest.mark.parametrize("sigma", [1e-300, 1e-160, 1e-20, 1e-3, 1e3, 1e200])
@pytest.mark.parametrize("mu", [0.0, 1e-300, 1e-12, 0.5, 1 - 1e-16, 1.0])
@pytest.mark.parametrize("confidence", [1e-6, 0.95, 1 - 1e-12])
def test_extreme_moments_give_ordered_ends(mu, sigma, confidence):
    lo, hi = beta(mu, sigma, confidence)
    assert 0 <= lo <= hi <= 1


@pytest.mark.parametrize("questions", [2, 3, 10, 100, 10**6])
def test_the_small_sample_factor_is_a_quotient_of_quantiles(questions):
    factor = small_sample_factor(np.array([questions]), 0.9).item()
    with mpmath.workdps(30):
        # Student's t and Beta: P(|T| > t) = I_{v / (v + t^2)}(v / 2, 1 / 2).
        v, t = mpmath.mpf(questions - 1), mpmath.mpf(factor) * mpmath.sqrt(2) * mpmath.erfinv(0.9)
        outside = mpmath.betainc(v / 2, 0.5, 0, v / (v + t**2), regularized=True)
    # The inverse of Student's distribution in SciPy holds ten digits.
    assert float(outside) == pytest.approx(0.1, rel=1e-9)


def test_one_question_has_no_small_sample_factor():
    assert np.isnan(small_sample_factor(np.array([0, 1]), 0.95)).all()
