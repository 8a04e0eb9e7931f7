"""Largest means in a region of populations: both ways to Newton's step."""

import numpy as np
import pytest

from polars_scorio.maths import credit
from polars_scorio.maths import region as extremes
from polars_scorio.maths.credit_at_rates import credit_at
from polars_scorio.maths.free_fit import Group
from polars_scorio.maths.region import Region
from tests.maths.cases import CASES


@pytest.mark.every(3)
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("sign", [1, -1])
def test_a_factor_by_states_finds_what_one_by_rates_does(case, sign, monkeypatch):
    free = Group.fit(*np.array(CASES[case]).T).free
    region = Region.around(free.likelihood, free.questions, free.likeliest_weights, 1.92)
    values = sign * credit_at(*free.rates, credit.any_success(32))
    found = []
    for more in (0, np.inf):  # always by states, always by rates
        monkeypatch.setattr(extremes, "_MORE_RATES", more)
        found.append(region.largest(values))
    # Either is an upper limit, at most 1e-7 above the largest mean.
    assert found[0] == pytest.approx(found[1], abs=1e-7)
