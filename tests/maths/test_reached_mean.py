"""The means that some population reaches are below the largest, and often close to it."""

import numpy as np
import pytest

from polars_scorio.maths.free_fit import Group
from polars_scorio.maths.region import Region, reaches_mean

ROOM = 1.92  # half of the 95 % quantile of chi-squared


@pytest.mark.parametrize("power", [1, 2, 8])
@pytest.mark.parametrize(("questions", "n"), [(5, 4), (20, 10), (60, 12), (250, 16)])
def test_a_mean_below_the_largest_is_reached(questions, n, power):
    c = np.random.default_rng(questions).binomial(n, np.linspace(0.02, 0.99, questions))
    c, often = np.unique(c, return_counts=True)
    free = Group.fit(np.full_like(c, n), c, often).free
    p, q = free.rates
    values = 4 * p**power * q
    region = Region.around(free.likelihood, free.questions, free.likeliest_weights, ROOM)
    largest, known = region.largest(values), float(values @ free.likeliest_weights)
    # Of these cases the least reaches two fifths of the way, most more than two thirds.
    assert reaches_mean(free, values, known + 0.4 * (largest - known), ROOM)
    assert not reaches_mean(free, values, largest + 1e-9, ROOM)


def test_without_room_nothing_is_surely_within_it():
    free = Group.fit(np.array([4, 4]), np.array([1, 4]), np.array([30, 5])).free
    p, _ = free.rates
    assert not reaches_mean(free, p, float(p @ free.likeliest_weights) + 1e-3, 1e-9)


def test_a_mean_above_all_values_is_not_reached():
    free = Group.fit(np.array([4, 4]), np.array([1, 4]), np.array([30, 5])).free
    assert not reaches_mean(free, np.ones_like(free.weight), 1 + 1e-9, ROOM)
