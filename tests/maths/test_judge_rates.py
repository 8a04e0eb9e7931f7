import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from polars_scorio.maths.judges import (
    homogeneity_p,
    rates_of_labels,
    shared_judge,
    stratified_rates,
)
from tests.maths.vectors import rates_of

COUNTS = st.tuples(st.integers(0, 50), st.integers(0, 50)).map(lambda pair: (min(pair), max(pair)))


def test_rates_are_shares_of_right_and_of_wrong_answers():
    rates = rates_of_labels(np.array([[20.0, 18.0, 10.0, 4.0]]))
    assert rates.sensitivity == pytest.approx(18 / 22)
    assert rates.specificity == pytest.approx(6 / 8)
    assert rates.labels == 30


def test_no_right_answer_leaves_the_sensitivity_unknown():
    rates = rates_of((0, 0), (5, 10))
    assert np.isnan(rates.sensitivity)
    assert not rates.is_informative(1.96)


@given(COUNTS, COUNTS, st.floats(0.5, 3.0))
def test_a_judge_who_is_informative_is_better_than_a_coin(sensitivity, specificity, z):
    rates = rates_of(sensitivity, specificity)
    assert 0 < rates.adjusted_sensitivity < 1
    assert not rates.is_informative(z) or rates.adjusted_index > 0
    assert not rates.is_informative(z + 1) or rates.is_informative(z)


def test_homogeneity_is_pearsons_test_without_correction():
    successes, trials = np.array([9.0, 5.0, 14.0]), np.array([10.0, 10.0, 20.0])
    table = np.stack([successes, trials - successes])
    expected = scipy.stats.chi2_contingency(table, correction=False).pvalue
    assert homogeneity_p(successes, trials) == pytest.approx(expected, rel=1e-12)


def test_groups_without_labels_have_no_say_in_homogeneity():
    assert homogeneity_p(np.array([9.0, 0.0]), np.array([10.0, 0.0])) == 1.0
    assert shared_judge(rates_of((9, 10), (8, 10)))


def test_judges_that_differ_in_one_rate_are_not_shared():
    first, other = rates_of((90, 100), (80, 100)), rates_of((90, 100), (40, 100))
    both = rates_of((90, 100), (80, 100)).at(np.array([0, 0]))
    assert shared_judge(both)
    both.kept_wrong[1] = other.kept_wrong.item()
    assert not shared_judge(both)
    assert shared_judge(first)


def test_labels_at_random_give_nearly_the_same_rates_either_way():
    labels = np.array([[500.0, 400.0, 500.0, 50.0]])
    drawn, weighed = rates_of_labels(labels), stratified_rates(labels, np.array([0.5]))
    np.testing.assert_allclose(drawn.sensitivity, weighed.sensitivity)
    np.testing.assert_allclose(drawn.specificity, weighed.specificity)
    # Verdicts on all trials say how many are right, so each label says a little more.
    assert 1 <= weighed.right / drawn.right < 1.5


def test_a_verdict_without_an_error_has_a_variance():
    rates = stratified_rates(np.array([[20.0, 20.0, 10.0, 0.0]]), np.array([0.4]))
    assert rates.sensitivity == 1
    assert np.isfinite(rates.counts).all()
    assert 5 < rates.right < 100
