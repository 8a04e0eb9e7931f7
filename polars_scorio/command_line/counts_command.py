"""`polars-scorio counts`: the trials of each question by category, which stand for the log."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import Any

from polars_scorio.accessors.frame import Scorio
from polars_scorio.command_line.log_arguments import add_log_arguments
from polars_scorio.command_line.terminal import add_format_argument, print_table


def add_counts_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of the command."""
    add_log_arguments(parser)
    add_format_argument(parser)


def run_counts(log: Scorio[Any], asked: Namespace, _call: str) -> None:
    """Print a table of counts, which the command reads again with ``--count count``."""
    print_table(log.counts(), asked.format)
