"""Moments under the two fits of a group."""

import numpy as np
import pytest

from polars_scorio.maths.free_fit import Group
from polars_scorio.maths.variance import (
    CreditSum,
    QuestionWeights,
    fixed_gains,
    group_moments,
    moments_of_groups,
    rate_moments,
)
from tests.maths.cases import RAGGED
from tests.maths.groups import drawn_groups

RATE = CreditSum([(1.0, fixed_gains(np.ones(1)))])


def test_a_mean_of_trials_has_the_variance_of_a_binomial_share():
    group = Group.fit(*np.array(RAGGED).T)
    p, q = group.free.rates
    credit, rest, variance = rate_moments(group.free.weight.size, 6, [RATE])[0].T
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


@pytest.mark.slow
def test_groups_have_the_moments_that_each_has_alone():
    groups = Group.fit_each([*drawn_groups(), *drawn_groups()])
    weights = [QuestionWeights.equal(group.questions) for group in groups]
    # Unequal weights, of two strata in each state.
    weights[0] = QuestionWeights(weights[0].first, 2 * weights[0].second, *weights[0][2:])
    metrics = [RATE, CreditSum([(1.0, fixed_gains(np.array([0.5, 0.5])))])]
    groups, weights = zip(
        *((group, own) for group, own in zip(groups, weights, strict=True) if group.n.min() > 1),
        strict=True,
    )
    for group, own, moments in zip(
        groups, weights, moments_of_groups(groups, metrics, weights), strict=True
    ):
        for number, alone in zip(moments, group_moments(group, metrics, own), strict=True):
            np.testing.assert_array_equal(number, alone)
