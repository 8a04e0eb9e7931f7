import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from polars_scorio.maths.cost_means import (
    CostMeans,
    CostValues,
    QuestionCosts,
    dear_critical,
    dear_events,
    normal_draws,
)
from tests.documents import study_numbers

COST = [1.2, 0.8, 3.5, 2.2, 1.1, 0.9, 4.0, 2.5, 1.7, 1.3]
SUCCESS = [1.0, 1.0, 0.0, 0.5, 0.75, 1.0, 0.0, 0.25, 0.5, 1.0]
RARE = [0.0, 0.0, 0.0, 0.0, 0.25, 0.0, 0.0, 0.0, 0.0, 0.0]
TAIL = 0.025


def means(cost, success, target="population", noise=None, stratum=None, cluster=None):
    """The means of one group of questions with two trials each."""
    x, y = (np.asarray(each, dtype=float) for each in (cost, success))
    noise = np.full((3, x.size), np.nan) if noise is None else noise
    group = np.zeros(x.size, dtype=np.int64)
    stratum, trials = group if stratum is None else stratum, group + 2
    weight = 1 / np.bincount(stratum)[stratum]
    questions = QuestionCosts(group, 1, stratum, weight, cluster, trials, group, *3 * [x])
    return CostMeans.from_values(CostValues(x, y, noise, np.full(x.size, 2.0)), questions, target)


# The vectors of the method, from an implementation of its own.
@pytest.mark.parametrize(
    ("success", "numbers"),
    [
        pytest.param(SUCCESS, (3.2, 1.3083701501837397), id="bounded"),
        pytest.param(RARE, (76.8, 6.94526794901745), id="unbounded"),
    ],
)
def test_reproduces_lower_ends_of_another_implementation(success, numbers):
    found = means(COST, success)
    lo, hi = found.ends(TAIL)
    np.testing.assert_allclose([found.ratio[0], lo[0]], numbers, rtol=1e-10)
    assert found.unbounded(TAIL)[0] == np.isinf(hi[0]) == (success is RARE)


def upper_end(parts, ratio, freedom, tail):
    """The upper end, from the parts of the questions in the log of the ratio."""
    dear = [part for part in parts if part > 0]
    events = sum(part**2 for part in dear) ** 2 / sum(part**4 for part in dear)
    student = stats.t.ppf(1 - tail, min(freedom, events))
    return ratio * np.exp(student * np.sqrt(sum(parts**2) * (1 + 2 / events)))


@pytest.mark.parametrize("case", study_numbers("repairs")["cost"])
def test_ends_are_those_of_the_study(case):
    parts, tail = np.array(case["influence"]) / case["ratio"], (1 - case["confidence"]) / 2
    owner = np.zeros(parts.size, dtype=np.int64)
    events = dear_events(np.maximum(parts, 0) ** 2, owner, 1)
    reach = dear_critical(events, np.array([case["freedom"]]), tail)
    hi = case["ratio"] * np.exp(reach[0] * np.sqrt(parts @ parts))
    # Student quantiles of SciPy 1.12 have seven digits where the freedom is no whole number.
    assert hi == pytest.approx(case["lo_hi"][1], rel=1e-7)
    assert hi == pytest.approx(upper_end(parts, case["ratio"], case["freedom"], tail), rel=1e-9)


@given(st.integers(0, 1_000), st.integers(3, 40), st.floats(0.1, 2.5))
def test_the_upper_end_against_a_second_calculation(seed, questions, spread):
    random = np.random.default_rng(seed)
    cost, success = np.exp(random.normal(0, spread, questions)), random.uniform(0.5, 1, questions)
    found = means(cost, success)
    parts = (cost / cost.mean() - success / success.mean()) / questions
    parts *= np.sqrt(questions / (questions - 1))
    lo, hi = found.ends(TAIL)
    ratio = cost.mean() / success.mean()
    if not np.isinf(hi[0]):
        assert hi[0] == pytest.approx(upper_end(parts, ratio, questions - 1, TAIL), rel=1e-9)
    # Never below the end that trusts the variance, as the lower one does.
    assert hi[0] >= ratio**2 / lo[0] * (1 - 1e-12)


def test_one_dear_question_says_little_of_the_upper_end():
    even, dear = means([1.0, 1.2, 0.8, 1.1] * 5, np.ones(20)), means([1.0] * 19 + [30], np.ones(20))
    # Dear are 1.2 and 1.1, of which each has five: by .175 and .075 above the mean.
    squares = np.array([0.175, 0.075]) ** 2
    assert even.events[0] == pytest.approx(5 * squares.sum() ** 2 / (squares @ squares))
    assert dear.events[0] == pytest.approx(1)
    assert dear.ends(TAIL)[1] > 100 * dear.ratio


def test_the_noise_of_trials_has_an_event_for_each_noisy_question():
    noise = np.zeros((3, 10))
    noise[0, :4] = 0.01
    found = means(np.ones(10), np.ones(10), "benchmark", noise)
    assert found.events[0] == pytest.approx(4)


