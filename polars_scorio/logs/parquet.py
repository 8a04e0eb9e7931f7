"""Parquet files: a check of their columns, and the fields of them that are kept."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from pathlib import Path

import polars as pl
from polars.exceptions import ComputeError

from polars_scorio.logs.json_files import FieldType, unexpected_content
from polars_scorio.logs.kept_fields import kept_getters


def parquet_columns(file: Path, expected: str) -> pl.Schema:
    """The columns of a file, which must have rows; only its footer is read."""
    rows = pl.scan_parquet(file)
    try:
        schema = rows.collect_schema()
        height = rows.select(pl.len()).collect().item()
    except (ComputeError, OSError) as error:
        raise unexpected_content(file, expected, f"no whole Parquet file ({error})") from error
    if not height:
        raise unexpected_content(file, expected, "no row")
    return schema


def kept_struct_fields(keep: str | Iterable[str] | None, schema: pl.Schema) -> dict[str, pl.Expr]:
    """Columns for the names in `keep`, of a table in which points lead into structs."""
    columns = {}
    for name in kept_getters(keep):
        root, *path = [name] if name in schema else name.split(".")
        if not _has_path(schema.get(root), path):
            raise ValueError(
                f"the table has no field {name!r}, which keep= asks for: its columns are "
                f"{[*schema]}"
            )
        columns[name] = reduce(lambda column, part: column.struct.field(part), path, pl.col(root))
    return columns


def _has_path(dtype: FieldType | None, path: Sequence[str]) -> bool:
    """Whether values of a dtype have a field at a path, which may be empty."""
    if not path or dtype is None:
        return dtype is not None
    fields = dtype.fields if isinstance(dtype, pl.Struct) else []
    return any(field.name == path[0] and _has_path(field.dtype, path[1:]) for field in fields)
