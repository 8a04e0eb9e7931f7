"""JSON files: read with errors that name the file, what was expected and what was found.

Python's parser, not Polars': the keys of these files are data (names of tasks), and some hold a
bare NaN, which Polars refuses.
"""

from __future__ import annotations

import json
import reprlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import polars as pl
from polars.exceptions import PolarsError

from polars_scorio.logs.compressed_files import DAMAGE, compression_of, open_plain
from polars_scorio.logs.kept_fields import Getter, kept_columns, kept_values
from polars_scorio.logs.paths import Paths, find_files
from polars_scorio.logs.runs import RUN_COLUMNS, Run, shown_path
from polars_scorio.logs.unreadable_files import OnError, read_each

Row: TypeAlias = "tuple[object, ...]"
# A function that makes the rows of a file from its content; None for files of another kind.
Rows = Callable[[Path, Any], "FileRows | None"]
# Errors of Polars for a value that its column cannot hold.
_MISFITS = (PolarsError, TypeError, ValueError, OverflowError)
_SHOWN = 6  # keys to show of an object of another kind


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


class UnexpectedContentError(ValueError):
    """A file is not what a reader expects."""


def unexpected_content(file: Path, expected: str, found: str) -> UnexpectedContentError:
    """The error of a file that is not what a reader expects."""
    return UnexpectedContentError(f"{file}: expected {expected}, found {found}")


def empty_file(file: Path, expected: str) -> UnexpectedContentError:
    """The error of a file without content."""
    return UnexpectedContentError(f"{file} is empty: expected {expected}")


