"""Commands: report, compare, rank, coverage, check, counts, frontier, reruns and the others."""

from __future__ import annotations

import shlex
import sys
from argparse import Namespace
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any, TypeAlias

import polars as pl

from polars_scorio.accessors.frame import Scorio
from polars_scorio.command_line.gate_command import run_gate  # noqa: F401 - one of `RUNS`
from polars_scorio.command_line.log_arguments import PRINTED
from polars_scorio.command_line.log_input import chosen_settings, column_value
from polars_scorio.command_line.terminal import (
    PROGRAM,
    Progress,
    command_words,
    print_table,
    print_text,
)
from polars_scorio.counting.log import bind_roles
from polars_scorio.display.finding import (
    cheapest_title,
    decided_alone,
    pairs_title,
    plain_text,
    rank_title,
)
from polars_scorio.display.html.card import card_svg, write_card
from polars_scorio.display.html.story import Asked, Story, read_story, refusal_finding
from polars_scorio.display.html.write_page import Order, made_page
from polars_scorio.display.leaderboard import leaderboard
from polars_scorio.display.log_summary import LogSummary
from polars_scorio.display.sentences import (
    bracket_sentence,
    curve_sentence,
    question_sentences,
    rerun_sentences,
)
from polars_scorio.display.settings import Settings
from polars_scorio.display.table import to_great_table, to_latex, to_markdown
from polars_scorio.display.verdict import LogVerdict, log_of_scope
from polars_scorio.display.whole_files import refuse_missing_folder, write_whole
from polars_scorio.display.words import short_name
from polars_scorio.metrics.weighted import avg


def run_report(log: Scorio[Any], asked: Namespace, call: str) -> ValueError | TypeError | None:
    """Write the page, or print it as Markdown; return why the log has no report, if so."""
    settings = chosen_settings(asked)
    title = asked.title or _log_title(asked)
    roles, totals = log._roles, log._tool_totals
    order = Order.of(
        asked.metric, settings, roles, asked.output, title=title, call=call,
        baseline=asked.baseline, log=shlex.join(map(str, asked.log)),
    )  # fmt: skip
    if asked.output != "-":
        refuse_missing_folder(Path(asked.output))
    progress = Progress(sys.stderr)
    # A file or a pipe gets no progress: it has errors and warnings alone.
    with progress if sys.stderr.isatty() else nullcontext():
        made, refusal = made_page(log.frame.lazy(), roles, order, progress.tell, totals=totals)
    made = made.worded(lambda text: command_words(text, vars(asked)))
    if asked.output == "-":
        print_text(made.markdown())
    else:
        write_whole(Path(asked.output), made.html())
        basis = " \N{MIDDLE DOT} ".join(made.finding.basis)
        lines = [made.finding.words(), basis, made.outcomes, asked.output]
        print_text("\n".join(filter(None, lines)))
    return refusal


def _log_title(asked: Namespace) -> str:
    return ", ".join(dict.fromkeys(Path(name).name for name in asked.log))


def run_card(log: Scorio[Any], asked: Namespace, _call: str) -> None:
    """Write a picture of the finding, and print its sentence."""
    output = Path(asked.output)
    refuse_missing_folder(output)
    options = Settings(confidence=asked.confidence, target=asked.target)
    wanted = Asked(() if asked.metric is None else (asked.metric,), options)
    *_, story = read_story(log.frame.lazy(), log._roles, wanted, totals=log._tool_totals)
    if not isinstance(story, Story):
        raise story
    write_card(output, card_svg(story, asked.title or _log_title(asked)))
    print_text(f"{story.finding.words()}\n{asked.output}")


_PAIRED = 60  # models, all of whose pairs are compared for a title
_CURVES = 10  # pairs that have a sentence


def run_compare(log: Scorio[Any], asked: Namespace, _call: str) -> None:
    """Print a table of pairs of models, one metric after the other."""
    options: dict[str, Any] = {**chosen_settings(asked).report, "unmatched": asked.unmatched}
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
    found = pl.collect_all(pairs)
    if asked.format == "table":
        strata = [*bind_roles(log.frame.lazy(), log._roles).strata]
        keys = [*strata, "model_a", "model_b"]
        for rows in found:
            if rows["k"].n_unique() == 1 and "lo_missing" not in rows:
                _print_titles(log, rows, pairs_title)
            curves = rows.partition_by(keys, maintain_order=True) if "first_to" in rows else []
            if "lo_missing" in rows:
                print_text(bracket_sentence(rows))
            for pair in curves[:_CURVES]:
                where = "".join(f"{name} {pair[name][0]}: " for name in strata)
                print_text(where + curve_sentence(pair, options["confidence"]))
    # Rewards have the column `bounds` too.
    print_table(pl.concat(found, how="diagonal"), asked.format)


