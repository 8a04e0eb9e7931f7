from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scorio import eval as scorio

from polars_scorio.maths import array_rows
from polars_scorio.maths.posteriors import weighted_average, weighted_moments

# Sums of at most 5 products of weights of at most 5: a few units in the last place of 5,
# also where weights of different sign cancel.
CLOSE = {"rtol": 1e-13, "atol": 1e-14}
# The target is 1e-9; a dozen roundings and a root stay near 1e-15.
ACCURATE = 1e-14

EIGHTHS = st.integers(-40, 40).map(lambda i: i / 8)  # exact, and often tied


@st.composite
def posteriors(draw):
    """Two states: nu (2, K) and w (K,)."""
    size = draw(st.integers(1, 5))
    nu = draw(st.lists(st.floats(0.01, 100), min_size=2 * size, max_size=2 * size))
    w = draw(st.lists(EIGHTHS, min_size=size, max_size=size))
    return np.reshape(nu, (2, size)), np.array(w)


def sigma(nu, w):
    return array_rows.weight_range(w) * np.sqrt(weighted_moments(nu, w)[1])


HALVES = [0.0, 0.5, 1.0]


@pytest.mark.parametrize(
    ("counts", "prior", "w", "moments"),
    [
        pytest.param([[2, 3], [1, 4]], 0, [0, 1], (0.642857, 0.118451), id="R1"),
        pytest.param([[1, 2, 2], [1, 2, 2]], 0, HALVES, (0.5625, 0.091998), id="R2"),
        pytest.param(
            [[1, 2, 2], [1, 2, 2]], [[1, 0, 1], [0, 1, 1]], HALVES, (0.575, 0.084275), id="R2 + R0"
        ),
        pytest.param(
            [[0, 1, 1, 3], [1, 1, 1, 2]], 0, [0, 0, 0.25, 1], (0.444444, 0.100539), id="rubric"
        ),
    ],
)
def test_reproduces_published_numbers_of_bayes(counts, prior, w, moments):
    nu = 1.0 + np.array(counts) + np.array(prior)
    mean, _ = weighted_moments(nu, np.array(w, dtype=float))
    spread_of_mean = np.sqrt((sigma(nu, np.array(w, dtype=float)) ** 2).sum()) / len(counts)
    # Half a unit of the sixth digit, the last that is printed.
    assert (mean.mean(), spread_of_mean) == pytest.approx(moments, abs=5e-7)


@pytest.mark.parametrize(
    ("counts", "w", "moments"),
    [
        pytest.param([[2, 3], [1, 4]], [0, 1], (0.7, 0.165831), id="R1"),
        pytest.param([[1, 2, 2], [1, 2, 2]], HALVES, (0.6, 0.147196), id="R2"),
    ],
)
def test_reproduces_published_numbers_of_avg(counts, w, moments):
    counts, w = np.array(counts), np.array(w, dtype=float)
    n = counts.sum(axis=1)
    rescaled = (1 + w.size - 1 + n) / n * sigma(counts + 1.0, w)
    average = weighted_average(counts, w).mean()
    # Half a unit of the sixth digit, the last that is printed.
    assert (average, np.sqrt((rescaled**2).sum()) / len(n)) == pytest.approx(moments, abs=5e-7)


WEIGHTS = {
    "grades": [0.0, 0.5, 1.0],
    "tiny step": [0.0, 1e-12, 1.0],
    "two close at the top": [0.1, 0.7, 0.69999],
    "two close at the bottom": [0.7, 0.1, 0.10001],
    "tiny": [1e-12, 3e-12, 0.0],
    "huge": [1e12, 0.0, 1e-12],
    "near the root of the largest float": [0.0, 1e155, 3e155],
    "shifted": [1e9 + 0.25, 1e9, 1e9 + 1],
    "negative": [-1.0, -1e-12, -1e9],
    "tied": [0.5, 1.0, 0.5],
}
weights_of_one_sign = pytest.mark.parametrize("w", WEIGHTS.values(), ids=WEIGHTS)

