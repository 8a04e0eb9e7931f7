"""Logs in files, as one frame: Parquet, CSV, JSON lines; by name, folder or glob."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
from polars.exceptions import PolarsError

from polars_scorio.logs.json_lines import refuse_broken_line, scan_lines
from polars_scorio.logs.paths import Paths, find_files

_SCANS: dict[str, Callable[[list[Path]], pl.LazyFrame]] = {
    ".parquet": pl.scan_parquet,
    ".csv": pl.scan_csv,
}
_LINES = ".jsonl", ".ndjson"
_EXPECTED = "JSON lines"


def scan_files(paths: Paths) -> pl.LazyFrame:
    """The rows of some files, one file after the other; nothing is read yet.

    Parameters
    ----------
    paths : str, path or iterable of them
        Files, folders that hold them at any depth, or globs such as ``runs/*.parquet``.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If files are of an unknown format, or of several.
    """
    known = *_SCANS, *_LINES
    files = [*find_files(paths, *(f"*{ending}" for ending in known))]
    endings = sorted({file.suffix.lower() for file in files})
    if len(endings) > 1:
        raise ValueError(f"the files are of several formats, {endings}: pass those of one of them")
    if endings[0] not in known:
        raise ValueError(
            f"{files[0].name} is none of {', '.join(known)}: convert it, or name the tool "
            "that wrote it with --from"
        )
    if endings[0] not in _LINES:
        return _SCANS[endings[0]](files)
    try:
        schema = pl.scan_ndjson(files).collect_schema()
    except PolarsError:
        for file in files:
            refuse_broken_line(file, _EXPECTED, pl.scan_ndjson)
        raise
    columns = {name: pl.col(name) for name in schema}
    return pl.concat([scan_lines(file, _EXPECTED, schema, columns) for file in files])
