"""The command `polars-scorio`: its arguments, its exit status and its error messages."""

from __future__ import annotations

import os
import shlex
import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Sequence

from polars.exceptions import PolarsError

from polars_scorio.command_line.compare_command import add_compare_arguments, run_compare
from polars_scorio.command_line.coverage_command import add_coverage_arguments, run_coverage
from polars_scorio.command_line.log_arguments import read_log
from polars_scorio.command_line.report_command import add_report_arguments, run_report
from polars_scorio.display.installed_version import installed_version

_EXAMPLES = """examples:
  polars-scorio report rollouts.parquet --by domain -o report.html
  polars-scorio report runs/ --category "reward >= 0.5" --metric "pass_at_k([1, 4])" -o -
  polars-scorio report results.json --from tau2_bench
  polars-scorio coverage rollouts.csv --question task_id
  polars-scorio compare rollouts.parquet --metric avg --baseline gpt-4o
"""
# Each command: what help says of it, the function that adds its arguments, the one that runs it.
_COMMANDS = {
    "report": ("write a report as one HTML file", add_report_arguments, run_report),
    "coverage": ("print what is in a log, and what is missing", add_coverage_arguments,
                 run_coverage),
    "compare": ("print which of two models is better", add_compare_arguments, run_compare),
}  # fmt: skip
_REFUSED, _USAGE = 1, 2  # exit statuses


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Parameters
    ----------
    arguments : sequence of str, optional
        The arguments after the command's name; default: those of the process.

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
        log = read_log(asked)
        # A log that is refused still has a page: what else goes wrong is how it was asked.
        status = _USAGE if asked.run is run_report else _REFUSED
        refusal = asked.run(log, asked, f"{parser.prog} {shlex.join(given)}")
        status = 0 if refusal is None else _REFUSED
        sys.stdout.flush()
    except BrokenPipeError:
        # Who reads has seen enough, as `head` has; at exit Python flushes once more.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (ValueError, TypeError, OSError, ImportError, PolarsError) as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)  # noqa: T201 - it is a command
    return status


def command_parser() -> ArgumentParser:
    """The parser of the command's arguments."""
    parser = ArgumentParser(
        prog="polars-scorio",
        description="Honest numbers for language models that were sampled many times per question.",
        epilog=_EXAMPLES,
        formatter_class=RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=installed_version())
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for name, (text, add_arguments, run) in _COMMANDS.items():
        command = commands.add_parser(name, help=text)
        add_arguments(command)
        command.set_defaults(run=run)
    return parser
