"""Curves over k: how many statements they make, and how they are read from both ends."""

import numpy as np
import pytest

from polars_scorio.maths.families import first_stretch, last_stretch, rising_band, statement_number
from tests.documents import study_numbers

VECTORS = study_numbers("curves")
OF_FAMILIES = [case for case in study_numbers("families") if case["rule"] == 7]


@pytest.mark.parametrize("case", OF_FAMILIES, ids=lambda case: f"{len(case['k'])} points")
def test_each_doubling_of_k_is_one_more_statement(case):
    number = statement_number(case["k"], np.ones(len(case["k"]), bool), draws=True)
    assert number == pytest.approx(case["points"], abs=1e-9)


def test_draws_without_a_number_and_thresholds():
    sizes = [1, 2, 4, 8]
    known = np.array([[1, 1, 0, 0], [0, 0, 0, 1], [0, 0, 0, 0], [0, 1, 1, 1]], bool)
    assert statement_number(sizes, known, draws=True).tolist() == [2, 1, 1, 3]
    thresholds = [5, 6, 7, 8]
    assert statement_number(thresholds, known, draws=False).tolist() == [2, 1, 1, 3]
    assert statement_number(thresholds, np.ones(4, bool), draws=False) == 4


@pytest.mark.parametrize("case", VECTORS["read_curve"])
def test_verdicts_are_read_from_both_ends(case):
    lo, hi = np.array(case["lo"]), np.array(case["hi"])
    curve = np.array(case["k"]), 1.0 * (lo > 0) - (hi < 0), np.ones(lo.size, bool)
    for name, stretch in (("first", first_stretch(*curve)), ("last", last_stretch(*curve))):
        found = [int(stretch.sign), int(stretch.reach)]
        assert found == (case[name] or [0, 0])


def test_a_curve_ends_where_its_points_end():
    k, sign = np.array([1, 2, 4, 8]), np.array([1, 1, -1, np.nan])
    assert [int(each) for each in first_stretch(k, sign, ~np.isnan(sign))] == [1, 2]
    assert [int(each) for each in last_stretch(k, sign, ~np.isnan(sign))] == [-1, 4]
    nothing = np.full(4, np.nan)
    assert [int(each) for each in first_stretch(k, nothing, ~np.isnan(nothing))] == [0, 0]


def test_a_curve_that_never_falls_has_a_band_that_never_falls():
    lo, hi = np.array([[0.1], [0.3], [0.2], [np.nan]]), np.array([[0.4], [0.7], [0.6], [np.nan]])
    low, high = rising_band(lo, hi)
    assert low.ravel()[:3].tolist() == [0.1, 0.3, 0.3]
    assert high.ravel()[:3].tolist() == [0.4, 0.6, 0.6]
    assert np.isnan([low[3], high[3]]).all()
