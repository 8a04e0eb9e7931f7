"""Tables of Ibis, on DuckDB over Parquet files."""

import itertools

import pytest

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
pytest.importorskip("narwhals")
ibis = pytest.importorskip("ibis")
pytest.importorskip("duckdb")


@pytest.fixture
def table(tmp_path):
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
