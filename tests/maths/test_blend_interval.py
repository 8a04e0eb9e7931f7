"""Intervals of blends of means."""

import numpy as np
import pytest

from polars_scorio.maths.blend_variances import BlendOfMeans, blend_estimate, blend_numbers
from polars_scorio.maths.credit_numbers import Measurement, variance_numbers
from polars_scorio.maths.credits import fixed_gains
from polars_scorio.maths.draws import all_success, any_success
from polars_scorio.maths.interval import Weighted
from polars_scorio.maths.questions import Subgroups
from tests.maths.cases import CASES, states_of

HALVES = (0.5, 0.5)


def numbers(group, k, target, clusters=None):
    asked = Weighted(states_of(group))
    blended = BlendOfMeans(any_success(k), all_success(k), HALVES)
    noisy = blend_estimate(asked, blended)
    return blend_numbers(Measurement(asked, 0.95, target, clusters), blended, noisy), noisy


def test_about_a_population_a_blend_lies_between_those_of_both_ends():
    asked = Measurement(Weighted(states_of(CASES["hard"])), 0.95, "population")
    draws = fixed_gains(any_success(2)), fixed_gains(all_success(2))
    lower, upper = np.array([(part.lo[0], part.hi[0]) for part in asked.credits(draws)]).T
    blended, _ = numbers(CASES["hard"], 2, "population")
    assert [blended.lo[0], blended.hi[0]] == pytest.approx(np.sqrt([lower.prod(), upper.prod()]))


@pytest.mark.parametrize("name", ["two questions", "hard", "99 %", "half"])
def test_about_these_questions_the_shorter_interval_counts_on_each_side(name):
    group = CASES[name]
    found, noisy = numbers(group, 2, "benchmark")
    alone = variance_numbers(noisy, 0.95)
    assert (found.lo >= alone.lo).all()
    assert (found.hi <= alone.hi).all()
    assert (found.lo <= found.estimate).all()
    assert (found.estimate <= found.hi).all()


@pytest.mark.parametrize(("questions", "right"), [(100, 0), (100, 8), (30, 0)])
def test_a_blend_of_a_mean_on_its_bound_reaches_to_rates_that_are_likely(questions, right):
    # All questions have 4 of 8, or all but as many all of 8: the rates may well be 1/2.
    group = [(8, 4, questions - right // 8), (8, 8, right // 8)][: 1 + (right > 0)]
    found, _ = numbers(group, 8, "benchmark")
    assert found.lo[0] <= np.sqrt((1 - 0.5**8) * 0.5**8) <= found.hi[0]


def test_beyond_the_trials_a_blend_has_a_range_and_no_estimate():
    for target in ("benchmark", "population"):
        found, _ = numbers(CASES["hard"], 5, target)
        assert np.isnan([found.estimate[0], found.sigma[0]]).all()
        assert 0 <= found.lo[0] < found.hi[0] < 1


def test_clusters_add_to_the_noise_of_a_blend():
    group = [(4, 0, 10), (4, 4, 10)]
    counts, one = np.repeat([[4, 0], [0, 4]], 10, axis=0), np.ones(20, dtype=int)
    pairs = Subgroups.tally(counts, 0 * counts, 0 * one, np.arange(20) // 2, one, 1)
    alone, _ = numbers(group, 2, "population")
    together, _ = numbers(group, 2, "population", pairs)
    assert together.sigma > 1.2 * alone.sigma
    assert together.lo < alone.lo
