"""Geometric blends: where a mean is zero, and the delta method in 50 digits."""

from math import sqrt

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from polars_scorio.maths.credit_numbers import (
    BlendOfMeans,
    Measurement,
    blend_estimate,
    blend_numbers,
    variance_numbers,
)
from polars_scorio.maths.credits import blend_means, credit_of, fixed_gains
from polars_scorio.maths.draws import all_success, any_success, majority_gains
from polars_scorio.maths.interval import Weighted, credit_estimates
from polars_scorio.maths.pooled_moments import Joint
from polars_scorio.maths.questions import Subgroups
from polars_scorio.metrics.blends import blend_moments
from tests.made_logs import law
from tests.maths import interval_oracle as oracle
from tests.maths.cases import CASES, HARD, R1, RAGGED, assert_variances_equal, states_of

INF, NAN = float("inf"), float("nan")
MEANS = st.floats(1e-6, 1)
POWERS = st.tuples(st.floats(-3, 3), st.floats(-3, 3))
# Standard deviations relative to the mean, and their correlation.
SPREADS = st.tuples(st.floats(0, 2), st.floats(0, 2), st.floats(0, 0.99))


def blended(x: float, y: float, powers: tuple[float, float]) -> float:
    return blend_means(np.array([x]), np.array([y]), powers).item()


def variance(
    x: float, y: float, variances: tuple[float, float, float], powers: tuple[float, float]
) -> float:
    joint = Joint(*(np.array([float(part)]) for part in (x, y, *variances)))
    mean, var = blend_moments(joint, powers)
    assert mean == blended(x, y, powers)
    return var.item()


# --- the blend


@pytest.mark.parametrize(
    ("x", "y", "powers", "expected"),
    [
        *((0.25, 0.0625, (0.5, 0.5), 0.125), (0.5, 0.25, (-1, 2), 0.125), (0.5, 0.5, (0, -1), 2)),
        # a positive power of zero
        *((0, 0.5, (0.5, 0.5), 0), (0.5, 0, (0.5, 0.5), 0), (0, 0, (0.5, 0.5), 0)),
        # a negative power of zero
        *((0, 0.5, (-1, 1), INF), (0.5, 0, (1, -1), INF), (0, 0, (-1, -1), INF)),
        # both at once: the positive one wins
        *((0, 0, (-1, 1), 0), (0, 0, (1, -1), 0), (0, 0, (1e-9, -9), 0)),
        # a power of zero leaves its base out, zero or not
        *((0, 0.25, (0, 0.5), 0.5), (0.25, 0, (0.5, 0), 0.5), (0, 0, (1, 0), 0)),
        *((0, 0, (-1, 0), INF), (0, 0, (0, -1), INF)),
    ],
)
def test_a_power_of_zero(x, y, powers, expected):
    # A root: one rounding.
    assert blended(x, y, powers) == pytest.approx(expected, rel=1e-15)


@pytest.mark.parametrize("powers", [(0.5, 0.5), (1, 0), (0, 1), (-1, 2), (1, -1), (-1, 0)])
def test_without_a_mean_there_is_no_blend(powers):
    assert np.isnan(blended(NAN, NAN, powers))


@pytest.mark.parametrize("powers", [(0.5, 0.5), (2, -1)])
def test_each_state_has_its_own_blend(powers):
    x, y = np.array([0.0, 0.5, NAN, 0.25]), np.array([0.5, 0.25, NAN, 1.0])
    alone = [blended(*state, powers) for state in zip(x, y, strict=True)]
    np.testing.assert_array_equal(blend_means(x, y, powers), alone)


# --- its variance


@law
@given(MEANS, MEANS, SPREADS, POWERS)
def test_variance_is_that_of_the_tangent_plane(x, y, spreads, powers):
    (a, b), (s, t, r) = powers, (spreads[0] * x, spreads[1] * y, spreads[2])
    products = (s * s, t * t, r * s * t)
    with mpmath.workdps(50):
        whole = mpmath.mpf(x) ** a * mpmath.mpf(y) ** b
        slopes = [a * whole / x, b * whole / y]
        terms = (slopes[0] ** 2, slopes[1] ** 2, 2 * slopes[0] * slopes[1])
        exact = float(mpmath.fdot(terms, products))
        size = float(mpmath.fdot(map(abs, terms), products))
    # Rounding of the terms: with powers of opposite sign they partly cancel.
    assert variance(x, y, products, powers) == pytest.approx(exact, rel=0, abs=1e-13 * size)


@law
@given(MEANS, st.floats(0, 1), POWERS)
def test_a_mean_blended_with_itself_is_one_power_of_it(x, spread, powers):
    var, power = (spread * x) ** 2, sum(powers)
    expected = (power * x ** (power - 1)) ** 2 * var
    room = 1e-14 * sum(map(abs, powers)) ** 2 * x ** (2 * power) * spread**2
    # A few powers, each rounded; `room` is for powers of opposite sign, which cancel.
    assert variance(x, x, (var, var, var), powers) == pytest.approx(expected, rel=1e-12, abs=room)


@law
@given(MEANS, MEANS, st.floats(0, 2), st.floats(0, 2), POWERS)
def test_variance_is_never_negative(x, y, s, t, powers):
    s, t = s * x, t * y
    assert variance(x, y, (s * s, t * t, s * t), powers) >= 0


@pytest.mark.parametrize(
    ("x", "y", "powers"),
    [
        *((0, 0.5, (0.5, 0.5)), (0.5, 0, (0.5, 0.5)), (0, 0, (0.5, 0.5)), (0, 0.5, (1, 0))),
        *((0.5, 0, (-1, 2)), (0, 0.5, (2, -1)), (0, 0, (-1, 2)), (0, 0, (0.5, 0))),
    ],
)
def test_a_blend_of_zero_has_no_variance(x, y, powers):
    assert variance(x, y, (0.01, 0.02, 0.005), powers) == 0


@pytest.mark.parametrize("powers", [(1, 0), (0, 1)])
def test_a_power_of_zero_leaves_out_a_mean_of_zero(powers):
    x, y = powers[0] * 0.5, powers[1] * 0.5
    # A product with 1: hardly a rounding.
    assert variance(x, y, (0.01, 0.01, 0.0), powers) == pytest.approx(0.01, rel=1e-15)


@pytest.mark.parametrize("size", [1e-150, 1e-100, 1e100, 1e150])
def test_means_of_any_size_are_fine(size):
    var = (0.1 * size) ** 2
    # Both: were logs taken, of up to 350, they would round by 1e-13.
    assert variance(size, size, (var, var, var), (0.5, 0.5)) == pytest.approx(var, rel=1e-12)
    assert variance(size, 1 / size, (var, 0, 0), (1, 1)) == pytest.approx(0.01, rel=1e-12)


# So it is after hundreds of failures; the square of such a mean is no float.
def test_a_tiny_mean_may_spread_far_beyond_itself():
    result = variance(1e-170, 1, (1e-300, 0, 0), (0.5, 0.5))
    # Were logs taken, of up to 400, they would round by 1e-13.
    assert result == pytest.approx(0.25 * 1e-170 * 1e40, rel=1e-12)


def test_no_states_give_no_numbers():
    empty = np.empty(0)
    assert blend_means(empty, empty, (0.5, 0.5)).shape == (0,)
    for moment in blend_moments(Joint(*[empty] * 5), (0.5, 0.5)):
        assert moment.shape == (0,)


# Variances of blends of two means, against plain loops and each other.


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
    alone = credit_estimates(asked, [fixed_gains(gains)]).at(0)
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
