"""Tests of stopping against enumeration, Fisher, laws, and a second calculation."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from polars_scorio.maths.stopping_tests import (
    difficulty_p_value,
    joint_p_value,
    order_p_value,
    pattern_p_value,
    stopping_evidence,
    suspect_models,
)
from tests.documents import study_numbers

VECTORS = study_numbers("verdicts")["stopping"]


def each_once(*numbers):
    arrays = [np.array(number) for number in numbers]
    return [*arrays[:2], np.ones(arrays[0].size, dtype=np.int64), *arrays[2:]]


@pytest.mark.parametrize("case", [pytest.param(case, id=case["name"]) for case in VECTORS])
def test_vectors(case):
    last = [] if case["last"] is None else [case["last"]]
    found = stopping_evidence(*each_once(case["n"], case["c"], *last))
    assert found.pattern == pytest.approx(case["p_pattern"], rel=1e-9)
    assert found.difficulty == pytest.approx(case["p_difficulty"], rel=1e-9)
    assert found.followed == case["stopping"]
    if last:
        assert found.order == pytest.approx(case["p_order"], rel=1e-9)
    else:
        assert found.order is None


def test_one_trial_against_more_is_fishers_exact_test():
    # Short: 4 questions with one trial, all right. Longer: rates 1/2 in all of 6 questions.
    n, c = [1] * 4 + [2] * 6, [1] * 4 + [1] * 6
    # A = 3 of 6 agree with "right", and 3 with "wrong": both patterns are as unlikely.
    expected = 2 * stats.hypergeom.pmf(4, 10, 7, 4)
    assert pattern_p_value(*each_once(n, c)) == pytest.approx(expected, rel=1e-12)


def test_order_equals_an_enumeration_of_last_trials():
    n, c, last = np.array([2, 3, 4]), np.array([1, 2, 1]), np.array([1, 1, 1])
    chances = np.zeros(4)
    for outcome in product([0, 1], repeat=3):
        chances[sum(outcome)] += np.prod(np.where(outcome, c / n, 1 - c / n))
    found = order_p_value(n, c, np.ones(3, dtype=int), last)
    assert found == pytest.approx(2 * chances[3], rel=1e-12)


def test_many_questions_are_convolved_by_a_normal_distribution():
    def p_value(questions):
        half = np.array([questions // 2 + round(questions**0.5)])
        return order_p_value(np.array([2]), np.array([1]), np.array([questions]), half)

    # Two standard errors beyond the mean, with and without the convolution.
    assert p_value(1_936) == pytest.approx(p_value(2_116), rel=0.02)


@pytest.mark.parametrize("c", [0, 1])
def test_a_benchmark_that_is_never_or_always_solved_shows_nothing(c):
    n = np.array([1] * 30 + [2] * 30)
    found = stopping_evidence(*each_once(n, n * c, n * 0))
    assert (found.pattern, found.order, found.difficulty) == (1.0, 1.0, 1.0)
    assert found.followed is None


states = st.lists(
    st.integers(1, 6).flatmap(
        lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, 4))
    ),
    min_size=1,
    max_size=6,
)


@given(states)
def test_p_values_are_probabilities_and_do_not_depend_on_the_order_of_states(rows):
    n, c, questions = np.array(rows).T
    found = stopping_evidence(n, c, questions)
    assert 0 <= found.pattern <= 1
    assert 0 <= found.difficulty <= 1
    again = stopping_evidence(n[::-1], c[::-1], questions[::-1])
    assert again[::2] == pytest.approx(found[::2], rel=1e-9)
    if n.min() == n.max():
        assert found[::2] == (1.0, 1.0)


@given(states)
def test_failures_in_place_of_successes_change_no_p_value_of_difficulty(rows):
    n, c, questions = np.array(rows).T
    if n.min() < n.max():
        found = difficulty_p_value(n, c, questions)
        assert difficulty_p_value(n, n - c, questions) == pytest.approx(found, rel=1e-7)


def test_clean_logs_are_rarely_accused():
    # 300 logs of 40 questions, hard ones, whose trials were lost at random: the levels are .005
    # and .002, so that more than five accusations have a chance below .02.
    rng, accused = np.random.default_rng(4), 0
    for _ in range(300):
        n = rng.choice([4, 8, 16], 40)
        c = rng.binomial(n, rng.beta(0.3, 3, 40))
        accused += stopping_evidence(*each_once(n, c)).followed is not None
    assert accused <= 5


def test_retries_until_success_are_found():
    rng, found = np.random.default_rng(5), 0
    for _ in range(50):
        rate = rng.random(40)
        first = np.minimum(rng.geometric(np.maximum(rate, 1e-9)), 9)
        n, c = np.minimum(first, 8), (first <= 8).astype(int)
        found += stopping_evidence(*each_once(n, c)).followed == "outcomes"
    assert found == 50


def test_joint_p_values_are_not_too_small():
    # 20,000 sets of 5 uniform p-values: .01 has a standard error of .0007.
    rng = np.random.default_rng(6)
    joint = [joint_p_value(row) for row in rng.random((20_000, 5))]
    assert np.mean(np.array(joint) <= 0.01) <= 0.0121
    assert joint_p_value(np.array([])) == 1.0
    assert joint_p_value(np.array([0.0, 1.0])) == 0.0


def test_a_model_is_suspect_by_all_of_its_groups_and_by_those_alone():
    rng = np.random.default_rng(5)
    model = rng.integers(0, 5, 60)
    p_values = np.where(model == 3, rng.random(60) ** 4, rng.random(60))
    p_values[rng.random(60) < 0.2] = np.nan
    known = [p_values[(model == each) & ~np.isnan(p_values)] for each in range(5)]
    expected = [each for each, own in enumerate(known) if joint_p_value(own) < 0.05 / 5]
    assert suspect_models(p_values, model, 0.05).tolist() == expected == [3]


def test_nobody_is_suspect_without_a_test():
    model = np.array([0, 1])
    assert suspect_models(np.full(2, np.nan), model, 0.05).tolist() == []
    assert suspect_models(np.empty(0), model[:0], 0.05).tolist() == []


def test_huge_counts_cost_nothing():
    n, every = np.array([10**12, 2 * 10**12, 3 * 10**12]), np.ones(3, np.int64)
    assert pattern_p_value(n, np.array([7, 7, 10**12]), every) == 1.0
    n, every = np.arange(1, 3_000), np.ones(2_999, np.int64)
    assert pattern_p_value(n, (n == 2_999).astype(np.int64), every) > 0.5
