"""Models by their unbiased estimates: what all their differences share."""

from math import inf

import numpy as np

from polars_scorio.maths.comparison import Family, stretched

MU, SIGMA = np.array([[0.9, 0.5, 0.1]]), np.full((1, 3), 0.05)
Z = 1.959963984540054
A, B = np.triu_indices(3, 1)


def models(limit=inf):
    return stretched((MU, SIGMA, MU - Z * SIGMA, MU + Z * SIGMA), Z, limit)


def test_a_pair_is_decided_if_its_interval_leaves_out_zero():
    # Differences of .4, .8 and .4, each with a sigma of .0707.
    assert models().decided(A, B, np.array([[Z]])).tolist() == [[True, True, True]]
    assert models().decided(A, B, np.array([[6.0]])).tolist() == [[False, True, False]]
    assert models().differs(np.array([[6.0]])).sum(axis=2).tolist() == [[1, 0, 1]]


def test_bounds_without_width_leave_no_difference():
    assert not models(limit=0.0).differs(np.array([[0.1]])).any()


def test_a_model_with_a_range_is_not_ranked_and_not_compared():
    ranged = stretched((MU, np.array([[np.nan, 0.1, 0.1]]), MU - 0.2, MU + 0.2), Z)
    assert np.isnan(ranged.inner.value).tolist() == [[True, False, False]]
    found = ranged.differences(A, B, np.full((1, 3), Z))
    assert np.isnan(ranged.z(A, B)).tolist() == [[True, True, False]]
    assert not ranged.differs(np.array([[0.1]]))[:, 0].any()
    # The worst ends of both ranges.
    assert np.allclose(found.lo[0, 0], 0.4 - 0.4)


def test_all_pairs_of_a_model_hold_at_one_value_larger_than_that_of_a_pair():
    far = stretched((MU, MU / 10, MU / 2, 2 * MU), 1.0)
    of_one = "all with the baseline"
    places = Family(0.95, of_one).places(far)
    assert (places.better <= Family(0.5, of_one).places(far).better).all()
    assert Family(0.95, of_one).places(models()).tier.tolist() == [[1, 2, 3]]
