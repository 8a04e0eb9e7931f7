"""The command `polars-scorio`: its arguments, its exit status and its error messages."""

from __future__ import annotations

import os
import shlex
import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from os.path import exists
from pathlib import Path

from polars.exceptions import PolarsError

from polars_scorio.command_line.compare_command import add_compare_arguments, run_compare
from polars_scorio.command_line.counts_command import add_counts_arguments, run_counts
from polars_scorio.command_line.coverage_command import add_coverage_arguments, run_coverage
from polars_scorio.command_line.frontier_command import add_frontier_arguments, run_frontier
from polars_scorio.command_line.gate_command import add_gate_arguments, run_gate
from polars_scorio.command_line.log_arguments import read_log
from polars_scorio.command_line.questions_command import add_questions_arguments, run_questions
from polars_scorio.command_line.rank_command import add_rank_arguments, run_rank
from polars_scorio.command_line.report_command import add_report_arguments, run_report
from polars_scorio.command_line.standard_input import STANDARD_INPUT, saved_input
from polars_scorio.command_line.summary_command import add_summary_arguments, run_summary
from polars_scorio.command_line.terminal import PROGRAM, print_message, warnings_printed
from polars_scorio.display.installed_version import installed_version

_EXAMPLES = """examples:
  polars-scorio rollouts.parquet
  zcat rollouts.csv.gz | polars-scorio rank -
  polars-scorio report rollouts.parquet --by domain -o report.html
  polars-scorio report runs/ --category reward --threshold 0.5 --metric "pass_at_k([1, 4])" -o -
  polars-scorio report results.json --from tau2_bench
  polars-scorio coverage rollouts.csv --question task_id
  polars-scorio compare rollouts.parquet --metric avg --baseline gpt-4o
  polars-scorio rank rollouts.parquet --metric "pass_at_k(4)" --format markdown
  polars-scorio counts rollouts.parquet --format csv > counts.csv
  polars-scorio gate new/ --against old/ --margin 0.02
  polars-scorio questions rollouts.parquet --by domain
  polars-scorio frontier rollouts.parquet --cost usd
"""
_STATUSES = """\
exit statuses:
  0    the command ran; of gate: the verdict is pass (with --undecided pass, or undecided)
  1    the log, or the value of an option, is refused (report still writes a page on the log)
  2    the command cannot run: an unknown argument or file
  3    of gate: the verdict is fail (with --undecided fail, or undecided)
  4    of gate: the verdict is undecided
  130  the command was interrupted
  141  the reader of its output, such as head, has left
"""
_SUMMARY = "summary"
# Each command: what help says of it, the function that adds its arguments, the one that runs it.
_COMMANDS = {
    _SUMMARY: ("print coverage, leaderboard and who leads: what a log without a command gets",
               add_summary_arguments, run_summary),
    "report": ("write a report as one HTML file", add_report_arguments, run_report),
    "coverage": ("print what is in a log, and what is missing", add_coverage_arguments,
                 run_coverage),
    "compare": ("print which of two models is better", add_compare_arguments, run_compare),
    "rank": ("print the models in their order, and which ranks are open to each",
             add_rank_arguments, run_rank),
    "counts": ("print the trials of each question by category, which stand for the log",
               add_counts_arguments, run_counts),
    "gate": ("judge whether a model is not worse than a baseline by more than a margin",
             add_gate_arguments, run_gate),
    "questions": ("print which questions nobody solves, separate the models, or are reversed",
                  add_questions_arguments, run_questions),
    "frontier": ("print which models are worth their cost", add_frontier_arguments,
                 run_frontier),
}  # fmt: skip
_REFUSED, _USAGE = 1, 2  # exit statuses
_INTERRUPTED, _BROKEN_PIPE = 130, 141  # those of a process that SIGINT or SIGPIPE ends
# A warning is an error if Python runs with -W error.
_ERRORS = (ValueError, TypeError, OSError, ImportError, NotImplementedError, PolarsError, Warning)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Parameters
    ----------
    arguments : sequence of str, optional
        The arguments after the command's name; default: those of the process.

    Returns
    -------
    int
        0; 1 if the log is refused (`report` writes a page that says why); 2 if the command cannot
        run; of `gate` 3 if a candidate fails, 4 if it is undecided; 130 if it was interrupted; 141
        if nobody reads its output any more.
    """
    # A stream that the shell has closed is None; what is written to it is for nobody.
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 - for all of the process
    try:
        try:
            return _exit_status(named_command(sys.argv[1:] if arguments is None else arguments))
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        # The reader, such as `head`, left the pipe; at exit Python flushes once more, into nothing.
        _drop_output()
        return _BROKEN_PIPE
    except OSError as error:  # a full disk
        _drop_output()
        with suppress(OSError):
            print(f"{PROGRAM}: the output cannot be written: {error}", file=sys.stderr)
        return _USAGE
    except KeyboardInterrupt:
        return _INTERRUPTED


def _drop_output() -> None:
    """Let what is still to be written, also by Python at exit, go nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):
            stream.flush()
            continue
        os.dup2(nowhere, stream.fileno())


def named_command(arguments: Sequence[str]) -> list[str]:
    """The arguments with a command in front: a log alone is summarised.

    >>> named_command(["runs/log.csv"]), named_command(["rank", "log.csv"])
    (['summary', 'runs/log.csv'], ['rank', 'log.csv'])
    """
    first = arguments[0] if arguments else ""
    # A single word that is no file is a command with a typo, which the parser answers.
    is_log = first == STANDARD_INPUT or exists(first) or not first.isidentifier()  # noqa: PTH110 - Path.exists raises of long names
    if not first or first in _COMMANDS or (first != STANDARD_INPUT and first[0] == "-"):
        return [*arguments]
    return [_SUMMARY, *arguments] if is_log else [*arguments]


def _exit_status(given: Sequence[str]) -> int:
    """Run the command, print what is wrong, and return its exit status."""
    asked = command_parser().parse_args(given)
    status = _USAGE
    try:
        with ExitStack() as stack:
            stack.enter_context(warnings_printed(vars(asked)))
            asked.log = stack.enter_context(saved_input(asked.log))
            log = read_log(asked)
            # A refused log still has a page: other errors of `report` are errors of usage.
            status = _USAGE if asked.run is run_report else _REFUSED
            outcome = asked.run(log, asked, f"{PROGRAM} {shlex.join(given)}")
    except BrokenPipeError:
        raise
    except _ERRORS as error:
        print_message(f"{PROGRAM}: {error}", vars(asked))
        return status
    if isinstance(outcome, int):  # the verdict of a gate
        return outcome
    return 0 if outcome is None else _REFUSED


def command_parser() -> ArgumentParser:
    """The parser of the command's arguments."""
    parser = ArgumentParser(
        prog=PROGRAM,
        description="Honest numbers for language models that were sampled many times per question.",
        epilog=f"{_EXAMPLES}\n{_STATUSES}",
        formatter_class=RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=installed_version())
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for name, (text, add_arguments, run) in _COMMANDS.items():
        command = commands.add_parser(
            name,
            help=text,
            description=f"{text[0].upper()}{text[1:]}.",
            epilog=_STATUSES,
            formatter_class=RawDescriptionHelpFormatter,
        )
        add_arguments(command)
        command.set_defaults(run=run)
    return parser
