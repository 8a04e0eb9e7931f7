"""How an accessor shows itself: the roles, the columns that play them, and their dtypes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from html import escape

import polars as pl
from polars.exceptions import PolarsError

from polars_scorio.counting.roles import Column, Roles

_MOST = 12  # names of other columns


def as_text(title: str, rows: Sequence[tuple[str, str, str]]) -> str:
    """A line for each row, in columns.

    Examples
    --------
    >>> print(as_text("scorio", [("model", "llm", "String"), ("by", "step", "Int64")]))
    <scorio>
      model  llm   String
      by     step  Int64
    """
    widths = [max(len(row[i]) for row in rows) for i in range(2)]
    lines = [f"  {a:{widths[0]}}  {b:{widths[1]}}  {c}".rstrip() for a, b, c in rows]
    return "\n".join([f"<{title}>", *lines])


def as_html(title: str, rows: Sequence[tuple[str, str, str]]) -> str:
    """An HTML table with the title as its caption."""
    cells = ("".join(f"<td>{escape(cell)}</td>" for cell in row) for row in rows)
    body = "".join(f"<tr>{row}</tr>" for row in cells)
    head = "".join(f"<th>{each}</th>" for each in ("role", "column", "dtype"))
    return f"<table><caption>{escape(title)}</caption><tr>{head}</tr>{body}</table>"


def rows_of(frame: pl.DataFrame | pl.LazyFrame, roles: Roles) -> list[tuple[str, str, str]]:
    """Each role, what plays it, and its dtype; then the choices, then the other columns.

    Nothing but the schema is read, and what is wrong with it is shown, not raised.
    """
    try:
        schema = frame.collect_schema()
    except (PolarsError, OSError) as error:
        schema = None
        problem = [("schema", f"{type(error).__name__}: {error}".partition("\n")[0], "")]
    rows, used = [], set()
    for field in fields(roles):
        value = getattr(roles, field.name)
        if "Column" not in str(field.type):
            rows += [(field.name, repr(value), "")] if value != field.default else []
            continue
        columns = [value] if isinstance(value, str | pl.Expr) else list(value or ())
        rows += [(field.name, str(column), _role_dtype(column, schema)) for column in columns]
        used |= {name for column in columns for name in _root_columns(column)}
    if schema is None:
        return rows + problem
    others = [name for name in schema if name not in used]
    more = [", ".join([*others[:_MOST], *(["..."] if len(others) > _MOST else [])])]
    return rows + [("other columns", names, "") for names in more if names]


def _root_columns(column: Column) -> list[str]:
    return [column] if isinstance(column, str) else column.meta.root_names()


def _role_dtype(column: Column, schema: pl.Schema | None) -> str:
    """The dtype of a role, or why it has none."""
    if schema is None:
        return "unknown"
    try:
        (dtype,) = pl.LazyFrame(schema=schema).select(column).collect_schema().dtypes()
    except PolarsError:
        return "no such column"
    return str(dtype)
