"""Differences of two models on the same questions, against a second calculation and laws."""

from itertools import pairwise
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from polars_scorio.maths.covariance import paired_means
from polars_scorio.maths.draws import all_success, any_success
from polars_scorio.maths.free_fit import Calibrated
from polars_scorio.maths.variance import fixed_gains, state_estimates
from polars_scorio.maths.variance_estimates import (
    CHOICE,
    ComparedNoise,
    Estimate,
    PairedNoise,
    clopper_pearson_interval,
    credit_variances,
    paired_variance,
)
from tests.documents import study_numbers
from tests.maths.cases import HARD, states_of
from tests.maths.difference_oracle import (
    pair_interval,
    pair_variance,
    trial_interval,
)
from tests.maths.metric_differences import metric_difference

VECTORS = study_numbers("verdicts")["difference"]
GAINS = {"avg": any_success, "pass": any_success, "hat": all_success}
TOLERANCE = 1e-9  # as the study says


def critical(confidence):
    return NormalDist().inv_cdf((1 + confidence) / 2)


def values_of(n, c, gains):
    """The estimate of each question."""
    return np.array(
        [
            state_estimates(states_of([(a, b, 1)]), fixed_gains(gains))[0][0]
            for a, b in zip(n, c, strict=True)
        ]
    )


def compared(noisy, values, n):
    """A variance of four numbers, with those of the questions if each has one trial."""
    u, m, variance, factor = (np.array([number]) for number in noisy)
    single, size = max(n) == 1, len(n)
    spread = np.array([np.var(values) / size if single else 0.0])
    most = np.array([size if single else np.inf])
    return ComparedNoise.floored(Estimate(u, 1 - u, m, 1 - m, variance, factor), spread, most)


def pair_of(one, other, questions):
    gaps = (np.asarray(one) - other)[:, None]
    variance = paired_variance(gaps, np.full(questions, 1 / questions))
    return PairedNoise(variance, np.array([questions - 1.0]))


@pytest.mark.parametrize(
    "case", [pytest.param(case, id=f"{case['name']} {case['confidence']}") for case in VECTORS]
)
class TestVectors:
    def test_kernel(self, case):
        gains = GAINS[case["metric"]](case["k"])
        values = [values_of(case[f"n_{side}"], case[f"c_{side}"], gains) for side in "ab"]
        sides = [
            compared(case[f"price_{side}"], own, case[f"n_{side}"])
            for side, own in zip("ab", values, strict=True)
        ]
        for side, floored in zip(sides, ("floored_a", "floored_b"), strict=True):
            assert side.noisy.factor[0] == pytest.approx(case[floored], abs=TOLERANCE)
        both = pair_of(*values, len(case["n_a"]))
        assert both.variance[0] == pytest.approx(case["paired_variance"], abs=TOLERANCE)
        found = metric_difference(*sides, both, critical(case["confidence"]))
        known = [case[name] for name in ("diff", "sigma", "lo", "hi")]
        np.testing.assert_allclose(np.ravel(found), known, rtol=0, atol=TOLERANCE)

    def test_second_calculation(self, case):
        gains = GAINS[case["metric"]](case["k"])
        values = [values_of(case[f"n_{side}"], case[f"c_{side}"], gains) for side in "ab"]
        trials = [max(case[f"n_{side}"]) > 1 for side in "ab"]
        c, variances_ = critical(case["confidence"]), [case["price_a"], case["price_b"]]
        *numbers, by = pair_interval(values, variances_, trials, c)
        known = [case[name] for name in ("diff", "lo", "hi", "sigma")]
        np.testing.assert_allclose(numbers, known, rtol=0, atol=TOLERANCE)
        assert by == case["by"]
        floors = [
            np.var(own) / own.size if not many else 0
            for own, many in zip(values, trials, strict=True)
        ]
        most = [np.inf if many else own.size for own, many in zip(values, trials, strict=True)]
        ends = trial_interval(*variances_, c, floors, most)
        known = [case[name] for name in ("reach_down", "reach_up", "w")]
        np.testing.assert_allclose(ends, known, rtol=0, atol=TOLERANCE)


