"""The arguments that name a log, and the log with its roles that they describe."""

from __future__ import annotations

import ast
from argparse import ArgumentParser, Namespace
from typing import Any

import polars as pl
from polars.exceptions import PolarsError

from polars_scorio import logs
from polars_scorio.accessors.frame import Scorio
from polars_scorio.counting.category_values import is_label
from polars_scorio.counting.roles import Category
from polars_scorio.logs.files import scan_files

_COLUMN_ROLES = ("model", "question", "trial", "category", "count", "cluster", "answer")
_READER_ROLES = ("model", "cluster", "answer")  # column roles that readers of tools accept too


def add_log_arguments(parser: ArgumentParser) -> None:
    """Add the arguments that name the log, its columns and its outcomes."""
    add = parser.add_argument_group("log").add_argument
    files = "Parquet, CSV or JSON lines: files, folders or globs"
    add("log", nargs="+", metavar="LOG", help=files)
    tools = f"the tool that wrote it: {', '.join(logs.__all__)}"
    add("--from", dest="tool", choices=logs.__all__, metavar="TOOL", help=tools)
    more = {
        "model": "; none: one model; with --from its name, or a pattern in the paths",
        "trial": ": the ids of trials; none: no ids",
        "count": ": multiplicities",
        "cluster": ": questions that belong together, such as those about one passage",
        "answer": ": what trials answered, for vote_at_k",
    }
    for role in _COLUMN_ROLES:
        text = f"column, or expression in SQL{more.get(role, '')}"
        add(f"--{role}", metavar="COLUMN", help=text)
    again = "; may be given again"
    add("--by", metavar="COLUMN", action="append", default=[], help=f"a stratum{again}")
    success = f"a category that is a success{again}"
    add("--success", metavar="CATEGORY", action="append", default=[], help=success)
    missing = "what a trial without an outcome is: error, drop, or a category"
    add("--missing", metavar="MEANING", help=missing)
    add("--n", type=int, help="trials that each question must have")
    threshold = "the category is a number, from here on a success; NaN is missing"
    add("--threshold", type=float, metavar="REWARD", help=threshold)
    levels = f"the category is the reward itself, one of these{again}"
    add("--levels", type=float, action="append", metavar="REWARD", help=levels)


def read_log(asked: Namespace) -> Scorio[Any]:
    """The accessor of the log that the arguments describe."""
    return _columns_log(asked) if asked.tool is None else _tool_log(asked)


def _columns_log(asked: Namespace) -> Scorio[Any]:
    """The accessor of files whose columns the arguments name."""
    frame = scan_files(asked.log)
    schema = frame.collect_schema()
    roles: dict[str, Any] = {
        role: _role_column(getattr(asked, role), schema)
        for role in _COLUMN_ROLES
        if getattr(asked, role) is not None
    }
    if asked.trial is None and (asked.count is not None or "trial" not in schema):
        roles["trial"] = None
    roles["by"] = [_role_column(name, schema) for name in asked.by]
    dtype = _category_dtype(frame, roles.get("category", "category"))
    return Scorio(frame)(**roles, **_outcome_roles(asked, dtype))


def _tool_log(asked: Namespace) -> Scorio[Any]:
    """The accessor of files that a tool wrote, with the roles of its reader unless overridden."""
    known = [
        f"--{role}" for role in _COLUMN_ROLES if role not in _READER_ROLES and getattr(asked, role)
    ]
    if known:
        raise ValueError(f"--from {asked.tool} knows its columns: leave {', '.join(known)} out")
    given = ("by", "cluster", "answer")
    more = {name: getattr(asked, name) for name in given if getattr(asked, name)}
    reader = getattr(logs, asked.tool)
    log: Scorio[Any] = reader(asked.log, model=asked.model, **more, **_outcome_roles(asked, None))
    return log


def _outcome_roles(asked: Namespace, dtype: pl.DataType | None) -> dict[str, Any]:
    """The roles about outcomes, with values of the dtype of the category column."""
    roles: dict[str, Any] = {}
    if asked.success:
        roles["success"] = [column_value(text, dtype) for text in asked.success]
    if asked.missing in {"error", "drop"}:
        roles["missing"] = asked.missing
    elif asked.missing is not None:
        roles["missing"] = column_value(asked.missing, dtype)
    given = {"n": asked.n, "levels": asked.levels, "threshold": asked.threshold}
    return roles | {role: value for role, value in given.items() if value is not None}


def _role_column(text: str, schema: pl.Schema) -> str | pl.Expr | None:
    """A column by its name, an expression in SQL, or None for the word none."""
    if text in schema or text.isidentifier():
        return None if text == "none" and text not in schema else text
    try:
        return pl.sql_expr(text)
    except PolarsError as error:
        raise ValueError(
            f"{text!r} is neither a column nor an expression in SQL: {error}"
        ) from None


def _category_dtype(frame: pl.LazyFrame, category: str | pl.Expr) -> pl.DataType | None:
    """The dtype of the categories; None if there is no such column."""
    try:
        return frame.select(category).collect_schema().dtypes()[0]
    except PolarsError:
        return None  # the accessor says what is wrong


def column_value(text: str, dtype: pl.DataType | None) -> Category:
    """A value of a column of some dtype: the text itself, or the number that it spells.

    >>> column_value("1", pl.Int64()), column_value("1", pl.String()), column_value("C", None)
    (1, '1', 'C')
    """
    if dtype is not None and is_label(dtype):
        return text
    try:
        value = ast.literal_eval(text.capitalize() if text in {"true", "false"} else text)
    except (ValueError, SyntaxError):
        return text
    return value if isinstance(value, Category) else text
