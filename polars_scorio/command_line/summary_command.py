"""`polars-scorio LOG`: what is in a log, the leaderboard, and who leads."""

from __future__ import annotations

import shlex
from argparse import ArgumentParser, Namespace
from typing import Any

from polars_scorio.accessors.frame import Scorio
from polars_scorio.command_line.log_arguments import add_log_arguments
from polars_scorio.command_line.number_arguments import add_number_arguments, chosen_settings
from polars_scorio.command_line.terminal import PROGRAM, command_words, print_table, print_text
from polars_scorio.display.leaderboard import leaderboard
from polars_scorio.display.tables import to_markdown
from polars_scorio.display.verdict.log_summary import Look
from polars_scorio.display.verdict.log_verdict import LogVerdict, log_verdict, refusal_words
from polars_scorio.display.verdict.step_verdict import log_at_step
from polars_scorio.metrics.weighted import avg


def add_summary_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of the command."""
    add_log_arguments(parser)
    add_number_arguments(parser)


def run_summary(log: Scorio[Any], asked: Namespace, call: str) -> ValueError | TypeError | None:
    """Print coverage, leaderboard and headline; return why the log has no report, if so."""
    settings, roles = chosen_settings(asked), log._roles
    print_table(log.coverage())
    look = Look.read(log.frame.lazy(), roles, log._tool_totals)
    try:
        verdict = log_verdict(look, look.coverage(), asked.metric, settings)
    except (ValueError, TypeError) as error:
        print_text(command_words(refusal_words(error), vars(asked)))
        return error
    if roles.model is not None:
        print_text(f"{_board_text(log, look, verdict, asked)}\n")
    if verdict.outcomes:
        print_text(verdict.outcomes)
    for alert in verdict.alerts:
        print_text(f"{alert.title}. {alert.text}")
    sentences = [verdict.headline, *verdict.best_steps * (len(verdict.main.models) > 1)]
    print_text("\n".join([*sentences, f"For a page to send: {_page_command(call)}"]))
    return None


def _board_text(log: Scorio[Any], look: Look, verdict: LogVerdict, asked: Namespace) -> str:
    """The leaderboard; of steps that of the last one, since their mean has no meaning."""
    metrics, settings = asked.metric or [avg()], chosen_settings(asked)
    if look.steps is None or verdict.overall is None:
        return to_markdown(log.leaderboard(*metrics, **settings.report))
    frame, roles = log_at_step(look, verdict.overall)
    board = to_markdown(leaderboard(frame, roles, metrics, **settings.report))
    return f"At {verdict.overall.name}:\n\n{board}"


def _page_command(call: str) -> str:
    """The command that writes the page of the log, with the arguments of this call.

    >>> _page_command("polars-scorio summary 'my log.csv' --by domain")
    "polars-scorio report 'my log.csv' --by domain"
    """
    _, _, *arguments = shlex.split(call)
    return f"{PROGRAM} report {shlex.join(arguments)}"
