"""Fields of a log that its reader keeps."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import Any, TypeAlias

import polars as pl


def json_text(value: object) -> str:
    """A value as JSON; objects with the same keys in another order give the same text."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def text_number(text: pl.Expr) -> pl.Expr:
    """The number in a text, for fields in which tools write 1, 1.0 or true."""
    return text.replace({"true": "1", "false": "0", "null": None}).cast(pl.Float64)


Getter: TypeAlias = Callable[[Any], object]
# For each shared word, such as usd: the path of a field, or a function of the record.
Vocabulary: TypeAlias = "Mapping[str, str | Getter]"
_MILLI = 1_000


def kept_getters(
    keep: str | Iterable[str] | None, vocabulary: Vocabulary | None = None
) -> dict[str, Getter]:
    """For each name in `keep`, the function that makes its value of a record."""
    names = [] if keep is None else [keep] if isinstance(keep, str) else [*keep]
    return {name: _named_getter(name, (vocabulary or {}).get(name, name)) for name in names}


def _named_getter(name: str, source: str | Getter) -> Getter:
    """The function of a word, or one that reads the field at a path."""
    return path_getter(source or name) if isinstance(source, str) else source


def path_getter(path: str) -> Getter:
    """The function that reads the field at a path."""
    return lambda record: field_value(record, path)


@cache
def _key_splits(name: str) -> tuple[tuple[str, str], ...]:
    """The ways to split a name at a point, the longest first part first."""
    ends = [place for place, character in enumerate(name) if character == "."]
    return tuple((name[:end], name[end + 1 :]) for end in reversed(ends))


def field_value(record: Any, path: str) -> Any:
    """The value at keys joined by points, the longest key first; None if there is none."""
    if not isinstance(record, Mapping):
        return None
    if path in record:
        return record[path]
    for key, rest in _key_splits(path):
        if key in record:
            return field_value(record[key], rest)
    return None


def added_columns(
    columns: Mapping[str, pl.Expr], kept: Mapping[str, pl.Expr]
) -> dict[str, pl.Expr]:
    """The columns of a reader, then the kept ones that are not among them."""
    return {**columns, **{name: column for name, column in kept.items() if name not in columns}}


def from_milliseconds(path: str) -> Getter:
    """The function that turns a field in milliseconds into seconds."""
    return lambda record: None if (time := field_value(record, path)) is None else time / _MILLI


def time_between(start: str, end: str) -> Getter:
    """The function that turns two times of a record into the seconds between them."""

    def seconds(record: Any) -> float | None:
        texts = field_value(record, start), field_value(record, end)
        if not all(isinstance(text, str) for text in texts):
            return None
        # Python 3.10 does not read the letter Z.
        first, last = (datetime.fromisoformat(str(text).replace("Z", "+00:00")) for text in texts)
        return (last - first).total_seconds()

    return seconds


def summed_field(path: str, part: str) -> Getter:
    """The function that sums a part of all values of an object, such as the tokens of models."""
    return summed_over(lambda record: (field_value(record, path) or {}).values(), path_getter(part))


def summed_over(parts: Callable[[Any], Iterable[Any]], get: Getter) -> Getter:
    """The function that sums the values of the parts of a record; None if no part has one."""

    def total(record: Any) -> Any:
        known: list[Any] = [value for part in parts(record) if (value := get(part)) is not None]
        return sum(known) if known else None

    return total


def kept_values(
    records: Iterable[object], keep: Mapping[str, Getter]
) -> tuple[tuple[object, ...], ...]:
    """The values that are kept of each record; of none if nothing is kept."""
    getters = keep.values()
    return tuple(tuple(get(record) for get in getters) for record in records) if keep else ()


def kept_columns(names: Sequence[str], rows: Sequence[Sequence[object]]) -> list[pl.Series]:
    """The columns of kept values: numbers, truth values or texts; other values as JSON."""
    # A name without a value in any record is an error.
    columns = []
    for place, name in enumerate(names):
        values = [row[place] for row in rows]
        if rows and all(value is None for value in values):
            raise ValueError(f"no trial has a value of {name!r}, which keep= asks for")
        columns.append(_typed_column(name, values))
    return columns


def _typed_column(name: str, values: Sequence[object]) -> pl.Series:
    """The values as numbers, truth values or texts if all are of one kind; otherwise as JSON."""
    kinds = {type(value) for value in values if value is not None}
    if kinds <= {int, float} or (len(kinds) == 1 and kinds <= {bool, str}):
        dtype = {bool: pl.Boolean, str: pl.String, int: pl.Int64}.get(next(iter(kinds)), pl.Float64)
        return pl.Series(name, values, dtype=pl.Float64 if float in kinds else dtype, strict=False)
    return pl.Series(name, [None if value is None else json_text(value) for value in values])
