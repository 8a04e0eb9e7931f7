"""`polars-scorio frontier`: which models are worth their cost."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import Any, get_args

from polars_scorio.accessors.frame import Scorio
from polars_scorio.arguments import Compared
from polars_scorio.command_line.log_arguments import add_log_arguments
from polars_scorio.command_line.number_arguments import metric_argument, plain_number
from polars_scorio.command_line.terminal import add_format_argument, print_table


def add_frontier_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of the command."""
    add_log_arguments(parser)
    add_format_argument(parser)
    add = parser.add_argument_group("frontier").add_argument
    metric = 'set this metric against the mean cost, such as "pass_at_k(4)" (default: avg)'
    add("--metric", type=metric_argument, metavar="METRIC", help=metric)
    add(
        "--confidence",
        type=plain_number,
        default=0.95,
        help="set the confidence of intervals and verdicts (default: %(default)s)",
    )
    same = "require the same questions of all models, or use common ones (default: %(default)s)"
    add("--questions", choices=get_args(Compared), default="same", help=same)


def run_frontier(log: Scorio[Any], asked: Namespace, _call: str) -> None:
    """Print a table of the models, the cheapest first."""
    options = {"confidence": asked.confidence, "questions": asked.questions}
    print_table(log.frontier(asked.metric, **options), asked.format)
