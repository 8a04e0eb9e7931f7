"""Differences of two models on the same questions."""

import numpy as np
import pytest

from polars_scorio.kernels.calibrated.clopper_pearson import interval
from polars_scorio.kernels.calibrated.credit_sums import fixed
from polars_scorio.kernels.calibrated.group_fits import Calibrated
from polars_scorio.kernels.calibrated.paired_difference import difference
from polars_scorio.kernels.calibrated.variance_price import prices
from polars_scorio.kernels.draws import credit
from tests.kernels.calibrated.cases import HARD, RAGGED, states_of


def price_of(*groups, gains=None):
    (price,) = prices(
        Calibrated.fit(states_of(*groups)), [fixed(np.ones(1) if gains is None else gains)]
    )
    return price


def test_saturated_models_may_differ():
    sure = price_of([(4, 4, 30)], gains=credit.all_success(4))
    found = difference(sure, sure, 0.95)
    lo, _ = interval(sure, 0.95)
    assert found.diff == 0
    # Each may be as low as its own end, none higher than it is.
    # Both: the same numbers but for rounding; the default of approx, 1e-6, is far above it.
    assert found.lo == pytest.approx(lo - 1)
    assert found.hi == pytest.approx(1 - lo)


def test_a_difference_turns_with_its_sides():
    both = price_of(HARD, RAGGED)
    one, other = both.at(np.array([0])), both.at(np.array([1]))
    found, turned = difference(one, other, 0.9), difference(other, one, 0.9)
    assert found.diff == -turned.diff
    assert (found.lo, found.hi) == (-turned.hi, -turned.lo)
    # A root of two squares: rounding, far below the default of approx.
    assert found.sigma == pytest.approx(np.hypot(one.sigma, other.sigma))


def test_differences_stay_in_range():
    ends = price_of([(1, 0, 2)], [(1, 1, 2)])
    found = difference(ends.at(np.array([1])), ends.at(np.array([0])), 0.999)
    assert (found.diff, found.hi) == (1, 1)
    assert -1 <= found.lo < 1
