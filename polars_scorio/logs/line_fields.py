"""Fields of JSON lines: those that a reader needs, and those that the keyword `keep` adds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import polars as pl
from polars.datatypes import DataType, DataTypeClass

from polars_scorio.logs.json_text import text_number
from polars_scorio.logs.kept_fields import field_value, kept_getters

FieldType: TypeAlias = DataType | DataTypeClass
LineSchema: TypeAlias = "Mapping[str, FieldType]"
# For each shared word the path of a field, and the factor from its unit to that of the word.
LineVocabulary: TypeAlias = "Mapping[str, tuple[str, float]]"


@dataclass(frozen=True, slots=True)
class LineFields:
    """Fields of JSON lines that become columns.

    Attributes
    ----------
    schema : mapping of str to dtype
        All fields to read of a line: those that the reader needs, and those that are kept.
    columns : mapping of str to Expr
        The columns that are kept.
    """

    schema: LineSchema
    columns: Mapping[str, pl.Expr]


def kept_line_fields(
    keep: str | Iterable[str] | None,
    head: Mapping[str, Any],
    needed: LineSchema,
    vocabulary: LineVocabulary | None = None,
) -> LineFields:
    """The fields to read of JSON lines for the names in `keep`.

    Parameters
    ----------
    keep : str or iterable of str, optional
        The names.
    head : mapping of str to object
        The first line: a field that is a number there is one everywhere.
    needed : mapping of str to dtype
        The fields that the reader needs. A kept field is read as the text of whatever stands
        there, unless the reader needs it.
    vocabulary : mapping of str to tuple, optional
        The words of the tool.

    Raises
    ------
    ValueError
        If the first line lacks a field, or if a name is that of an object of which the reader needs
        a field.
    """
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
