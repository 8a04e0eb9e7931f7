"""Moments under the two fits of a group."""

import numpy as np

from polars_scorio.maths.free_fit import Group
from polars_scorio.maths.variance import (
    CreditSum,
    QuestionWeights,
    fixed_gains,
    group_moments,
    rate_moments,
)
from tests.maths.cases import RAGGED

RATE = CreditSum([(1.0, fixed_gains(np.ones(1)))])


def test_a_mean_of_trials_has_the_variance_of_a_binomial_share():
    group = Group.fit(*np.array(RAGGED).T)
    p, q = group.rates
    credit, rest, variance = rate_moments(group.weight.size, np.array([6]), RATE)
    # One term: rounding.
    np.testing.assert_allclose(credit[0], p, rtol=0, atol=1e-14)
    np.testing.assert_allclose(rest[0], q, rtol=0, atol=1e-14)
    np.testing.assert_allclose(variance[0], p * q / 6, rtol=0, atol=1e-14)


def test_means_and_their_complements_sum_to_one():
    group = Group.fit(*np.array(RAGGED).T)
    moments = group_moments(group, [RATE], QuestionWeights.from_questions(group.questions))
    # Sums of weights that sum to 1 up to rounding.
    np.testing.assert_allclose(moments.smooth_mean + moments.smooth_rest, 1, rtol=1e-12)
    np.testing.assert_allclose(moments.free_mean + moments.free_rest, 1, rtol=1e-12)


def test_a_metric_has_the_moments_that_it_has_alone():
    group = Group.fit(*np.array(RAGGED).T)
    # Unequal weights, of two strata in each state.
    weights = QuestionWeights.from_questions(group.questions)
    weights = QuestionWeights(weights.first, 2 * weights.second, *weights[2:])
    metrics = [RATE, CreditSum([(1.0, fixed_gains(np.array([0.5, 0.5])))])]
    both = group_moments(group, metrics, weights)
    for row, metric in enumerate(metrics):
        for number, alone in zip(both, group_moments(group, [metric], weights), strict=True):
            np.testing.assert_array_equal(number[row], alone[0])
