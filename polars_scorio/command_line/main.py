"""The command `polars-scorio`: a report as a file, coverage and comparisons in the terminal."""

from __future__ import annotations

import ast
import os
import shlex
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace, RawDescriptionHelpFormatter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

import polars as pl
from polars.exceptions import PolarsError

from polars_scorio import logs
from polars_scorio.accessors.frame import Scorio
from polars_scorio.arguments import Compared, InferenceKind, Per
from polars_scorio.counting.category_values import is_label
from polars_scorio.counting.roles import Category
from polars_scorio.decisions.progress import Progress
from polars_scorio.display.settings import Settings
from polars_scorio.display.whole_files import refuse_missing_folder, write_whole
from polars_scorio.installed_version import installed_version
from polars_scorio.kernels.posteriors import Target
from polars_scorio.logs.files import scan_files
from polars_scorio.metrics.from_text import read_metric
from polars_scorio.metrics.metric import Metric
from polars_scorio.metrics.weighted import avg

_EXAMPLES = """examples:
  polars-scorio report rollouts.parquet --by domain -o report.html
  polars-scorio report runs/ --category "reward >= 0.5" --metric "pass_at_k([1, 4])" -o -
  polars-scorio report results.json --from tau2_bench
  polars-scorio coverage rollouts.csv --question task_id
  polars-scorio compare rollouts.parquet --metric avg --baseline gpt-4o
"""
_COLUMNS = ("model", "question", "trial", "category", "count", "cluster", "answer")
_OF_TOOLS = ("model", "cluster", "answer")  # those that are said of the logs of tools too
_REFUSED, _USAGE = 1, 2  # exit statuses


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Parameters
    ----------
    arguments : sequence of str, optional
        What stands behind its name; default: what the process was given.

    Returns
    -------
    int
        0; or 1 where a log is refused, after the page that says why; or 2 where there is none.
    """
    parser = command_parser()
    given = [*(sys.argv[1:] if arguments is None else arguments)]
    asked = parser.parse_args(given)
    status = _USAGE
    try:
        log = _log(asked)
        # A log that is refused still has a page: what else goes wrong is how it was asked.
        status = _USAGE if asked.run is _report else _REFUSED
        status = int(asked.run(log, asked, f"{parser.prog} {shlex.join(given)}"))
        sys.stdout.flush()
    except BrokenPipeError:
        # Who reads has seen enough, as `head` has; at exit Python flushes once more.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (ValueError, TypeError, OSError, ImportError, PolarsError) as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)  # noqa: T201 - it is a command
    return status


def _report(log: Scorio[Any], asked: Namespace, call: str) -> int:
    """Write the page, or print it as Markdown."""
    from polars_scorio.display.html.page_request import Order  # noqa: PLC0415 - needs an extra
    from polars_scorio.display.html.write_page import page  # noqa: PLC0415 - as above

    settings = _settings(asked)
    title = asked.title or ", ".join(dict.fromkeys(Path(name).name for name in asked.log))
    roles = log._roles  # noqa: SLF001 - the command is a part of the package
    order = Order.of(asked.metric, settings, roles, asked.output, title=title, call=call)
    if asked.output != "-":
        refuse_missing_folder(Path(asked.output))
    with Progress(sys.stderr) as progress:
        made, refusal = page(log.frame.lazy(), roles, order, progress.tell)
    if asked.output == "-":
        _print(made.markdown())
    else:
        write_whole(Path(asked.output), made.html())
        _print(f"{made.headline}\n{asked.output}")
    return 0 if refusal is None else _REFUSED


def _coverage(log: Scorio[Any], asked: Namespace, _: str) -> int:
    """Print what is in the log."""
    _show(log.coverage(per=asked.per))
    return 0


def _compare(log: Scorio[Any], asked: Namespace, _: str) -> int:
    """Print which model is better."""
    options: dict[str, Any] = {**_settings(asked).report}
    baseline = None
    if asked.baseline is not None:
        model = log.frame.lazy().collect_schema()[str(log._roles.model)]  # noqa: SLF001 - see above
        baseline = _value(asked.baseline, model)
    for metric in asked.metric or [avg()]:
        pairs = log.compare(metric, baseline=baseline, questions=asked.questions, **options)
        _show(pairs)
    return 0


def _settings(asked: Namespace) -> Settings:
    return Settings(asked.inference, asked.target, asked.confidence)


def _show(rows: pl.DataFrame | pl.LazyFrame) -> None:
    """Print all of a table."""
    lines = "┌".encode(_encoding(), "ignore")
    with pl.Config(
        tbl_rows=-1,
        tbl_cols=-1,
        tbl_width_chars=-1,
        fmt_str_lengths=100,
        float_precision=3,
        tbl_hide_column_data_types=True,
        tbl_hide_dataframe_shape=True,
        ascii_tables=not lines or None,
    ):
        _print(str(rows.lazy().collect()))


def _print(text: str) -> None:
    """Print it; what a pipe of Windows lacks becomes a question mark."""
    print(text.encode(_encoding(), "replace").decode(_encoding()))  # noqa: T201 - it is a command


def _encoding() -> str:
    return sys.stdout.encoding or "utf-8"


def _log(asked: Namespace) -> Scorio[Any]:
    """The log with its roles."""
    if asked.tool is not None:
        return _of_tool(asked)
    frame = scan_files(asked.log)
    schema = frame.collect_schema()
    roles: dict[str, Any] = {
        role: _column(getattr(asked, role), schema)
        for role in _COLUMNS
        if getattr(asked, role) is not None
    }
    if asked.trial is None and (asked.count is not None or "trial" not in schema):
        roles["trial"] = None
    roles["by"] = [_column(name, schema) for name in asked.by]
    dtype = _dtype(frame, roles.get("category", "category"))
    return Scorio(frame)(**roles, **_outcomes(asked, dtype))


def _of_tool(asked: Namespace) -> Scorio[Any]:
    """The log that a tool wrote, with the roles of its reader unless others are given."""
    known = [f"--{role}" for role in _COLUMNS if role not in _OF_TOOLS and getattr(asked, role)]
    if known:
        raise ValueError(f"--from {asked.tool} knows its columns: leave {', '.join(known)} out")
    given = ("by", "cluster", "answer")
    more = {name: getattr(asked, name) for name in given if getattr(asked, name)}
    reader = getattr(logs, asked.tool)
    log: Scorio[Any] = reader(asked.log, model=asked.model, **more, **_outcomes(asked, None))
    return log


def _outcomes(asked: Namespace, dtype: pl.DataType | None) -> dict[str, Any]:
    """What is said of outcomes, in the values of the category column."""
    roles: dict[str, Any] = {}
    if asked.success:
        roles["success"] = [_value(text, dtype) for text in asked.success]
    if asked.missing is not None:
        words = {"error", "drop"}
        roles["missing"] = asked.missing if asked.missing in words else _value(asked.missing, dtype)
    given = {"n": asked.n, "levels": asked.levels}
    return roles | {role: value for role, value in given.items() if value is not None}


def _column(text: str, schema: pl.Schema) -> str | pl.Expr | None:
    """A column by its name, an expression in SQL, or nothing."""
    if text in schema or text.isidentifier():
        return None if text == "none" and text not in schema else text
    try:
        return pl.sql_expr(text)
    except PolarsError as error:
        raise ValueError(
            f"{text!r} is neither a column nor an expression in SQL: {error}"
        ) from None


def _dtype(frame: pl.LazyFrame, category: str | pl.Expr) -> pl.DataType | None:
    """The dtype of the categories, if they are there."""
    try:
        return frame.select(category).collect_schema().dtypes()[0]
    except PolarsError:
        return None  # the accessor says what is wrong


def _value(text: str, dtype: pl.DataType | None) -> Category:
    """A value of a column: a word, or the number that a text is.

    >>> _value("1", pl.Int64()), _value("1", pl.String()), _value("C", None)
    (1, '1', 'C')
    """
    if dtype is not None and is_label(dtype):
        return text
    try:
        value = ast.literal_eval(text.capitalize() if text in {"true", "false"} else text)
    except (ValueError, SyntaxError):
        return text
    return value if isinstance(value, Category) else text


def command_parser() -> ArgumentParser:
    """What the command understands."""
    parser = ArgumentParser(
        prog="polars-scorio",
        description="Honest numbers for language models that were sampled many times per question.",
        epilog=_EXAMPLES,
        formatter_class=RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=installed_version())
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    report = commands.add_parser("report", help="write a report as one HTML file")
    _log_options(report)
    _inference_options(report)
    add = report.add_argument
    add("-o", "--output", default="report.html", help="the file, or - for Markdown (%(default)s)")
    add("--title", help="what stands above (the names of the files)")
    report.set_defaults(run=_report)
    coverage = commands.add_parser("coverage", help="print what is in a log, and what is missing")
    _log_options(coverage)
    kinds = "a summary of each model, or the questions with gaps"
    coverage.add_argument("--per", choices=get_args(Per), default="model", help=kinds)
    coverage.set_defaults(run=_coverage)
    compare = commands.add_parser("compare", help="print which of two models is better")
    _log_options(compare)
    _inference_options(compare)
    add = compare.add_argument
    add("--baseline", metavar="MODEL", help="compare each model with this one")
    same = "models must have the same questions (%(default)s), or only common ones count"
    add("--questions", choices=get_args(Compared), default="same", help=same)
    compare.set_defaults(run=_compare)
    return parser


def _log_options(parser: ArgumentParser) -> None:
    """Which log, and which column of it plays which part."""
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
    for role in _COLUMNS:
        text = f"column, or expression in SQL{more.get(role, '')}"
        add(f"--{role}", metavar="COLUMN", help=text)
    again = "; may be given again"
    add("--by", metavar="COLUMN", action="append", default=[], help=f"a stratum{again}")
    success = f"a category that is a success{again}"
    add("--success", metavar="CATEGORY", action="append", default=[], help=success)
    missing = "what a trial without an outcome is: error, drop, or a category"
    add("--missing", metavar="MEANING", help=missing)
    add("--n", type=int, help="trials that each question must have")
    levels = f"the category is the reward itself, one of these{again}"
    add("--levels", type=float, action="append", metavar="REWARD", help=levels)


def _inference_options(parser: ArgumentParser) -> None:
    """What is reported, and how."""
    add = parser.add_argument_group("numbers").add_argument
    metric = 'as in Python, "pass_at_k([1, 4])"; may be given again'
    add("--metric", type=_metric, action="append", default=[], help=metric)
    add("--confidence", type=float, default=0.95, help="of the intervals (%(default)s)")
    kinds = "what they rest on, as in Scorio.report (%(default)s)"
    add("--inference", choices=get_args(InferenceKind), default="calibrated", help=kinds)
    target = "these questions (%(default)s), or the population that they are of"
    add("--target", choices=get_args(Target), default="benchmark", help=target)


def _metric(text: str) -> Metric:
    try:
        return read_metric(text)
    except ValueError as error:
        # Of another error argparse would not show the message.
        raise ArgumentTypeError(str(error)) from None
