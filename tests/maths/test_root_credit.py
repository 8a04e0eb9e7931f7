"""The credit of Geom@k against a second calculation, exact cases and laws."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from polars_scorio.maths.credit_at_rates import (
    RootDraw,
    ShortDraw,
    credit_at,
    largest_bias,
    root_credit,
)
from polars_scorio.maths.draws import all_success, any_success, excess_over_half
from polars_scorio.maths.free_fit import rate_nodes
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


def test_at_known_rates_it_is_the_formula():
    p = np.array([0.0, 0.3, 1.0])
    found = RootDraw(3, (0.5, 2.0)).at_rates(p, 1 - p)
    assert found == pytest.approx([0, (1 - 0.7**3) ** 0.5 * 0.3**6, 1])


def test_draws_of_thousands_are_refused_in_our_words():
    with pytest.raises(ValueError, match=r"geom_at_k: .* up to k = 2,048, got k=3000"):
        RootDraw(3_000, (0.5, 0.5))(4_000)


@given(st.sampled_from([any_success, all_success, excess_over_half]), st.integers(2, 24), st.data())
def test_the_credit_of_too_few_trials_is_within_its_bias_of_the_longer_draw(gains_of, k, data):
    n = data.draw(st.integers(1, k - 1))
    draw = ShortDraw(gains_of(k))
    credit = np.concatenate([[0.0], np.cumsum(draw(n))])
    p, q = rate_nodes(121)
    found = stats.binom.pmf(np.arange(n + 1), n, p[:, None]) @ credit
    # The largest bias is that of a grid of as many rates.
    bias = draw.bias(np.array([n]))[0]
    assert np.abs(found - credit_at(p, q, draw.gains)).max() <= bias + 1e-9


def test_enough_trials_make_the_draw_itself_without_bias():
    draw = ShortDraw(any_success(4))
    assert draw(4) is draw(9) is draw.gains
    assert draw.bias(np.array([3, 4, 9]))[1:].tolist() == [0.0, 0.0]
    assert largest_bias(draw, np.array([3])) == draw.bias(np.array([3]))
