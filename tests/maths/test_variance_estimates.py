"""Variances of credits, against plain loops and by hand."""

from math import sqrt

import numpy as np
import pytest

from polars_scorio.maths.draws import all_success, any_success
from polars_scorio.maths.free_fit import Calibrated
from polars_scorio.maths.variance import fixed_gains
from polars_scorio.maths.variance_estimates import Estimate, credit_variances
from tests.maths import oracle
from tests.maths.cases import (
    GRID_TOLERANCE,
    HARD,
    R1,
    RAGGED,
    assert_variances_equal,
    states_of,
)


@pytest.mark.parametrize("group", [R1, HARD, RAGGED], ids=["two questions", "hard", "ragged"])
def test_a_variance_equals_plain_loops(group):
    (noisy,) = credit_variances(Calibrated.fit(states_of(group)), [fixed_gains(any_success(2))])
    values = [0.0, 1.0, 1.0]
    mean, variance, factor = oracle.noisy(group, lambda _: values)
    size = sum(questions for *_, questions in group)
    estimate = sum(h * oracle.estimates(n, values)[c] for n, c, h in group) / size
    # A few roundings: far below the default of approx, 1e-6.
    assert noisy.mu[0] == pytest.approx(estimate)
    assert noisy.rest[0] == pytest.approx(1 - estimate)
    assert noisy.mean[0] == pytest.approx(mean, abs=GRID_TOLERANCE)
    assert noisy.sigma[0] == pytest.approx(sqrt(variance), abs=GRID_TOLERANCE)
    # A quotient of two variances, each with the error of its grid.
    assert noisy.factor[0] == pytest.approx(factor, abs=1e-5)


def test_metrics_and_groups_that_are_estimated_together_have_the_variance_that_they_have_alone():
    draws = [fixed_gains(any_success(k)) for k in (1, 2, 3)]
    together = credit_variances(Calibrated.fit(states_of(RAGGED, HARD)), draws)
    for noisy, draw in zip(together, draws, strict=True):
        for place, group in enumerate((RAGGED, HARD)):
            (alone,) = credit_variances(Calibrated.fit(states_of(group)), [draw])
            # Polynomials of another degree: other roundings.
            assert_variances_equal(noisy.at(np.array([place])), alone, 1e-9)


def test_a_group_with_too_few_trials_has_no_variance_and_spoils_no_other():
    (noisy,) = credit_variances(Calibrated.fit(states_of(R1, HARD)), [fixed_gains(all_success(5))])
    assert np.isfinite([noisy.mu[0], noisy.sigma[0], noisy.factor[0]]).all()
    parts = noisy.estimate, noisy.rest, noisy.mean, noisy.mean_rest, noisy.variance, noisy.factor
    assert np.isnan([part[1] for part in parts]).all()


def test_a_variance_is_on_the_scale_of_its_metric():
    quarter = np.array([0.25])
    noisy = Estimate(quarter, 1 - quarter, quarter, 1 - quarter, quarter, quarter + 1, -1.0, 4.0)
    assert noisy.mu.tolist() == [0.0]
    assert noisy.sigma.tolist() == [2.0]


def test_groups_are_chosen_in_any_order_and_more_than_once():
    values = np.array([0.1, 0.2, 0.3])
    noisy = Estimate(
        values, 1 - values, values, 1 - values, values**2, 1 + values, -1.0, 4.0, False
    )
    chosen = noisy.at(np.array([2, 0, 2]))
    assert chosen.estimate.tolist() == [0.3, 0.1, 0.3]
    assert chosen.factor.tolist() == [1.3, 1.1, 1.3]
    assert (chosen.low, chosen.width, chosen.bounded) == (-1.0, 4.0, False)
