"""Sums of rewards: exact, and the same for each order of the rows."""

import os
import subprocess
import sys
from fractions import Fraction
from itertools import product

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import polars_scorio as ps
from polars_scorio.counting.checks import MISSING, ROWS, over_trials
from polars_scorio.counting.log import CATEGORY
from polars_scorio.subjects.of_rewards import (
    FRACTIONS,
    RewardSums,
    reward_moments,
    reward_numbers,
    sure_successes,
)

FINITE = st.floats(-1000, 1000, allow_subnormal=False)


def averages(rewards, **roles):
    """Estimate and standard error of one question, from a report."""
    log = pl.DataFrame({"question": 1, "category": pl.Series(rewards, dtype=pl.Float64)})
    row = log.scorio(model=None, trial=None, **roles).avg().row(0, named=True)
    return row["estimate"], row["sigma"]


def exact_moments(rewards):
    exact = [Fraction(reward) for reward in rewards]
    mean = sum(exact) / len(exact)
    square = sum((reward - mean) ** 2 for reward in exact) / (len(exact) * (len(exact) - 1))
    return float(mean), float(square) ** 0.5


@pytest.mark.slow
@pytest.mark.parametrize("bounds", [None, (-1000.0, 1000.0)])
@given(rewards=st.lists(FINITE, min_size=2, max_size=6))
def test_sums_equal_those_of_fractions(rewards, bounds):
    rewards = [*rewards, 0.5]  # no binary log
    mean, error = averages(rewards, bounds=bounds)
    exact_mean, exact_error = exact_moments(rewards)
    # Integers of 2^-43 (2^-74 without a range), on a scale of 1,000.
    assert mean == pytest.approx(exact_mean, rel=1e-12, abs=1e-12)
    assert error == pytest.approx(exact_error, rel=1e-11, abs=1e-12)


@pytest.mark.parametrize("bounds", [None, (0.0, 1.0), (-5.0, 0.3)])
@pytest.mark.parametrize("reward", [0.1, 0.3, 1 / 3, 1e-9, -2.7])
def test_equal_rewards_have_no_error_at_all(reward, bounds):
    if bounds is None or bounds[0] <= reward <= bounds[1]:
        mean, error = averages([reward] * 7, bounds=bounds)
        assert (mean, error) == (pytest.approx(reward, rel=1e-7, abs=1e-15), 0.0)


@pytest.mark.parametrize("scale", [1e-250, 1e-30, 1e9, 1e250])
def test_rewards_of_any_size_are_summed_if_their_range_is_given(scale):
    rewards = [0.2 * scale, 0.7 * scale, 0.3 * scale]
    mean, error = averages(rewards, bounds=(0.0, scale))
    assert (mean, error) == pytest.approx((0.4 * scale, exact_moments([0.2, 0.7, 0.3])[1] * scale))


TENTHS = [0.0, 0.1, 0.2, 0.7, 0.3]


@pytest.mark.parametrize("scale", [1e-3, 1e-10, 1e-15])
def test_small_rewards_keep_their_digits(scale):
    mean, error = averages([reward * scale for reward in TENTHS])
    exact_mean, exact_error = exact_moments(TENTHS)
    assert mean / scale == pytest.approx(exact_mean, rel=1e-7)
    assert error / scale == pytest.approx(exact_error, rel=1e-7)


@pytest.mark.parametrize("scale", [1e-20, -1e-25, 1e-300])
def test_rewards_below_the_resolution_are_refused_with_a_unit(scale):
    said = (
        r"^no reward of the log in 'category' is larger than [67]\S*, .* lose digits\. Count in a "
    )
    said += r"smaller unit, as in category=pl\.col\('category'\) \* 1e\d+, or pass bounds= with "
    with pytest.raises(ValueError, match=said):
        averages([reward * scale for reward in TENTHS])
    within = -abs(scale), abs(scale)
    if abs(scale) > 1e-280:
        assert averages([r * scale for r in TENTHS], bounds=within)[0] == pytest.approx(
            0.26 * scale
        )


def test_tiny_rewards_beside_others_and_rewards_of_nothing_are_taken():
    assert averages([1e-30, 0.5, 0.5, 1.0])[0] == 0.5
    assert averages([0.0, 0.0])[0] == 0.0


