"""The kernels against a second calculation in plain loops."""

import numpy as np
import pytest

from polars_scorio.maths.credit_numbers import credit_numbers
from polars_scorio.maths.draws import (
    all_success,
    any_success,
    area_under_curve,
    excess_over_half,
    majority_gains,
)
from polars_scorio.maths.free_fit import Calibrated
from polars_scorio.maths.variance import credit_of, fixed_gains
from tests.maths import oracle
from tests.maths.cases import CASES, states_of

METRICS = {
    "avg": (1, any_success(1)),
    "pass@2": (2, any_success(2)),
    "pass@4": (4, any_success(4)),
    "pass^4": (4, all_success(4)),
    "maj@3": (3, majority_gains(3)),
    "auc@4": (4, area_under_curve(4)),
    "mg@5": (5, excess_over_half(5)),  # at most .8
    "spectrum": (2, np.array([0.2, 0.3])),
}
# Of metrics that are never below those of smaller draws, and never above: the smaller draws.
ABOVE = {"pass@2": any_success, "pass@4": any_success, "auc@4": None}
BELOW = {"pass^4": all_success, "mg@5": None, "spectrum": None}
TOLERANCE = 2e-7  # the two grids of the smooth fit differ
LOOSE = 2e-6  # where a Beta population degenerates, the dense grid is the coarser one


def smaller_draws(metric, k, fewest):
    """The gains of the draws that bound a metric of up to 4, if a question has some trials."""
    if k > 1 and metric in ABOVE | BELOW:
        yield np.ones(1)
        shape = (ABOVE | BELOW)[metric]
        if shape is not None and k > 2 and fewest >= 4:
            yield shape(2)


@pytest.mark.every(5)
@pytest.mark.parametrize("target", ["benchmark", "population"])
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("case", CASES)
def test_numbers_equal_those_of_plain_loops(case, metric, target):
    group, (k, gains) = CASES[case], METRICS[metric]
    if min(n for n, _, _ in group) < k:
        pytest.skip("a forecast")
    if target == "population" and sum(h for _, _, h in group) == 1:
        pytest.skip("one question says nothing about others")
    known = [*oracle.numbers(group, lambda _: credit_of(gains).tolist(), 0.95, target)]
    for smaller in smaller_draws(metric, k, min(n for n, _, _ in group)):
        shape = credit_of(smaller).tolist()
        *_, lo, hi = oracle.numbers(group, lambda _, shape=shape: shape, 0.95, target)
        known[-2] = max(known[-2], lo if metric in ABOVE else 0)
        known[-1] = min(known[-1], hi if metric in BELOW else 1)
    (found,) = credit_numbers(Calibrated.fit(states_of(group)), [fixed_gains(gains)], 0.95, target)
    np.testing.assert_allclose(np.ravel(found[1:5]), known, rtol=0, atol=LOOSE)


@pytest.mark.parametrize("target", ["benchmark", "population"])
@pytest.mark.parametrize("case", ["hard", "ragged", "half"])
def test_a_majority_of_all_trials(case, target):
    group = CASES[case]
    known = oracle.numbers(group, lambda n: credit_of(majority_gains(n)).tolist(), 0.95, target)
    (found,) = credit_numbers(Calibrated.fit(states_of(group)), [majority_gains], 0.95, target)
    np.testing.assert_allclose(np.ravel(found[1:5]), known, rtol=0, atol=TOLERANCE)


@pytest.mark.parametrize("case", CASES)
def test_misfit(case):
    # The best node of a grid, of either grid, is a little below the best population.
    found = Calibrated.fit(states_of(CASES[case])).groups[0].fits.misfit[0]
    assert found == pytest.approx(oracle.misfit(CASES[case]), abs=0.1)


@pytest.mark.slow
def test_groups_do_not_know_of_each_other():
    groups = list(CASES.values())
    draws = [fixed_gains(METRICS[name][1]) for name in ("avg", "pass@4", "pass^4")]
    together = credit_numbers(Calibrated.fit(states_of(*groups)), draws, 0.9)
    for row, group in enumerate(groups):
        alone = credit_numbers(Calibrated.fit(states_of(group)), draws, 0.9)
        for both, own in zip(together, alone, strict=True):
            # Metrics beyond the trials leave the others; then degrees, and roundings, differ.
            found = [number[row] for number in both[:-1]]  # the last is the variance of them
            np.testing.assert_allclose(found, np.ravel(own[:-1]), rtol=0, atol=1e-11)
