"""Ranges of forecasts, where they can be known otherwise."""

import subprocess
import sys

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import chi2

from polars_scorio.kernels import credit
from polars_scorio.kernels.calibrated.forecast import Region, forecast
from polars_scorio.kernels.calibrated.groups import Calibrated, Group
from polars_scorio.kernels.calibrated.holdout import holdout_error
from tests.kernels.calibrated.cases import CASES, HARD, RAGGED, states_of

RANGE = 1e-5  # of the cutting planes, by far


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
        found = forecast(fitted, credit.any_success(k), 0.95)
        assert found.lo[0] == pytest.approx(lo, abs=RANGE)
        # The rates of the free fit are a grid: the mean lies between two of them.
        assert found.hi[0] == pytest.approx(1 - (1 - hi) ** k, abs=1e-3)


@pytest.mark.parametrize("case", CASES)
def test_a_range_holds_its_mean_and_stays_in_bounds(case):
    fitted = Calibrated.fit(states_of(CASES[case]))
    for gains in (credit.any_success(20), credit.all_success(20), credit.excess_over_half(5)):
        found = forecast(fitted, gains, 0.95)
        assert 0 <= found.lo[0] <= found.mu[0] <= found.hi[0] <= gains.sum() + 1e-12


def test_no_population_of_the_region_leaves_the_range():
    group = Group.fit(*np.array(RAGGED).T)
    region = Region.around(group.free, 0.95)
    found = forecast(Calibrated.fit(states_of(RAGGED)), credit.any_success(32), 0.95)
    p, _ = group.free.rates
    value, seen = 1 - (1 - p) ** 32, []
    for corner in np.eye(p.size):
        for share in np.linspace(0, 0.99, 41):
            mixed = share * corner + (1 - share) * region.best
            if region.log_likelihood(mixed) >= region.least:
                seen.append(mixed @ value)
    assert found.lo[0] <= min(seen)
    assert max(seen) <= found.hi[0]
    assert max(seen) - min(seen) > 0.1  # it was looked at


def test_a_solver_that_gives_up_leaves_the_last_range(monkeypatch):
    fitted, calls = Calibrated.fit(states_of(HARD)), []

    class Nothing:
        x = None

    def give_up(*_, **__):
        calls.append(1)
        return Nothing

    monkeypatch.setattr("scipy.optimize.linprog", give_up)
    found = forecast(fitted, credit.any_success(8), 0.95)
    assert (found.lo[0], found.hi[0], len(calls)) == (0, 1, 2)


def test_the_optimiser_is_imported_for_forecasts_only():
    code = (
        "import sys, polars_scorio.kernels.calibrated.numbers as n;"
        "print('scipy.optimize' in sys.modules)"
    )
    out = subprocess.run(  # noqa: S603 - our own code
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    )
    assert out.stdout.strip() == "False"


def test_holdout_by_hand():
    # One trial in four of eight: Binomial shares of the two states, one each.
    assert np.isnan(holdout_error(Group.fit(*np.array(HARD).T), credit.all_success(4)))
    assert np.isnan(holdout_error(Group.fit(*np.array(RAGGED).T), credit.all_success(16)))
    smooth = Group.fit(np.full(9, 8), np.arange(9), np.full(9, 50))
    assert abs(holdout_error(smooth, credit.any_success(8))) < 0.02
    half = Group.fit(np.full(9, 8), np.arange(9), np.array([2] * 8 + [16]) * 10)
    assert holdout_error(half, credit.all_success(8)) < -0.03