# --- laws


@st.composite
def logs(draw):
    """Trials, and successes of two models, of the same questions."""
    questions, most = draw(st.integers(2, 12)), draw(st.sampled_from([1, 3]))
    n = draw(st.lists(st.integers(1, most), min_size=questions, max_size=questions))
    sides = [[draw(st.integers(0, each)) for each in n] for _ in range(2)]
    return n, *sides


def sides_of(log):
    """The two variances of a log, and the values of the questions."""
    n, *successes = log
    gains, compared_, values = np.ones(1), [], []
    for c in successes:
        (noisy,) = credit_variances(
            Calibrated.fit(states_of([*zip(n, c, np.ones_like(n), strict=True)])),
            [fixed_gains(gains)],
        )
        own = np.array(c) / np.array(n)
        four = noisy.estimate[0], noisy.mean[0], noisy.variance[0], noisy.factor[0]
        compared_.append(compared(four, own, n))
        values.append(own)
    return compared_, values


@pytest.mark.slow
@given(logs(), st.sampled_from([0.5, 0.95, 0.999]))
def test_equals_the_second_calculation(log, confidence):
    (one, other), values = sides_of(log)
    c, n = critical(confidence), log[0]
    found = metric_difference(one, other, pair_of(*values, len(n)), c)
    four = [
        [number[0] for number in (p.estimate, p.mean, p.variance, p.factor)]
        for p in (one.noisy, other.noisy)
    ]
    diff, lo, hi, sigma, _ = pair_interval(values, four, [max(n) > 1] * 2, c)
    # Two inverses of the Beta integral, in different libraries' loops: 1e-12 or so.
    np.testing.assert_allclose(np.ravel(found), [diff, sigma, lo, hi], rtol=0, atol=1e-9)


@pytest.mark.slow
@given(logs())
def test_a_difference_turns_with_its_sides(log):
    (one, other), values = sides_of(log)
    both = pair_of(*values, len(log[0]))
    found, turned = (
        metric_difference(one, other, both, 1.6),
        metric_difference(other, one, both, 1.6),
    )
    assert found.diff == -turned.diff
    assert (found.lo, found.hi) == (-turned.hi, -turned.lo)
    assert found.sigma == turned.sigma


@pytest.mark.slow
@given(logs())
def test_more_confidence_never_shortens_an_interval(log):
    (one, other), values = sides_of(log)
    both = pair_of(*values, len(log[0]))
    ends = [metric_difference(one, other, both, c)[2:] for c in (0.5, 1.0, CHOICE, 2.5, 3.5)]
    for (lo, hi), (lower, higher) in pairwise(ends):
        assert lower <= lo
        assert higher >= hi


@given(logs())
def test_two_models_with_the_same_trials_differ_by_nothing(log):
    n, c, _ = log
    (one, other), values = sides_of((n, c, c))
    found = metric_difference(one, other, pair_of(*values, len(n)), CHOICE)
    assert found.diff == 0
    assert found.lo == -found.hi
    assert found.hi >= 0


def test_single_trials_that_all_agree_leave_what_was_not_seen():
    values = np.array([1.0] * 6 + [0.0] * 4)
    side = compared((0.6, 0.6, 0.024, 1.0), values, [1] * 10)
    found = metric_difference(side, side, pair_of(values, values, 10), CHOICE)
    # Student's 2.262 with 9 degrees of freedom, 2 / (10 * 11) under the root.
    assert found.hi == pytest.approx(2.2621571627409915 * (2 / 110) ** 0.5)


# --- variances


def test_the_variance_of_pairs_is_that_of_a_sample_of_questions():
    values = np.random.default_rng(3).random((9, 2))
    (same,) = paired_means(values, np.array([0]), 1.0).variance[:, 0, 1]
    gaps = values[:, :1] - values[:, 1:]
    found = paired_variance(gaps, np.full(9, 1 / 9))
    # Fourth powers that cancel, against sums that do not.
    assert found == pytest.approx(same, rel=1e-11)
    assert found == pytest.approx(pair_variance(*values.T), rel=1e-12)


