"""Geometric blends: where a mean is zero, and the delta method in 50 digits."""

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from polars_scorio.maths.credits import blend_means
from polars_scorio.maths.pooled_moments import Joint
from polars_scorio.metrics.blends import blend_moments
from tests.made_logs import law

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
