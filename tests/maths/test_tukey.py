"""The studentized range, against SciPy and in simulation."""

import numpy as np
import pytest
from scipy.special import ndtr, ndtri
from scipy.stats import studentized_range

from polars_scorio.maths.independent import range_within, tukey_critical


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_equals_the_studentized_range_of_scipy(confidence):
    models = np.array([2, 3, 7, 20, 100])
    oracle = studentized_range.ppf(confidence, models, np.inf) / np.sqrt(2)
    # SciPy's own quantile holds about 1e-6.
    np.testing.assert_allclose(tukey_critical(models, confidence), oracle, rtol=3e-6)


def test_no_pair_needs_no_more_than_one():
    z = ndtri(0.975)
    # The same quantile of the normal: rounding.
    np.testing.assert_allclose(tukey_critical(np.array([0, 1, 2]), 0.95), z, rtol=1e-12)


def test_a_thousand_models_hold_the_confidence_in_simulation():
    draws = np.random.default_rng(1).normal(size=(4000, 1000))
    held = np.ptp(draws, axis=1) <= np.sqrt(2) * tukey_critical(np.array([1000]), 0.95)
    assert held.mean() == pytest.approx(0.95, abs=0.011)  # three standard errors


def test_unequal_sigmas_hold_at_least_the_confidence():
    random = np.random.default_rng(2)
    sigma = np.array([0.1, 1.0, 1.0, 3.0, 9.0])
    draws = sigma * random.normal(size=(20_000, 5))
    a, b = np.triu_indices(5, 1)
    reach = np.abs(draws[:, a] - draws[:, b]) / np.hypot(sigma[a], sigma[b])
    assert (reach.max(axis=1) <= tukey_critical(np.array([5]), 0.95)).mean() >= 0.95


def test_a_hundred_thousand_models_need_no_finer_steps():
    models, c = np.array([100_000]), np.array([6.0])
    fine = np.arange(-9, 9, 1 / 512)
    chance = (ndtr(fine + np.sqrt(2) * c) - ndtr(fine)) ** (models - 1)
    oracle = models * np.sum(chance * np.exp(-(fine**2) / 2)) / 512 / np.sqrt(2 * np.pi)
    # Both are trapezoidal sums of a smooth function, which converge fast.
    np.testing.assert_allclose(range_within(models, c), oracle, rtol=1e-9)
