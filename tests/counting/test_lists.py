"""Lists made rows: the same rows in every Polars, and no warning."""

import polars as pl

from polars_scorio.counting.checks import AS_ROWS


def test_an_empty_list_is_a_null():
    lists = pl.DataFrame({"x": [[1, 2], [], [3]]})
    expected = [1, 2, None, 3]
    assert lists.lazy().explode("x", **AS_ROWS).collect()["x"].to_list() == expected
    assert lists.select(pl.col("x").explode(**AS_ROWS))["x"].to_list() == expected
    assert lists["x"].explode(**AS_ROWS).to_list() == expected