@given(
    st.lists(st.tuples(st.integers(1, 64), st.integers(0, 4)), min_size=3, max_size=12).filter(
        lambda pairs: any(c for _, c in pairs)
    ),
    st.sampled_from([0.125, 2.0, 1024.0]),
)
def test_another_unit_of_cost_scales_the_ratio_and_its_ends(pairs, unit):
    cost, success = (np.array(each, dtype=float) for each in zip(*pairs, strict=True))
    one, other = means(cost, success / 4), means(unit * cost, success / 4)
    numbers, scaled = ([each.ratio, *each.ends(TAIL)] for each in (one, other))
    np.testing.assert_allclose(scaled, unit * np.array(numbers), rtol=1e-9)


@given(st.lists(st.integers(1, 4), min_size=3, max_size=9))
def test_trials_that_cost_one_have_the_inverse_of_the_success_rate(successes):
    success = np.array(successes) / 4
    found = means(np.ones(success.size), success)
    assert found.ratio[0] == pytest.approx(1 / success.mean(), rel=1e-12)


def test_without_a_success_there_is_a_lower_end_alone():
    found = means(COST, np.zeros(10))
    (lo,), (hi,) = found.ends(TAIL)
    # M = 10 questions without a success allow a rate of 1 - .025^(1/10).
    largest_rate = 1 - TAIL**0.1
    least_cost = np.mean(COST) - 2.2621571628 * np.std(COST, ddof=1) / np.sqrt(10)  # Student, 9
    assert np.isinf(found.ratio[0])
    assert np.isinf(hi)
    assert lo == pytest.approx(least_cost / largest_rate, rel=1e-9)


def test_one_question_is_no_sample():
    found = means([1.0], [0.5])
    assert np.isnan(found.ends(TAIL)).all()
    assert not found.unbounded(TAIL)[0]


def test_questions_with_too_few_trials_are_estimated_by_their_spread():
    known = np.stack([np.full(10, 0.1), np.zeros(10), np.full(10, 0.05)])
    half_known = known.copy()
    half_known[:, 3] = np.nan
    sample, of_trials = means(COST, SUCCESS), means(COST, SUCCESS, "benchmark", known)
    fallback = means(COST, SUCCESS, "benchmark", half_known)
    np.testing.assert_allclose(fallback.variance, sample.variance)
    assert np.isinf(of_trials.freedom[0])
    # The rate has .25/(n M^2 (M + 1)) beside the noise that was measured.
    floor = 0.25 / 2 / (100 * 11)
    np.testing.assert_allclose(of_trials.variance[:, 0], [0.01, 0, 0.005 + floor])


def test_clusters_of_one_question_are_questions():
    alone = means(COST, SUCCESS, cluster=np.arange(10))
    np.testing.assert_allclose(alone.variance, means(COST, SUCCESS).variance)


def test_repeated_questions_in_a_cluster_say_no_more_than_one():
    twice = means(COST * 2, SUCCESS * 2, cluster=np.tile(np.arange(10), 2))
    np.testing.assert_allclose(twice.variance, means(COST, SUCCESS).variance)


def test_strata_weigh_the_same():
    stratum = np.array([0] * 3 + [1] * 7)
    found = means(COST, SUCCESS, stratum=stratum)
    parts = [means(COST[i], SUCCESS[i]) for i in (slice(3), slice(3, 10))]
    assert found.x[0] == pytest.approx(np.mean([part.x[0] for part in parts]))
    total = sum(part.variance for part in parts)
    np.testing.assert_allclose(found.variance, total / 4)
    assert found.freedom[0] == 8


def test_residuals_have_the_variance_of_the_log():
    found = means(COST, SUCCESS)
    values = CostValues(np.array(COST), np.array(SUCCESS), np.full((3, 10), np.nan), np.ones(10))
    parts = found.residuals(values, np.zeros(10, dtype=np.int64))
    assert parts.mean() == pytest.approx(0, abs=1e-12)
    assert np.sqrt(parts.var(ddof=1) / 10) == pytest.approx(found.log_error[0])


# Draws that never change.


# Computed once; PCG64's raw bits and the golden ratio are the same on every machine.
@pytest.mark.parametrize(
    ("dimensions", "first"), [(1, [-1.184872, 0.63127]), (13, [-0.723962, -1.231597])]
)
def test_the_first_draws_stay_what_they_were(dimensions, first):
    # Printed to six decimals.
    np.testing.assert_allclose(normal_draws(dimensions, 2)[0], first, atol=1e-6)


@pytest.mark.parametrize("dimensions", [1, 5, 8, 9, 40])
def test_draws_are_standard_normal(dimensions):
    draws = normal_draws(dimensions, 4096)
    assert np.abs(draws.mean(axis=1)).max() < 0.06
    # Independent draws of 40 variables: the largest of 820 correlations.
    assert np.abs(np.cov(draws) - np.eye(dimensions)).max() < 0.08