COUNTS = [
    [100_000, 0, 0],
    [0, 0, 100_000],
    [99_999, 1, 0],
    [0, 99_999, 1],
    [1, 0, 99_999],
    [33_334, 33_333, 33_333],
    [0, 1, 0],
]
PARAMETERS = [
    *(np.array(COUNTS) + 1.0),
    *(np.array(COUNTS) + 1e-3),
    [1.0, 1.0, 1e5],
    [1e-3, 1e-3, 1e-3],
    [1e6, 1e6, 1e6],
    [1e-3, 1e6, 1e6],
    [1e6, 1e-3, 1e-3],
    [0.5, 17.25, 3.1],
]


@weights_of_one_sign
def test_average_is_accurate_in_every_corner(w):
    exact = [
        float(sum(Fraction(weight) * c for weight, c in zip(w, counts, strict=True)) / sum(counts))
        for counts in COUNTS
    ]
    np.testing.assert_allclose(
        weighted_average(np.array(COUNTS), np.array(w)), exact, rtol=ACCURATE
    )


@weights_of_one_sign
def test_posterior_is_accurate_in_every_corner(w):
    # The difference of squares loses up to 36 digits here: 50 are left of 90.
    with mpmath.workdps(90):
        exact = []
        for nu in PARAMETERS:
            total = mpmath.fsum(nu)
            mean = mpmath.fsum(mpmath.mpf(x) * y for x, y in zip(nu, w, strict=True)) / total
            square = (
                mpmath.fsum(mpmath.mpf(x) * mpmath.mpf(y) ** 2 for x, y in zip(nu, w, strict=True))
                / total
            )
            exact.append((float(mean), float(mpmath.sqrt((square - mean**2) / (total + 1)))))
    exact_mean, exact_sigma = np.transpose(exact)
    mean, _ = weighted_moments(np.array(PARAMETERS), np.array(w))
    np.testing.assert_allclose(mean, exact_mean, rtol=ACCURATE)
    np.testing.assert_allclose(sigma(np.array(PARAMETERS), np.array(w)), exact_sigma, rtol=ACCURATE)


@given(posteriors())
def test_variance_is_the_sum_over_pairs_of_categories(posterior):
    nu, w = posterior
    _, variance = weighted_moments(nu, w)
    for parameters, value in zip(nu, variance, strict=True):
        total = parameters.sum()
        pairs = np.outer(parameters, parameters) * np.subtract.outer(w, w) ** 2
        oracle = pairs.sum() / 2 / total**2 / (total + 1)
        # Both sums are of at most 25 terms of one sign.
        assert array_rows.weight_range(w) ** 2 * value == pytest.approx(oracle, rel=1e-13, abs=0)


@pytest.mark.parametrize(
    ("nu", "w"),
    [([1.0, 1.0, 1.0], [0.0, 0.5, 1.0]), ([3.0, 0.5, 8.0, 2.0], [-1.0, 4.0, 0.0, 0.5])],
)
def test_posterior_agrees_with_simulation(nu, w):
    g = np.random.default_rng(3).dirichlet(nu, size=400_000) @ np.array(w)
    # Five standard errors of a mean and of a variance; the seed is fixed.
    error = 5 / np.sqrt(g.size)
    squares = (g - g.mean()) ** 2
    (mean,), _ = weighted_moments(np.array([nu]), np.array(w))
    (deviation,) = sigma(np.array([nu]), np.array(w))
    assert mean == pytest.approx(g.mean(), abs=error * g.std())
    assert deviation**2 == pytest.approx(squares.mean(), abs=error * squares.std())


@pytest.mark.parametrize("seed", range(20))
def test_agrees_with_scorio(seed):
    rng = np.random.default_rng(seed)
    m, n, prior, size = rng.integers(1, [9, 13, 5, 6])
    size += 1
    outcomes, earlier = rng.integers(size, size=(m, n)), rng.integers(size, size=(m, prior))
    w = rng.normal(size=size)
    counts, before = (
        np.stack([(matrix == j).sum(axis=1) for j in range(size)], axis=1)
        for matrix in (outcomes, earlier)
    )
    mean, _ = weighted_moments(1.0 + counts + before, w)
    deviation = np.sqrt((sigma(1.0 + counts + before, w) ** 2).sum()) / m
    # Both sides round a few dozen sums of numbers near 1.
    assert (mean.mean(), deviation) == pytest.approx(scorio.bayes(outcomes, w, earlier), abs=1e-13)
    without_prior = (size + n) / n * np.sqrt((sigma(1.0 + counts, w) ** 2).sum()) / m
    average = weighted_average(counts, w).mean()
    assert (average, without_prior) == pytest.approx(scorio.avg(outcomes, w), abs=1e-13)


