"""Forecasts of draws of more trials than there were: a range, the same from every kind of log."""

import subprocess
import sys

import numpy as np
import polars as pl
import pytest
from polars.io.plugins import register_io_source
from polars.testing import assert_frame_equal
from scipy.optimize import brentq
from scipy.stats import chi2

import polars_scorio as ps
from tests.made_logs import unreadable

# Made logs may be deterministic.
pytestmark = pytest.mark.filterwarnings("ignore::polars_scorio.CheckWarning")

COLUMNS = [
    *("model", "metric", "k", "trials_max", "extrapolation", "mu", "lo", "hi", "misfit"),
    "holdout_error",
]
RANGE = 1e-5  # how well the ends of a range are known


def counted(states, model="m"):
    """A log of counts, from (n, c, questions) of each state."""
    rows = [(n, c) for n, c, questions in states for _ in range(questions)]
    n, c = np.array(rows).T
    totals = {"model": model, "question": range(len(rows)), "n": n, "c": c}
    return ps.from_successes(pl.DataFrame(totals))


SINGLE = counted([(1, 0, 3), (1, 1, 7)])
HALF = counted([(16, 16, 160), *((16, c, 10) for c in range(16))])
RAGGED = counted([(2, 0, 3), (3, 1, 4), (4, 4, 1), (6, 2, 2), (9, 8, 2)])


def rejected_means(successes, failures, confidence=0.95):
    """Means of single trials at which the likelihood ratio rejects."""
    best = successes / (successes + failures)

    def ratio(mean):
        of_failures = failures * np.log((1 - mean) / (1 - best))
        return successes * np.log(mean / best) + of_failures + chi2.ppf(confidence, 1) / 2

    return brentq(ratio, 1e-9, best), brentq(ratio, best, 1 - 1e-9)


def test_single_trials_say_nothing_but_the_mean():
    # Pass@k is least where each question repeats itself, Pass^k where all are equal.
    lo, hi = rejected_means(7, 3)
    rows = SINGLE.scorio(count="count").forecast([2, 8])
    assert {*rows.columns} == {*COLUMNS}
    assert rows["lo"].to_list() == pytest.approx([lo, lo], abs=RANGE)
    # The rates of the fit are a grid: the mean lies between two of them.
    assert rows["hi"].to_list() == pytest.approx([1 - (1 - hi) ** k for k in (2, 8)], abs=1e-3)
    rows = SINGLE.scorio(count="count").forecast([2, 8], ps.pass_hat_k)
    # The mean lies between two rates of the grid, as above.
    assert rows["lo"].to_list() == pytest.approx([lo**2, lo**8], abs=1e-3)
    assert rows["hi"].to_list() == pytest.approx([hi, hi], abs=RANGE)


def test_confidence_is_that_of_the_accessor_or_of_the_call():
    lo, _ = rejected_means(7, 3, 0.8)
    for accessor, said in (({"confidence": 0.8}, {}), ({}, {"confidence": 0.8})):
        rows = SINGLE.scorio(count="count", **accessor).forecast(4, **said)
        assert rows["lo"].item() == pytest.approx(lo, abs=RANGE)


def test_a_fact_of_the_log_stands_in_each_row():
    rows = RAGGED.scorio(count="count").forecast([4, 90])
    assert rows["trials_max"].to_list() == [9, 9]
    assert rows["extrapolation"].to_list() == [2.0, 45.0]
    assert rows["holdout_error"].to_list() == [None, None]
    assert rows["misfit"].n_unique() == 1


def test_questions_that_are_no_beta_population_are_told():
    smooth = counted([(16, c, 20) for c in range(17)], "smooth")
    rows = pl.concat([HALF, smooth]).scorio(count="count").forecast(32, ps.pass_hat_k)
    half, other = rows.rows(named=True)
    assert half["misfit"] > 15 > other["misfit"]
    # Four of sixteen trials do not show that half of the questions always succeed.
    assert half["holdout_error"] < -0.02
    assert abs(other["holdout_error"]) < 0.02


def test_a_range_within_the_trials_holds_the_estimate():
    estimate = HALF.scorio(count="count").pass_at_k(4)["estimate"].item()
    (row,) = HALF.scorio(count="count").forecast(4).rows(named=True)
    assert row["lo"] < estimate < row["hi"]
    assert row["hi"] - row["lo"] < 0.15


@pytest.mark.parametrize("states", [[(4, 4, 30)], [(4, 0, 30)], [(4, 3, 1)], [(1, 1, 1)]])
def test_one_question_and_equal_outcomes_have_a_range(states):
    rows = counted(states).scorio(count="count").forecast()
    assert rows["k"].to_list() == [100, 1_000, 10_000]
    assert rows.select(pl.all_horizontal(pl.col("lo") >= 0, pl.col("hi") <= 1).all()).item()
    assert rows.select(pl.col("lo") < pl.col("hi")).min().item()


def test_beyond_twice_the_trials_nothing_is_predicted_but_the_range():
    # The shortest question has two trials.
    rows = RAGGED.scorio(count="count").forecast([3, 4, 5], ps.pass_hat_k)
    assert rows["mu"].is_null().to_list() == [False, False, True]
    assert rows.select(pl.col("lo", "hi").null_count()).row(0) == (0, 0)
    within = rows.head(2).select(pl.col("mu").is_between("lo", "hi")).to_series()
    assert within.all()


