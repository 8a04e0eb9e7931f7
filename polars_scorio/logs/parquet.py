"""Parquet files: their columns, with errors that name the file."""

from __future__ import annotations

from pathlib import Path

import polars as pl
from polars.exceptions import ComputeError

from polars_scorio.logs.json_files import unexpected_content


def parquet_columns(file: Path, expected: str) -> pl.Schema:
    """The columns of a file, which must have rows; only its footer is read.

    Raises
    ------
    ValueError
        If it is no whole Parquet file, or has no row.
    """
    rows = pl.scan_parquet(file)
    try:
        schema = rows.collect_schema()
        height = rows.select(pl.len()).collect().item()
    except (ComputeError, OSError) as error:
        raise unexpected_content(file, expected, f"no whole Parquet file ({error})") from error
    if not height:
        raise unexpected_content(file, expected, "one without any row")
    return schema
