"""A mean that some population reaches is below the largest, and often close to it."""

import numpy as np
import pytest

from polars_scorio.kernels.calibrated.extremes import Region
from polars_scorio.kernels.calibrated.group_fits import Group
from polars_scorio.kernels.calibrated.reached_mean import reached_mean

ROOM = 1.92  # half of the 95 % quantile of chi-squared


@pytest.mark.parametrize("power", [1, 2, 8])
@pytest.mark.parametrize(("questions", "n"), [(5, 4), (20, 10), (60, 12), (250, 16)])
def test_the_mean_is_below_the_largest_and_above_that_of_the_fit(questions, n, power):
    c = np.random.default_rng(questions).binomial(n, np.linspace(0.02, 0.99, questions))
    c, often = np.unique(c, return_counts=True)
    free = Group.fit(np.full_like(c, n), c, often).free
    p, q = free.rates
    values = 4 * p**power * q
    region = Region.around(free.likelihood, free.questions, free.best, ROOM)
    largest, known = region.largest(values), float(values @ free.best)
    reached = reached_mean(free, values, ROOM)
    # Of these cases the least has a third of the way, most have more than two thirds.
    assert known + 0.3 * (largest - known) < reached <= largest
    thorough = reached_mean(free, values, ROOM, thorough=True)
    assert known + 0.4 * (largest - known) < thorough <= largest
    assert known < reached_mean(free, values, ROOM, enough=known) <= reached


def test_without_room_nothing_is_surely_within_it():
    free = Group.fit(np.array([4, 4]), np.array([1, 4]), np.array([30, 5])).free
    assert reached_mean(free, np.ones_like(free.weight), 1e-9) == 0
