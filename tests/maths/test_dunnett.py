"""The integral over the baseline, against adaptive quadrature, tables and limits."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import ndtr, ndtri
from scipy.stats import norm

from polars_scorio.maths.independent import baseline_of_each, dunnett_critical


def confidence_of(c, sigma, baseline):
    """The chance that all differences are within c, by adaptive quadrature."""

    def given(y):
        reach = c * np.hypot(sigma, baseline)
        chance = ndtr((baseline * y + reach) / sigma) - ndtr((baseline * y - reach) / sigma)
        return norm.pdf(y) * chance.prod()

    ends = [0, 0.9 * c, 0.99 * c, 0.999 * c, c, 1.001 * c, 1.01 * c, 1.1 * c, 10]
    parts = pairwise(ends)
    return 2 * sum(quad(given, a, b, epsabs=1e-12)[0] for a, b in parts)


@pytest.mark.parametrize(
    "sigma",
    [[1, 1, 1], [0.5, 2, 1], [0.31, 0.35], [0.1, 0.05, 3], [1e-3, 1e-3], [1e-9, 1], [100, 1000]],
)
def test_equals_adaptive_quadrature(sigma):
    sigma = np.array(sigma, dtype=float)
    c = dunnett_critical(sigma[None], np.ones(1), 0.95)[0]
    # The kernel's fixed rules and the four steps of its search: up to 8e-7 in these cases.
    assert confidence_of(c, sigma, 1.0) == pytest.approx(0.95, abs=1e-6)


# C. W. Dunnett (1964), Biometrics 20, table II: two-sided 5 %, infinite degrees of freedom.
@pytest.mark.parametrize(("others", "c"), [(1, 1.96), (2, 2.21), (3, 2.35), (9, 2.69)])
def test_reproduces_the_table_of_dunnett(others, c):
    # The table has two decimals; its last may be a unit off.
    assert dunnett_critical(np.ones((1, others)), np.ones(1), 0.95) == pytest.approx(c, abs=0.015)


def test_many_others_hold_a_little_more_than_the_confidence():
    sigma = np.geomspace(0.2, 5, 200)
    c = dunnett_critical(sigma[None], np.ones(1), 0.95)[0]
    assert 0.95 <= confidence_of(c, sigma, 1.0) < 0.952


def test_a_baseline_without_sigma_leaves_independent_differences():
    c = dunnett_critical(np.ones((1, 4)), np.zeros(1), 0.95)
    # The rule, and the four steps of the search: 4e-15 here.
    assert c == pytest.approx(ndtri((1 + 0.95**0.25) / 2), abs=1e-7)


def test_others_without_sigma_move_together():
    c = dunnett_critical(np.zeros((1, 4)), np.ones(1), 0.95)
    # The rule, and the four steps of the search: 1e-9 here.
    assert c == pytest.approx(ndtri(0.975), abs=1e-6)


@pytest.mark.parametrize("sigma", [np.zeros((1, 3)), np.full((1, 3), np.nan), np.ones((1, 0))])
def test_without_random_pairs_the_value_is_z(sigma):
    # The same quantile of the normal: rounding.
    assert dunnett_critical(sigma, np.zeros(1), 0.95) == pytest.approx(ndtri(0.975), abs=1e-12)


def test_absent_models_do_not_count():
    sigma = np.array([[1.0, np.nan, 0.4, np.nan], [1.0, 0.4, np.nan, np.nan]])
    c = dunnett_critical(sigma, np.ones(2), 0.95)
    oracle = dunnett_critical(sigma[1:, :2], np.ones(1), 0.95)
    # The same sums, perhaps in another order.
    np.testing.assert_allclose(c, [oracle[0]] * 2, rtol=1e-12)


def test_each_model_is_the_baseline_in_turn():
    sigma = np.array([[0.5, 1.0, np.nan, 2.0]])
    found = baseline_of_each(sigma, 0.9)
    oracle = dunnett_critical(np.array([[0.5, 2.0]]), np.array([1.0]), 0.9)
    # The same sums, perhaps in another order.
    assert found[0, 1] == pytest.approx(oracle[0], rel=1e-12)
    assert np.isnan(found[0, 2])
