import numpy as np
import pytest
from scipy.special import ndtri

from polars_scorio.maths.credits import fixed_gains
from polars_scorio.maths.draws import all_success, any_success
from polars_scorio.maths.interval import Weighted, credit_estimates
from polars_scorio.maths.judges import judged_variance
from polars_scorio.maths.questions import States
from tests.maths.vectors import VECTORS, rates_of

Z = ndtri(0.975)
PERFECT = rates_of((1e9, 1e9), (1e9, 1e9))


def judged(rows, groups=None):
    """States: trials, successes and questions of each."""
    n, c, questions = np.array(rows).T
    group = 0 * n if groups is None else np.array(groups)
    counts = np.column_stack([n - c, c])
    return States.tally(counts, 0 * counts, group, questions, int(group.max()) + 1)


@pytest.fixture(scope="module")
def verdicts():
    return judged([(8, 0, 3), (8, 2, 4), (8, 5, 6), (8, 7, 5), (8, 8, 2)])


def test_estimates_and_slopes_are_those_of_the_study():
    for row in VECTORS["corrected"]:
        rows = [(state["n"], state["c"], state["questions"]) for state in row["states"]]
        rates = rates_of(row["sensitivity"], row["specificity"])
        noisy = judged_variance(judged(rows), fixed_gains(any_success(row["k"])), rates)
        calibration = noisy.total_variance(rates) - noisy.variance
        found = (noisy.estimate, noisy.sensitivity_slope, noisy.specificity_slope, calibration)
        names = ("estimate", "slope_sensitivity", "slope_specificity", "calibration_variance")
        for number, name in zip(found, names, strict=True):
            assert number == pytest.approx(row[name], abs=1e-9)


@pytest.mark.parametrize("gains", [any_success(3), all_success(2)])
def test_a_perfect_judge_changes_nothing(verdicts, gains):
    (plain,) = credit_estimates(Weighted(verdicts), [fixed_gains(gains)])
    noisy = judged_variance(verdicts, fixed_gains(gains), PERFECT)
    assert noisy.estimate == pytest.approx(plain.estimate, abs=1e-7)
    assert noisy.variance == pytest.approx(plain.variance * plain.factor, rel=1e-5)
    rate = noisy.rate(PERFECT, Z)
    assert rate.hi - rate.lo < 1


def test_groups_have_their_own_fits():
    first, other = [(4, 1, 5), (4, 3, 5)], [(4, 0, 5), (4, 4, 9)]
    rates, gains = rates_of((88, 100), (78, 100)), fixed_gains(any_success(2))
    both = judged_variance(judged([*first, *other], [0, 0, 1, 1]), gains, rates)
    for place, rows in enumerate((first, other)):
        alone = judged_variance(judged(rows), gains, rates)
        assert both.estimate[place] == pytest.approx(alone.estimate.item())
        assert both.variance[place] == pytest.approx(alone.variance.item())


def test_draws_beyond_the_trials_have_no_number(verdicts):
    noisy = judged_variance(verdicts, fixed_gains(any_success(9)), PERFECT)
    assert np.isnan(noisy.estimate)
    assert np.isnan(noisy.rate(PERFECT, Z).lo)


def test_a_poor_judge_has_no_number_for_large_draws(verdicts):
    rates = rates_of((60, 100), (55, 100))
    noisy = judged_variance(verdicts, fixed_gains(any_success(8)), rates)
    assert np.isnan(noisy.rate(rates, Z)).all()


def test_a_population_is_at_least_as_noisy(verdicts):
    rates, gains = rates_of((88, 100), (78, 100)), fixed_gains(any_success(2))
    here = judged_variance(verdicts, gains, rates)
    everywhere = judged_variance(verdicts, gains, rates, tail=0.025)
    assert everywhere.variance > here.variance
    assert everywhere.estimate == here.estimate
