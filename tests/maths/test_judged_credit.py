import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from polars_scorio.maths.judges import corrected_credit
from tests.maths.vectors import VECTORS

# Thousandths: denormal numbers overflow in the oracle.
SHARES = st.integers(0, 1_000).map(lambda i: i / 1_000)
RATES = st.integers(600, 1_000).map(lambda i: i / 1_000)
CREDITS = st.lists(st.integers(-200, 200).map(lambda i: i / 100), min_size=2, max_size=7).map(
    np.array
)


def test_credits_are_those_of_the_study():
    for row in VECTORS["credit"]:
        found = corrected_credit(np.array(row["credit"], dtype=float), row["se"], row["sp"])
        np.testing.assert_allclose(found, row["corrected"], atol=1e-12)


@given(CREDITS)
def test_a_perfect_judge_changes_nothing(credit):
    np.testing.assert_allclose(corrected_credit(credit, 1.0, 1.0), credit, atol=1e-15)


@given(CREDITS, RATES, RATES, SHARES)
def test_verdicts_have_the_expected_credit_of_the_truth(credit, se, sp, theta):
    k = credit.size - 1
    judged = theta * se + (1 - theta) * (1 - sp)
    found = binom.pmf(np.arange(k + 1), k, judged) @ corrected_credit(credit, se, sp)
    expected = binom.pmf(np.arange(k + 1), k, theta) @ credit
    # Weights of up to 3 for each verdict of a draw multiply rounding errors.
    assert found == pytest.approx(expected, abs=1e-12 * (max(se, sp) / (se + sp - 1)) ** k * 50)


@given(st.integers(1, 6), RATES, RATES)
def test_pass_at_k_has_a_closed_form(k, se, sp):
    credit, j, index = (np.arange(k + 1) > 0).astype(float), np.arange(k + 1), se + sp - 1
    closed = 1 - ((se - 1) / index) ** j * (se / index) ** (k - j)
    np.testing.assert_allclose(corrected_credit(credit, se, sp), closed, rtol=1e-9, atol=1e-9)
