"""Moments under the two fits of a group."""

import numpy as np

from polars_scorio.kernels.calibrated.credit_sums import CreditSum, fixed
from polars_scorio.kernels.calibrated.fit_moments import (
    QuestionWeights,
    group_moments,
    rate_moments,
)
from polars_scorio.kernels.calibrated.group_fits import Group
from tests.kernels.calibrated.cases import RAGGED

RATE = CreditSum([(1.0, fixed(np.ones(1)))])


def test_a_mean_of_trials_has_the_variance_of_a_binomial_share():
    group = Group.fit(*np.array(RAGGED).T)
    p, q = group.free.rates
    credit, rest, variance = rate_moments(group, 6, [RATE])[:, 0].T
    # A polynomial of degree 2: rounding.
    np.testing.assert_allclose(credit, p, rtol=0, atol=1e-14)
    np.testing.assert_allclose(rest, q, rtol=0, atol=1e-14)
    np.testing.assert_allclose(variance, p * q / 6, rtol=0, atol=1e-14)


def test_means_and_their_complements_sum_to_one():
    group = Group.fit(*np.array(RAGGED).T)
    moments = group_moments(group, [RATE], QuestionWeights.equal(group.questions))
    # Sums of weights that sum to 1 up to rounding.
    np.testing.assert_allclose(moments.smooth_mean + moments.smooth_rest, 1, rtol=1e-12)
    np.testing.assert_allclose(moments.free_mean + moments.free_rest, 1, rtol=1e-12)
