"""Counts from other engines: the call. What each engine counts, tests/engines asks."""

import subprocess
import sys

import polars as pl
import pyarrow as pa
import pytest
from polars.testing import assert_frame_equal

import polars_scorio as ps
from polars_scorio.counting.engine_frames import (
    category_counts,
    distinct_ids,
    engine_log,
    engine_outcome,
    threshold_reached,
)
from tests.made_logs import drawn, unreadable


@pytest.fixture
def log():
    return drawn(3, range(4), most=5)


@pytest.mark.parametrize("lazy", [False, True])
def test_polars_frames_are_counted_by_polars(log, lazy):
    expected = log.scorio(by="domain").counts()
    counts = ps.count_trials(log.lazy() if lazy else log, by="domain")
    assert_frame_equal(counts, expected)


@pytest.mark.parametrize("others", [[], [2], [-1, 7, None]])
@pytest.mark.parametrize("dtype", [pl.Int8, pl.UInt32, pl.Int64])
def test_a_lazy_log_of_zeros_and_ones_has_the_counts_of_any_other(log, others, dtype):
    whole = [0, 1, None, *(each for each in others if each is None or dtype != pl.UInt32)]
    place = pl.int_range(pl.len()) % len(whole)
    log = log.with_columns(category=place.replace_strict(range(len(whole)), whole).cast(dtype))
    roles = {"by": "domain", "missing": "drop"}
    counts = ps.count_trials(log.lazy(), **roles)
    assert_frame_equal(counts, log.lazy().scorio(**roles).counts().collect())
    assert counts["count"].sum() == log.height


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("validate", [False, True])
def test_a_log_of_few_categories_is_counted_by_one_aggregation(log, monkeypatch, validate, lazy):
    log = log.with_columns(pl.col("category") % 2)
    plans, collect = [], pl.LazyFrame.collect

    def explained(plan, *arguments, **options):
        plans.append(plan.explain())
        return collect(plan, *arguments, **options)

    monkeypatch.setattr(pl.LazyFrame, "collect", explained)
    counts = ps.count_trials(log.lazy() if lazy else log, by="domain", validate=validate)
    assert counts["count"].sum() == log.height
    # Each category has a column; trials are grouped once, and their questions, to be sorted.
    assert sum(plan.count("AGGREGATE") for plan in plans) == 2


def test_several_strata_are_any_sequence(log):
    expected = log.scorio(by=["domain", "model"], model=None).counts()
    counts = ps.count_trials(log.to_arrow(), by=("domain", "model"), model=None)
    assert_frame_equal(counts, expected)


@pytest.mark.parametrize("role", ["model", "question", "trial", "category", "by", "cluster"])
def test_an_expression_is_no_role_elsewhere(log, role):
    message = rf'^{role} must be a column name, got the expression col\("x"\): other engines do not'
    with pytest.raises(TypeError, match=message):
        ps.count_trials(log.to_arrow(), **{role: pl.col("x")})


def test_what_is_no_role_is_refused_as_by_the_accessor():
    with pytest.raises(
        TypeError, match=r"^model must be a column name, an expression or None, got 3"
    ):
        ps.count_trials(pa.table({"model": [1]}), model=3)
    with pytest.raises(ValueError, match=r"^n must be a positive int, got 0"):
        ps.count_trials(pa.table({"model": [1]}), n=0)


@pytest.mark.parametrize(
    ("frame", "name"), [([{"model": 1}], "list"), (None, "NoneType"), (pl.Series([1]), "Series")]
)
def test_what_is_no_frame_is_refused(frame, name):
    message = rf"^frame must be of Polars or of an engine .* \(PySpark, .*\), got {name}$"
    with pytest.raises(TypeError, match=message):
        ps.count_trials(frame)


def test_schemas_are_checked_before_rows_are_read():
    lazy = unreadable(pl.Schema({"model": pl.String, "question": pl.Int64, "trial": pl.Int64}))
    with pytest.raises(pl.exceptions.ColumnNotFoundError, match="no column 'category'"):
        ps.count_trials(lazy)


WITHOUT_NARWHALS = """
import sys
sys.modules["narwhals"] = None
import polars as pl, pyarrow as pa, polars_scorio as ps
log = pl.DataFrame({"model": "m", "question": [1], "trial": [1], "category": [1]})
print(ps.count_trials(log).rows())
try:
    ps.count_trials(log.to_arrow())
except ModuleNotFoundError as error:
    print(error)
"""


@pytest.mark.slow
def test_narwhals_is_needed_for_other_frames_alone():
    command = [sys.executable, "-c", WITHOUT_NARWHALS]
    done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603
    assert done.stdout == (
        "[('m', 1, 1, 1)]\n"
        "count_trials needs narwhals, got frame=Table: for other frames than those of Polars, pip "
        'install "polars-scorio[engines]"\n'
    )


# Questions to an engine, put to Polars through narwhals.


NAN = float("nan")
LOG = pl.DataFrame({"q": [1, 1, 1, 2], "trial": [0, 0, None, 3], "reward": [0.2, NAN, 0.5, None]})


def test_a_threshold_is_reached_missed_or_missing():
    log = engine_log(LOG, ["q", "reward"])
    found = category_counts(log, ["q"], engine_outcome(log, "reward", 0.5), None)
    rows = found.with_columns(threshold_reached()).sort(":category", "q").rows()
    assert rows == [(1, None, 1), (2, None, 1), (1, False, 1), (1, True, 1)]


def test_distinct_ids_are_counted_null_as_one():
    log = engine_log(LOG, ["q", "trial"])
    assert distinct_ids(log, ["q"], "trial").sort("q").rows() == [(1, 2, 1), (2, 1, 0)]


def test_a_frame_that_narwhals_does_not_know_is_refused():
    with pytest.raises(TypeError, match=r"^frame must be of Polars or of an engine .* got list$"):
        engine_log([1], [])
