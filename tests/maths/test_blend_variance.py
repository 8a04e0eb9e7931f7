"""Variances of blends of two means, against plain loops and each other."""

from math import sqrt

import numpy as np
import pytest

from polars_scorio.maths.blend_variances import BlendOfMeans, blend_estimate, blend_numbers
from polars_scorio.maths.credit_numbers import Measurement, variance_numbers
from polars_scorio.maths.credits import credit_of, fixed_gains
from polars_scorio.maths.draws import all_success, any_success, majority_gains
from polars_scorio.maths.interval import Weighted, credit_estimates
from polars_scorio.maths.questions import Subgroups
from tests.maths import interval_oracle as oracle
from tests.maths.cases import CASES, HARD, R1, RAGGED, assert_variances_equal, states_of


@pytest.mark.parametrize("group", [R1, HARD, RAGGED])
@pytest.mark.parametrize("powers", [(0.5, 0.5), (1.0, 0.25), (0.0, 1.0)])
def test_blends_equal_plain_loops(group, powers):
    terms = [credit_of(gains) for gains in (any_success(2), majority_gains(2))]
    n, c = (np.repeat([row[i] for row in group], [row[2] for row in group]) for i in (0, 1))
    size = len(n)
    w = np.full(size, 1 / size)
    seen = [oracle.interval(n, c, credit)[0] for credit in terms]
    means = [oracle.price(n, c, w, oracle.Metric(credit))[2] for credit in terms]
    (a, b), (x, y) = powers, [(size * u + m) / (size + 1) for u, m in zip(seen, means, strict=True)]
    theta = x**a * y**b
    linear = theta * (a / x * terms[0] + b / y * terms[1])
    variance, factor, _ = oracle.price(n, c, w, oracle.Metric(linear))
    blended = BlendOfMeans(any_success(2), majority_gains(2), powers)
    found = blend_estimate(Weighted(states_of(group)), blended)
    # The variances of the oracle are differences of squares.
    assert found.mu[0] == pytest.approx(seen[0] ** a * seen[1] ** b)
    assert found.sigma[0] == pytest.approx(sqrt(variance), rel=1e-6)
    assert found.factor[0] == pytest.approx(factor, rel=1e-6)


@pytest.mark.parametrize("case", [case for case in CASES if case not in {"n = 1", "one trial"}])
def test_a_blend_of_one_metric_is_that_metric(case):
    asked, gains = Weighted(states_of(CASES[case])), any_success(1)
    (alone,) = credit_estimates(asked, [fixed_gains(gains)])
    found = blend_estimate(asked, BlendOfMeans(gains, gains, (0.3, 0.7)))
    # The blend's credit is rebuilt from two products: rounding.
    assert_variances_equal(found, alone, 1e-8)


def test_a_negative_power_has_a_normal_interval():
    blended = BlendOfMeans(any_success(2), all_success(2), (2.0, -1.0))
    noisy = blend_estimate(Weighted(states_of(R1)), blended)
    # A few roundings: far below the default of approx.
    assert noisy.mu == pytest.approx(0.95**2 / 0.45)
    lo, hi = noisy.ends(0.025)
    noise = 1.959964 * noisy.sigma * np.sqrt(noisy.factor)
    # z has seven digits: an error of 1e-8, below the default of approx, 1e-6.
    assert (hi - noisy.mu, noisy.mu - lo) == (pytest.approx(noise), pytest.approx(noise))
    blended = BlendOfMeans(any_success(1), any_success(1), (1.0, -0.5))
    zero = blend_estimate(Weighted(states_of(CASES["all wrong"])), blended)
    assert zero.mu == 0
    assert np.isfinite(zero.sigma).all()


def test_a_blend_beyond_the_trials_has_none():
    blended = BlendOfMeans(any_success(9), all_success(9), (0.5, 0.5))
    noisy = blend_estimate(Weighted(states_of(R1)), blended)
    assert np.isnan([noisy.mu, noisy.sigma, *noisy.ends(0.025)]).all()


# Intervals of blends of means.


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