def run_rank(log: Scorio[Any], asked: Namespace, _call: str) -> None:
    """Print a table of the models, the best first."""
    ranks = log.rank(
        asked.metric,
        overall=asked.overall,
        unmatched=asked.unmatched,
        **chosen_settings(asked).report,
    )
    ranks = ranks.lazy().collect()
    if asked.format == "table":
        (model,) = bind_roles(log.frame.lazy(), log._roles).models

        def title(rows: pl.DataFrame) -> str:
            return rank_title(rows, model, _decided_alone(log, rows, model, asked))

        _print_titles(log, ranks, title)
    print_table(ranks, asked.format)


def _decided_alone(log: Scorio[Any], rows: pl.DataFrame, model: str, asked: Namespace) -> int:
    """The pairs of a stratum that would be decided alone, where nothing is with all at once."""
    if not (rows["tier"] == 1).all() or not 2 < rows.height <= _PAIRED:
        return 0
    options = {**chosen_settings(asked).report, "unmatched": asked.unmatched}
    pairs = log.compare(asked.metric, simultaneous=True, **options).lazy().collect()
    strata = rows.columns[: rows.columns.index("metric")]
    strata = [name for name in strata if name in pairs.columns and name != model]
    same = rows.select(strata).unique()
    own = pairs.join(same, on=strata, how="semi", nulls_equal=True) if strata else pairs
    return decided_alone(own, asked.confidence)


def _print_titles(
    log: Scorio[Any], rows: pl.DataFrame, title: Callable[[pl.DataFrame], str]
) -> None:
    """Print the finding of each stratum, in bold."""
    strata = [*bind_roles(log.frame.lazy(), log._roles).strata]
    parts = rows.partition_by(strata, as_dict=True, maintain_order=True) if strata else {(): rows}
    for place, part in parts.items():
        where = ", ".join(f"{name} {value}" for name, value in zip(strata, place, strict=True))
        head = f"{where}: " * bool(where) if any(place) else "all strata: " * bool(strata)
        print_text(plain_text(head + title(part)), "bold")


def run_describe(log: Scorio[Any], asked: Namespace, _call: str) -> None:
    """Print a table of what is in the log."""
    print_table(log.describe(per=asked.per), asked.format)


def run_check(log: Scorio[Any], asked: Namespace, _call: str) -> None:
    """Print a table of the checks, and what those say that found something."""
    rows = log.check(across=asked.across).lazy().collect()
    if asked.format != "table":
        print_table(rows, asked.format)
        return
    found = rows.filter(pl.col("verdict").is_in(["alarm", "once", "look"]))
    print_text("\n".join(found["sentence"]) or "No check found anything.", "bold")
    print_table(rows.drop("sentence"))


def run_counts(log: Scorio[Any], asked: Namespace, _call: str) -> None:
    """Print a table of counts, which the command reads again with ``--count count``."""
    print_table(log.counts(), asked.format)


def run_frontier(log: Scorio[Any], asked: Namespace, _call: str) -> None:
    """Print a table of the models, the cheapest first."""
    options: dict[str, Any] = {"confidence": asked.confidence, "unmatched": asked.unmatched}
    rows = log.frontier(asked.metric, **options).lazy().collect()
    if asked.format == "table":
        (model,) = bind_roles(log.frame.lazy(), log._roles).models
        ranks = log.rank(asked.metric, **options).lazy().collect().filter(pl.col("tier") == 1)
        strata = rows.columns[: rows.columns.index(model)]
        leading = rows.join(ranks, on=[*strata, model], how="semi")
        _print_titles(log, leading.sort("mean_cost"), lambda part: cheapest_title(part[model][0]))
    print_table(rows, asked.format)