def test_a_constant_difference_is_no_evidence():
    one, other = np.full((3, 1), 0.3), np.full((3, 1), 0.1)
    found = paired_variance(one - other + [[1e-17], [0], [-1e-17]], np.full(3, 1 / 3))
    assert found == pytest.approx(2 / 12)


def test_a_single_question_has_no_paired_variance():
    assert np.isnan(paired_variance(np.ones((1, 1)), np.ones(1)))


def test_a_question_without_an_estimate_leaves_no_paired_variance():
    gaps = np.array([[0.2, 0.2], [0.1, np.nan], [0.4, 0.4]])
    assert np.isnan(paired_variance(gaps, np.full(3, 1 / 3))).tolist() == [False, True]


def test_a_single_trial_of_each_question_is_worth_no_more_than_its_questions():
    right = np.ones(100)
    noisy = (1.0, 0.999, 5e-6, 2.0)
    single = compared(noisy, right, [1] * 100)
    # Clopper and Pearson's lower end of 100 of 100: .025^(1/100).
    assert single.reach(CHOICE).down[0] == pytest.approx(1 - 0.025 ** (1 / 100), rel=1e-3)
    several = compared(noisy, right, [2] * 100)
    assert several.reach(CHOICE).down < single.reach(CHOICE).down


def test_saturated_models_may_differ():
    (sure,) = credit_variances(
        Calibrated.fit(states_of([(4, 4, 30)])), [fixed_gains(all_success(4))]
    )
    side = ComparedNoise.floored(sure, np.zeros(1), np.array([np.inf]))
    found = metric_difference(side, side, PairedNoise(np.array([np.nan]), np.array([29.0])), CHOICE)
    lo, _ = clopper_pearson_interval(sure, 0.95)
    assert found.diff == 0
    # Each may be as low as its own end, none higher than it is.
    assert found.lo == pytest.approx(lo - 1)
    assert found.hi == pytest.approx(1 - lo)


def test_differences_stay_in_range():
    (ends,) = credit_variances(
        Calibrated.fit(states_of([(1, 0, 2)], [(1, 1, 2)])), [fixed_gains(np.ones(1))]
    )
    both = ComparedNoise.floored(ends, np.zeros(2), np.full(2, np.inf))
    low, high = (both.at(np.array([row])) for row in (0, 1))
    found = metric_difference(high, low, PairedNoise(np.array([np.nan]), np.array([1.0])), 3.29)
    assert (found.diff, found.hi) == (1, 1)
    assert -1 <= found.lo < 1


def test_a_draw_beyond_the_trials_has_no_interval():
    (noisy,) = credit_variances(Calibrated.fit(states_of(HARD)), [fixed_gains(any_success(9))])
    side = ComparedNoise.floored(noisy, np.zeros(1), np.array([np.inf]))
    found = metric_difference(side, side, PairedNoise(np.array([np.nan]), np.array([29.0])), CHOICE)
    assert np.isnan(found).all()


@pytest.mark.parametrize("swapped", [False, True])
def test_single_trials_that_are_all_right_are_not_paired_with_several(swapped):
    (both,) = credit_variances(
        Calibrated.fit(states_of([(1, 1, 15)], [(16, 13, 15)])), [fixed_gains(np.ones(1))]
    )
    quiet = PairedNoise(np.array([1e-4]), np.array([14.0]))
    for most, sigma in ((np.inf, np.hypot(*both.sigma)), (15.0, 0.01)):
        sides = ComparedNoise.floored(both, np.zeros(2), np.array([15.0, most]))
        first, second = (sides.at(np.array([row])) for row in ([1, 0] if swapped else [0, 1]))
        found = metric_difference(first, second, quiet, CHOICE)
        assert found.sigma == pytest.approx(sigma)
