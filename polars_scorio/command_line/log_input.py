"""The log that the arguments of a command describe."""

from __future__ import annotations

import ast
import re
import shutil
import sys
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from inspect import signature
from itertools import chain, repeat
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO

import polars as pl
from polars.exceptions import PolarsError

from polars_scorio.accessors.frame import Scorio
from polars_scorio.arguments import PLANS, nearest_hint
from polars_scorio.command_line.messages import STANDARD_INPUT
from polars_scorio.counting.judge_counts import Judge, judge
from polars_scorio.counting.log import bind_roles
from polars_scorio.counting.roles import COLUMN_ROLES, Category, is_label
from polars_scorio.display.settings import Settings
from polars_scorio.logs.files import TABLES, scan_files
from polars_scorio.logs.paths import DAMAGE, find_files, is_remote, open_plain
from polars_scorio.logs.read import fitting_tools, named_reader, records_options, unknown_files

_HEAD_BYTES = 1 << 16  # bytes in which the format is looked for
# The first bytes of compressed files, and the ending of such a file.
_COMPRESSED = {b"\x1f\x8b": ".gz", b"\x28\xb5\x2f\xfd": ".zst"}


@contextmanager
def saved_input(logs: Sequence[str]) -> Iterator[list[str]]:
    """The names of logs, with a temporary file in place of ``-``, which is standard input."""
    if STANDARD_INPUT not in logs:
        yield [*logs]
        return
    if logs.count(STANDARD_INPUT) > 1:
        raise ValueError("standard input can be read once: name - once")
    if sys.stdin is None:
        raise ValueError("standard input is closed")
    with TemporaryDirectory(prefix="polars-scorio-") as folder:
        file = str(_copied_input(Path(folder), sys.stdin.buffer))
        yield [file if name == STANDARD_INPUT else name for name in logs]


def _copied_input(folder: Path, stream: BinaryIO) -> Path:
    """The file that holds a stream."""
    head = stream.read(_HEAD_BYTES)
    packed = next((end for start, end in _COMPRESSED.items() if head.startswith(start)), "")
    file = folder / f"stdin{packed}"
    with file.open("wb") as copy:
        copy.write(head)
        shutil.copyfileobj(stream, copy)
    return file.rename(folder / f"stdin{format_ending(_plain_head(file))}{packed}")


def _plain_head(file: Path) -> bytes:
    """The first bytes of a file, decompressed."""
    try:
        with open_plain(file) as stream:
            return stream.read(_HEAD_BYTES)
    except DAMAGE as error:
        raise ValueError(f"standard input is damaged or truncated: {error}") from error


def format_ending(head: bytes) -> str:
    r"""The ending of a file by its first bytes.

    >>> [format_ending(head) for head in (b"PAR1", b'[{"a": 1}]', b'{"a": 1}\n', b"a,b\n1,2\n")]
    ['.parquet', '.json', '.jsonl', '.csv']
    >>> format_ending(b"a\tb\n1\t2\n")
    '.tsv'
    """
    if head.startswith(b"PAR1"):
        return ".parquet"
    text = head.lstrip(b"\xef\xbb\xbf \r\n\t")
    if not text:
        raise ValueError("standard input is empty")
    if text[:1] in {b"[", b"{"}:
        return ".json" if text.startswith(b"[") else ".jsonl"
    first = text.partition(b"\n")[0]
    return ".tsv" if first.count(b"\t") > first.count(b",") else ".csv"


_ALIKE = 0.85  # of a typo: drp and Drop are drop, and dropped is a category
_PATH_ROLES = ("question", "trial", "category")  # of the reader by paths
# Column roles that readers of tools accept too.
_READER_ROLES = ("model", "trial", "cluster", "answer", "truth", "cost")


def read_log(asked: Namespace) -> Scorio[Any]:
    """The accessor of the log that the arguments describe."""
    tool = asked.tool or _found_tool(asked)
    if tool is not None:
        return _tool_log(tool, asked)
    for_tools = {"--option": asked.option, "--on-error": asked.on_error}
    for option in (name for name, value in for_tools.items() if value):
        raise ValueError(f"{option} is for logs of tools: name the tool with --from")
    return _columns_log(asked)


def _found_tool(asked: Namespace) -> str | None:
    """The tool that wrote the log; None for a table whose columns have roles."""
    if _named_columns(asked) or any(map(is_remote, asked.log)):
        return None
    try:
        tools = fitting_tools(asked.log)
    except FileNotFoundError:
        return None  # a file of another kind, or none: reading the table says it
    if not tools:
        _refuse_unknown_folder(asked.log)
    if len(tools) > 1:
        readers = ", ".join(f"{tool} ({file})" for tool, file in tools.items())
        raise ValueError(f"the log may be of several tools, {readers}: name one with --from")
    return next(iter(tools), None)


