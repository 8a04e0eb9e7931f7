"""Files of JSON lines, read lazily; their first and last lines are looked at before."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import polars as pl
from polars.datatypes import DataType, DataTypeClass

from polars_scorio.logs.json_files import parse_line, unexpected_content

Schema: TypeAlias = "Mapping[str, DataType | DataTypeClass]"
_BLOCK = 1 << 16


def first_line(file: Path, expected: str, needs: Collection[str]) -> dict[str, Any]:
    """The first object of a file, which must have some fields.

    Raises
    ------
    ValueError
        If the file is empty, is no such file, or breaks off in its last line.
    """
    first, last = _gzip_end_lines(file, expected) if file.suffix == ".gz" else _end_lines(file)
    if not first:
        raise unexpected_content(file, expected, "an empty file")
    record = parse_line(file, 1, first, expected)
    lacking = [name for name in needs if name not in record]
    if lacking:
        raise unexpected_content(file, expected, f"lines without {lacking}: {sorted(record)}")
    parse_line(file, "the last", last, expected)
    return record


def _end_lines(file: Path) -> tuple[bytes, bytes]:
    with file.open("rb") as lines:
        first = next((line for line in lines if line.strip()), b"")
    return first, _last_line(file) if first else b""


def _gzip_end_lines(file: Path, expected: str) -> tuple[bytes, bytes]:
    """First and last line of a gzip file; only all of it tells whether it is whole."""
    first = last = b""
    try:
        with gzip.open(file) as lines:
            for line in lines:
                if line.strip():
                    first, last = first or line, line
    except (EOFError, OSError, zlib.error) as error:
        raise unexpected_content(file, expected, f"no whole gzip file ({error})") from error
    return first, last


def _last_line(file: Path) -> bytes:
    """The last line that is not blank, without reading the others."""
    with file.open("rb") as source:
        end = source.seek(0, io.SEEK_END)
        size = _BLOCK
        while True:
            source.seek(max(end - size, 0))
            tail = source.read().rstrip()
            if b"\n" in tail or size >= end:
                return tail.rpartition(b"\n")[2]
            size *= 2


def scan_lines(file: Path, schema: Schema) -> pl.LazyFrame:
    """The fields of a schema; text stands for whatever a field of dtype String holds."""
    return pl.scan_ndjson(file, schema=dict(schema))


def text_number(text: pl.Expr) -> pl.Expr:
    """A number from what was read as text, where tools write 1, 1.0 or true.

    >>> pl.select(text_number(pl.Series(["true", "0.5", None]))).to_series().to_list()
    [1.0, 0.5, None]
    """
    return text.replace({"true": "1", "false": "0", "null": None}).cast(pl.Float64)
