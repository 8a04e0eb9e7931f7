"""Trials planned with assurance, against simulation and search one by one."""

import numpy as np
import pytest

from polars_scorio.kernels.simultaneous.assurance import assurance, trials_with_assurance


def sigma(m):
    return 0.06 / np.sqrt(1 + m / 10)


@pytest.mark.parametrize("diff", [-0.1, 0.0, 0.03, 0.11, 0.2])
def test_is_how_often_the_later_difference_is_settled(diff):
    random = np.random.default_rng(1)
    now, then = 0.06, 0.02
    later = diff + np.sqrt(now**2 - then**2) * random.normal(size=100_000)
    found = assurance(np.array(diff), np.array(now), np.array(then), 1.96)
    # Three standard errors of 100,000 draws, of a chance near 1/2.
    assert found == pytest.approx((np.abs(later) > 1.96 * then).mean(), abs=0.005)


def test_where_nothing_is_learned_a_pair_is_settled_or_not():
    diff, none = np.array([0.1, 0.2, 0.0, np.nan]), np.zeros(4)
    found = assurance(diff, none + 0.06, none + 0.06, 1.96)
    np.testing.assert_array_equal(found, [0, 1, 0, np.nan])
    np.testing.assert_array_equal(assurance(diff, none, none, 1.96), [1, 1, 0, np.nan])


@pytest.mark.parametrize("goal", [0.3, 0.5, 0.8, 0.95])
def test_no_fewer_trials_do(goal):
    diff = np.array([-0.115, 0.02, 0.05, 0.08, 0.11])
    found = trials_with_assurance(diff, sigma, 1.96, goal, 10_000)
    for each, m in zip(diff, found, strict=True):
        tried = np.arange(1, 10_000)
        then = 0.06 / np.sqrt(1 + tried / 10)
        chance = assurance(np.full(tried.size, each), np.full(tried.size, 0.06), then, 1.96)
        enough = np.abs(each) >= 1.96 * then if goal == 0.5 else chance >= goal
        assert m == tried[enough.argmax()]


def test_a_coin_flip_is_the_point_of_the_difference_of_today():
    m = trials_with_assurance(np.array([0.05]), sigma, 1.96, 0.5, 10_000)
    assert 1.96 * sigma(m) <= 0.05 < 1.96 * sigma(m - 1)


def test_settled_pairs_need_none_and_hopeless_ones_more_than_the_limit():
    diff = np.array([0.5, 0.0, np.nan, 1e-9])
    assert trials_with_assurance(diff, sigma, 1.96, 0.5, 100).tolist() == [0, 101, 101, 101]
    # A difference of nothing is settled by what the trials may bring, if there are enough of them.
    assert trials_with_assurance(diff, sigma, 1.96, 0.8, 10).tolist() == [0, 11, 11, 11]


def test_a_pair_without_sigma_is_settled_unless_it_is_equal():
    found = trials_with_assurance(np.array([0.1, 0.0]), lambda m: 0.0 * m, 1.96, 0.8, 50)
    assert found.tolist() == [0, 51]
