"""Ranges of forecasts, where they can be known otherwise."""

import numpy as np
import pytest
from scipy.optimize import brentq, linprog
from scipy.stats import chi2

from polars_scorio.maths.credit_numbers import forecast_range
from polars_scorio.maths.draws import all_success, any_success, excess_over_half
from polars_scorio.maths.free_fit import Calibrated, Group
from polars_scorio.maths.region import largest_means, reaches_mean
from tests.maths.cases import CASES, RAGGED, states_of

RANGE = 1e-6  # of the barriers, by far


def rejected_means(successes, failures):
    """Means of single trials at which the likelihood ratio rejects."""

    def ratio(mean):
        best = successes / (successes + failures)
        return (
            successes * np.log(mean / best)
            + failures * np.log((1 - mean) / (1 - best))
            + chi2.ppf(0.95, 1) / 2
        )

    best = successes / (successes + failures)
    return brentq(ratio, 1e-9, best), brentq(ratio, best, 1 - 1e-9)


def test_single_trials_say_nothing_but_the_mean():
    # Pass@k is lowest where each question repeats itself, highest where all are equal.
    lo, hi = rejected_means(7, 3)
    fitted = Calibrated.fit(states_of([(1, 0, 3), (1, 1, 7)]))
    for k in (1, 2, 5):
        found = forecast_range(fitted, any_success(k), 0.95)
        assert found.lo[0] == pytest.approx(lo, abs=RANGE)
        # The rates of the free fit are a grid: the mean lies between two of them.
        assert found.hi[0] == pytest.approx(1 - (1 - hi) ** k, abs=1e-3)


@pytest.mark.parametrize("case", CASES)
def test_a_range_stays_in_bounds_and_holds_its_mean_if_it_has_one(case):
    fitted = Calibrated.fit(states_of(CASES[case]))
    for gains in (any_success(20), all_success(20), excess_over_half(5)):
        found = forecast_range(fitted, gains, 0.95)
        known = gains.size <= 2 * min(n for n, _, _ in CASES[case])
        assert np.isnan(found.mu[0]) == (not known)
        mean = found.mu[0] if known else found.lo[0]
        assert 0 <= found.lo[0] <= mean <= found.hi[0] <= gains.sum() + 1e-12


def log_likelihood(free, weight):
    return free.questions @ np.log(free.likelihood @ weight)


def test_no_population_of_the_region_leaves_the_range():
    free = Group.fit(*np.array(RAGGED).T)
    least = log_likelihood(free, free.likeliest_weights) - chi2.ppf(0.95, 1) / 2
    found = forecast_range(Calibrated.fit(states_of(RAGGED)), any_success(32), 0.95)
    p, _ = free.rates
    value, seen = 1 - (1 - p) ** 32, []
    for corner in np.eye(p.size):
        for share in np.linspace(0, 0.99, 41):
            mixed = share * corner + (1 - share) * free.likeliest_weights
            if log_likelihood(free, mixed) >= least:
                seen.append(mixed @ value)
    assert found.lo[0] <= min(seen)
    assert max(seen) <= found.hi[0]
    assert max(seen) - min(seen) > 0.1  # it was looked at


@pytest.mark.parametrize("case", ["hard", "half", "ragged"])
def test_a_mean_that_tilted_weights_reach_lies_in_the_region(case):
    free = Group.fit(*np.array(CASES[case]).T)
    room, (p, _) = chi2.ppf(0.95, 1) / 2, free.rates
    values, best, questions = (1 - (1 - p) ** 4)[None], free.likeliest_weights[None], free.questions
    region = free.likelihood, questions[None], best
    (end,) = largest_means(*region, values, np.array([room]))
    middle = (best @ values.T).item()
    shown = [
        reaches_mean(*region, free.weight[None], values, room, np.array([middle + part]))[0]
        for part in (end - middle) * np.array([0.01, 0.9, 1.01, 2])
    ]
    assert shown[0]
    assert shown[2:] == [False, False]


@pytest.mark.slow
@pytest.mark.parametrize("case", ["hard", "half", "ragged", "all right", "one trial"])
@pytest.mark.parametrize("sign", [1, -1])
def test_an_end_is_reached_by_a_population_of_the_region(case, sign):
    """The oracle: tangents of the likelihood, and a linear programme for each."""
    free = Group.fit(*np.array(CASES[case]).T)
    room = chi2.ppf(0.95, 1) / 2
    p, _ = free.rates
    values = sign * (1 - (1 - p) ** 16)
    best, questions = free.likeliest_weights[None], free.questions[None]
    (end,) = largest_means(free.likelihood, questions, best, values[None], np.array([room]))
    least, cuts, outer = log_likelihood(free, free.likeliest_weights) - room, [], values.max()
    corner = np.eye(p.size)[values.argmax()]
    for _ in range(60):
        inside, outside = 0.0, 1.0
        for _ in range(50):
            middle = (inside + outside) / 2
            with np.errstate(divide="ignore"):
                there = log_likelihood(
                    free, free.likeliest_weights + middle * (corner - free.likeliest_weights)
                )
            inside, outside = (middle, outside) if there >= least else (inside, middle)
        edge = free.likeliest_weights + inside * (corner - free.likeliest_weights)
        assert edge @ values <= end + 1e-9  # no population of the region is beyond the end
        gradient = (free.questions / (free.likelihood @ edge)) @ free.likelihood
        cuts.append(-gradient / (gradient @ edge))
        found = linprog(
            -values, A_ub=cuts, b_ub=-np.ones(len(cuts)), A_eq=[np.ones(p.size)], b_eq=[1]
        )
        corner, outer = found.x, min(outer, found.x @ values)
    # Sixty tangents know the end less well than the dual does.
    assert end == pytest.approx(outer, abs=2e-3)
    assert end <= outer + 1e-6
