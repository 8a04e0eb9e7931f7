"""Forecasts from a quarter of the trials, against what all of them show."""

import numpy as np

from polars_scorio.maths.credit_numbers import holdout_error
from polars_scorio.maths.draws import all_success, any_success
from polars_scorio.maths.free_fit import Group
from tests.maths.cases import HARD, RAGGED


def test_holdout_by_hand():
    # One trial in four of eight: Binomial shares of the two states, one each.
    assert np.isnan(holdout_error(Group.fit(*np.array(HARD).T), all_success(4)))
    assert np.isnan(holdout_error(Group.fit(*np.array(RAGGED).T), all_success(16)))
    smooth = Group.fit(np.full(9, 8), np.arange(9), np.full(9, 50))
    assert abs(holdout_error(smooth, any_success(8))) < 0.02
    half = Group.fit(np.full(9, 8), np.arange(9), np.array([2] * 8 + [16]) * 10)
    assert holdout_error(half, all_success(8)) < -0.03
