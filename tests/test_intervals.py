"""Credible intervals from moments."""

from math import erfc, pi, sqrt

import numpy as np
import pytest

from polars_scorio.intervals import normal_interval


def interval(mu, sigma, confidence=0.95, bounds=None):
    lo, hi = normal_interval(np.array([mu]), np.array([sigma]), confidence, bounds)
    return lo.item(), hi.item()


# Quantiles of the normal distribution as tables have them; the first is one standard deviation.
@pytest.mark.parametrize(
    ("confidence", "z"),
    [
        *((0.6826894921, 1.0), (0.5, 0.6744897502), (0.9, 1.6448536270)),
        *((0.95, 1.9599639845), (0.99, 2.5758293035), (0.999, 3.2905267315)),
    ],
)
def test_reaches_as_many_standard_deviations_as_the_confidence_says(confidence, z):
    assert interval(0.0, 1.0, confidence) == pytest.approx((-z, z), abs=1e-9)
    assert interval(7.0, 0.1, confidence) == pytest.approx((7 - z / 10, 7 + z / 10), abs=1e-9)


@pytest.mark.parametrize("confidence", [1e-300, 0.5, 0.999])
@pytest.mark.parametrize("mu", [-3.0, 0.0, 0.1])
def test_without_doubt_the_interval_is_a_point(mu, confidence):
    assert interval(mu, 0.0, confidence) == (mu, mu)


def test_next_to_no_confidence_makes_an_interval_of_next_to_no_width():
    lo, hi = interval(0.0, 1.0, confidence=1e-9)
    # The density of the normal at zero is 1 / sqrt(2 pi).
    assert hi - lo == pytest.approx(1e-9 * sqrt(2 * pi), rel=1e-6)


@pytest.mark.parametrize("confidence", [0.5, 0.95, 1 - 1e-6, 1 - 1e-12, 1 - 2**-53])
def test_the_highest_confidence_is_as_exact_as_any(confidence):
    _, hi = interval(0.0, 1.0, confidence)
    assert erfc(hi / sqrt(2)) == pytest.approx(1 - confidence, rel=1e-9)
    assert interval(0.5, 0.0, confidence) == (0.5, 0.5)


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
    assert interval(mu, 1.0, 0.6826894921370859, bounds) == pytest.approx(expected, abs=1e-12)


def test_every_group_has_its_own_interval():
    lo, hi = normal_interval(np.array([0.2, 0.8]), np.array([0.1, 0.2]), 0.5, (0.0, 0.9))
    np.testing.assert_allclose(lo, [0.13255102498, 0.66510204996], rtol=1e-9)
    np.testing.assert_allclose(hi, [0.26744897502, 0.9], rtol=1e-9)


def test_no_moments_are_no_intervals():
    for ends in normal_interval(np.empty(0), np.empty(0), 0.95, (0.0, 1.0)):
        assert ends.shape == (0,)