@pytest.mark.slow
def test_a_metric_is_as_good_as_its_function():
    log = HALF.scorio(count="count")
    said = log.forecast(metric=ps.pass_hat_k([20, 32]))
    # One and the same forecast: the default tolerance is not needed.
    assert_frame_equal(said, log.forecast([20, 32], ps.pass_hat_k))
    # One success is the best of two rewards; a range in units of the rewards.
    best, any_ = log.forecast(metric=ps.max_at_k(32, [-1, 3])), log.forecast(32)
    scaled = any_.select(pl.col("mu", "lo", "hi") * 4 - 1, pl.col("holdout_error") * 4)
    # Scaled before or after the search, whose ends are known to RANGE: the default of 1e-5.
    assert_frame_equal(best.select("mu", "lo", "hi", "holdout_error"), scaled)


def test_calibrated_reports_show_the_same_range():
    log = HALF.scorio(count="count")
    ends = log.pass_at_k(32).select("lo", "hi")
    # The same range of the same fit: far closer than the default of 1e-5.
    assert_frame_equal(ends, log.forecast(32).select("lo", "hi"))


def test_a_forecast_of_geom_at_k_is_the_range_of_its_formula():
    # Half of the questions always succeed, the others never: every Geom@k is near 1/2.
    log = pl.DataFrame({"model": "m", "question": range(200), "trial": 0}).with_columns(
        category=pl.col("question") % 2
    )
    log = pl.concat([log.with_columns(trial=pl.lit(trial, pl.Int64)) for trial in range(9)])
    log = log.scorio(validate=False)
    ahead = log.forecast([10, 100_000], ps.geom_at_k)
    assert (ahead["lo"] < ahead["mu"]).all()
    assert (ahead["mu"] < ahead["hi"]).all()
    assert ahead["hi"].is_between(0.5, 0.6).all()
    assert ahead["holdout_error"].null_count() == 2
    report = log.report(ps.geom_at_k(10))
    assert_frame_equal(report.select("lo", "hi"), ahead.head(1).select("lo", "hi"))


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"metric": ps.geom_ds_at_k}, ValueError, r"ds_at_k has no forecast: .* ps\.pass_at_k"),
        ({"metric": ps.geo_spectrum_star_at_k}, ValueError, "star_at_k has no forecast"),
        ({"metric": ps.max_at_k(4, [0, 0.5, 1])}, ValueError, "with success= for what counts"),
        ({"metric": ps.avg()}, ValueError, r"^forecast needs a metric of k .*; avg\(\) has no k$"),
        ({"metric": ps.avg(), "k": 8}, ValueError, r"such as ps.pass_at_k .*; avg\(\) has no k$"),
        ({"metric": ps.avg, "k": 8}, ValueError, r"of k draws, such as .*; ps\.avg has no k$"),
        ({"metric": ps.maj_at_k()}, ValueError, r"maj_at_k\(\) has no k$"),
        ({"metric": "pass_at_k"}, TypeError, "forecast takes a metric of k .* got 'pass_at_k'"),
        ({"metric": len}, TypeError, "got"),
        ({"metric": lambda k: k}, TypeError, "metric must be a function that makes metrics"),
        ({"metric": ps.pass_at_k(4), "k": 8}, TypeError, r"k is given twice: pass_at_k\(4\)"),
        ({"k": 0}, ValueError, "k must be a positive int"),
        ({"confidence": 1}, ValueError, "confidence"),
    ],
)  # fmt: skip
def test_what_has_no_range_is_refused_at_the_call(arguments, error, message):
    with pytest.raises(error, match=message):
        unreadable(HALF.schema).scorio(count="count").forecast(**arguments)


def test_rewards_of_any_value_have_no_forecast():
    rewards = pl.DataFrame({"model": "m", "question": [1, 2], "category": [0.3, 0.7]})
    with pytest.raises(ValueError, match="max_at_k has no forecast"):
        rewards.scorio(trial=None).forecast(4, ps.max_at_k)


@pytest.mark.slow
def test_is_lazy_and_reads_the_log_once():
    log, reads = pl.concat([HALF, RAGGED.with_columns(model=pl.lit("n"))]), []

    def source(columns, predicate, *_):
        reads.append(1)
        rows = log if predicate is None else log.filter(predicate)
        yield rows if columns is None else rows.select(columns)

    lazy = register_io_source(source, schema=log.schema).scorio(count="count").forecast([16, 32])
    assert isinstance(lazy, pl.LazyFrame)
    assert not reads
    assert {*lazy.collect_schema()} == {*COLUMNS}
    found = lazy.collect()
    assert len(reads) == 1
    assert found.schema == lazy.collect_schema()
    # Counts do not depend on the order of rows, here and below: closer than the default of 1e-5.
    assert_frame_equal(found, log.sample(fraction=1, shuffle=True, seed=1).scorio(
        count="count").forecast([16, 32]))  # fmt: skip
    assert_frame_equal(lazy.collect(engine="in-memory"), found)
    assert_frame_equal(lazy.filter(model="n").collect(), found.filter(model="n"))
    assert log.clear().scorio(count="count").forecast().schema == found.schema


@pytest.mark.slow
def test_nothing_imports_the_optimiser():
    code = (
        "import sys, polars as pl, polars_scorio as ps;"
        "log = pl.DataFrame({'model': 'm', 'question': [1, 2], 'category': [0, 1]});"
        "log.scorio(trial=None).report(ps.avg(), ps.pass_at_k(1));"
        "log.scorio(trial=None).describe(); log.scorio(trial=None).forecast(4);"
        "print('scipy.optimize' in sys.modules)"
    )
    out = subprocess.run(  # noqa: S603 - our own code
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    )
    assert out.stdout.strip() == "False"
