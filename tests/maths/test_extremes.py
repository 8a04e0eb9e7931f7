"""Largest means in a region of populations: both ways to Newton's step, and many at once."""

import numpy as np
import pytest

from polars_scorio.maths.credit_at_rates import credit_at
from polars_scorio.maths.draws import any_success
from polars_scorio.maths.free_fit import Group, curved_solution
from polars_scorio.maths.region import largest_means
from tests.maths.cases import CASES

ROOM = np.array([1.92])  # half of the 95 % quantile of chi-squared


def largest(free, values, enough=np.inf):
    """The largest mean of one group."""
    best = free.likeliest_weights[None]
    found = largest_means(free.likelihood, free.questions[None], best, values[None], ROOM, enough)
    return found.item()


@pytest.mark.parametrize(("states", "size"), [(4, 9), (9, 4)])
def test_a_step_by_states_or_by_rates_solves_the_equations(states, size):
    rng = np.random.default_rng(0)
    likelihood, often, flat, right = (
        rng.random(shape) for shape in ((states, size), (2, states), (2, size), (2, size, 3))
    )
    often[1, 0] = 0  # a state that the second group does not have
    found = curved_solution(likelihood, often, flat, right)
    for row in range(2):
        matrix = likelihood.T @ (often[row][:, None] * likelihood) + np.diag(1 / flat[row])
        np.testing.assert_allclose(matrix @ found[row], right[row], rtol=1e-10)


@pytest.mark.parametrize("case", CASES)
def test_a_group_among_others_has_the_end_that_it_has_alone(case):
    free = Group.fit(*np.array(CASES[case]).T)
    values = credit_at(*free.rates, any_success(32))
    alone = [largest(free, sign * values) for sign in (1, -1)]
    questions = np.repeat([free.questions], 3, axis=0)
    best = np.repeat([free.likeliest_weights], 3, axis=0)
    signed = np.stack([values, -values, values**2])
    both = largest_means(free.likelihood, questions, best, signed, np.repeat(ROOM, 3))[:2]
    # Either is an upper limit, at most 1e-9 above the largest mean.
    np.testing.assert_allclose(both, alone, rtol=0, atol=2e-9)


@pytest.mark.parametrize("case", CASES)
def test_an_end_that_is_far_enough_is_not_looked_for(case):
    free = Group.fit(*np.array(CASES[case]).T)
    p, q = free.rates
    values = 4 * p * q
    end, known = largest(free, values), float(values @ free.likeliest_weights)
    assert largest(free, values, known + 0.9 * (end - known)) in [np.inf, pytest.approx(end)]
    assert largest(free, values, known / 2) == np.inf
    assert largest(free, values, end + 1e-9) == pytest.approx(end, abs=2e-9)
