"""Commands: report, compare, rank, coverage, counts, frontier, questions, summary."""

from __future__ import annotations

import shlex
import sys
from argparse import ArgumentParser, Namespace
from contextlib import nullcontext
from pathlib import Path
from typing import Any, get_args

import polars as pl

from polars_scorio.accessors.frame import Scorio
from polars_scorio.arguments import Compared, Overall, Per, QuestionUnit
from polars_scorio.command_line.log_arguments import (
    add_inference_arguments,
    add_log_arguments,
    add_number_arguments,
    chosen_settings,
    column_value,
    metric_argument,
    plain_number,
)
from polars_scorio.command_line.terminal import (
    PROGRAM,
    Progress,
    add_format_argument,
    command_words,
    print_table,
    print_text,
)
from polars_scorio.display.leaderboard import leaderboard
from polars_scorio.display.log_summary import LogSummary
from polars_scorio.display.sentences import question_sentences
from polars_scorio.display.table import to_markdown
from polars_scorio.display.verdict import LogVerdict, log_of_scope, log_verdict, refusal_words
from polars_scorio.display.whole_files import refuse_missing_folder, write_whole
from polars_scorio.display.words import short_name
from polars_scorio.metrics.weighted import avg


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
    from polars_scorio.display.html.write_page import Order, made_page

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


def add_coverage_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of the command."""
    add_log_arguments(parser)
    add_format_argument(parser)
    kinds = "print a row for each model, or for each question with gaps (default: %(default)s)"
    parser.add_argument("--per", choices=get_args(Per), default="model", help=kinds)


def run_coverage(log: Scorio[Any], asked: Namespace, _call: str) -> None:
    """Print a table of what is in the log."""
    print_table(log.coverage(per=asked.per), asked.format)


def add_counts_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of the command."""
    add_log_arguments(parser)
    add_format_argument(parser)


def run_counts(log: Scorio[Any], asked: Namespace, _call: str) -> None:
    """Print a table of counts, which the command reads again with ``--count count``."""
    print_table(log.counts(), asked.format)


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


_PRINTED = 20  # questions of a stratum, the most suspect ones first
_LEFT_OUT = ("solved_by", "always_by", "rate_min", "rate_max", "p_reversed")


def add_questions_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of the command."""
    add_log_arguments(parser)
    add_format_argument(parser)
    add = parser.add_argument_group("questions").add_argument
    rate = "limit the share of good questions among those called reversed (default: %(default)s)"
    add("--fdr", type=plain_number, default=0.1, metavar="RATE", help=rate)
    unit = "print a row for each question, or for each --cluster (default: %(default)s)"
    add("--per", choices=get_args(QuestionUnit), default="question", help=unit)
    same = "require the same questions of all models, or use common ones (default: %(default)s)"
    add("--questions", choices=get_args(Compared), default="same", help=same)
    every = f"print all questions, as other formats do (default: the {_PRINTED} most suspect ones)"
    add("--all", action="store_true", help=every)


def run_questions(log: Scorio[Any], asked: Namespace, _call: str) -> None:
    """Print a table of questions, with sentences for a reader: stratum after stratum."""
    rows = log.questions(fdr=asked.fdr, per=asked.per, questions=asked.questions).lazy()
    if asked.format == "table":
        sources = log.variance(questions=asked.questions).lazy()
        tables = pl.collect_all([rows, sources])
        _print_strata(tables[0], tables[1], asked)
    else:
        print_table(rows, asked.format)


def _print_strata(rows: pl.DataFrame, sources: pl.DataFrame, asked: Namespace) -> None:
    """Print the questions of each stratum, and sentences on them."""
    columns = rows.columns
    question = columns[columns.index("models") - (2 if asked.per == "cluster" else 1)]
    strata = columns[: columns.index(question)]
    parts = rows.partition_by(strata, as_dict=True, maintain_order=True) if strata else {(): rows}
    advice = {row[:-1]: row[-1] for row in sources.select(*strata, "advice").rows()}
    for place, part in parts.items():
        _print_stratum(part, question, asked)
        where = ", ".join(f"{name} {value}" for name, value in zip(strata, place, strict=True))
        sentences = [*question_sentences(part, question, asked.fdr, asked.per), advice[place]]
        print_text("\n".join([where] * bool(where) + sentences))


def _print_stratum(rows: pl.DataFrame, question: str, asked: Namespace) -> None:
    """Print the questions of a stratum, with what a reader of a terminal needs."""
    names = [*map(short_name, rows[question].to_list())]
    shown = rows.with_columns(pl.Series(question, names, pl.String)).drop(_LEFT_OUT)
    print_table(shown if asked.all else shown.head(_PRINTED))
    if not asked.all and rows.height > _PRINTED:
        print_text(f"{rows.height - _PRINTED:,} more: --all prints them.")


def add_summary_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of the command."""
    add_log_arguments(parser)
    add_number_arguments(parser)


_BOARDS = 5  # strata with a leaderboard each, if there is none of all models


def run_summary(log: Scorio[Any], asked: Namespace, call: str) -> ValueError | TypeError | None:
    """Print coverage, leaderboard and headline; return why the log has no report, if so."""
    settings, roles = chosen_settings(asked), log._roles
    print_table(log.coverage())
    look = LogSummary.read(log.frame.lazy(), roles, log._tool_totals)
    try:
        verdict = log_verdict(look, look.coverage(), asked.metric, settings)
    except (ValueError, TypeError) as error:
        print_text(command_words(refusal_words(error), vars(asked)))
        return error
    if roles.model is not None:
        print_text(f"{_board_text(look, verdict, asked)}\n")
    if verdict.outcomes:
        print_text(verdict.outcomes)
    for alert in verdict.alerts:
        print_text(f"{alert.title}. {alert.text}")
    sentences = [verdict.headline, *verdict.best_steps * (len(verdict.main.models) > 1)]
    print_text("\n".join([*sentences, f"For a page to send: {_page_command(call)}"]))
    return None


def _board_text(look: LogSummary, verdict: LogVerdict, asked: Namespace) -> str:
    """The leaderboard of what the verdict is about, or of the first strata."""
    metrics, settings = asked.metric or [avg()], chosen_settings(asked)
    scopes = verdict.parts[:_BOARDS] if verdict.overall is None else [verdict.overall]
    boards = []
    for scope in scopes:
        frame, roles = log_of_scope(look, scope)
        board = leaderboard(frame, roles, metrics, questions="common", **settings.report)
        head = f"{'In' if verdict.overall is None else 'At'} {scope.name}:\n\n"
        boards.append(head * bool(scope.name) + to_markdown(board))
    return "\n\n".join(boards)


def _page_command(call: str) -> str:
    """The command that writes the page of the log, with the arguments of this call.

    >>> _page_command("polars-scorio summary 'my log.csv' --by domain")
    "polars-scorio report 'my log.csv' --by domain"
    """
    _, _, *arguments = shlex.split(call)
    return f"{PROGRAM} report {shlex.join(arguments)}"
