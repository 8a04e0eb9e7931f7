"""Prices of credits, against plain loops and by hand."""

from math import sqrt

import numpy as np
import pytest

from polars_scorio.maths.draws import all_success, any_success
from polars_scorio.maths.free_fit import Calibrated
from polars_scorio.maths.price import Price, credit_prices
from polars_scorio.maths.variance import fixed_gains
from tests.maths import oracle
from tests.maths.cases import (
    GRID_TOLERANCE,
    HARD,
    R1,
    RAGGED,
    assert_prices_equal,
    states_of,
)


@pytest.mark.parametrize("group", [R1, HARD, RAGGED], ids=["two questions", "hard", "ragged"])
def test_a_price_equals_plain_loops(group):
    (price,) = credit_prices(Calibrated.fit(states_of(group)), [fixed_gains(any_success(2))])
    values = [0.0, 1.0, 1.0]
    mean, variance, factor = oracle.price(group, lambda _: values)
    size = sum(questions for *_, questions in group)
    estimate = sum(h * oracle.estimates(n, values)[c] for n, c, h in group) / size
    # A few roundings: far below the default of approx, 1e-6.
    assert price.mu[0] == pytest.approx(estimate)
    assert price.rest[0] == pytest.approx(1 - estimate)
    assert price.mean[0] == pytest.approx(mean, abs=GRID_TOLERANCE)
    assert price.sigma[0] == pytest.approx(sqrt(variance), abs=GRID_TOLERANCE)
    # A quotient of two variances, each with the error of its grid.
    assert price.factor[0] == pytest.approx(factor, abs=1e-5)


def test_metrics_and_groups_that_are_priced_together_have_the_price_that_they_have_alone():
    draws = [fixed_gains(any_success(k)) for k in (1, 2, 3)]
    together = credit_prices(Calibrated.fit(states_of(RAGGED, HARD)), draws)
    for price, draw in zip(together, draws, strict=True):
        for place, group in enumerate((RAGGED, HARD)):
            (alone,) = credit_prices(Calibrated.fit(states_of(group)), [draw])
            # Polynomials of another degree: other roundings.
            assert_prices_equal(price.at(np.array([place])), alone, 1e-9)


def test_a_group_with_too_few_trials_has_no_price_and_spoils_no_other():
    (price,) = credit_prices(Calibrated.fit(states_of(R1, HARD)), [fixed_gains(all_success(5))])
    assert np.isfinite([price.mu[0], price.sigma[0], price.factor[0]]).all()
    parts = price.estimate, price.rest, price.mean, price.mean_rest, price.variance, price.factor
    assert np.isnan([part[1] for part in parts]).all()


def test_a_price_is_on_the_scale_of_its_metric():
    quarter = np.array([0.25])
    price = Price(quarter, 1 - quarter, quarter, 1 - quarter, quarter, quarter + 1, -1.0, 4.0)
    assert price.mu.tolist() == [0.0]
    assert price.sigma.tolist() == [2.0]


def test_groups_are_chosen_in_any_order_and_more_than_once():
    values = np.array([0.1, 0.2, 0.3])
    price = Price(values, 1 - values, values, 1 - values, values**2, 1 + values, -1.0, 4.0, False)
    chosen = price.at(np.array([2, 0, 2]))
    assert chosen.estimate.tolist() == [0.3, 0.1, 0.3]
    assert chosen.factor.tolist() == [1.3, 1.1, 1.3]
    assert (chosen.low, chosen.width, chosen.bounded) == (-1.0, 4.0, False)
