"""JSON, JSON lines and streams of them, read with errors that name file and place.

Python parses what has data as keys (names of tasks) or a bare NaN, which Polars refuses; Polars
scans the rest.
"""

from __future__ import annotations

import io
import json
import re
import reprlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import numpy as np
import polars as pl
import polars.selectors as cs
from polars.datatypes import DataType, DataTypeClass
from polars.exceptions import PolarsError
from polars.io.plugins import register_io_source

from polars_scorio.logs.kept_fields import (
    Getter,
    added_columns,
    field_value,
    json_text,
    kept_columns,
    kept_getters,
    kept_values,
    text_number,
)
from polars_scorio.logs.paths import (
    DAMAGE,
    Paths,
    UnexpectedContentError,
    compression_of,
    find_files,
    open_plain,
    read_each,
)
from polars_scorio.logs.runs import RowTally, Run, run_columns, run_literals

Row: TypeAlias = "tuple[object, ...]"
# A function that makes the rows of a file from its content; None for files of another kind.
Rows = Callable[[Path, Any], "FileRows | None"]
# Errors of Polars for a value that its column cannot hold.
_MISFITS = (PolarsError, TypeError, ValueError, OverflowError)
_LISTED = 6  # keys to show of an object of another kind


@dataclass(frozen=True, slots=True)
class FileRows:
    """The rows of a file, and the run that it is about."""

    rows: list[Row]
    run: Run
    # For each row the record of the tool that it was made of: the source of kept fields.
    records: Iterable[Any] = ()
    kept: Sequence[Row] = ()


class RepeatedKeyError(ValueError):
    """An object of JSON has two values of one key."""


def unexpected_content(file: Path, expected: str, content: str) -> UnexpectedContentError:
    """The error of a file that is not what a reader expects."""
    return UnexpectedContentError(f"{file}: expected {expected}, found {content}")


def empty_file(file: Path, expected: str) -> UnexpectedContentError:
    """The error of a file without content."""
    return UnexpectedContentError(f"{file} is empty: expected {expected}")