@pytest.mark.parametrize("bounds", [None, (0.0, 1.0)])
def test_a_column_of_tiny_rewards_is_not_binary(bounds):
    rewards = pl.Series([0.0, 1e-25, 2e-25, 0.0])
    log = pl.DataFrame({"model": ["a", "b"] * 2, "question": [1, 1, 2, 2], "category": rewards})
    accessor = log.scorio(trial=None, bounds=bounds)
    if bounds is None:
        with pytest.raises(ValueError, match="lose digits"):
            accessor.avg()
    else:
        assert accessor.avg()["bounds"].to_list() == ["given"] * 2


@pytest.fixture(scope="module")
def log():
    rng = np.random.default_rng(31)
    rows = 40_000
    return pl.DataFrame(
        {
            "model": rng.choice(["a", "b", "c"], rows),
            "question": rng.integers(0, 50, rows),
            "category": rng.lognormal(size=rows),
        }
    )


@pytest.mark.slow
@pytest.mark.parametrize("bounds", [None, (0.0, 1000.0)])
def test_orders_of_rows_and_engines_change_no_bit(log, bounds):
    metrics = ps.avg(), ps.max_at_k([2, 5]), ps.min_at_k(3)

    def report(frame, engine):
        accessor = frame.lazy().scorio(trial=None, bounds=bounds)
        return accessor.report(*metrics).collect(engine=engine)

    first = report(log, "streaming")
    for seed, engine in product(range(20), ("streaming", "in-memory")):
        shuffled = report(log.sample(fraction=1.0, shuffle=True, seed=seed), engine)
        for name in ("estimate", "sigma", "lo", "hi"):
            assert shuffled[name].to_numpy().tobytes() == first[name].to_numpy().tobytes()


REPORT = """
import sys, polars as pl, polars_scorio as ps
trials = pl.scan_parquet(sys.argv[1]).scorio(trial=None)
report = trials.report(ps.avg(), ps.max_at_k([2, 5]), ps.min_at_k(3)).collect()
print(report.select("estimate", "sigma", "lo", "hi").to_numpy().tobytes().hex())
"""


@pytest.mark.slow
def test_threads_and_files_change_no_bit(log, tmp_path):
    folders = [tmp_path / "one", tmp_path / "several"]
    for folder, parts in zip(folders, (1, 4), strict=True):
        folder.mkdir()
        shuffled = log.sample(fraction=1.0, shuffle=True, seed=parts)
        for part in range(parts):
            shuffled.gather_every(parts, part).write_parquet(folder / f"{part}.parquet")
    runs = [
        subprocess.run(  # noqa: S603 - our own code
            [sys.executable, "-c", REPORT, str(folder / "*.parquet")],
            env={**os.environ, "POLARS_MAX_THREADS": threads},
            capture_output=True,
            check=True,
        ).stdout
        for folder, threads in zip([*folders, folders[1]], "127", strict=True)
    ]
    assert len(runs[0]) > 100
    assert runs[0] == runs[1] == runs[2]


def test_counted_rows_stand_for_several_trials():
    columns = {"question": [1, 1, 2], "category": [0.5, 0.1, 0.9]}
    counted = pl.DataFrame({**columns, "count": [2, 1, 3]})
    every = pl.DataFrame({"question": [1] * 3 + [2] * 3, "category": [0.5, 0.5, 0.1] + [0.9] * 3})
    metrics, roles = (ps.avg(), ps.max_at_k(2)), {"model": None}
    numbers = ["estimate", "sigma", "lo", "hi"]
    of_counts = counted.scorio(count="count", **roles).report(*metrics).select(numbers)
    assert (
        of_counts.rows()
        == every.scorio(trial=None, **roles).report(*metrics).select(numbers).rows()
    )


def test_missing_rewards_are_no_trials():
    rewards = [0.2, None, 0.6, float("nan")]
    log = pl.DataFrame({"question": 1, "category": rewards})
    row = log.scorio(model=None, trial=None, missing="drop").avg()
    assert row.select("estimate", "trials", "dropped").row(0) == (pytest.approx(0.4), 2, 2)


