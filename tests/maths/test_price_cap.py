"""The cap of the price: against plain loops, and what it keeps to."""

import numpy as np
import pytest
from scipy.stats import binom

from polars_scorio.maths import credit, variance
from polars_scorio.maths.free_fit import Calibrated, Group
from polars_scorio.maths.price import capped_price, observed_caps, region_cap, unseen_cap
from polars_scorio.maths.questions import QuestionWeights
from polars_scorio.maths.scores import credit_numbers
from polars_scorio.maths.variance import CreditSum, credit_of, fixed_gains, group_moments
from tests.maths import oracle
from tests.maths.cases import CASES, TAU, states_of

HALF = [(8, 8, 60), (8, 0, 9), (8, 1, 15), (8, 2, 10), (8, 3, 6)]
GAINS = {
    "avg": credit.any_success(1),
    "pass@2": credit.any_success(2),
    "pass^2": credit.all_success(2),
    "auc@2": credit.area_under_curve(2),
}


def group_of(states):
    return Group.fit(*np.array(states).T)


def metric_of(gains):
    return CreditSum([(1.0, fixed_gains(gains))])


def weighted(group, metric):
    """Equal weights, and the variance of the estimate at each rate."""
    weights = QuestionWeights.equal(group.questions)
    return weights, group_moments(group, [metric], weights).rate_variance[0]


@pytest.mark.parametrize("name", GAINS)
@pytest.mark.parametrize("states", [TAU, HALF, [(4, 0, 9), (6, 3, 5), (5, 5, 20)]])
def test_a_cap_that_the_counts_show_equals_plain_loops(states, name):
    gains, group = GAINS[name], group_of(states)
    known = oracle.cap(states, lambda _: credit_of(gains).tolist())
    (found,) = observed_caps(group, [metric_of(gains)], QuestionWeights.equal(group.questions))
    # A few roundings of sums of up to 100 terms.
    assert found == pytest.approx(known, rel=1e-12)


@pytest.mark.parametrize("states", [TAU, HALF])
@pytest.mark.parametrize("name", ["pass^2", "auc@2"])
def test_capped_numbers_equal_plain_loops(states, name):
    values = credit_of(GAINS[name]).tolist()
    known = oracle.numbers(states, lambda _: values, 0.95)
    (found,) = credit_numbers(Calibrated.fit(states_of(states)), [fixed_gains(GAINS[name])], 0.95)
    # The two grids of the smooth fit differ.
    np.testing.assert_allclose(np.ravel(found[1:5]), known, rtol=0, atol=2e-7)


def test_a_cap_lies_between_the_prices_of_both_fits():
    group, metric = group_of(HALF), metric_of(GAINS["pass^2"])
    weights = QuestionWeights.equal(group.questions)
    moments = group_moments(group, [metric], weights)
    price = capped_price(group, [metric], moments, weights)
    assert 0 < price.smooth_share[0] < 1
    assert moments.free_variance < price.variance < moments.smooth_variance
    between = sorted([moments.free_mean[0], moments.smooth_mean[0]])
    assert between[0] < price.between(moments.free_mean, moments.smooth_mean)[0] < between[1]


def test_estimates_of_the_noise_are_unbiased():
    metric, p, every = metric_of(credit.area_under_curve(3)), 0.3, np.arange(8)
    chance = binom.pmf(every, 7, p)
    square = chance @ metric.estimates(7, every)[0] ** 2
    known = square - (chance @ metric.estimates(7, every)[0]) ** 2
    # A sum of eight terms.
    assert chance @ metric.noise_estimates(7, every) == pytest.approx(known, rel=1e-12)


@pytest.mark.parametrize("gains", [credit.any_success(70), credit.all_success(9), np.ones(1)])
def test_noise_of_many_trials_equals_that_of_all_states(gains, monkeypatch):
    c, metric = np.array([0, 1, 2, 77, 149, 150]), metric_of(gains)
    known = metric.noise_estimates(150, c)
    # Draws of 70 have a noise of 150 trials: in closed form then.
    monkeypatch.setattr(variance, "_TABULATED", 149)
    found = metric_of(gains).noise_estimates(150, c)
    # Differences of squares of numbers up to 1; of logs of binomial coefficients.
    np.testing.assert_allclose(found, known, rtol=1e-9, atol=1e-14)


def test_noise_that_would_need_too_much_memory_is_not_capped():
    group = group_of([(3000, 100, 5), (3000, 2000, 5)])
    weights = QuestionWeights.equal(group.questions)
    metrics = [metric_of(credit.area_under_curve(80)), metric_of(credit.any_success(80))]
    assert np.isinf(observed_caps(group, metrics, weights)).tolist() == [True, False]


def test_a_region_is_looked_at_only_if_the_free_fit_explains_more():
    group, metric = group_of(HALF), metric_of(credit.all_success(8))
    _, noise = weighted(group, metric)
    assert unseen_cap(group, noise) == region_cap(group, noise) < np.inf
    smooth, single = group_of(CASES["n = 1"]), metric_of(np.ones(1))
    assert smooth.misfit < 0.5
    assert unseen_cap(smooth, weighted(smooth, single)[1]) == np.inf


def test_a_region_holds_the_free_fit():
    group, metric = group_of(HALF), metric_of(credit.all_success(8))
    _, noise = weighted(group, metric)
    p, _ = group.free.rates
    # A polynomial of degree 16: rounding.
    np.testing.assert_allclose(noise, p**8 * (1 - p**8) / group.size, rtol=0, atol=1e-15)
    assert group.free.weight @ noise < region_cap(group, noise) < 0.25 / group.size


@pytest.mark.parametrize("case", ["all right", "all wrong", "one question"])
def test_without_doubt_there_is_a_cap_all_the_same(case):
    group = group_of(CASES[case])
    for gains in GAINS.values():
        (cap,) = observed_caps(group, [metric_of(gains)], QuestionWeights.equal(group.questions))
        assert 0 < cap <= 0.5


def test_a_metric_without_noise_has_a_region_without_any():
    group = group_of(HALF)
    _, noise = weighted(group, metric_of(np.zeros(8)))
    assert region_cap(group, noise) == 0


def test_a_cap_that_would_lie_above_the_price_is_not_worked_out(monkeypatch):
    monkeypatch.setattr(
        "polars_scorio.maths.price.region_cap",
        lambda *_: pytest.fail("the cap takes time"),
    )
    c = np.random.default_rng(1).binomial(10, np.linspace(0.02, 0.99, 20))
    c, often = np.unique(c, return_counts=True)
    group = Group.fit(np.full_like(c, 10), c, often)
    metric, equal = metric_of(np.eye(8)[0]), QuestionWeights.equal(group.questions)
    moments = group_moments(group, [metric], equal)
    price = 1.1 * moments.free_variance[0]
    assert unseen_cap(group, moments.rate_variance[0], price) == np.inf
