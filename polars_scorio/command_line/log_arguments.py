"""The arguments that name a log, and the log with its roles that they describe."""

from __future__ import annotations

import ast
import re
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable
from inspect import signature
from typing import Any, get_args

import polars as pl
from polars.exceptions import PolarsError

from polars_scorio.accessors.frame import Scorio
from polars_scorio.counting.category_values import is_label
from polars_scorio.counting.judge_counts import Judge, judge
from polars_scorio.counting.roles import Category, Unscored
from polars_scorio.logs.files import scan_files
from polars_scorio.logs.paths import is_remote
from polars_scorio.logs.read import TOOLS, fitting_tools, named_reader

_COLUMN_ROLES = (
    *("model", "question", "trial", "category", "count", "cluster", "answer", "truth", "cost"),
)
# Column roles that readers of tools accept too.
_READER_ROLES = ("model", "cluster", "answer", "truth", "cost")


def add_log_arguments(parser: ArgumentParser) -> None:
    """Add the arguments that name the log, its columns and its outcomes."""
    add = parser.add_argument_group("log").add_argument
    files = (
        "Parquet, CSV, TSV, JSON lines or arrays, also several of them, or what a tool wrote: "
        "files, folders or globs; - is standard input"
    )
    add("log", nargs="+", metavar="LOG", help=files)
    tools = f"the tool that wrote it, if it is not found by itself: {', '.join(TOOLS)}"
    add("--from", dest="tool", choices=TOOLS, metavar="TOOL", help=tools)
    more = {
        "model": "; none: one model; with --from its name, or a pattern in the paths",
        "trial": ": the ids of trials; none: no ids",
        "count": ": multiplicities",
        "cluster": ": questions that belong together, such as those about one passage",
        "answer": ": what trials answered, for vote_at_k",
        "truth": ": what people said of trials that a judge judged, empty where nobody looked",
        "cost": ": what trials cost, for mean_cost and its like",
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
    unscored = "what a question without any outcome is: error (%(default)s), or drop"
    add("--unscored", choices=get_args(Unscored), default="error", help=unscored)
    add("--n", type=int, help="trials that each question must have")
    threshold = "the category is a number, from here on a success; NaN is missing"
    add("--threshold", type=float, metavar="REWARD", help=threshold)
    levels = f"the category is the reward itself, one of these{again}"
    add("--levels", type=float, action="append", metavar="REWARD", help=levels)
    bounds = "the least and the largest reward that there may be, if the category is a reward"
    add("--bounds", type=float, nargs=2, metavar=("LOW", "HIGH"), help=bounds)
    of = "of a judge, by labels from elsewhere: how many of how many {} answers it called {}"
    add("--sensitivity", type=_rate_counts, metavar="88/100", help=of.format("right", "right"))
    add("--specificity", type=_rate_counts, metavar="78/100", help=of.format("wrong", "wrong"))
    option = f"a keyword of the tool's reader, such as scorer=match{again}"
    add("--option", type=_reader_option, action="append", default=[], metavar="KEY=VALUE",
        help=option)  # fmt: skip


def read_log(asked: Namespace) -> Scorio[Any]:
    """The accessor of the log that the arguments describe."""
    tool = asked.tool or _found_tool(asked)
    if tool is not None:
        return _tool_log(tool, asked)
    if asked.option:
        raise ValueError("--option is for logs of tools: name the tool with --from")
    return _columns_log(asked)


def _found_tool(asked: Namespace) -> str | None:
    """The tool that wrote the log; None for a table whose columns have roles."""
    if _named_columns(asked) or any(map(is_remote, asked.log)):
        return None
    try:
        tools = fitting_tools(asked.log)
    except FileNotFoundError:
        return None  # a file of another kind, or none: reading the table says it
    if len(tools) > 1:
        found = ", ".join(f"{tool} ({file})" for tool, file in tools.items())
        raise ValueError(f"the log may be of several tools, {found}: name one with --from")
    return next(iter(tools), None)


def _named_columns(asked: Namespace) -> list[str]:
    """The options that name columns which a reader knows by itself."""
    roles = (role for role in _COLUMN_ROLES if role not in _READER_ROLES)
    return [f"--{role}" for role in roles if getattr(asked, role)]


def _reader_option(text: str) -> tuple[str, object]:
    """A keyword of a reader and its value: a Python literal, or a text.

    >>> _reader_option("scorer=match"), _reader_option("metric={'arc': 'acc'}")
    (('scorer', 'match'), ('metric', {'arc': 'acc'}))
    """
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier():
        raise ArgumentTypeError(f"{text!r} is not of the form KEY=VALUE")
    try:
        return name, ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return name, value


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


def _tool_log(tool: str, asked: Namespace) -> Scorio[Any]:
    """The accessor of files that a tool wrote, with the roles of its reader unless overridden."""
    known = _named_columns(asked)
    if known:
        raise ValueError(f"--from {tool} knows its columns: leave {', '.join(known)} out")
    given = ("by", "cluster", "answer", "truth", "cost")
    roles = {name: getattr(asked, name) for name in given if getattr(asked, name)}
    reader = named_reader(tool)
    keywords = {"model": asked.model, **roles, **_outcome_roles(asked, None), **dict(asked.option)}
    try:
        return reader(asked.log, **keywords)
    except ValueError as error:
        raise ValueError(_option_hints(str(error), reader)) from error
    except TypeError as error:
        unknown = f"{tool}() got an unexpected keyword argument"
        if not str(error).startswith(unknown):
            raise
        message = str(error).replace(unknown, f"the reader of {tool} has no --option", 1)
        raise ValueError(message) from error


def _option_hints(message: str, reader: Callable[..., object]) -> str:
    """The message of a reader, with keywords that the command has no option for as --option."""
    names = [name for name in signature(reader).parameters if name not in {"model", "threshold"}]
    value = r"""(\{[^}]*\}|\[[^\]]*\]|"[^"]*"|'[^']*')?"""
    return re.sub(rf"(?<![\w.-])({'|'.join(names)})={value}", _shell_option, message)


def _shell_option(keyword: re.Match[str]) -> str:
    """A keyword and its value, if it has one, as a shell takes them: dicts and lists in quotes."""
    name, value = keyword.groups(default="")
    if value[:1] in {"{", "["}:
        return f'--option "{name}={value}"'
    return f"--option {name}={value.strip(chr(34) + chr(39))}"


def _outcome_roles(asked: Namespace, dtype: pl.DataType | None) -> dict[str, Any]:
    """The roles about outcomes, with values of the dtype of the category column."""
    roles: dict[str, Any] = {}
    if asked.success:
        roles["success"] = [column_value(text, dtype) for text in asked.success]
    if asked.missing in {"error", "drop"}:
        roles["missing"] = asked.missing
    elif asked.missing is not None:
        roles["missing"] = column_value(asked.missing, dtype)
    if asked.unscored != "error":
        roles["unscored"] = asked.unscored
    given: dict[str, Any] = {
        "n": asked.n,
        "levels": asked.levels,
        "threshold": asked.threshold,
        "bounds": asked.bounds and tuple(asked.bounds),
        "judge": _judge_argument(asked),
    }
    return roles | {role: value for role, value in given.items() if value is not None}


def _rate_counts(text: str) -> tuple[int, int]:
    """The part and the whole of a rate.

    >>> _rate_counts("88/100")
    (88, 100)
    """
    found = re.fullmatch(r"\s*(\d+)\s*/\s*(\d+)\s*", text)
    if found is None:
        raise ArgumentTypeError(f"{text!r} is not of the form 88/100: 88 of 100 answers")
    return int(found[1]), int(found[2])


def _judge_argument(asked: Namespace) -> Judge | None:
    """The judge, if both of its rates are given."""
    rates = {"--sensitivity": asked.sensitivity, "--specificity": asked.specificity}
    lacking = [name for name, rate in rates.items() if rate is None]
    if len(lacking) == len(rates):
        return None
    if lacking:
        raise ValueError(f"a judge has two rates: give {lacking[0]} too, as in {lacking[0]} 78/100")
    return judge(sensitivity=asked.sensitivity, specificity=asked.specificity)


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
