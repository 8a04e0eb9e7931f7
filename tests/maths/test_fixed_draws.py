"""Draws that never change."""

import numpy as np
import pytest

from polars_scorio.maths.cost_means import normal_draws


# Computed once; PCG64's raw bits and the golden ratio are the same on every machine.
@pytest.mark.parametrize(
    ("dimensions", "first"), [(1, [-1.184872, 0.63127]), (13, [-0.723962, -1.231597])]
)
def test_the_first_draws_stay_what_they_were(dimensions, first):
    # Printed to six decimals.
    np.testing.assert_allclose(normal_draws(dimensions, 2)[0], first, atol=1e-6)


@pytest.mark.parametrize("dimensions", [1, 5, 8, 9, 40])
def test_draws_are_standard_normal(dimensions):
    draws = normal_draws(dimensions, 4096)
    assert np.abs(draws.mean(axis=1)).max() < 0.06
    # Independent draws of 40 variables: the largest of 820 correlations.
    assert np.abs(np.cov(draws) - np.eye(dimensions)).max() < 0.08