def single_keys(members: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """The object with some members, no two of which give a key different values."""
    # Python would keep the last value and Polars the first; without the check parsing is faster.
    content = dict(members)
    if len(content) < len(members):
        for name, value in members:
            if value != content[name]:
                raise RepeatedKeyError(f"two values of the key {name!r}")
    return content


_CUT = re.compile(r"[\w.+\\-]{0,8}|[\[{,:]")  # the last part of a text that breaks off
# One for all lines: `json.loads` would make a decoder for each, which takes as long as parsing.
_DECODER = json.JSONDecoder(object_pairs_hook=single_keys)


def parse_json(
    file: Path, text: str | bytes, expected: str, made: Callable[..., dict[str, Any]] = single_keys
) -> Any:
    """The JSON value of a text in a file; `made` makes each object of its members."""
    if not text.strip():
        raise empty_file(file, expected)
    try:
        return json.loads(text, object_pairs_hook=made)
    except RepeatedKeyError as error:
        raise unexpected_content(file, expected, str(error)) from None
    except UnicodeDecodeError as error:
        cut = " at its end: the file may be truncated" if error.end == len(text) else ""
        raise unexpected_content(file, expected, f"bytes that are no text{cut}") from None
    except json.JSONDecodeError as error:
        raise unexpected_content(file, expected, _fault_place(error)) from None
    except (
        ValueError,
        RecursionError,
    ) as error:  # an integer of 5,000 digits, 1,000 lists in lists
        raise unexpected_content(file, expected, f"JSON that is too large: {error}") from None


def _fault_place(error: json.JSONDecodeError) -> str:
    """The place of what is no JSON; of a text that breaks off its end, not where a part begins."""
    text = error.doc.rstrip()
    rest = text[error.pos :]
    cut = error.msg != "Extra data" and error.pos > 0 and _CUT.fullmatch(rest)
    if not cut and not error.msg.startswith("Unterminated"):
        return f"text that is no JSON at line {error.lineno}, column {error.colno}: {error.msg}"
    line, column = text.count("\n") + 1, len(text) - text.rfind("\n")
    return (
        f"text that is no JSON at line {line}, column {column} (where it ends: the file may be "
        f"truncated): {error.msg}"
    )


def read_json(file: Path, expected: str, made: Callable[..., dict[str, Any]] = single_keys) -> Any:
    """The content of a JSON file; see `parse_json`."""
    with damage_names_file(file, expected), open_plain(file) as source:
        text = source.read()
    return parse_json(file, text, expected, made)


@contextmanager
def damage_names_file(file: Path, expected: str) -> Iterator[None]:
    """Turn errors of decompressing a file into one that says what was expected of it."""
    try:
        yield
    except DAMAGE as error:
        if (compression := compression_of(file)) is None:
            raise
        problem = f"no whole {compression} file ({error})"
        raise unexpected_content(file, expected, problem) from error


def numbered_objects(file: Path, expected: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Line numbers and objects of a file of JSON lines, one at a time."""
    number = 0
    with damage_names_file(file, expected), open_plain(file) as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                yield number, parse_line(file, f"line {number}", line, expected)
    if number == 0:
        raise empty_file(file, expected)


def parse_line(file: Path, place: str, line: bytes, expected: str) -> dict[str, Any]:
    """The object of one line; errors name its place in the file."""
    try:
        record = _DECODER.decode(line.decode("utf-8-sig", "surrogatepass"))
    except RepeatedKeyError as error:
        raise unexpected_content(file, expected, f"{error} in {place}") from None
    except (ValueError, RecursionError) as error:
        problem = f"no JSON in {place} ({error}): the file may be truncated, or of another tool"
        raise unexpected_content(file, expected, problem) from None
    if not isinstance(record, dict):
        raise unexpected_content(file, expected, f"{describe_content(record)} in {place}")
    return record


@contextmanager
def errors_name_file(file: Path, expected: str, place: str = "") -> Iterator[None]:
    """Turn errors of reading a file into one that names it, its place, and what was expected."""
    other = "it may be of another version or tool"
    try:
        yield
    except KeyError as error:
        problem = f"something that lacks {error}{place}: {other}"
        raise unexpected_content(file, expected, problem) from error
    except (AttributeError, IndexError, TypeError) as error:
        problem = f"something of another shape{place} ({error}): {other}"
        raise unexpected_content(file, expected, problem) from error
    except (ValueError, OverflowError, RecursionError, PolarsError) as error:
        if isinstance(error, UnexpectedContentError) or str(file) in str(error):
            raise
        problem = f"a value that cannot be read{place} ({first_sentence(error)})"
        raise unexpected_content(file, expected, problem) from error


def side_object(side: Path, expected: str) -> dict[str, Any]:
    """The object in a file beside those of a log; empty if there is no such file."""
    with errors_name_file(side, expected):
        return dict(read_json(side, expected)) if side.exists() else {}


def first_sentence(error: Exception) -> str:
    """The first line of a message: Polars adds advice that does not fit a log."""
    return str(error).partition("\n")[0].partition("; make sure")[0]


def known_number(value: object, name: str = "outcome") -> float | None:
    """A number, or None; a text is an error, even if it looks like one."""
    if value is not None and not isinstance(value, bool | int | float):
        raise TypeError(f"the {name} is {value!r}")
    return None if value is None else float(value)


def score_or_label(value: object) -> tuple[float | None, str | None]:
    """An outcome that is a number or a text, as columns for either."""
    return (None, value) if isinstance(value, str) else (known_number(value), None)


def kept_part(part: FileRows, keep: Mapping[str, Getter]) -> FileRows:
    """The rows of a file with the kept values of its records, which are dropped."""
    return replace(part, records=(), kept=kept_values(part.records, keep))


def with_kept(
    frame: pl.DataFrame, parts: Mapping[Path, FileRows], keep: Mapping[str, Getter]
) -> pl.DataFrame:
    """A table of the rows of some files, with the columns that are kept of their records."""
    rows = [row for part in parts.values() for row in part.kept]
    columns = kept_columns([*keep], rows)
    return frame.with_columns(column for column in columns if column.name not in frame.columns)


def describe_content(content: object) -> str:
    """A JSON value in a few words, for errors."""
    if isinstance(content, dict):
        keys = [*content]
        rest = f" and {len(keys) - _LISTED} more" if len(keys) > _LISTED else ""
        return f"an object with the keys {keys[:_LISTED]}{rest}"
    return f"a list of {len(content)}" if isinstance(content, list) else repr(content)


def run_table(
    parts: Mapping[Path, FileRows],
    runs: Mapping[Path, Run],
    columns: Mapping[str, Any],
    expected: str,
) -> pl.DataFrame:
    """One table of all rows, each with the columns that have one value for its file."""
    facts = [run_columns(file, runs[file]) for file in parts]
    named = pl.DataFrame(facts, schema=dict.fromkeys(facts[0], pl.String))
    place = np.repeat(np.arange(len(parts)), [len(part.rows) for part in parts.values()])
    table = rows_table({file: part.rows for file, part in parts.items()}, columns, expected)
    return named.select(pl.exclude(*columns))[place].hstack(table)


def rows_table(
    runs: Mapping[Path, list[Row]], columns: Mapping[str, Any], expected: str
) -> pl.DataFrame:
    """One table of the rows of all files; a value that does not fit its column is located."""
    rows = [row for part in runs.values() for row in part]
    try:
        return pl.DataFrame(rows, schema=columns, orient="row")
    except _MISFITS:
        for file, part in runs.items():
            _refuse_misfits(file, part, columns, expected)
        raise


def _refuse_misfits(file: Path, rows: list[Row], columns: Mapping[str, Any], expected: str) -> None:
    """Refuse the first value of a file that does not fit its column."""
    for number, row in enumerate(rows, 1):
        for (name, dtype), value in zip(columns.items(), row, strict=True):
            if not _fits_column(value, dtype):
                text = reprlib.repr(value)
                problem = f"the {name} {text} in trial {number}, where {dtype} is needed"
                raise unexpected_content(file, expected, problem)


def _fits_column(value: object, dtype: Any) -> bool:
    """Whether a column of a dtype can hold a value."""
    try:
        pl.DataFrame([(value,)], schema={"column": dtype}, orient="row")
    except _MISFITS:
        return False
    return True


FieldType: TypeAlias = DataType | DataTypeClass
LineSchema: TypeAlias = "Mapping[str, FieldType]"
# For each shared word the path of a field, and the factor from its unit to that of the word.
LineVocabulary: TypeAlias = "Mapping[str, tuple[str, float]]"


@dataclass(frozen=True, slots=True)
class LineFields:
    """Fields of JSON lines that become columns."""

    schema: LineSchema  # all fields to read: those the reader needs, and those kept
    columns: Mapping[str, pl.Expr]  # the columns that are kept

    def scan(
        self,
        file: Path,
        expected: str,
        run: Run,
        columns: Mapping[str, pl.Expr],
        tally: RowTally | None = None,
    ) -> pl.LazyFrame:
        """The columns of a reader, those of the run, and the kept ones, read lazily."""
        selected = added_columns({**run_literals(file, run), **columns}, self.columns)
        return scan_lines(file, expected, self.schema, selected, tally)


def read_first_lines(
    paths: Paths, pattern: str, expected: str, needs: Collection[str], options: Mapping[str, object]
) -> dict[Path, dict[str, Any]]:
    """The first line of each file, with some fields."""
    files = find_files(paths, pattern)
    return read_each(files, lambda file: first_line(file, expected, needs), options)


def kept_line_fields(
    keep: str | Iterable[str] | None,
    head: Mapping[str, Any],
    needed: LineSchema,
    vocabulary: LineVocabulary | None = None,
) -> LineFields:
    """The fields to read of JSON lines for the names in `keep`."""
    # A field that the reader does not need is read as text, or as a number if the first line
    # (`head`) has one there. An object of which the reader needs a field cannot be kept as a whole.
    schema, columns = dict(needed), {}
    for name in kept_getters(keep):
        path, unit = (vocabulary or {}).get(name, (name, 1.0))
        root, _, rest = path.partition(".")
        if root not in head:
            raise ValueError(
                f"the lines have no field {root!r}, which keep= asks for: they have {sorted(head)}"
            )
        known = schema.get(root)
        if not rest and isinstance(known, pl.Struct):
            example = f"{root}.{known.fields[0].name}"
            raise ValueError(
                f"keep= asks for the object {root!r}: name a field of it, as in keep={example!r}"
            )
        schema[root] = _widened_dtype(schema.get(root, pl.String()), rest)
        text = _field_text(schema[root], pl.col(root), rest)
        columns[name] = _line_value(text, field_value(head, path), unit, number=path != name)
    return LineFields(schema, columns)


def _widened_dtype(dtype: FieldType, path: str) -> FieldType:
    """The dtype to read a field with; a struct gets the field at the path in addition."""
    if not path or not isinstance(dtype, pl.Struct):
        return dtype
    name, _, rest = path.partition(".")
    known: dict[str, FieldType] = {field.name: field.dtype for field in dtype.fields}
    return pl.Struct({**known, name: _widened_dtype(known.get(name, pl.String()), rest)})


def _field_text(dtype: FieldType, field: pl.Expr, path: str) -> pl.Expr:
    """The text at a path in a field."""
    if not isinstance(dtype, pl.Struct):
        text = field.cast(pl.String)
        return text.str.json_path_match(f"$.{path}") if path else text
    name, _, rest = path.partition(".")
    known: dict[str, FieldType] = {part.name: part.dtype for part in dtype.fields}
    return _field_text(known[name], field.struct.field(name), rest)


def _line_value(text: pl.Expr, first: object, unit: float, *, number: bool) -> pl.Expr:
    """The values of a field: numbers, truth values or texts, as the first value is."""
    if isinstance(first, bool):
        return text == "true"
    if number or isinstance(first, int | float):
        return text_number(text) * unit
    return text


FrameT = TypeVar("FrameT", pl.DataFrame, pl.LazyFrame)
Source: TypeAlias = "Path | io.BytesIO"
Scan = Callable[[Source], pl.LazyFrame]
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")  # half of a pair, in the notation of JSON
_HALF = re.compile(r"[\ud800-\udfff]")  # and as Python reads it
# Before Polars 2 a query within a query can wait for a thread for ever; files are then read whole
# at the call.
NESTS = int(pl.__version__.partition(".")[0]) > 1
_BLOCK = 1 << 16  # bytes
_BLOCK_LINES = 1_000
_NUL = ":nul"  # the column that marks rows with the character NUL


def first_line(file: Path, expected: str, needs: Collection[str]) -> dict[str, Any]:
    """The first object of a file, which must have some fields."""
    # Also refuses a file that breaks off in its last line.
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
    """The rows of a file, read lazily from Polars 2 on, with errors that name file and line."""
    # Polars names neither: a scan of our own looks for the line once there is an error, and takes a
    # quarter longer than ``scan(file)``. Fields of dtype String hold the text that stands there.
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
            rows = asked_part(rows, columns, predicate)
        # In the query, which runs in all threads: checks batch by batch cost a third of the time.
        has_nul = pl.any_horizontal(cs.string().str.contains("\0", literal=True))
        try:
            fields = _read_fields(needed, selected) - checked if limit is None else set()
            refuse_repeated_keys(file, expected, schema, fields)
            checked.update(fields)
            marked = rows.with_columns(has_nul.alias(_NUL))
            for batch in marked.collect_batches() if NESTS else [marked.collect()]:
                if batch.drop_in_place(_NUL).any():
                    refuse_half_character(file, expected, schema)
                if counted is not None:
                    counted.add(batch)
                yield batch if counted is None else asked_part(batch, columns, predicate)
            if counted is not None:
                counted.warn()
        except PolarsError:
            refuse_broken_line(file, expected, scan)
            raise  # every line can be read: the error is that of the query

    if not NESTS:
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


def asked_part(rows: FrameT, columns: list[str] | None, predicate: pl.Expr | None) -> FrameT:
    """The rows and columns of a query."""
    rows = rows if predicate is None else rows.filter(predicate)
    return rows if columns is None else rows.select(columns)


def refuse_repeated_keys(
    file: Path, expected: str, schema: LineSchema, fields: Collection[str]
) -> None:
    """Refuse the first line that gives one of the fields two different values."""
    # Polars takes the first in silence. The search takes .04 s for each field of 64 MB.
    # Old versions of Polars name the root of a literal too: "".
    known = {name: schema[name] for name in fields if name in schema}
    marks = [f'"{name}"' for name in _field_names(known)]
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
    marked = [mark.encode() for mark in marks]
    with open_plain(file) as numbered:
        for number, line in enumerate(numbered, 1):
            if any(line.count(mark) > 1 for mark in marked):
                parse_line(file, f"line {number}", line, expected)


def _field_names(schema: LineSchema) -> Iterator[str]:
    """The names of fields, and of the fields of objects in them."""
    for name, dtype in schema.items():
        yield name
        if isinstance(dtype, pl.Struct):
            yield from _field_names({part.name: part.dtype for part in dtype.fields})


def refuse_half_character(file: Path, expected: str, fields: Collection[str]) -> None:
    """Refuse the first line in which a field has half of a surrogate pair."""
    # Polars reads it as NUL, so that two ids would become one. A NUL in the file is no error.
    with open_plain(file) as lines:
        for number, line in enumerate(lines, 1):
            if not _SURROGATE.search(line):
                continue
            record = parse_line(file, f"line {number}", line, expected)
            for name in fields:
                if _HALF.search(json_text(record.get(name))):
                    problem = (
                        f"half of a surrogate pair, no character, in {name!r} of line {number}"
                    )
                    raise unexpected_content(file, expected, problem)


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
