"""`polars-scorio report`: a report as one HTML file, or as Markdown."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from polars_scorio.accessors.frame import Scorio
from polars_scorio.command_line.log_arguments import add_log_arguments
from polars_scorio.command_line.number_arguments import add_number_arguments, chosen_settings
from polars_scorio.command_line.progress import Progress
from polars_scorio.command_line.terminal import command_words, print_text
from polars_scorio.display.whole_files import refuse_missing_folder, write_whole


def add_report_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of the command."""
    add_log_arguments(parser)
    add_number_arguments(parser, "avg; of successes also pass_at_k and pass_hat_k")
    add = parser.add_argument
    file = "write the page to this file, or print Markdown if it is - (default: %(default)s)"
    add("-o", "--output", default="report.html", help=file)
    add("--title", help="put this title on the page (default: the names of the files)")
    add("--baseline", metavar="MODEL", help="compare all other models with this one")


def run_report(log: Scorio[Any], asked: Namespace, call: str) -> ValueError | TypeError | None:
    """Write the page, or print it as Markdown; return why the log has no report, if so."""
    from polars_scorio.display.html.page_request import Order
    from polars_scorio.display.html.write_page import made_page

    settings = chosen_settings(asked)
    title = asked.title or ", ".join(dict.fromkeys(Path(name).name for name in asked.log))
    roles, totals = log._roles, log._tool_totals
    order = Order.of(
        asked.metric, settings, roles, asked.output, title=title, call=call, baseline=asked.baseline
    )
    if asked.output != "-":
        refuse_missing_folder(Path(asked.output))
    progress = Progress(sys.stderr)
    # A file or a pipe gets no progress: it has errors and warnings alone.
    with progress if sys.stderr.isatty() else nullcontext():
        made, refusal = made_page(log.frame.lazy(), roles, order, progress.tell, totals=totals)
    if asked.output == "-":
        print_text(made.markdown())
    else:
        write_whole(Path(asked.output), made.html())
        headline = made.headline
        if refusal is not None:
            headline = command_words(headline, vars(asked))
        lines = [headline, made.basis, made.outcomes, asked.output]
        print_text("\n".join(filter(None, lines)))
    return refusal
