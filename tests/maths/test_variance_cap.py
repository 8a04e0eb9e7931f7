"""The cap of the variance: against plain loops, and what it keeps to."""

import numpy as np
import pytest

from polars_scorio.maths import variance_estimates
from polars_scorio.maths.credit_numbers import credit_numbers
from polars_scorio.maths.draws import all_success, any_success, area_under_curve
from polars_scorio.maths.free_fit import Calibrated, Group
from polars_scorio.maths.questions import QuestionWeights
from polars_scorio.maths.variance import (
    CreditSum,
    credit_of,
    fixed_gains,
    group_moments,
    moments_of,
)
from polars_scorio.maths.variance_estimates import (
    capped_noise,
    observed_caps,
    rate_variances,
    unseen_caps,
)
from tests.maths import oracle
from tests.maths.cases import CASES, TAU, states_of

FIRST = np.array([0])
HALF = [(8, 8, 60), (8, 0, 9), (8, 1, 15), (8, 2, 10), (8, 3, 6)]
GAINS = {
    "avg": any_success(1),
    "pass@2": any_success(2),
    "pass^2": all_success(2),
    "auc@2": area_under_curve(2),
}


def group_of(states):
    return Group.fit(*np.array(states).T)


def metric_of(gains):
    return CreditSum([(1.0, fixed_gains(gains))])


def weighted(group, metric):
    """Equal weights, and the variance of the estimate at each rate."""
    weights = QuestionWeights.from_questions(group.questions)
    (at_rates,) = group_moments(group, [metric], weights).at_rates
    return weights, rate_variances(group.fits, at_rates, group.weights(weights), FIRST)


def cap_of(group, noise, noisy=np.inf):
    """The cap of one group whose counts show no noise."""
    return unseen_caps(group.fits, FIRST, noise, np.array([noisy])).item()


def shown_cap(group, gains):
    """The cap of one group whose counts show the noise."""
    weights = QuestionWeights.from_questions(group.fits.questions)
    return observed_caps(group.fits, metric_of(gains), weights)


@pytest.mark.parametrize("name", GAINS)
@pytest.mark.parametrize("states", [TAU, HALF, [(4, 0, 9), (6, 3, 5), (5, 5, 20)]])
def test_a_cap_that_the_counts_show_equals_plain_loops(states, name):
    gains, group = GAINS[name], group_of(states)
    known = oracle.cap(states, lambda _: credit_of(gains).tolist())
    (found,) = shown_cap(group, gains)
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


def test_a_cap_lies_between_the_variances_of_both_fits():
    group, metric = group_of(HALF), metric_of(GAINS["pass^2"])
    weights = QuestionWeights.from_questions(group.questions)
    moments = group_moments(group, [metric], weights)
    noisy = capped_noise(group.fits, [metric], moments, group.weights(weights))
    assert 0 < noisy.smooth_share.item() < 1
    assert moments.free_variance < noisy.variance < moments.smooth_variance
    low, high = sorted([moments.free_mean.item(), moments.smooth_mean.item()])
    assert low < noisy.between(moments.free_mean, moments.smooth_mean).item() < high


def test_noise_that_would_need_too_much_memory_is_not_capped():
    group = group_of([(9000, 100, 5), (9000, 2000, 5)])
    for gains, capped in (area_under_curve(2049), False), (any_success(2049), True):
        assert np.isfinite(shown_cap(group, gains)) == capped


def test_a_region_is_looked_at_only_if_the_free_fit_explains_more():
    group, metric = group_of(HALF), metric_of(all_success(8))
    _, noise = weighted(group, metric)
    assert cap_of(group, noise) < np.inf
    smooth, single = group_of(CASES["n = 1"]), metric_of(np.ones(1))
    assert smooth.fits.misfit[0] < 0.5
    assert cap_of(smooth, weighted(smooth, single)[1]) == np.inf


def test_a_region_holds_the_free_fit():
    group, metric = group_of(HALF), metric_of(all_success(8))
    _, noise = weighted(group, metric)
    p, _ = group.rates
    # A sum of eight terms: rounding.
    np.testing.assert_allclose(noise[0], p**8 * (1 - p**8) / group.size, rtol=0, atol=1e-15)
    assert group.weight @ noise[0] < cap_of(group, noise) < 0.25 / group.size


@pytest.mark.parametrize("case", ["all right", "all wrong", "one question"])
def test_without_doubt_there_is_a_cap_all_the_same(case):
    group = group_of(CASES[case])
    for gains in GAINS.values():
        (cap,) = shown_cap(group, gains)
        assert 0 < cap <= 0.5


def test_a_metric_without_noise_has_a_region_without_any():
    group = group_of(HALF)
    _, noise = weighted(group, metric_of(np.zeros(8)))
    assert cap_of(group, noise) == 0


def test_a_cap_below_the_variance_is_found_and_one_above_it_is_not():
    group, metric = group_of(HALF), metric_of(all_success(8))
    _, noise = weighted(group, metric)
    cap = cap_of(group, noise)
    assert cap_of(group, noise, 1.01 * cap) == pytest.approx(cap, rel=1e-6)
    assert cap_of(group, noise, 0.9 * cap) in [np.inf, pytest.approx(cap)]
    assert cap_of(group, noise, 0.1 * cap) == np.inf


def test_variances_settled_near_the_likeliest_weights_are_those_settled_at_them(monkeypatch):
    rng = np.random.default_rng(5)
    drawn = [rng.binomial(8, rng.beta(0.3, 0.5, 60)) for _ in range(16)]
    fitted = Calibrated.fit(states_of(*([(8, c, 1) for c in each] for each in drawn)))
    ((groups, fits),) = fitted.batches
    metric = metric_of(any_success(8))
    moments = moments_of(fits, [metric], weights := fitted.batch_weights(groups, fits))
    noise = rate_variances(fits, moments.at_rates[0], weights, groups)
    variances = np.geomspace(0.2, 2, groups.size) * moments.free_variance[0]
    caps = unseen_caps(fits, groups, noise, variances)
    assert 0 < np.isinf(caps).sum() < groups.size
    monkeypatch.setattr(variance_estimates, "_NEAR", 1e-6)
    exact = unseen_caps(Calibrated.fit(fitted.states).batches[0][1], groups, noise, variances)
    np.testing.assert_array_equal(caps, exact)
