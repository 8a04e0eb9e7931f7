"""Models by their posterior means: intervals of differences, and when a pair is decided."""

from math import hypot

import numpy as np
import pytest
from scipy import stats

import polars_scorio as ps
from polars_scorio.maths.comparison import BetaPairs, Comparison
from polars_scorio.study.posterior import posterior_comparison

MU, SIGMA = np.array([[0.9, 0.6], [0.9, 0.5]]), np.array([[0.06, 0.08], [0.06, 0.1]])
PAIR = np.array([0]), np.array([1])


def read(metric: ps.Metric, *, beta: bool) -> Comparison:
    return posterior_comparison(metric, MU, SIGMA, beta=beta)


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
        assert not isinstance(normal.pairs(*PAIR), BetaPairs)
    assert read(ps.avg([-1, 3]), beta=True).pairs(*PAIR).range == 4


@pytest.mark.parametrize("beta", [False, True])
def test_a_pair_is_decided_if_its_interval_leaves_out_zero(beta):
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
