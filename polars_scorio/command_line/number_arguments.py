"""The arguments that say which numbers are reported, and how their intervals are found."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from typing import get_args

from polars_scorio.arguments import InferenceKind, check_anytime
from polars_scorio.command_line.terminal import command_words
from polars_scorio.display.settings import Settings
from polars_scorio.kernels.posteriors import Target
from polars_scorio.metrics.from_text import read_metric
from polars_scorio.metrics.metric import Metric

_CONFIDENCE = "set the confidence of the intervals (default: %(default)s)"


def add_number_arguments(parser: ArgumentParser, default: str = "avg") -> None:
    """Add the arguments that choose metrics and inference."""
    metric = (
        f'report this metric, such as "pass_at_k(4)"; repeat it for several (default: {default})'
    )
    parser.add_argument("--metric", type=metric_argument, action="append", default=[], help=metric)
    add_inference_arguments(parser)


def add_inference_arguments(parser: ArgumentParser) -> None:
    """Add the arguments that choose inference."""
    add = parser.add_argument_group("numbers").add_argument
    add("--confidence", type=plain_number, default=0.95, help=_CONFIDENCE)
    kinds = "choose how intervals are found (default: calibrated; for bayes published)"
    add("--inference", choices=get_args(InferenceKind), help=kinds)
    target = (
        "score these questions, or the population that they were drawn from (default: %(default)s)"
    )
    add("--target", choices=get_args(Target), default="benchmark", help=target)
    anytime = (
        "let intervals hold at every look during an evaluation; N is the number of trials of each "
        "question (population: of questions) that was planned before the first look"
    )
    add("--anytime", type=planned_number, metavar="N", help=anytime)


def chosen_settings(asked: Namespace) -> Settings:
    """The inference, target and confidence that the arguments choose."""
    return Settings(asked.inference, asked.target, asked.confidence, asked.anytime)


def metric_argument(text: str) -> Metric:
    """A metric as typed in Python."""
    try:
        return read_metric(text)
    except ValueError as error:
        # argparse shows the message of this error only.
        raise ArgumentTypeError(str(error)) from None


def plain_number(text: str) -> float:
    """A number as Python writes it."""
    try:
        return float(text)
    except ValueError:
        share = "percent are written as a share, 3 % as 0.03"
        raise ArgumentTypeError(f"{text!r} is not a number: {share}") from None


def planned_number(text: str) -> int:
    """The planned trials of each question, or the planned questions."""
    try:
        return check_anytime(int(text) if text.isdecimal() else text)
    except ValueError as error:
        message = command_words(str(error), ["anytime", "target"])
        raise ArgumentTypeError(message) from None