def _refuse_unknown_folder(log: list[str]) -> None:
    """Refuse a folder with files that no reader knows, and without a table."""
    try:
        find_files(log, *TABLES)
    except FileNotFoundError:
        raise ValueError(
            f"{unknown_files(log)}. Name the tool with --from, or the paths in a record with "
            f"{records_options(find_files(log, '*.json'))}"
        ) from None


def _named_columns(asked: Namespace) -> list[str]:
    """The options that name columns which a reader knows by itself."""
    roles = (role for role in COLUMN_ROLES if role not in _READER_ROLES)
    return [f"--{role}" for role in roles if getattr(asked, role)]


def _columns_log(asked: Namespace) -> Scorio[Any]:
    """The accessor of files whose columns the arguments name."""
    frame = scan_files(asked.log)
    schema = frame.collect_schema()
    roles: dict[str, Any] = {
        role: _role_column(getattr(asked, role), schema)
        for role in COLUMN_ROLES
        if role != "question" and getattr(asked, role) is not None
    }
    if asked.question:
        parts = [_role_column(text, schema) for text in asked.question]
        roles["question"] = parts if len(parts) > 1 else parts[0]
    if asked.trial is None and (asked.count is not None or "trial" not in schema):
        roles["trial"] = None
    roles["by"] = [_role_column(name, schema) for name in asked.by]
    dtype = _category_dtype(frame, roles.get("category", "category"))
    return Scorio(frame)(**roles, **_outcome_roles(asked, dtype))


def _tool_log(tool: str, asked: Namespace) -> Scorio[Any]:
    """The accessor of files that a tool wrote, with the roles of its reader unless overridden."""
    named = _PATH_ROLES if tool == "records" else ()
    known = [option for option in _named_columns(asked) if option[2:] not in named]
    if known:
        raise ValueError(f"--from {tool} knows its columns: omit {', '.join(known)}")
    given = ("by", "on_error", *named, *_READER_ROLES[1:])
    roles = {name: getattr(asked, name) for name in given if getattr(asked, name)}
    if "trial" in roles and not named:
        roles["trial"] = _role_column(roles["trial"], pl.Schema())
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
    of_command = {"model", "threshold", "on_error", *_PATH_ROLES}
    names = [name for name in signature(reader).parameters if name not in of_command]
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
    names = ("n", "first", "levels", "threshold", "run_effects")
    given: dict[str, Any] = {name: getattr(asked, name) for name in names} | {
        "success": [column_value(text, dtype) for text in asked.success] or None,
        "missing": None if asked.missing is None else _missing_meaning(asked.missing, dtype),
        "unscored": None if asked.unscored == "error" else asked.unscored,
        "lower_is_better": asked.lower_is_better or None,
        "bounds": asked.bounds and tuple(asked.bounds),
        "judge": _judge_argument(asked),
    }
    return {role: value for role, value in given.items() if value is not None}


def _missing_meaning(text: str, dtype: pl.DataType | None) -> Category:
    """The meaning of trials without an outcome: error, drop, bounds, or a category.

    >>> _missing_meaning("drop", pl.Int64()), _missing_meaning("0", pl.Int64())
    ('drop', 0)
    """
    if text in {"error", "drop", "bounds"}:
        return text
    value = column_value(text, dtype)
    number = dtype is not None and not is_label(dtype)
    typo = get_close_matches(text.lower(), ["drop", "bounds"], 1, _ALIKE)
    if typo or (number and isinstance(value, str)):
        raise ValueError(
            f"--missing must be error, drop, bounds or a category, got {text!r}"
            + (f": did you mean {typo[0]!r}?" if typo else nearest_hint(text, ["error", "drop"]))
        )
    return value


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


def typed_overall(log: Scorio[Any], overall: object) -> object:
    """How numbers over all strata are made, the strata of typed weights as the log has them."""
    if not isinstance(overall, dict):
        return overall
    dtypes = [*bind_roles(log.frame.lazy(), log._roles).strata.values()]
    typed = dict[object, float]()
    for name, weight in overall.items():
        parts = name.split("/") if len(dtypes) > 1 else [name]
        stratum = tuple(map(column_value, parts, chain(dtypes, repeat(None))))
        typed[stratum if len(dtypes) > 1 else stratum[0]] = weight
    return typed


def chosen_settings(asked: Namespace) -> Settings:
    """The inference, target and confidence that the arguments choose."""
    return Settings.from_options(vars(asked))


def planned_numbers(asked: Namespace) -> dict[str, Any]:
    """The planned trials, or questions, of a decision that is looked at while a log grows."""
    return {name: getattr(asked, name) for name, *_ in PLANS.values()}
