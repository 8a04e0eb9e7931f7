"""`polars-scorio rank`: the models in their order, and which ranks are open to each."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import Any, get_args

from polars_scorio.accessors.frame import Scorio
from polars_scorio.arguments import Compared, Overall
from polars_scorio.command_line.log_arguments import add_log_arguments
from polars_scorio.command_line.number_arguments import (
    add_inference_arguments,
    chosen_settings,
    metric_argument,
)
from polars_scorio.command_line.terminal import add_format_argument, print_table


def add_rank_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of the command."""
    add_log_arguments(parser)
    add_inference_arguments(parser)
    add_format_argument(parser)
    add = parser.add_argument_group("rank").add_argument
    metric = 'order the models by this metric, such as "pass_at_k(4)" (default: avg)'
    add("--metric", type=metric_argument, metavar="METRIC", help=metric)
    kinds = "add the order by the mean over strata (macro), or by all questions in one pool (micro)"
    add("--overall", choices=get_args(Overall), help=kinds)
    same = "require the same questions of all models, or use common ones (default: %(default)s)"
    add("--questions", choices=get_args(Compared), default="same", help=same)


def run_rank(log: Scorio[Any], asked: Namespace, _call: str) -> None:
    """Print a table of the models, the best first."""
    ranks = log.rank(
        asked.metric,
        overall=asked.overall,
        questions=asked.questions,
        **chosen_settings(asked).report,
    )
    print_table(ranks, asked.format)
