"""Differences of models: what holds whatever the inference."""

from math import hypot, inf

import numpy as np
import pytest
from scipy import stats

import polars_scorio as ps
from polars_scorio.maths.comparison import Comparison, Family, from_ranges
from polars_scorio.maths.families import standardized_differences
from polars_scorio.study.posterior import posterior_comparison


def test_a_difference_without_sigma_is_certain():
    diff, sigma = np.array([0.0, 0.0, 1e-300, -0.5, np.nan]), np.array([0.0, 1.0, 0.0, 0.25, 0.0])
    # All are exact; approx is here for the nan.
    assert standardized_differences(diff, sigma).tolist() == pytest.approx(
        [0, 0, inf, -2, np.nan], nan_ok=True
    )


def test_pairs_may_differ_from_stratum_to_stratum():
    mu, sigma = np.array([[0.2, 0.8, 0.5]]), np.array([[0.3, 0.4, 0.0]])
    scores = posterior_comparison(ps.bayes(), mu, sigma, beta=False)
    z = scores.z(np.array([[1, 2]]), np.array([[2, 0]]))
    assert z[0].tolist() == pytest.approx([0.3 / 0.4, 0.3 / 0.3])


def test_a_model_without_sigma_is_not_ranked():
    mu, sigma = np.array([[0.2, 0.8]]), np.array([[0.5, np.nan]])
    scores = posterior_comparison(ps.bayes(), mu, sigma, beta=False)
    assert scores.numbers.value[0].tolist() == pytest.approx([0.2, np.nan], nan_ok=True)


# Models by their unbiased estimates: what all their differences share.


MU, SIGMA = np.array([[0.9, 0.5, 0.1]]), np.full((1, 3), 0.05)
Z = 1.959963984540054
A, B = np.triu_indices(3, 1)


def models(limit=inf):
    return from_ranges((MU, SIGMA, MU - Z * SIGMA, MU + Z * SIGMA), Z, limit)


def test_a_pair_is_decided_if_its_interval_leaves_out_zero():
    # Differences of .4, .8 and .4, each with a sigma of .0707.
    assert models().decided(A, B, np.array([[Z]])).tolist() == [[True, True, True]]
    assert models().decided(A, B, np.array([[6.0]])).tolist() == [[False, True, False]]
    assert models().differs(np.array([[6.0]])).sum(axis=2).tolist() == [[1, 0, 1]]


def test_bounds_without_width_leave_no_difference():
    assert not models(limit=0.0).differs(np.array([[0.1]])).any()


def test_a_model_with_a_range_is_not_ranked_and_not_compared():
    ranged = from_ranges((MU, np.array([[np.nan, 0.1, 0.1]]), MU - 0.2, MU + 0.2), Z)
    assert np.isnan(ranged.numbers.value).tolist() == [[True, False, False]]
    found = ranged.differences(A, B, np.full((1, 3), Z))
    assert np.isnan(ranged.z(A, B)).tolist() == [[True, True, False]]
    assert not ranged.differs(np.array([[0.1]]))[:, 0].any()
    # The worst ends of both ranges.
    assert np.allclose(found.lo[0, 0], 0.4 - 0.4)


def test_all_pairs_of_a_model_hold_at_one_value_larger_than_that_of_a_pair():
    far = from_ranges((MU, MU / 10, MU / 2, 2 * MU), 1.0)
    of_one = "all with the baseline"
    places = Family(0.95, of_one).standings(far)
    assert (places.better <= Family(0.5, of_one).standings(far).better).all()
    assert Family(0.95, of_one).standings(models()).tier.tolist() == [[1, 2, 3]]


# Means over strata: their differences reach as far as their from_ranges intervals.


MEANS, ERRORS = np.array([[0.8, 0.5]]), np.array([[0.04, 0.03]])
LO, HI = np.array([[0.7, 0.45]]), np.array([[0.85, 0.56]])
PAIR = np.array([0]), np.array([1])


