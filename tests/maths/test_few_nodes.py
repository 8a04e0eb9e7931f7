"""Few nodes where the posterior is narrow: they integrate what all nodes do."""

from dataclasses import astuple

import numpy as np
import pytest

from polars_scorio.maths.draws import all_success, any_success, majority_gains
from polars_scorio.maths.lattice import fit_categories
from polars_scorio.maths.likelihood import gauss_rules, interpolation_matrix
from polars_scorio.maths.pooled_moments import draw_posterior, weighted_posterior
from tests.maths.groups import fit_binary

RNG = np.random.default_rng(7)
POPULATIONS = {
    "uniform": RNG.random(400),
    "hard": RNG.beta(0.2, 2, 400),
    "easy": RNG.beta(3, 0.4, 1000),
    "alike": RNG.beta(10, 10, 3000),
    "half always right": np.where(RNG.random(1000) < 0.5, 1, RNG.random(1000)),
    "two clusters": np.where(RNG.random(1000) < 0.5, 0.05, 0.6),
    "all or nothing": (RNG.random(100) < 0.4).astype(float),
}
METRICS = {
    "pass@1": any_success(1),
    "pass@64": any_success(64),
    "pass^64": all_success(64),
    "maj@15": majority_gains(15),
}


def counted(n, rates):
    """n, c and number of questions of each state."""
    drawn = np.random.default_rng(n).binomial(n, rates)
    c, questions = np.unique(drawn, return_counts=True)
    return np.full(c.size, n), c, questions


def moments(grid, group, gains):
    n, c, questions = group
    counts = np.stack([n - c, c], axis=1)
    found = draw_posterior(grid, counts, n, questions, lambda _: iter([(slice(None), gains)]))
    return np.array(astuple(found)[:4])


@pytest.mark.every(5)
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("n", [16, 100])
@pytest.mark.parametrize("population", POPULATIONS)
def test_few_nodes_integrate_as_all_do(population, n, metric):
    group = counted(n, POPULATIONS[population])
    few, every = fit_binary(*group), fit_binary(*group, few=False)
    assert few.weight.size <= 80 < every.weight.size
    found, known = (moments(grid, group, METRICS[metric]) for grid in (few, every))
    # Of 212 such groups the worst was 6e-9; atol is the rounding of 1 - mu.
    np.testing.assert_allclose(found, known, rtol=1e-8, atol=1e-14)


@pytest.mark.parametrize(
    ("n", "c", "questions"),
    [
        pytest.param([4, 4, 4], [0, 2, 4], [5, 3, 9], id="few questions"),
        pytest.param([100], [50], [1000], id="equal questions"),
        pytest.param([1, 1], [0, 1], [500, 500], id="one trial"),
    ],
)
def test_a_wide_posterior_keeps_its_nodes(n, c, questions):
    group = np.array(n), np.array(c), np.array(questions)
    few, every = fit_binary(*group), fit_binary(*group, few=False)
    np.testing.assert_array_equal(few.weight, every.weight)


def test_categories_need_few_correlations(monkeypatch):
    counts = RNG.multinomial(16, RNG.dirichlet([0.5, 0.3, 0.2], 1000))
    w, each = np.array([0.0, 0.5, 1.0]), np.ones(1000, dtype=int)
    few = fit_categories(counts, each)
    monkeypatch.setattr("polars_scorio.maths.lattice._NARROW", 0.0)
    every = fit_categories(counts, each)
    assert few.weight.size == 30
    assert every.weight.size > 60
    found, known = (weighted_posterior(grid, counts, each, w) for grid in (few, every))
    # As above.
    np.testing.assert_allclose(astuple(found)[:4], astuple(known)[:4], rtol=1e-8)


def test_a_gauss_rule_has_the_moments_of_its_measure():
    place, mass = np.linspace(-1, 3, 30), RNG.random((2, 30))
    points, weights = gauss_rules(place, mass, 6)
    for power in range(12):
        known = (mass * place**power).sum(axis=1) / mass.sum(axis=1)
        # The rounding of six steps.
        np.testing.assert_allclose((weights * points**power).sum(axis=1), known, rtol=1e-11)


def test_a_measure_of_fewer_points_is_kept():
    points, weights = gauss_rules(np.array([1.0, 2.0, 5.0]), np.array([[1.0, 0.0, 3.0]]), 3)
    # A third point repeats one of the two, or weighs nothing: rounding decides.
    for point, weight in ((1, 0.25), (5, 0.75)):
        assert weights[0][np.abs(points[0] - point) < 1e-6].sum() == pytest.approx(weight)


def test_interpolation_is_exact_for_polynomials():
    nodes, _ = np.polynomial.legendre.leggauss(8)
    points = np.linspace(-1, 1, 5)
    # The rounding of eight terms.
    np.testing.assert_allclose(
        interpolation_matrix(points, 8) @ nodes**7, points**7, rtol=1e-12, atol=1e-14
    )
