"""`polars-scorio coverage`: what is in a log, and what is missing."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import Any, get_args

from polars_scorio.accessors.frame import Scorio
from polars_scorio.arguments import Per
from polars_scorio.command_line.log_arguments import add_log_arguments
from polars_scorio.command_line.terminal import add_format_argument, print_table


def add_coverage_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of the command."""
    add_log_arguments(parser)
    add_format_argument(parser)
    kinds = "print a row for each model, or for each question with gaps (default: %(default)s)"
    parser.add_argument("--per", choices=get_args(Per), default="model", help=kinds)


def run_coverage(log: Scorio[Any], asked: Namespace, _call: str) -> None:
    """Print a table of what is in the log."""
    print_table(log.coverage(per=asked.per), asked.format)