def single_keys(members: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """The object with some members, no two of which give a key different values.

    Without this hook Python's parser keeps the last value and Polars' the first. To do without
    it saves a third of the time that Python takes to parse.
    """
    content = dict(members)
    if len(content) < len(members):
        for name, value in members:
            if value != content[name]:
                raise RepeatedKeyError(f"two values of the key {name!r}")
    return content


def parse_json(file: Path, text: str | bytes, expected: str) -> Any:
    """The JSON value of a text in a file."""
    if not text.strip():
        raise empty_file(file, expected)
    try:
        return json.loads(text, object_pairs_hook=single_keys)
    except RepeatedKeyError as error:
        raise unexpected_content(file, expected, str(error)) from None
    except UnicodeDecodeError:
        raise unexpected_content(file, expected, "bytes that are no text") from None
    except json.JSONDecodeError as error:
        found = f"text that is no JSON at line {error.lineno}, column {error.colno}"
        ends = error.msg.startswith("Unterminated") or error.pos >= len(text.rstrip()) - 1
        cut = " (where it ends: the file may be truncated)" if ends else ""
        raise unexpected_content(file, expected, f"{found}{cut}: {error.msg}") from None
    except (
        ValueError,
        RecursionError,
    ) as error:  # an integer of 5,000 digits, 1,000 lists in lists
        raise unexpected_content(file, expected, f"JSON that is too large: {error}") from None


def read_json(file: Path, expected: str) -> Any:
    """The content of a JSON file."""
    with damage_names_file(file, expected), open_plain(file) as source:
        text = source.read()
    return parse_json(file, text, expected)


@contextmanager
def damage_names_file(file: Path, expected: str) -> Iterator[None]:
    """Turn errors of decompressing a file into one that says what was expected of it."""
    try:
        yield
    except DAMAGE as error:
        if (compression := compression_of(file)) is None:
            raise
        found = f"no whole {compression} file ({error})"
        raise unexpected_content(file, expected, found) from error


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
        record = json.loads(line, object_pairs_hook=single_keys)
    except RepeatedKeyError as error:
        raise unexpected_content(file, expected, f"{error} in {place}") from None
    except (ValueError, RecursionError) as error:
        found = f"no JSON in {place} ({error}): the file may be truncated, or of another tool"
        raise unexpected_content(file, expected, found) from None
    if not isinstance(record, dict):
        raise unexpected_content(file, expected, f"{describe_content(record)} in {place}")
    return record


@contextmanager
def errors_name_file(file: Path, expected: str, place: str = "") -> Iterator[None]:
    """Turn errors of reading a file into one that names the file and what was expected of it.

    Parameters
    ----------
    file : Path
        The file.
    expected : str
        What it should have held.
    place : str
        Where in the file the error is, if that is known, such as " in line 3".
    """
    other = "it may be of another version or tool"
    try:
        yield
    except KeyError as error:
        found = f"something that lacks {error}{place}: {other}"
        raise unexpected_content(file, expected, found) from error
    except (AttributeError, IndexError, TypeError) as error:
        found = f"something of another shape{place} ({error}): {other}"
        raise unexpected_content(file, expected, found) from error
    except (ValueError, OverflowError, RecursionError, PolarsError) as error:
        if str(file) in str(error):
            raise
        found = f"a value that cannot be read{place} ({first_sentence(error)})"
        raise unexpected_content(file, expected, found) from error


def first_sentence(error: Exception) -> str:
    """The first line of a message: Polars adds advice that does not fit a log."""
    return str(error).partition("\n")[0].partition("; make sure")[0]


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


def rows_by_file(
    paths: Paths,
    patterns: tuple[str, ...],
    expected: str,
    rows: Rows,
    *,
    on_error: OnError = "raise",
    skip_below: bool = False,
    keep: Mapping[str, Getter] | None = None,
) -> dict[Path, FileRows]:
    """The rows of each JSON file of a tool.

    Files of another kind in the same folders are passed over. They are an error if the user named
    them, or if there is no file of the right kind. A file that cannot be parsed is an error too.

    Parameters
    ----------
    paths, patterns
        As in `find_files`.
    expected : str
        What the files should be, for errors.
    rows : callable
        Makes the rows of a file from its content.
    on_error : {"raise", "warn"}
        As in `read_each`.
    skip_below : bool
        Whether files in the folders below that of a file with rows are left unopened.
    keep : mapping of str to callable, optional
        What is kept of the records of the rows.
    """
    files = find_files(paths, *patterns)
    strangers: list[ValueError] = []
    runs = set[Path]()

    def read(file: Path) -> FileRows | None:
        if skip_below and not files[file] and runs.intersection(file.parent.parents):
            return None
        content = read_json(file, expected)
        with errors_name_file(file, expected):
            part = rows(file, content)
        if part is None:
            strangers.append(unexpected_content(file, expected, describe_content(content)))
            if files[file]:
                raise strangers[-1]
        elif not part.rows:
            raise unexpected_content(file, expected, "no trial")
        else:
            runs.add(file.parent)
        return part and kept_part(part, keep or {})

    upper_first = sorted(files, key=lambda file: len(file.parts))
    parts = read_each(upper_first, read, on_error)
    found = {file: part for file in files if (part := parts.get(file)) is not None}
    if not found:
        raise strangers[0]
    return found


def describe_content(content: object) -> str:
    """A JSON value in a few words, for errors.

    >>> describe_content({"a": 1}), describe_content([1, 2])
    ("an object with the keys ['a']", 'a list of 2')
    """
    if isinstance(content, dict):
        keys = [*content]
        more = f" and {len(keys) - _SHOWN} more" if len(keys) > _SHOWN else ""
        return f"an object with the keys {keys[:_SHOWN]}{more}"
    return f"a list of {len(content)}" if isinstance(content, list) else repr(content)


def model_table(
    parts: Mapping[Path, FileRows],
    models: Mapping[Path, str],
    columns: Mapping[str, Any],
    expected: str,
) -> pl.DataFrame:
    """One table of all rows, each with the model of its file, its run and the file itself."""
    named = {
        file: FileRows([(models[file], *row) for row in part.rows], part.run)
        for file, part in parts.items()
    }
    return run_table(named, {"model": pl.String, **columns}, expected)


def model_runs(parts: Mapping[Path, FileRows], models: Mapping[Path, str]) -> dict[Path, Run]:
    """The run of each file, with the model that it is read as."""
    return {
        file: replace(part.run, keys={**part.run.keys, "model": models[file]})
        for file, part in parts.items()
    }


def run_table(
    parts: Mapping[Path, FileRows], columns: Mapping[str, Any], expected: str
) -> pl.DataFrame:
    """One table of all rows, each with its run and the file that has it."""
    known = [([part.run.name, shown_path(file)], len(part.rows)) for file, part in parts.items()]
    names = pl.DataFrame([name for name, _ in known], schema=RUN_COLUMNS, orient="row")
    place = np.repeat(np.arange(len(known)), [rows for _, rows in known])
    table = rows_table({file: part.rows for file, part in parts.items()}, columns, expected)
    return table.hstack(names[place])


def rows_table(
    runs: Mapping[Path, list[Row]], columns: Mapping[str, Any], expected: str
) -> pl.DataFrame:
    """One table of the rows of all files.

    Raises
    ------
    ValueError
        If a value does not fit its column: the error names the file, the row and the value.
    """
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
                shown = reprlib.repr(value)
                found = f"the {name} {shown} in trial {number}, where {dtype} is needed"
                raise unexpected_content(file, expected, found)


def _fits_column(value: object, dtype: Any) -> bool:
    """Whether a column of a dtype can hold a value."""
    try:
        pl.DataFrame([(value,)], schema={"column": dtype}, orient="row")
    except _MISFITS:
        return False
    return True
