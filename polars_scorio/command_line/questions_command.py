"""`polars-scorio questions`: which questions are dead or reversed, and what to buy next."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import Any, get_args

import polars as pl

from polars_scorio.accessors.frame import Scorio
from polars_scorio.arguments import Compared, QuestionUnit
from polars_scorio.command_line.log_arguments import add_log_arguments
from polars_scorio.command_line.number_arguments import plain_number
from polars_scorio.command_line.terminal import add_format_argument, print_table, print_text
from polars_scorio.display.phrases import short_name
from polars_scorio.display.question_sentences import question_sentences

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
