"""Metrics of weights, for which real-valued rewards can stand in."""

import pytest

import polars_scorio as ps
from polars_scorio.metrics.metric import RewardMetric, given_reward_range


@pytest.mark.parametrize("metric", [ps.avg(), ps.max_at_k(2), ps.min_at_k(2)])
def test_averages_and_extremes_take_rewards(metric):
    assert isinstance(metric, RewardMetric)


@pytest.mark.parametrize("metric", [ps.bayes(), ps.pass_at_k(2), ps.mean_cost(), ps.vote_at_k(1)])
def test_metrics_of_other_things_take_none(metric):
    assert not isinstance(metric, RewardMetric)


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        (ps.avg(bounds=(0, 2)), (0.0, 2.0)),
        (ps.max_at_k(2, bounds=(0, 2)), (0.0, 2.0)),
        (ps.avg(), (-1.0, 1.0)),
        (ps.max_at_k(2), (-1.0, 1.0)),  # its own bounds are those of success and failure
        (ps.pass_at_k(2), (-1.0, 1.0)),
    ],
)
def test_the_range_of_a_metric_goes_before_that_of_all(metric, expected):
    assert given_reward_range(metric, (-1.0, 1.0)) == expected


def test_without_any_range_none_is_given():
    assert given_reward_range(ps.avg(), None) is None
