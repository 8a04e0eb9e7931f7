"""The chance to be the best, against quadrature, closed forms and simulation."""

import mpmath as mp
import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import multivariate_t

from polars_scorio.maths.covariance import Paired, paired_means
from polars_scorio.maths.ranks import p_best, p_best_paired


def by_quadrature(mu, sigma):
    """The integral, split where any of its factors changes."""
    chances = []
    for i in range(len(mu)):

        def density(y, i=i):
            x = mu[i] + sigma[i] * y
            others = [mp.ncdf((x - mu[j]) / sigma[j]) for j in range(len(mu)) if j != i]
            return mp.npdf(y) * mp.fprod(others)

        ends = {
            (mu[j] + k * sigma[j] - mu[i]) / sigma[i] for j in range(len(mu)) for k in (-4, 0, 4)
        }
        inner = sorted(end for end in ends if -9 < end < 9)
        chances.append(float(mp.quad(density, [-9, *inner, 9])))
    return chances


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mu", "sigma"),
    [
        ([0.5, 0.6, 0.55], [0.03, 0.05, 0.04]),
        ([0.5, 0.5, 0.5, 0.5], [0.01, 0.02, 0.04, 0.08]),
        ([0.0, 1.0, 0.9], [1.0, 1e-4, 0.1]),
        ([0.0, 8.0, 7.9], [3.0, 0.01, 0.5]),
    ],
)
def test_equals_the_integral(mu, sigma):
    found = p_best(np.array([mu]), np.array([sigma]))[0]
    # The kernel's rule claims 1e-8; in these cases it holds 2e-12.
    np.testing.assert_allclose(found, by_quadrature(mu, sigma), atol=1e-9)


def test_two_models_have_a_closed_form():
    random = np.random.default_rng(1)
    mu, sigma = random.normal(size=(500, 2)), np.exp(random.normal(0, 2, (500, 2)))
    oracle = ndtr((mu[:, 0] - mu[:, 1]) / np.hypot(*sigma.T))
    # The kernel leaves out what lies beyond seven sigmas: 1e-12.
    np.testing.assert_allclose(p_best(mu, sigma)[:, 0], oracle, atol=1e-10)


def test_a_thousand_equal_models_share():
    found = p_best(np.full((1, 1000), 0.5), np.full((1, 1000), 0.02))
    # Equal shares of a sum to which all are scaled: rounding.
    np.testing.assert_allclose(found, 1e-3, rtol=1e-9)


def test_chances_sum_to_1_and_do_not_hang_on_strata_beside():
    random = np.random.default_rng(2)
    mu, sigma = random.normal(size=(40, 6)), np.exp(random.normal(-1, 2, (40, 6)))
    mu[random.random((40, 6)) < 0.2] = np.nan
    found = p_best(mu, sigma)
    some = np.isfinite(mu).any(axis=1)
    # Shares are scaled to their sum: rounding of six terms.
    np.testing.assert_allclose(np.nansum(found[some], axis=1), 1, rtol=1e-12)
    np.testing.assert_array_equal(np.isnan(found), np.isnan(mu))
    alone = np.concatenate([p_best(mu[[row]], sigma[[row]]) for row in range(40)])
    # The same sums, perhaps in another order.
    np.testing.assert_allclose(found, alone, atol=1e-12)


@pytest.mark.parametrize(
    ("mu", "sigma", "chances"),
    [
        pytest.param([0.5], [0.1], [1], id="one model"),
        pytest.param([0.5], [0.0], [1], id="one model without sigma"),
        pytest.param([0.5, 0.4], [0.0, 0.0], [1, 0], id="no sigma"),
        pytest.param([0.5, 0.5, 0.4], [0.0, 0.0, 0.0], [0.5, 0.5, 0], id="tied, no sigma"),
        pytest.param([0.5, 0.5], [0.1, 0.0], [0.5, 0.5], id="one without sigma"),
        pytest.param([0.0, 1.0, 1.0], [1.0, 0.0, 0.0], [0.158655, 0.420672, 0.420672], id="both"),
        pytest.param([0.9, np.nan], [0.1, 0.1], [1, np.nan], id="a null"),
        pytest.param([0.9, 0.8], [0.1, np.nan], [1, np.nan], id="a null sigma"),
        pytest.param([np.nan, np.nan], [np.nan, np.nan], [np.nan, np.nan], id="nulls"),
        pytest.param([0.5, 0.5], [1e-30, 1e-30], [0.5, 0.5], id="sigmas below all digits"),
        pytest.param([0.0, 0.0], [0.0, 0.0], [0.5, 0.5], id="all wrong"),
    ],
)
def test_odd_strata_have_defined_chances(mu, sigma, chances):
    found = p_best(np.array([mu]), np.array([sigma]))[0]
    # Printed to six decimals.
    np.testing.assert_allclose(found, chances, atol=1e-6)


def test_no_stratum_is_an_empty_result():
    assert p_best(np.empty((0, 3)), np.empty((0, 3))).shape == (0, 3)


def test_paired_models_follow_their_joint_distribution():
    covariance = np.array([[1.0, 0.8, 0.1], [0.8, 1.5, 0.2], [0.1, 0.2, 0.7]]) / 100
    mean, freedom = np.array([0.5, 0.53, 0.45]), 11.0
    found = p_best_paired(Paired.of_moments(mean[None], covariance[None], np.array([freedom])))[0]
    for i in range(3):
        contrast = np.delete(np.eye(3), i, axis=0) - np.eye(3)[i]
        shape = contrast @ covariance @ contrast.T
        joint = multivariate_t(contrast @ mean, shape, df=freedom, seed=1)
        assert found[i] == pytest.approx(joint.cdf(np.zeros(2)), abs=0.004)  # of fixed draws


@pytest.mark.parametrize(("models", "within"), [(8, 0.005), (25, 0.018)])
def test_paired_models_without_correlation_are_as_independent_ones(models, within):
    mu = np.linspace(0.5, 0.6, models)
    known = Paired.of_moments(mu[None], np.eye(models)[None] * 0.03**2, np.array([np.inf]))
    oracle = p_best(mu[None], np.full((1, models), 0.03))
    # The error of the fixed draws: it grows with the models.
    np.testing.assert_allclose(p_best_paired(known), oracle, atol=within)


def test_identical_paired_models_share():
    values = np.repeat(np.random.default_rng(1).random((20, 1)), 3, axis=1)
    exact = p_best_paired(paired_means(values, np.array([0]), 0.0))
    # A third, rounded.
    np.testing.assert_allclose(exact, 1 / 3, rtol=1e-12)
    pseudo = p_best_paired(paired_means(values, np.array([0]), 1.0))
    # The error of the fixed draws: 0.005 here.
    np.testing.assert_allclose(pseudo, 1 / 3, atol=0.01)


def test_odd_paired_strata_have_defined_chances():
    values = np.random.default_rng(1).random((10, 3))
    values[:, 1] = np.nan
    found = p_best_paired(paired_means(values, np.array([0]), 1.0))[0]
    assert np.isnan(found).tolist() == [False, True, False]
    # Shares are scaled to their sum: rounding, far below the default of approx.
    assert np.nansum(found) == pytest.approx(1)
    np.testing.assert_array_equal(
        p_best_paired(paired_means(values[:, :1], np.array([0]), 1.0)), [[1.0]]
    )
    assert np.isnan(p_best_paired(paired_means(values[:1], np.array([0]), 1.0))).all()
    np.testing.assert_array_equal(
        p_best_paired(paired_means(values[:1, :1], np.array([0]), 1.0)), 1
    )