def test_means_over_strata_reach_as_far_as_their_intervals():
    models = from_ranges((MEANS, ERRORS, LO, HI), Z)
    pair = models.differences(*PAIR, np.array([[Z]]))
    assert pair.sigma.item() == pytest.approx(0.05)
    assert pair.lo.item() == pytest.approx(0.3 - hypot(0.1, 0.06))
    assert pair.hi.item() == pytest.approx(0.3 + hypot(0.05, 0.05))
    wider = models.differences(*PAIR, np.array([[2 * Z]]))
    assert wider.hi.item() == pytest.approx(0.3 + 2 * hypot(0.05, 0.05))


def test_a_pair_with_a_range_has_no_sigma_and_is_not_decided():
    models = from_ranges((MEANS, np.array([[np.nan, 0.03]]), LO, HI), Z)
    pair = models.differences(*PAIR, np.array([[Z]]))
    # The ends of both ranges: 0.7 - 0.56 and 0.85 - 0.45.
    assert (pair.lo.item(), pair.hi.item()) == pytest.approx((0.14, 0.4))
    assert np.isnan(models.z(*PAIR).item())
    assert not models.decided(*PAIR, np.array([[Z]])).item()


# Models by their posterior means: intervals of differences, and when a pair is decided.


POSTERIOR_MU, POSTERIOR_SIGMA = (
    np.array([[0.9, 0.6], [0.9, 0.5]]),
    np.array([[0.06, 0.08], [0.06, 0.1]]),
)


def read(metric: ps.Metric, *, beta: bool) -> Comparison:
    return posterior_comparison(metric, POSTERIOR_MU, POSTERIOR_SIGMA, beta=beta)


def test_beta_differences_have_the_quantiles_of_a_beta_on_minus_one_to_one():
    pair = read(ps.avg(), beta=True).differences(*PAIR, np.full((2, 1), 1.959963984540054))
    mean, variance = (1 + 0.3) / 2, hypot(0.06, 0.08) ** 2 / 4
    total = mean * (1 - mean) / variance - 1
    lo, hi = 2 * stats.beta(mean * total, (1 - mean) * total).ppf([0.025, 0.975]) - 1
    assert (pair.lo[0, 0], pair.hi[0, 0]) == pytest.approx((lo, hi), rel=1e-9)


def test_a_metric_without_a_range_has_normal_differences():
    unbounded = ps.geom_ds_at_k(2, pass_power=-1, bounds=None)
    for normal in (
        read(unbounded, beta=True),
        read(ps.avg([1, 1]), beta=True),
        read(ps.avg(), beta=False),
    ):
        pairs = normal.pairs(*PAIR)
        lo, hi = pairs.ends(np.full(pairs.diff.shape, 2.0))
        np.testing.assert_allclose(lo, pairs.diff - 2 * pairs.sigma)
        np.testing.assert_allclose(hi, pairs.diff + 2 * pairs.sigma)
    pairs = read(ps.avg([-1, 3]), beta=True).pairs(*PAIR)
    wide = np.full(pairs.diff.shape, 80.0)
    assert np.max(np.abs(pairs.ends(wide))) <= 4 < np.max(pairs.diff + 80 * pairs.sigma)


@pytest.mark.parametrize("beta", [False, True])
def test_a_pair_of_posteriors_is_decided_if_its_interval_leaves_out_zero(beta):
    scores = read(ps.avg(), beta=beta)
    # A gap of three standard deviations: decided at small critical values alone.
    found = []
    for c in (1.0, 2.5, 2.9, 3.5, 9.0):
        pair = scores.differences(*PAIR, np.full((2, 1), c))
        decided = scores.pairs(*PAIR).decided(np.full((2, 1), c))
        found.append(decided[0, 0])
        assert (pair.lo[0, 0] > 0) == decided[0, 0]
    assert found[0]
    assert not found[-1]


def test_differences_are_clipped_to_the_bounds():
    pair = read(ps.avg(bounds=(0, 0.2)), beta=False).differences(*PAIR, np.full((2, 1), 9.0))
    assert (pair.lo[0, 0], pair.hi[0, 0]) == pytest.approx((-0.2, 0.2))