def run_reruns(log: Scorio[Any], asked: Namespace, _call: str) -> None:
    """Print how far a rerun moves the scores, or the flaky questions."""
    options = {"n": asked.n_rerun, "per": asked.per, "confidence": asked.confidence}
    rows = log.reruns(asked.metric, **options).lazy().collect()
    if asked.format != "table" or asked.per == "question":
        print_table(rows, asked.format)
        return
    percent = (asked.metric or avg()).support == (0, 1) and rows["flips_hi"].null_count() == 0
    keys = rows.columns[: rows.columns.index("metric")]
    for row in rows.rows(named=True):
        place = " ".join(str(row[name]) for name in keys)
        print_text(f"{place}: {' '.join(rerun_sentences(row, percent=percent))}", "bold")
    print_table(rows)


_LEFT_OUT = ("solved_by", "always_by", "rate_lo", "rate_hi", "pvalue")


def run_questions(log: Scorio[Any], asked: Namespace, _call: str) -> None:
    """Print a table of questions, with sentences for a reader: stratum after stratum."""
    rows = log.questions(fdr=asked.fdr, per=asked.per, unmatched=asked.unmatched).lazy()
    if asked.format == "table":
        sources = log.variance_components(unmatched=asked.unmatched).lazy()
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
        where = ", ".join(f"{name} {value}" for name, value in zip(strata, place, strict=True))
        sentences = [*question_sentences(part, question, asked.fdr, asked.per), advice[place]]
        print_text("\n".join([where] * bool(where) + sentences), "bold")
        _print_stratum(part, question, asked)


def _print_stratum(rows: pl.DataFrame, question: str, asked: Namespace) -> None:
    """Print the questions of a stratum, with what a reader of a terminal needs."""
    names = [*map(short_name, rows[question].to_list())]
    shown = rows.with_columns(pl.Series(question, names, pl.String)).drop(_LEFT_OUT)
    print_table(shown if asked.all else shown.head(PRINTED))
    if not asked.all and rows.height > PRINTED:
        print_text(f"{rows.height - PRINTED:,} more: --all prints them.")


_BOARDS = 5  # strata with a leaderboard each, if there is none of all models


def run_summary(log: Scorio[Any], asked: Namespace, call: str) -> ValueError | TypeError | None:
    """Print finding, leaderboard and coverage; return why the log has no report, if so."""
    coverage = log.describe()
    wanted = Asked(tuple(asked.metric), chosen_settings(asked))
    frame, roles = log.frame.lazy(), log._roles
    look, _, story = read_story(frame, roles, wanted, totals=log._tool_totals)
    if not isinstance(story, Story):
        print_text(command_words(refusal_finding(story).words(), vars(asked)), "bold")
        print_table(coverage)
        return story
    verdict, finding = story.verdict, story.finding
    print_text(plain_text(finding.title), "bold")
    print_text(plain_text(f"{finding.numbers} {finding.aside}".strip()))
    print_text(plain_text(" \N{MIDDLE DOT} ".join(finding.basis)) + "\n")
    if roles.model is not None:
        print_text(f"{_board_text(look, verdict, asked)}\n")
    if verdict.outcomes:
        print_text(verdict.outcomes)
    for alert in verdict.alerts:
        print_text(command_words(f"{alert.title}. {alert.text}", vars(asked)))
    print_table(coverage)
    print_text(f"For a page to send: {_page_command(call)}")
    return None


def _board_text(look: LogSummary, verdict: LogVerdict, asked: Namespace) -> str:
    """The leaderboard of what the verdict is about, or of the first strata."""
    metrics, settings = asked.metric or [avg()], chosen_settings(asked)
    scopes = verdict.parts[:_BOARDS] if verdict.overall is None else [verdict.overall]
    boards = []
    for scope in scopes:
        frame, roles = log_of_scope(look, scope)
        board = leaderboard(frame, roles, metrics, unmatched="drop", **settings.report)
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


def run_leaderboard(log: Scorio[Any], asked: Namespace, _call: str) -> None:
    """Print the leaderboard as a table for a README, a paper or a page."""
    options = {**chosen_settings(asked).report, "unmatched": asked.unmatched}
    board = log.leaderboard(*asked.metric, overall=asked.overall, **options)
    if asked.format == "latex":
        print_text(to_latex(board))
    elif asked.format == "html":
        print_text(to_great_table(board).as_raw_html())
    else:
        print_table(board, asked.format)


# What runs each command: a number is its exit status, an error says why there is no report.
Run: TypeAlias = "Callable[[Scorio[Any], Namespace, str], int | ValueError | TypeError | None]"
RUNS: dict[str, Run] = {
    name.removeprefix("run_"): run for name, run in vars().items() if name.startswith("run_")
}
