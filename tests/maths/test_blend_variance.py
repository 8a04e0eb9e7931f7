"""Variances of blends of two means, against plain loops and each other."""

from math import sqrt

import numpy as np
import pytest

from polars_scorio.maths.blend_variances import BlendOfMeans, blend_estimate
from polars_scorio.maths.credits import credit_of, fixed_gains
from polars_scorio.maths.draws import all_success, any_success, majority_gains
from polars_scorio.maths.interval import Weighted, credit_estimates
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
