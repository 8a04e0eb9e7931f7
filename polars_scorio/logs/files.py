"""Tables in files as one lazy frame: Parquet, CSV, TSV and JSON, by name, folder or glob."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial, reduce
from os import PathLike, fspath
from pathlib import Path, PurePosixPath
from typing import Any

import polars as pl
from polars.exceptions import ComputeError, PolarsError

from polars_scorio.logs.json_files import (
    describe_content,
    read_json,
    refuse_broken_line,
    scan_lines,
    unexpected_content,
)
from polars_scorio.logs.kept_fields import added_columns, kept_getters
from polars_scorio.logs.paths import Paths, find_files, given_paths, is_remote, plain_path
from polars_scorio.logs.read import records_options

_EXPECTED = "JSON lines"
_ARRAY = "a JSON array of objects, one a trial"
_LINES = ".jsonl", ".ndjson"
_SCHEMES = (
    "s3", "s3a", "gs", "gcs", "az", "azure", "abfs", "abfss", "adl", "hf", "http", "https",
)  # fmt: skip
_POLARS = tuple(f"{scheme}://" for scheme in _SCHEMES)  # URLs that Polars reads by itself


def scan_files(paths: Paths) -> pl.LazyFrame:
    """The rows of some files, those of one format after those of the other; nothing is read yet."""
    # Paths may be URLs that Polars reads. A folder, or a glob, holds one format: of two, it may be
    # one log twice.
    given = given_paths(paths)
    if given and all(map(is_remote, given)):
        return _scan_remote([fspath(path) for path in given])
    formats: dict[str, list[str | PathLike[str]]] = {}
    for path in given:
        files = [*find_files([path], *TABLES)]
        formats.setdefault(_only_ending(files), []).append(path)
    tables = {
        ending: _scan_format(ending, [*find_files(of_format, *TABLES)])
        for ending, of_format in formats.items()
    }
    return _joined_formats(tables)


def _scan_format(ending: str, files: list[Path]) -> pl.LazyFrame:
    """The rows of files of one format, whose columns can be read."""
    try:
        table = _SCANS[ending](files)
        table.collect_schema()
    except PolarsError as error:
        for file in files:
            if not file.stat().st_size:
                raise ValueError(f"{file} is empty: expected a table") from None
        listed = ", ".join(map(str, files[:3])) + (", ..." if len(files) > 3 else "")
        raise ValueError(f"{listed}: no table of the format {ending}: {error}") from error
    return table


def _joined_formats(tables: dict[str, pl.LazyFrame]) -> pl.LazyFrame:
    """The rows of tables that have the same columns, of dtypes between which nothing is lost."""
    (first_ending, first), *rest = tables.items()
    schema = first.collect_schema() if rest else {}
    for ending, other in rest:
        dtypes = other.collect_schema()
        if {*schema} != {*dtypes}:
            lone = sorted({*schema} ^ {*dtypes})
            raise ValueError(
                f"the files of {first_ending} and {ending} differ in the columns {lone}: select "
                "the same ones with Polars, and concatenate the frames"
            )
        for name, dtype in schema.items():
            numbers = [each.is_numeric() or each == pl.Boolean for each in (dtype, dtypes[name])]
            if dtype != dtypes[name] and not all(numbers):
                raise ValueError(
                    f"{name} is {dtype} in the files of {first_ending} and {dtypes[name]} in those "
                    f"of {ending}: cast it with Polars, and concatenate the frames"
                )
    if not rest:
        return first
    return pl.concat([each.select(*schema) for each in tables.values()], how="vertical_relaxed")


def _only_ending(files: Sequence[Path | PurePosixPath]) -> str:
    """The ending of all files of a path, which must be a known one."""
    endings = sorted({plain_path(file).suffix.lower() for file in files})
    if len(endings) > 1:
        raise ValueError(
            f"the files are of several formats, {endings}: if they are one log, pass those of one "
            "of them; if they are parts of a log, name each format, such as *.csv *.jsonl"
        )
    if endings[0] not in _SCANS:
        raise ValueError(
            f"{files[0].name} is none of {', '.join(_SCANS)}: convert it, or use --from "
            "to name the tool that wrote it"
        )
    return endings[0]


def _scan_remote(urls: list[str]) -> pl.LazyFrame:
    """The rows of files on other machines, which Polars reads itself."""
    for url in urls:
        if not url.lower().startswith(_POLARS):
            raise ValueError(
                f"{url} is not on this machine, and Polars does not read it from there: download "
                f"it. Polars reads {', '.join(_POLARS)}"
            )
    ending = _only_ending([PurePosixPath(url) for url in urls])
    if ending == ".json":
        raise ValueError(
            f"{urls[0]} is not on this machine: download it, as an array is read whole"
        )
    return pl.scan_ndjson(urls) if ending in _LINES else _SCANS[ending](urls)


def _read_arrays(files: list[Any]) -> pl.LazyFrame:
    """The rows of JSON arrays; Python parses them, as they may hold NaN."""
    tables = []
    for file in files:
        rows = read_json(file, _ARRAY)
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            arrays = (
                f"{describe_content(rows)}: if a tool wrote it, name the tool with --from, or say "
                f"where the trials are with {records_options([file])}"
            )
            raise unexpected_content(file, _ARRAY, arrays)
        tables.append(pl.LazyFrame(rows, infer_schema_length=None))
    return pl.concat(tables)


def _scan_lines(files: list[Any]) -> pl.LazyFrame:
    """The rows of JSON lines, with errors that name file and line."""
    try:
        schema = pl.scan_ndjson(files).collect_schema()
    except PolarsError:
        for file in files:
            refuse_broken_line(file, _EXPECTED, pl.scan_ndjson)
        raise
    columns = {name: pl.col(name) for name in schema}
    return pl.concat([scan_lines(file, _EXPECTED, schema, columns) for file in files])


_SCANS: dict[str, Callable[[list[Any]], pl.LazyFrame]] = {
    ".parquet": pl.scan_parquet,
    ".csv": pl.scan_csv,
    ".tsv": partial(pl.scan_csv, separator="\t"),
    **dict.fromkeys(_LINES, _scan_lines),
    ".json": _read_arrays,
}
# Folders of logs hold many JSON files that are no tables: those have to be named.
TABLES = tuple(f"*{ending}" for ending in _SCANS if ending != ".json")


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


def scan_table(
    file: Path, columns: Mapping[str, pl.Expr], keep: str | Iterable[str] | None
) -> pl.LazyFrame:
    """The columns of a reader and the kept ones of a Parquet file, read lazily."""
    rows = pl.scan_parquet(file)
    kept = kept_struct_fields(keep, rows.collect_schema())
    return rows.select(**added_columns(columns, kept))


def kept_struct_fields(keep: str | Iterable[str] | None, schema: pl.Schema) -> dict[str, pl.Expr]:
    """Columns for the names in `keep`, of a table in which points lead into structs."""
    columns = {}
    for name in kept_getters(keep):
        root, *path = [name] if name in schema else name.split(".")
        column = reduce(lambda column, part: column.struct.field(part), path, pl.col(root))
        try:
            pl.LazyFrame(schema=schema).select(column).collect_schema()
        except PolarsError:
            raise ValueError(
                f"the table has no field {name!r}, which keep= asks for: its columns are "
                f"{[*schema]}"
            ) from None
        columns[name] = column
    return columns
