"""Models by their unbiased estimates: what all their differences share."""

from math import inf

import numpy as np

from polars_scorio.subjects.score_differences import StretchedScores

MU, SIGMA = np.array([[0.9, 0.5, 0.1]]), np.full((1, 3), 0.05)
Z = 1.959963984540054
A, B = np.triu_indices(3, 1)


def scores(limit=inf):
    return StretchedScores(MU, SIGMA, limit, MU - Z * SIGMA, MU + Z * SIGMA, Z)


def test_a_pair_is_decided_if_its_interval_leaves_out_zero():
    # Differences of .4, .8 and .4, each with a sigma of .0707.
    decided = scores().decided_pairs(A, B)
    assert decided(np.array([Z]), np.array([0])).tolist() == [[True, True, True]]
    assert decided(np.array([6.0]), np.array([0])).tolist() == [[False, True, False]]
    better, worse = scores().counts_at(np.array([[6.0]]), np.array([0]))
    assert (better.tolist(), worse.tolist()) == ([[0, 0, 1]], [[1, 0, 0]])


def test_bounds_without_width_leave_no_difference():
    decided = scores(limit=0.0).decided_pairs(A, B)
    assert not decided(np.array([0.1]), np.array([0])).any()


def test_a_model_with_a_range_is_not_ranked_and_not_compared():
    ranged = StretchedScores(MU, np.array([[np.nan, 0.1, 0.1]]), inf, MU - 0.2, MU + 0.2, Z)
    assert np.isnan(ranged.ranked).tolist() == [[True, False, False]]
    found = ranged.pair_differences(A, B, np.full((1, 3), Z))
    assert np.isnan(ranged.pair_z(A, B)).tolist() == [[True, True, False]]
    # The worst ends of both ranges.
    assert np.allclose(found.lo[0, 0], 0.4 - 0.4)


def test_all_pairs_of_a_model_hold_at_the_largest_value_of_the_stratum():
    (c,) = scores().row_critical(0.95)
    assert c.size == 1
    assert Z < c[0] < 3
