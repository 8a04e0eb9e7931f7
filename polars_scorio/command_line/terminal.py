"""Print texts, tables and messages of the command."""

from __future__ import annotations

import sys

import polars as pl


def print_text(text: str) -> None:
    """Print a text; characters that the encoding of a Windows pipe lacks become question marks."""
    print(text.encode(_output_encoding(), "replace").decode(_output_encoding()))  # noqa: T201 - it is a command


def print_table(rows: pl.DataFrame | pl.LazyFrame) -> None:
    """Print all rows and columns of a table."""
    lines = "┌".encode(_output_encoding(), "ignore")
    with pl.Config(
        tbl_rows=-1,
        tbl_cols=-1,
        tbl_width_chars=-1,
        fmt_str_lengths=100,
        float_precision=3,
        tbl_hide_column_data_types=True,
        tbl_hide_dataframe_shape=True,
        ascii_tables=not lines or None,
    ):
        print_text(str(rows.lazy().collect()))


def _output_encoding() -> str:
    return sys.stdout.encoding or "utf-8"