@pytest.mark.parametrize(
    ("rewards", "roles", "message"),
    [
        (
            [0.2, 1.5],
            {"bounds": (0, 1)},
            r"not between 0.0 and 1.0 in 'category'.*: 1.5\. Give wider bounds=",
        ),
        ([0.2, float("inf")], {}, r"infinite, or beyond \+-1,073,741,824 in 'category'.*: inf"),
        ([0.2, -2e9], {}, r"beyond \+-1,073,741,824 .*: -2000000000.0\. Pass the range"),
        ([0.2, None], {}, r"missing category \(null or NaN"),
    ],
)
def test_bad_rewards_are_refused_with_their_place(rewards, roles, message):
    log = pl.DataFrame({"model": "m", "question": 7, "category": rewards})
    with pytest.raises(ValueError, match=message) as raised:
        log.scorio(trial=None, **roles).avg()
    assert "at model='m', question=7" in str(raised.value)


@pytest.mark.parametrize(
    ("reward", "high", "shown"),
    [(0.1 + 0.7, 0.5, "0.8"), (0.1 + 0.2, 0.3, "0.30000000000000004")],
)
def test_a_reward_is_rounded_in_the_message_unless_it_is_an_end_then(reward, high, shown):
    log = pl.DataFrame({"model": "m", "question": 7, "category": [0.25, reward]})
    with pytest.raises(ValueError, match=rf"between 0\.0 and {high} .*question=7: {shown}\. Give"):
        log.scorio(trial=None, bounds=(0, high)).avg()


@pytest.mark.parametrize("dtype", [pl.Int8, pl.UInt16, pl.Int64, pl.Float32, pl.Float64])
@pytest.mark.parametrize("metric", [ps.avg(), ps.max_at_k(2)])
def test_a_reward_outside_the_bounds_is_refused_whatever_number_it_is(dtype, metric):
    rewards = pl.Series([0, 10, 3, 7], dtype=dtype)
    log = pl.DataFrame({"model": "m", "question": [1, 1, 2, 2], "category": rewards})
    said = r"^2 questions have a reward that is not between 0\.0 and 1\.0 .*question=1: 10\.0\. "
    with pytest.raises(ValueError, match=said):
        log.scorio(trial=None, bounds=(0, 1)).report(metric)
    assert log.scorio(trial=None, bounds=(0, 10)).avg()["estimate"].item() == 5.0


@pytest.mark.parametrize("category", [True, "good"])
def test_only_numbers_have_bounds(category):
    log = pl.DataFrame({"model": "m", "question": 1, "reward": [category]})
    with pytest.raises(TypeError, match=r"^bounds= is for rewards, but .* 'reward' is "):
        log.scorio(trial=None, category="reward", bounds=(0, 1)).avg()


@pytest.mark.parametrize(
    "bounds", [(1, 0), (0, 0), (0, float("inf")), (0,), "01", (0, 1e301), (0, 1e-281)]
)
def test_a_range_is_two_finite_numbers(bounds):
    with pytest.raises((ValueError, TypeError), match=r"bounds"):
        pl.DataFrame({"category": [0.5]}).scorio(bounds=bounds)


@pytest.mark.parametrize("role", [{"threshold": 0.5}, {"levels": [0, 0.5, 1]}, {"success": 1}])
def test_a_range_contradicts_categories(role):
    with pytest.raises(ValueError, match=r"bounds=\(0.0, 1.0\) is the range of rewards"):
        pl.DataFrame({"category": [0.5]}).scorio(bounds=(0, 1), **role)


@pytest.mark.parametrize("bounds", [None, (0.0, 1.0), (0.0, 2.0)])
@given(rewards=st.lists(st.sampled_from([0.0, 1.0, 0.5, 2.0**-40, 1 - 2.0**-40]), min_size=1))
def test_sums_tell_whether_all_rewards_are_zero_or_one(rewards, bounds):
    asked = RewardSums(bounds, bounds, observed=False, averages=True, lists=False)
    numbers = reward_numbers(asked, counted=False)
    trials = pl.LazyFrame({CATEGORY: rewards}).select(
        pl.len().alias(ROWS), pl.lit(0).alias(MISSING), *over_trials(numbers)
    )
    derived = {**reward_moments(asked), ":c1": sure_successes(asked)}
    sums = trials.with_columns(**derived).collect()
    fractions = not {0.0, 1.0}.issuperset(rewards)
    assert sums.select(FRACTIONS, ":c1").row(0) == (fractions, 0 if fractions else sum(rewards))
