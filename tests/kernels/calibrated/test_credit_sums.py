"""Sums of credits: estimates and polynomials of a metric that credits successes."""

import numpy as np
import pytest

from polars_scorio.kernels.calibrated.credit_sums import CreditSum, credit_complement, fixed_gains
from polars_scorio.kernels.calibrated.error_polynomials import credit_of
from polars_scorio.kernels.draws import credit


@pytest.mark.parametrize("gains", [credit.any_success(4), credit.excess_over_half(5)])
def test_a_credit_and_its_complement_sum_to_one(gains):
    np.testing.assert_allclose(credit_of(gains) + credit_complement(gains), 1, rtol=1e-15)


def test_estimates_of_a_sum_are_sums_of_estimates():
    both = CreditSum(
        [(2.0, fixed_gains(credit.any_success(2))), (-0.5, fixed_gains(credit.all_success(2)))]
    )
    first, second = (CreditSum([term]) for term in both.terms)
    c = np.arange(6)
    np.testing.assert_array_equal(
        both.estimates(5, c), first.estimates(5, c) + second.estimates(5, c)
    )
    for whole, one, other in zip(
        *(each.polynomials(5)[:2] for each in (both, first, second)), strict=True
    ):
        np.testing.assert_array_equal(whole, one + other)