@given(posteriors(), st.permutations(range(5)))
def test_the_order_of_the_categories_is_irrelevant(posterior, order):
    nu, w = posterior
    order = [j for j in order if j < w.size]
    np.testing.assert_allclose(
        weighted_moments(nu[:, order], w[order]), weighted_moments(nu, w), **CLOSE
    )


@given(posteriors(), st.sampled_from([1e-12, -3.0, 1e12, 1e155]))
def test_the_unit_of_the_weights_scales_the_mean_and_leaves_the_variance(posterior, unit):
    nu, w = posterior
    mean, variance = weighted_moments(nu, w)
    scaled_mean, scaled_variance = weighted_moments(nu, unit * w)
    np.testing.assert_allclose(scaled_mean / unit, mean, **CLOSE)
    np.testing.assert_allclose(scaled_variance, variance, **CLOSE)


@given(posteriors())
def test_a_shift_of_the_weights_costs_no_digit_of_the_spread(posterior):
    nu, w = posterior
    mean, variance = weighted_moments(nu, w)
    # Eighths survive a shift of 1e9; one unit in its last place is 1.2e-7.
    for shift in (1e9, -1e9):
        shifted_mean, shifted_variance = weighted_moments(nu, w + shift)
        np.testing.assert_allclose(shifted_mean - shift, mean, atol=1.3e-7, rtol=0)
        np.testing.assert_array_equal(shifted_variance, variance)


@given(posteriors())
def test_the_posterior_mean_of_whole_parameters_is_an_average_of_trials(posterior):
    nu, w = posterior
    counts = np.ceil(nu)
    np.testing.assert_array_equal(
        weighted_moments(counts, w)[0], weighted_average(counts.astype(np.int64), w)
    )


@pytest.mark.parametrize("w", [[0.7], [0.7, 0.7, 0.7], [-1e155, -1e155]])
def test_equal_weights_leave_nothing_uncertain(w):
    counts, w = np.full((2, len(w)), 3), np.array(w)
    np.testing.assert_array_equal(weighted_average(counts, w), [w[0]] * 2)
    mean, variance = weighted_moments(counts + 1.0, w)
    np.testing.assert_array_equal(mean, [w[0]] * 2)
    np.testing.assert_array_equal(variance, [0.0, 0.0])


def test_no_states_give_no_values():
    w = np.array([0.0, 0.5, 1.0])
    assert weighted_average(np.empty((0, 3), dtype=np.int64), w).shape == (0,)
    assert [x.shape for x in weighted_moments(np.empty((0, 3)), w)] == [(0,), (0,)]


def test_a_state_without_trials_has_no_average():
    counts = np.array([[1, 2], [0, 0], [3, 0], [0, 0]])
    with pytest.raises(ValueError, match="2 of 4 states have no trial, the first is state 1"):
        weighted_average(counts, np.array([0.0, 1.0]))


def test_a_weight_per_category_is_required():
    with pytest.raises(ValueError, match=r"got \(1, 1\) and \(2,\)"):
        weighted_average(np.array([[1]]), np.array([0.0, 1.0]))
    with pytest.raises(ValueError, match=r"got \(1, 3\) and \(1,\)"):
        weighted_moments(np.array([[1.0, 2.0, 3.0]]), np.array([1.0]))


def test_batches_leave_no_trace(monkeypatch):
    rng = np.random.default_rng(5)
    counts, w = rng.integers(1, 9, size=(200, 12)), rng.random(12)

    def values():
        return [weighted_average(counts, w), *weighted_moments(counts + 1.0, w)]

    whole = values()
    # One state, then three at a time. Bit by bit: Polars cuts the states differently from run
    # to run. Twelve categories, for NumPy changes the order of its sums from eight on.
    for room in (12, 36):
        monkeypatch.setattr(array_rows, "CELLS", room)
        np.testing.assert_equal(values(), whole)
