"""Tables of Ibis, on DuckDB over Parquet files."""

import itertools

import polars as pl
import pytest

import polars_scorio as ps
from tests.counting.engines.cases import (
    COUNTED,
    REFUSED,
    assert_counted_as_polars_does,
    assert_refused_as_polars_does,
    written,
)

pytestmark = [
    pytest.mark.ibis,
    # Ibis calls what DuckDB has renamed.
    pytest.mark.filterwarnings("ignore:fetch_arrow_table.* is deprecated:DeprecationWarning"),
]


@pytest.fixture(scope="module")
def ibis():
    for needed in ("narwhals", "duckdb"):
        pytest.importorskip(needed)
    return pytest.importorskip("ibis")


@pytest.fixture
def table(ibis, tmp_path):
    folders = (tmp_path / str(number) for number in itertools.count())
    return lambda log: ibis.duckdb.connect().read_parquet(
        f"{written(log, next(folders))}/*.parquet"
    )


@pytest.mark.every(5)
@pytest.mark.parametrize("case", COUNTED, ids=str)
def test_counts_are_those_of_polars(table, case):
    assert_counted_as_polars_does(table, case)


@pytest.mark.every(5)
@pytest.mark.parametrize("case", REFUSED, ids=str)
def test_errors_are_those_of_polars(table, case):
    assert_refused_as_polars_does(table, case)


def test_times_of_seconds_become_milliseconds(ibis):
    backend = ibis.duckdb.connect()
    backend.raw_sql("""
        CREATE TABLE log AS
        SELECT 'm' AS model, ('2026-01-0' || i)::TIMESTAMP_S AS question, i AS trial, 1 AS category
        FROM range(1, 3) AS _(i)
    """)
    log = backend.table("log")
    assert log.schema()["question"].scale == 0
    counts = ps.count_trials(log)
    assert counts["question"].dt.day().to_list() == [1, 2]
    assert counts.schema["question"] == pl.Datetime("ms")
