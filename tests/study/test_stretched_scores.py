"""Means over strata: their differences reach as far as their stretched intervals."""

from math import hypot

import numpy as np
import pytest

from polars_scorio.maths.comparison import stretched

MU, SIGMA = np.array([[0.8, 0.5]]), np.array([[0.04, 0.03]])
LO, HI = np.array([[0.7, 0.45]]), np.array([[0.85, 0.56]])
PAIR = np.array([0]), np.array([1])
Z = 1.959963984540054


def test_means_over_strata_reach_as_far_as_their_intervals():
    models = stretched((MU, SIGMA, LO, HI), Z)
    pair = models.differences(*PAIR, np.array([[Z]]))
    assert pair.sigma.item() == pytest.approx(0.05)
    assert pair.lo.item() == pytest.approx(0.3 - hypot(0.1, 0.06))
    assert pair.hi.item() == pytest.approx(0.3 + hypot(0.05, 0.05))
    wider = models.differences(*PAIR, np.array([[2 * Z]]))
    assert wider.hi.item() == pytest.approx(0.3 + 2 * hypot(0.05, 0.05))


def test_a_pair_with_a_range_has_no_sigma_and_is_not_decided():
    models = stretched((MU, np.array([[np.nan, 0.03]]), LO, HI), Z)
    pair = models.differences(*PAIR, np.array([[Z]]))
    # The ends of both ranges: 0.7 - 0.56 and 0.85 - 0.45.
    assert (pair.lo.item(), pair.hi.item()) == pytest.approx((0.14, 0.4))
    assert np.isnan(models.z(*PAIR).item())
    assert not models.decided(*PAIR, np.array([[Z]])).item()
