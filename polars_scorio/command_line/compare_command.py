"""`polars-scorio compare`: which of two models is better."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import Any, get_args

import polars as pl

from polars_scorio.accessors.frame import Scorio
from polars_scorio.arguments import Compared
from polars_scorio.command_line.log_arguments import add_log_arguments, column_value
from polars_scorio.command_line.number_arguments import add_number_arguments, chosen_settings
from polars_scorio.command_line.terminal import add_format_argument, print_table
from polars_scorio.metrics.weighted import avg


def add_compare_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of the command."""
    add_log_arguments(parser)
    add_number_arguments(parser)
    add_format_argument(parser)
    add = parser.add_argument
    add("--baseline", metavar="MODEL", help="compare each model with this one (default: all pairs)")
    held = parser.add_mutually_exclusive_group()
    at_once = "let the confidence hold for all pairs at once (the default)"
    held.add_argument("--simultaneous", action="store_true", help=at_once)
    each = "let the confidence hold for each pair by itself, not for all pairs at once"
    held.add_argument("--each-pair", action="store_true", help=each)
    same = "require the same questions of all models, or use common ones (default: %(default)s)"
    add("--questions", choices=get_args(Compared), default="same", help=same)


def run_compare(log: Scorio[Any], asked: Namespace, _call: str) -> None:
    """Print a table of pairs of models, one metric after the other."""
    options: dict[str, Any] = {**chosen_settings(asked).report, "questions": asked.questions}
    options["simultaneous"] = not asked.each_pair
    baseline = None
    if asked.baseline is not None:
        roles = log._roles
        dtype = log.frame.lazy().collect_schema()[str(roles.model)]
        baseline = column_value(asked.baseline, dtype)
    pairs = [
        log.compare(metric, baseline=baseline, **options).lazy()
        for metric in asked.metric or [avg()]
    ]
    # Rewards have the column `bounds` too.
    print_table(pl.concat(pl.collect_all(pairs), how="diagonal"), asked.format)
