"""Means over a population against numbers of the study, closed forms and laws."""

import numpy as np
import pytest
from scipy import stats

from polars_scorio.maths.credit_numbers import credit_numbers
from polars_scorio.maths.draws import all_success, any_success
from polars_scorio.maths.free_fit import Calibrated
from polars_scorio.maths.questions import Subgroups
from polars_scorio.maths.sample_bound import QuestionSample, UnitSample
from polars_scorio.maths.variance import fixed_gains
from tests.documents import study_numbers
from tests.maths.cases import CASES, states_of

VECTORS = study_numbers("calibrated_2")
GAINS = {
    "avg": any_success,
    "pass_at_k": any_success,
    "pass_hat_k": all_success,
}


def units(values, weight=None):
    values = np.asarray(values, dtype=float)
    one = np.ones(values.size, dtype=int)
    weight = one if weight is None else np.asarray(weight)
    return UnitSample(values, weight.astype(float), one, 0 * one, 1)


@pytest.mark.parametrize("case", VECTORS["rule6"])
def test_vectors_of_credits(case):
    fitted = Calibrated.fit(states_of([tuple(row) for row in case["counts"]]))
    gains = fixed_gains(GAINS[case["metric"]](case["k"]))
    for confidence, names in ((0.95, ("lo", "hi")), (0.8, ("lo80", "hi80"))):
        (found,) = credit_numbers(fitted, [gains], confidence, "population")
        assert found.mu == pytest.approx(case["estimate"], abs=1e-9)
        # The ends of that study are quantiles of the variable whose moments these ends take.
        ends = case[names[0]], case[names[1]]
        assert (found.lo[0], found.hi[0]) == pytest.approx(ends, abs=0.1 * (ends[1] - ends[0]))


def test_clusters_are_units_with_the_mean_and_the_number_of_their_questions():
    right = np.array([1, 1, 0, 1, 0, 0])
    counts, one = np.stack([1 - right, right], axis=1), np.ones(6, dtype=int)
    cluster = np.array([0, 0, 0, 1, 1, 2])
    clusters = Subgroups.tally(counts, 0 * counts, 0 * one, cluster, one, 1)
    states = states_of([(1, 0, 3), (1, 1, 3)])
    found = QuestionSample(states, clusters).units(states.counts[:, 1].astype(float))
    assert found.values == pytest.approx([2 / 3, 1 / 2, 0])
    assert found.weight.tolist() == [3, 2, 1]
    assert found.number.tolist() == [1, 1, 1]


@pytest.mark.parametrize("trials", [1, 7, 64])
@pytest.mark.parametrize("right", [0, 1, 13, 30])
def test_questions_always_or_never_solved_have_the_interval_of_clopper_and_pearson(trials, right):
    group = [row for row in ((trials, 0, 30 - right), (trials, trials, right)) if row[2]]
    fitted = Calibrated.fit(states_of(group))
    (found,) = credit_numbers(fitted, [fixed_gains(np.ones(1))], 0.95, "population")
    lo = stats.beta.ppf(0.025, right, 31 - right) if right else 0
    hi = stats.beta.ppf(0.975, right + 1, 30 - right) if right < 30 else 1
    assert (found.lo[0], found.hi[0]) == pytest.approx((lo, hi), abs=1e-12)


def test_a_single_unit_says_nothing_about_others():
    assert np.isnan(units([0.5]).bounds(0.95)).all()
    sample = QuestionSample(states_of(CASES["one question"]))
    assert np.isnan(sample.sigma(np.array([0.75]), np.array([0.1])))


def test_groups_without_an_estimate_leave_those_beside_them():
    values, group = np.array([0.2, np.nan, 0.5, 0.9]), np.array([0, 0, 1, 1])
    one = np.ones(4, dtype=int)
    both = UnitSample(values, one.astype(float), one, group, 2).bounds(0.95)
    alone = units([0.5, 0.9]).bounds(0.95)
    assert np.isnan([both.lo[0], both.hi[0]]).all()
    assert (both.lo[1], both.hi[1]) == (alone.lo[0], alone.hi[0])


def test_the_variance_between_questions_is_that_of_their_mean():
    states = states_of([(5, 3, 1), (5, 4, 2)])
    values = states.counts[:, 1] / 5
    found = QuestionSample(states).variance_between(values)
    assert found == pytest.approx(np.var([0.6, 0.8, 0.8], ddof=1) / 3)
