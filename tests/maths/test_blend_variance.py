"""Variances of blends of two means, against plain loops and each other."""

from math import comb, sqrt

import numpy as np
import pytest

from polars_scorio.maths.blend_variances import blend_variance
from polars_scorio.maths.draws import all_success, any_success, majority_gains
from polars_scorio.maths.free_fit import Calibrated
from polars_scorio.maths.variance import credit_of, fixed_gains
from polars_scorio.maths.variance_estimates import clopper_pearson_interval, credit_variances
from tests.maths import oracle
from tests.maths.cases import (
    CASES,
    GRID_TOLERANCE,
    HARD,
    R1,
    RAGGED,
    assert_variances_equal,
    states_of,
)


@pytest.mark.every(2)
@pytest.mark.parametrize("group", [R1, HARD, RAGGED])
@pytest.mark.parametrize("powers", [(0.5, 0.5), (1.0, 0.25), (0.0, 1.0)])
def test_blends_equal_plain_loops(group, powers):
    gains = [any_success(2), majority_gains(2)]
    values = [credit_of(own).tolist() for own in gains]
    size = sum(h for _, _, h in group)
    smooth, p, weight = oracle.fits(tuple(group))
    seen, means, free = [], [], []
    for own in values:
        seen.append(sum(h * oracle.estimates(n, own)[c] for n, c, h in group) / size)
        means.append(
            sum(h * (smooth.weight @ smooth.expect(n, c, own)) for n, c, h in group) / size
        )
        curve, total = sum(comb(2, j) * p**j * (1 - p) ** (2 - j) * own[j] for j in range(3)), 0.0
        for n, c, h in group:
            r = weight * p**c * (1 - p) ** (n - c)
            total += h * (r @ curve) / r.sum() / size
        free.append(total)
    (a, b), (x, y) = powers, [(size * u + m) / (size + 1) for u, m in zip(seen, means, strict=True)]
    theta = x**a * y**b
    linear = [theta * (a / x * g + b / y * h) for g, h in zip(*values, strict=True)]
    m, s2, factor = oracle.noisy(group, lambda _: linear)
    found = blend_variance(Calibrated.fit(states_of(group)), *gains, powers)
    # Sums of a few terms in another order: far below the default of approx, 1e-6.
    assert found.mu[0] == pytest.approx(seen[0] ** a * seen[1] ** b)
    assert found.sigma[0] == pytest.approx(sqrt(s2), abs=GRID_TOLERANCE)
    # A quotient of two variances, each with the error of its grid.
    assert found.factor[0] == pytest.approx(factor, abs=1e-5)
    # m of the oracle tells which fit is the larger one.
    of_free = theta * (a / x * free[0] + b / y * free[1])
    # The same sum in another order; sums over the other fit lie far away.
    chosen = free if m == pytest.approx(of_free, abs=1e-9) else means
    assert found.mean[0] == pytest.approx(chosen[0] ** a * chosen[1] ** b, abs=GRID_TOLERANCE)


@pytest.mark.parametrize("case", CASES)
def test_a_blend_of_one_metric_is_that_metric(case):
    fitted, gains = Calibrated.fit(states_of(CASES[case])), any_success(1)
    (alone,) = credit_variances(fitted, [fixed_gains(gains)])
    # The same grids; the blend's credit is rebuilt from two products: rounding.
    assert_variances_equal(blend_variance(fitted, gains, gains, (0.3, 0.7)), alone, 1e-9)


def test_a_negative_power_has_a_normal_interval():
    fitted = Calibrated.fit(states_of(R1))
    noisy = blend_variance(fitted, any_success(2), all_success(2), (2.0, -1.0))
    # A few roundings: far below the default of approx.
    assert noisy.mu == pytest.approx(0.95**2 / 0.45)
    lo, hi = clopper_pearson_interval(noisy, 0.95)
    noise = 1.959964 * noisy.sigma * np.sqrt(noisy.factor)
    # z has seven digits: an error of 1e-8, below the default of approx, 1e-6.
    assert (hi - noisy.mu, noisy.mu - lo) == (pytest.approx(noise), pytest.approx(noise))
    zero = blend_variance(
        Calibrated.fit(states_of(CASES["all wrong"])), *[any_success(1)] * 2, (1.0, -0.5)
    )
    assert zero.mu == 0
    assert np.isfinite(zero.sigma).all()


def test_a_blend_beyond_the_trials_has_none():
    noisy = blend_variance(
        Calibrated.fit(states_of(R1)), any_success(9), all_success(9), (0.5, 0.5)
    )
    assert np.isnan([noisy.mu, noisy.sigma, *clopper_pearson_interval(noisy, 0.95)]).all()
