"""Mean credits at known success rates, against SciPy's binomial and 50 digits."""

import mpmath as mp
import numpy as np
import pytest
from scipy.stats import binom

from polars_scorio.maths.credits import credit_at
from polars_scorio.maths.draws import all_success, any_success, area_under_curve
from tests.maths.credits import every_credit

RATES = np.array([0.0, 1e-9, 1e-3, 0.2, 0.5, 0.9, 1 - 1e-6, 1.0])


@every_credit
@pytest.mark.parametrize("k", [1, 2, 40])
def test_is_the_mean_over_the_binomial(gains_of, k):
    gains = gains_of(k)
    earned = np.concatenate(([0.0], np.cumsum(gains)))
    oracle = binom.pmf(np.arange(k + 1), k, RATES[:, None]) @ earned
    # SciPy's chances are good to 1e-12 or so.
    np.testing.assert_allclose(credit_at(RATES, 1 - RATES, gains), oracle, rtol=1e-11)


@pytest.mark.parametrize("k", [64, 1_000_000])
def test_powers_and_area_are_accurate(k):
    p, q = RATES[1:-1], 1 - RATES[1:-1]
    with mp.workdps(50):
        power = [[mp.mpf(float(y)) ** k, mp.mpf(float(x)) ** k] for x, y in zip(p, q, strict=True)]
        some = [1 - (1 - mp.mpf(float(x))) ** k for x in p]
        sums = [
            k - (1 - mp.mpf(float(x))) / mp.mpf(float(x)) * each
            for x, each in zip(p, some, strict=True)
        ]
        area = [
            (total - mp.mpf(float(x)) / 2 - each / 2) / (k - 1)
            for x, each, total in zip(p, some, sums, strict=True)
        ]
    for gains_of, oracle in (
        (any_success, some),
        (all_success, [each for _, each in power]),
        (area_under_curve, area),
    ):
        found = credit_at(p, q, gains_of(k))
        # q = 1 - p is rounded: k of its factors are off by 1e-16 each.
        np.testing.assert_allclose(found, np.array(oracle, dtype=float), rtol=2e-10, atol=1e-300)
