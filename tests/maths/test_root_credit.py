"""The credit of Geom@k against a second calculation, exact cases and laws."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from polars_scorio.maths.credits import (
    RootDraw,
    largest_bias,
    root_credit,
)
from tests.documents import study_numbers

VECTORS = study_numbers("calibrated_2")["geom_credit"]


@pytest.mark.parametrize("case", VECTORS)
def test_vectors(case):
    credit, bias = root_credit(case["n"], case["k"], case["a"], case["b"])
    assert credit == pytest.approx(case["credit"], abs=1e-9)
    assert bias == pytest.approx(case["bias"], abs=1e-9)


@pytest.mark.parametrize("n", [1, 2, 5, 16])
def test_of_one_trial_with_powers_that_sum_to_one_it_is_the_share_of_successes(n):
    credit, bias = root_credit(n, 1, 0.3, 0.7)
    # The ridge pulls inner credits by about a thousandth of their distance.
    assert credit == pytest.approx(np.arange(n + 1) / n, abs=2e-3)
    assert bias < 1e-3


cases = st.integers(1, 24).flatmap(
    lambda n: st.tuples(st.just(n), st.integers(1, n), st.floats(0, 2), st.floats(0.05, 2))
)


@given(cases)
def test_the_mean_credit_is_within_the_bias_of_geom_at_k(case):
    n, k, a, b = case
    credit, bias = root_credit(n, k, a, b)
    assert credit[0] == 0.0
    assert credit[-1] == 1.0
    assert ((credit >= 0) & (credit <= 1)).all()
    # The bias is the largest on the grid of rates; between them it is a little larger.
    p = np.linspace(0.02, 0.98, 97)
    mean = stats.binom.pmf(np.arange(n + 1), n, p[:, None]) @ credit
    wanted = (1 - (1 - p) ** k) ** a * p ** (k * b)
    assert np.abs(mean - wanted).max() <= 1.01 * bias + 1e-4


def test_a_draw_takes_all_trials_or_256_of_more():
    draw = RootDraw(2, (0.5, 0.5))
    assert draw(5) == pytest.approx(np.diff(root_credit(5, 2, 0.5, 0.5).credit))
    assert draw(100_000).size == 256
    assert RootDraw(300, (0.5, 0.5))(1_000).size == 300
    # An estimate of fewer trials than k would need more of them.
    assert draw(1).size == 2
    assert largest_bias(draw, np.array([1, 2, 100_000])) == pytest.approx([0, 0.0352, 0], abs=1e-4)


def test_draws_of_thousands_are_refused_in_our_words():
    with pytest.raises(ValueError, match=r"geom_at_k: .* up to k = 2,048, got k=3000"):
        RootDraw(3_000, (0.5, 0.5))(4_000)
