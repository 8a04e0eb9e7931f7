"""The columns of Parquet files, without reading their rows."""

import polars as pl
import pytest

from polars_scorio.logs.parquet import parquet_columns


def test_columns_are_those_of_the_file(tmp_path):
    pl.DataFrame({"step": [1], "prompt": ["x"]}).write_parquet(tmp_path / "a.parquet")
    schema = parquet_columns(tmp_path / "a.parquet", "completions")
    assert schema == {"step": pl.Int64, "prompt": pl.String}


def test_files_without_rows_or_of_another_format_are_refused(tmp_path):
    path = tmp_path / "a.parquet"
    pl.DataFrame(schema={"step": pl.Int64}).write_parquet(path)
    with pytest.raises(ValueError, match="expected completions, found one without any row"):
        parquet_columns(path, "completions")
    path.write_text("step\n1\n")
    with pytest.raises(ValueError, match="expected completions, found no whole Parquet file"):
        parquet_columns(path, "completions")
