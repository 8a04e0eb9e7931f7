"""Pairs of models, and means of populations: two more questions, and intervals of both sides."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from polars_scorio.maths.covariance import paired_means
from polars_scorio.maths.credit_numbers import sample_numbers
from polars_scorio.maths.credits import fixed_gains
from polars_scorio.maths.interval import (
    Estimate,
    MeasuredPairs,
    Student,
    UnitSample,
    Weighted,
    credit_estimates,
    plus_two,
)
from tests.made_logs import law
from tests.maths.cases import CASES, states_of

A, B = np.array([0, 0, 1]), np.array([1, 2, 2])
Z = np.full((1, 3), 1.959963984540054)
VALUES = np.array([[1.0, 0, 1], [0, 0, 1], [1, 0, 0], [1, 1, 1], [1, 0, 0]])


def estimates(*names: str) -> Estimate:
    """Accuracies of some logs as the models of one stratum."""
    asked = Weighted(states_of(*(CASES[name] for name in names)))
    return credit_estimates(asked, [fixed_gains(np.ones(1))]).at(0)


def differences(values: np.ndarray) -> Student:
    """Differences of the models of one stratum by their values of each question."""
    return paired_means(values, np.array([0]), 1.0).differences(A, B)


def test_a_population_has_one_question_more_at_either_end():
    x = [0.2, 0.9, 0.4, 0.4, 1.0]
    every = [*x, 0.0, 1.0]
    mean, error = np.mean(every), np.std(every) / np.sqrt(len(every) - 1)
    one = np.ones(5)
    sample = UnitSample(np.array(x), one, one.astype(int), np.zeros(5, int), 1)
    _, sigma, lo, hi, _ = sample_numbers(np.array([np.mean(x)]), sample, 0.9)
    half = stats.t.ppf(0.95, 6) * error
    assert (lo[0], hi[0], sigma[0]) == pytest.approx((mean - half, min(mean + half, 1), error))


def test_with_weights_the_pseudo_questions_weigh_as_two_questions():
    x, w = np.array([0.2, 0.9, 0.4]), np.array([0.5, 0.3, 0.2])
    number = 1 / (w @ w)
    weight = np.array([*(w * number), 1, 1]) / (number + 2)
    every = np.array([*x, 0.0, 1.0])
    mean = weight @ every
    variance = weight @ (every - mean) ** 2 / (number + 1)
    found = UnitSample(x, w, np.ones(3, int), np.zeros(3, int), 1).student()
    assert np.ravel(found) == pytest.approx([mean, np.sqrt(variance), number + 1])


def test_one_question_says_nothing_of_a_population():
    one = np.ones(1)
    sample = UnitSample(one / 2, one, one.astype(int), np.zeros(1, int), 1)
    assert np.isnan(sample_numbers(one / 2, sample, 0.95)[1:4]).all()


@law
@given(st.lists(st.sampled_from([0.0, 0.25, 1.0]), min_size=2, max_size=12))
def test_pairs_of_questions_have_two_more_differences(gaps):
    values = np.column_stack([gaps, np.zeros(len(gaps))])
    every, error = [*gaps, -1.0, 1.0], np.std([*gaps, -1.0, 1.0]) / np.sqrt(len(gaps) + 1)
    student = paired_means(values, np.array([0]), 1.0).differences(np.array([0]), np.array([1]))
    assert np.ravel(student) == pytest.approx([np.mean(every), error, len(gaps) + 1])


def test_a_pair_reaches_as_far_as_the_intervals_of_both():
    side = estimates("hard", "half", "1 %")
    pairs = MeasuredPairs.from_side(side, 1, A, B)
    lo, hi = side.ends(0.025)
    found, mu = pairs.ends(Z), side.mu
    down = np.hypot(mu[A] - lo[A], hi[B] - mu[B])
    assert found[0][0] == pytest.approx(mu[A] - mu[B] - down)
    up = np.hypot(hi[A] - mu[A], mu[B] - lo[B])
    assert found[1][0] == pytest.approx(mu[A] - mu[B] + up)
    mirrored = MeasuredPairs.from_side(side, 1, B, A).ends(Z)
    np.testing.assert_allclose(mirrored, (-found[1], -found[0]))


def test_an_interval_ends_at_zero_at_its_z():
    side = estimates("hard", "half", "1 %")
    for paired in (None, differences(VALUES)):
        pairs = MeasuredPairs.from_side(side, 1, A, B, paired)
        z = np.abs(pairs.z)
        lo, hi = pairs.ends(z)
        near = np.where(pairs.z > 0, lo, hi)
        assert near[z < 7.9] == pytest.approx(0, abs=1e-9)
        assert pairs.decided(z - 1e-6)[z > 0].all()
        # Far beyond, where nothing is known, the interval is the whole range.
        assert not pairs.decided(z + 1e-6)[z < 7.9].any()


def test_models_with_several_trials_are_not_paired_by_question():
    side = estimates("n = 1", "n = 1", "half")
    values = VALUES.copy()
    values[:, 2] = np.nan  # the third model has more than one trial
    pairs = MeasuredPairs.from_side(side, 1, A, B, differences(values))
    alone = MeasuredPairs.from_side(side, 1, A, B)
    assert pairs.ends(Z)[0][0, 1:].tolist() == alone.ends(Z)[0][0, 1:].tolist()
    assert pairs.ends(Z)[0][0, 0] != alone.ends(Z)[0][0, 0]


def test_a_single_question_is_not_paired():
    side = estimates("one trial", "one trial", "one trial")
    pairs = MeasuredPairs.from_side(side, 1, A, B, differences(VALUES[:1]))
    np.testing.assert_array_equal(pairs.ends(Z), MeasuredPairs.from_side(side, 1, A, B).ends(Z))
    assert np.isfinite(pairs.sigma).all()


def test_where_nothing_is_known_the_interval_is_the_whole_range():
    side = estimates("hard", "half", "1 %")
    ends = MeasuredPairs.from_side(side, 1, A, B).ends(np.full((1, 3), 9.0))
    assert np.unique(ends).tolist() == [-1, 1]


def test_equal_questions_are_no_proof():
    student = plus_two(np.array([0.0]), np.array([0.0]), np.array([50.0]), 0.0, 1.0)
    assert student.error == pytest.approx(np.sqrt(2 / 52 / 51))
