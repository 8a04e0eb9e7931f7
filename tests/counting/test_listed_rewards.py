"""Estimates of real-valued rewards in expressions: those of reports per question."""

import numpy as np
import polars as pl
import pytest
from polars.exceptions import ComputeError
from polars.testing import assert_series_equal

import polars_scorio as ps
from polars_scorio.subjects.of_rewards import grouped_rewards

METRICS = {"avg": ps.avg(), "best": ps.max_at_k(3), "worst": ps.min_at_k(3)}


@pytest.fixture(scope="module")
def log():
    rng = np.random.default_rng(31)
    sizes = [1, 2, 3, 8, 40]  # the first two have no best of three
    question = np.repeat(np.arange(5), sizes)
    return pl.DataFrame({"question": question, "reward": rng.normal(2, 5, sum(sizes))})


def estimates(log, metric):
    """The estimate of each question in a report, each by itself: there is one range for all."""
    parts = log.partition_by("question", maintain_order=True)
    roles = {"model": None, "trial": None, "category": "reward"}
    return [part.scorio(**roles).report(metric)["estimate"].item() for part in parts]


@pytest.mark.parametrize("engine", ["in-memory", "streaming"])
@pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)
def test_estimates_are_those_of_reports(log, metric, engine):
    estimate = pl.col("reward").scorio.estimate(metric)
    grouped = log.lazy().group_by("question").agg(estimate).sort("question").collect(engine=engine)
    expected = pl.Series("reward", estimates(log, metric))
    assert_series_equal(grouped["reward"], expected, rel_tol=1e-14)
    window = log.lazy().select("question", estimate.over("question")).collect(engine=engine)
    assert window.unique("question", maintain_order=True).equals(grouped)


def test_the_order_of_rows_changes_no_bit(log):
    each = [pl.col("reward").scorio.estimate(m).alias(name) for name, m in METRICS.items()]
    first = log.group_by("question").agg(each).sort("question")
    shuffled = log.sample(fraction=1.0, shuffle=True, seed=1)
    assert shuffled.group_by("question").agg(each).sort("question").equals(first)


def test_floats_that_are_zero_or_one_have_the_numbers_of_outcomes():
    log = pl.DataFrame({"question": [1] * 3 + [2] * 7, "x": [0, 1, 1, 1, 1, 0, 0, 1, 0, 0]})
    metric = pl.col("x").scorio.avg()
    floats = log.with_columns(pl.col("x").cast(pl.Float64))
    both = [each.group_by("question").agg(metric).sort("question") for each in (log, floats)]
    assert both[0].equals(both[1])


@pytest.mark.parametrize(
    ("missing", "expected"), [("drop", 0.5), (0, pytest.approx(1 / 3)), (1, pytest.approx(2 / 3))]
)
def test_missing_rewards_are_what_the_call_says(missing, expected):
    log = pl.DataFrame({"x": [0.25, 0.75, None]})
    assert log.select(pl.col("x").scorio(missing=missing).avg()).item() == expected


def test_a_group_without_rewards_has_no_estimate():
    log = pl.DataFrame({"question": [1, 2], "x": [0.5, float("nan")]})
    mean = pl.col("x").scorio(missing="drop").avg()
    assert log.group_by("question").agg(mean).sort("question")["x"].to_list() == [0.5, None]


@pytest.mark.parametrize(
    ("reward", "message"),
    [
        (None, r"a missing category \(null or NaN in 'x'\)"),
        (float("inf"), r"an infinite reward in 'x': recode it"),
    ],
)
def test_bad_rewards_are_refused(reward, message):
    log = pl.DataFrame({"x": [0.5, reward]})
    with pytest.raises((ValueError, ComputeError), match=message):
        log.select(pl.col("x").scorio.avg())


@pytest.mark.parametrize("scale", [1e-300, 1e-25, 2e9, 1e250])
def test_rewards_of_any_size_have_an_estimate(scale):
    log = pl.DataFrame({"x": [0.25 * scale, 0.75 * scale, 0.5 * scale]})
    mean, best = log.select(pl.col("x").scorio.avg(), best=pl.col("x").scorio.max_at_k(2)).row(0)
    assert (mean, best) == pytest.approx((0.5 * scale, 2 / 3 * scale), rel=1e-14, abs=0)


def test_each_group_has_the_range_of_its_rewards():
    rewards = grouped_rewards("x", pl.Series([[1.0, 3.0], [-2.0]]))
    assert rewards.trials.tolist() == [2, 1]
    assert (rewards.low.tolist(), rewards.width.tolist()) == ([1.0, -2.0], [2.0, 0.0])
    assert rewards.error == pytest.approx([1.0, np.nan], nan_ok=True)
