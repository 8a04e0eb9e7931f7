"""Tables in files as one lazy frame: Parquet, CSV and JSON lines, by name, folder or glob."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from os import fspath
from pathlib import Path, PurePosixPath

import polars as pl
from polars.exceptions import PolarsError

from polars_scorio.logs.compressed_files import plain_path
from polars_scorio.logs.json_lines import refuse_broken_line, scan_lines
from polars_scorio.logs.paths import Paths, find_files, given_paths, is_remote

_SCANS: dict[str, Callable[[list[Path] | list[str]], pl.LazyFrame]] = {
    ".parquet": pl.scan_parquet,
    ".csv": pl.scan_csv,
}
_LINES = ".jsonl", ".ndjson"
_KNOWN = *_SCANS, *_LINES
_EXPECTED = "JSON lines"
# The URLs that Polars reads by itself.
_POLARS = tuple(
    f"{scheme}://"
    for scheme in (
        "s3",
        "s3a",
        "gs",
        "gcs",
        "az",
        "azure",
        "abfs",
        "abfss",
        "adl",
        "hf",
        "http",
        "https",
    )
)


def scan_files(paths: Paths) -> pl.LazyFrame:
    """The rows of some files, one file after the other; nothing is read yet.

    Parameters
    ----------
    paths : str, path or iterable of them
        Files, folders that hold them at any depth, or globs such as ``runs/*.parquet``; CSV and
        JSON lines may be compressed (.gz, .zst). Or URLs that Polars reads: s3://, gs://, hf://,
        https:// and others.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If files are of an unknown format, or of several.
    """
    given = given_paths(paths)
    if given and all(map(is_remote, given)):
        return _scan_remote([fspath(path) for path in given])
    files = [*find_files(given, *(f"*{ending}" for ending in _KNOWN))]
    ending = _only_ending(files)
    return _scan_lines(files) if ending in _LINES else _SCANS[ending](files)


def _only_ending(files: Sequence[Path | PurePosixPath]) -> str:
    """The ending of all files, which must be a known one."""
    endings = sorted({plain_path(file).suffix.lower() for file in files})
    if len(endings) > 1:
        raise ValueError(f"the files are of several formats, {endings}: pass those of one of them")
    if endings[0] not in _KNOWN:
        raise ValueError(
            f"{files[0].name} is none of {', '.join(_KNOWN)}: convert it, or name the tool "
            "that wrote it with --from"
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
    return pl.scan_ndjson(urls) if ending in _LINES else _SCANS[ending](urls)


def _scan_lines(files: list[Path]) -> pl.LazyFrame:
    """The rows of JSON lines, with errors that name file and line."""
    try:
        schema = pl.scan_ndjson(files).collect_schema()
    except PolarsError:
        for file in files:
            refuse_broken_line(file, _EXPECTED, pl.scan_ndjson)
        raise
    columns = {name: pl.col(name) for name in schema}
    return pl.concat([scan_lines(file, _EXPECTED, schema, columns) for file in files])
