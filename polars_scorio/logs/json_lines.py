"""Files of JSON lines: read lazily, after a check of their first and last lines."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import polars as pl
import polars.selectors as cs
from polars.exceptions import PolarsError
from polars.io.plugins import register_io_source

from polars_scorio.logs.compressed_files import compression_of, open_plain
from polars_scorio.logs.json_files import (
    damage_names_file,
    empty_file,
    first_sentence,
    parse_line,
    unexpected_content,
)
from polars_scorio.logs.json_text import json_text
from polars_scorio.logs.line_fields import LineSchema
from polars_scorio.logs.run_totals import RowTally

FrameT = TypeVar("FrameT", pl.DataFrame, pl.LazyFrame)
Source: TypeAlias = "Path | io.BytesIO"
Scan = Callable[[Source], pl.LazyFrame]
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")  # half of a pair, in the notation of JSON
# Before Polars 2 a query within a query can wait for a thread for ever; files are then read whole
# at the call.
_NESTS = int(pl.__version__.partition(".")[0]) > 1
_BLOCK = 1 << 16  # bytes
_BLOCK_LINES = 1_000
_NUL = ":nul"  # the column that marks rows with the character NUL


def first_line(file: Path, expected: str, needs: Collection[str]) -> dict[str, Any]:
    """The first object of a file, which must have some fields.

    Raises
    ------
    ValueError
        If the file is empty, lacks a field in its first line, or breaks off in its last line.
    """
    packed = compression_of(file) is not None
    first, last = _packed_end_lines(file, expected) if packed else _end_lines(file)
    if not first:
        raise empty_file(file, expected)
    record = parse_line(file, "line 1", first, expected)
    lacking = [name for name in needs if name not in record]
    if lacking:
        raise unexpected_content(file, expected, f"lines without {lacking}: {sorted(record)}")
    parse_line(file, "the last line", last, expected)
    return record


def _end_lines(file: Path) -> tuple[bytes, bytes]:
    """First and last line of a file that are not blank."""
    with file.open("rb") as lines:
        first = next((line for line in lines if line.strip()), b"")
    return first, _last_line(file) if first else b""


def _packed_end_lines(file: Path, expected: str) -> tuple[bytes, bytes]:
    """First and last line of a compressed file; reading it to its end shows that it is whole."""
    first = last = b""
    with damage_names_file(file, expected), open_plain(file) as lines:
        for line in lines:
            if line.strip():
                first, last = first or line, line
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


def scan_lines(
    file: Path,
    expected: str,
    schema: LineSchema,
    selected: Mapping[str, pl.Expr],
    tally: RowTally | None = None,
) -> pl.LazyFrame:
    """The rows of a file, read lazily from Polars 2 on, with errors that name file and line.

    Polars says neither when it comes to a line that it cannot read. So it is the source of a scan
    of our own, which takes the columns and rows that a query needs, batch by batch, and looks for
    the line once there is an error. To do without, return ``scan(file)``, which takes four fifths
    of the time.

    Parameters
    ----------
    file : Path
        The file.
    expected : str
        What it should hold.
    schema : dict
        The fields to read; a field of dtype String holds the text of whatever stands there.
    selected : dict of Expr
        The columns to make of them.
    tally : RowTally, optional
        Counts the rows of a whole file, and warns at its end.

    Returns
    -------
    LazyFrame
        Its collection raises `ValueError` if a line cannot be read.
    """
    checked = set[str]()  # several queries may collect the frame

    def scan(source: Source) -> pl.LazyFrame:
        return pl.scan_ndjson(source, schema=dict(schema)).select(**selected)

    def batches(
        columns: list[str] | None, predicate: pl.Expr | None, limit: int | None, _size: int | None
    ) -> Iterator[pl.DataFrame]:
        needed = [*selected] if columns is None else _with_needed(columns, predicate, tally)
        rows = scan(file)
        counted = tally if limit is None else None
        if counted is not None:  # the filter of the query follows the tally, which needs all rows
            rows = rows.select(needed)
        else:
            rows = rows if limit is None else rows.head(limit)
            rows = _asked_part(rows, columns, predicate)
        # In the query, which runs in all threads: checks batch by batch cost a third of the time.
        has_nul = pl.any_horizontal(cs.string().str.contains("\0", literal=True))
        try:
            fields = _read_fields(needed, selected) - checked if limit is None else set()
            refuse_repeated_keys(file, expected, schema, fields)
            checked.update(fields)
            marked = rows.with_columns(has_nul.alias(_NUL))
            for batch in marked.collect_batches() if _NESTS else [marked.collect()]:
                if batch.drop_in_place(_NUL).any():
                    refuse_half_character(file, expected, schema)
                if counted is not None:
                    counted.add(batch)
                yield batch if counted is None else _asked_part(batch, columns, predicate)
            if counted is not None:
                counted.warn()
        except PolarsError:
            refuse_broken_line(file, expected, scan)
            raise  # every line can be read: the error is that of the query

    if not _NESTS:
        return pl.concat(batches(None, None, None, None)).lazy()
    return register_io_source(batches, schema=scan(file).collect_schema(), is_pure=True)


def _with_needed(
    columns: list[str], predicate: pl.Expr | None, tally: RowTally | None
) -> list[str]:
    """The columns of a query, with those that its filter and the tally read."""
    filtered = [] if predicate is None else predicate.meta.root_names()
    return [*dict.fromkeys([*columns, *filtered, *(() if tally is None else tally.columns)])]


def _read_fields(columns: list[str], selected: Mapping[str, pl.Expr]) -> set[str]:
    """The fields of lines from which some columns are made."""
    return {field for name in columns for field in selected[name].meta.root_names()}


def _asked_part(rows: FrameT, columns: list[str] | None, predicate: pl.Expr | None) -> FrameT:
    """The rows and columns of a query."""
    rows = rows if predicate is None else rows.filter(predicate)
    return rows if columns is None else rows.select(columns)


def refuse_repeated_keys(
    file: Path, expected: str, schema: LineSchema, fields: Collection[str]
) -> None:
    """Refuse the first line that gives one of the fields two different values.

    Polars takes the first value and says nothing. The search for lines that name a field twice
    takes .04 s for each field of 64 MB; Python parses only these lines.
    """
    marks = [f'"{name}"' for name in _field_names({name: schema[name] for name in fields})]
    if not marks:
        return
    lines = pl.scan_csv(
        file,
        has_header=False,
        schema={"line": pl.String()},
        separator="\x01",  # a character that JSON does not have: a line is one cell
        quote_char=None,
        truncate_ragged_lines=True,
        encoding="utf8-lossy",
        glob=False,
    )
    twice = [pl.col("line").str.count_matches(mark, literal=True) > 1 for mark in marks]
    if not lines.select(pl.any_horizontal(twice).any()).collect(engine="streaming").item():
        return
    found = [mark.encode() for mark in marks]
    with open_plain(file) as numbered:
        for number, line in enumerate(numbered, 1):
            if any(line.count(mark) > 1 for mark in found):
                parse_line(file, f"line {number}", line, expected)


def _field_names(schema: LineSchema) -> Iterator[str]:
    """The names of fields, and of the fields of objects in them."""
    for name, dtype in schema.items():
        yield name
        if isinstance(dtype, pl.Struct):
            yield from _field_names({part.name: part.dtype for part in dtype.fields})


def refuse_half_character(file: Path, expected: str, fields: Collection[str]) -> None:
    r"""Refuse the first line in which a field has half of a surrogate pair, such as "\ud800".

    Polars reads it as the character NUL, so that two different ids would become one. A NUL that the
    file has itself is no error.
    """
    with open_plain(file) as lines:
        for number, line in enumerate(lines, 1):
            if not _SURROGATE.search(line):
                continue
            record = parse_line(file, f"line {number}", line, expected)
            for name in fields:
                if not _is_text(json_text(record.get(name))):
                    found = f"half of a surrogate pair, no character, in {name!r} of line {number}"
                    raise unexpected_content(file, expected, found)


def _is_text(text: str) -> bool:
    """Whether a text can be encoded, that is, has no half of a surrogate pair."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def refuse_broken_line(file: Path, expected: str, scan: Scan) -> None:
    """Refuse the first line that cannot be read."""
    with open_plain(file) as lines:
        numbered = enumerate(lines, 1)
        while block := [*islice(numbered, _BLOCK_LINES)]:
            # A block is read at once: line by line takes fifty times longer.
            if _scan_fault([line for _, line in block], scan) is not None:
                for number, line in block:
                    _refuse_line(file, expected, number, line, scan)


def _refuse_line(file: Path, expected: str, number: int, line: bytes, scan: Scan) -> None:
    """Refuse a line that cannot be read."""
    fault = _scan_fault([line], scan) if line.strip() else None
    if fault is not None:
        parse_line(file, f"line {number}", line, expected)  # Python says more clearly what is wrong
        raise unexpected_content(file, expected, f"something else in line {number} ({fault})")


def _scan_fault(lines: list[bytes], scan: Scan) -> str | None:
    """The reason why lines cannot be read, if so."""
    try:
        scan(io.BytesIO(b"".join(lines))).collect()
    except PolarsError as error:
        return first_sentence(error)
    return None
