"""Commands: report, compare, rank, coverage, check, counts, frontier, reruns and the others."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import polars as pl

from polars_scorio.accessors.frame import Scorio
from polars_scorio.arguments import known_text
from polars_scorio.command_line.answers import (
    Call,
    check_answer,
    compare_answer,
    describe_answer,
    frontier_answer,
    plan_answer,
    questions_answer,
    rank_answer,
    regressions_answer,
    reruns_answer,
    rows_answer,
    summary_answer,
)
from polars_scorio.command_line.gate_command import (
    run_gate,
    typed_model,
    versions_log,
)
from polars_scorio.command_line.log_input import chosen_settings, planned_numbers
from polars_scorio.command_line.messages import (
    Progress,
    command_words,
    print_lines,
    print_table,
    print_text,
)
from polars_scorio.counting.log import bind_roles, collected_together
from polars_scorio.display.facts.log_summary import LogSummary
from polars_scorio.display.facts.ranking_facts import decided_alone
from polars_scorio.display.facts.scopes import (
    common_questions,
    whole_scope,
    without_repeated_warnings,
)
from polars_scorio.display.media.card import card_svg, write_card
from polars_scorio.display.media.terminal import Screen, board_lines
from polars_scorio.display.page import PageCall, account_words, made_page, story_card
from polars_scorio.display.settings import Settings
from polars_scorio.display.story import Story, StoryOptions, read_story
from polars_scorio.display.table import Table, to_great_table, to_latex
from polars_scorio.display.whole_files import refuse_missing_folder, write_whole
from polars_scorio.display.words.answer_words import flaky_title
from polars_scorio.display.words.ranking_words import tell_refusal
from polars_scorio.metrics.weighted import avg


def run_report(log: Scorio[Any], asked: Namespace, call: str) -> ValueError | TypeError | None:
    """Write the page, or print it as Markdown; return why the log has no report, if so."""
    settings = chosen_settings(asked)
    title = asked.title or _log_title(asked)
    roles, totals = log._roles, log._tool_totals
    options = StoryOptions(tuple(asked.metric), settings, asked.baseline, asked.margin)
    order = PageCall.from_options(
        options, roles, asked.output, title=title, call=call, typed=asked.typed
    )
    if asked.output != "-":
        refuse_missing_folder(Path(asked.output))
    progress = Progress(sys.stderr)
    # A file or a pipe gets no progress: it has errors and warnings alone.
    with progress if sys.stderr.isatty() else nullcontext():
        made, refusal = made_page(log.frame.lazy(), roles, order, progress.tell, totals=totals)
    made = made.with_words(lambda text: command_words(text, vars(asked)))
    if asked.output == "-":
        print_text(made.markdown())
    else:
        write_whole(Path(asked.output), made.html())
        basis = " \N{MIDDLE DOT} ".join(made.account.basis)
        notes = [f"{alert.title}. {alert.text}" for alert in made.alerts]
        parts = [account_words(made.account), basis, *notes, made.outcomes]
        screen = Screen.from_output()
        lines = [line for part in filter(None, parts) for line in screen.prose(part, indent=0)]
        print_text("\n".join([*lines, asked.output]))
    return refusal


def _log_title(asked: Namespace) -> str:
    return ", ".join(dict.fromkeys(Path(name).name for name in asked.log))


def run_card(log: Scorio[Any], asked: Namespace, _call: str) -> None:
    """Write a picture of the finding, and print its sentence."""
    output = Path(asked.output)
    refuse_missing_folder(output)
    metrics = () if asked.metric is None else (asked.metric,)
    wanted = StoryOptions(metrics, chosen_settings(asked), asked.baseline, asked.margin)
    *_, story = read_story(log.frame.lazy(), log._roles, wanted, totals=log._tool_totals)
    if not isinstance(story, Story):
        raise story
    write_card(output, card_svg(story_card(story, asked.title or _log_title(asked))))
    print_text(f"{account_words(story.account)}\n{asked.output}")


def run_compare(log: Scorio[Any], asked: Namespace, call: str) -> None:
    """Print the pairs of models, by one metric after the other."""
    options: dict[str, Any] = {**chosen_settings(asked).report, "unmatched": asked.unmatched}
    options |= {"simultaneous": not asked.each_pair, "overall": asked.overall}
    options |= planned_numbers(asked)
    baseline = None if asked.baseline is None else typed_model(log, asked.baseline)
    metrics = asked.metric or [avg()]
    pairs = [log.compare(metric, baseline=baseline, **options) for metric in metrics]
    if asked.format != "table":
        # Rewards have the column `bounds` too.
        tables = collected_together([each.lazy() for each in pairs])
        print_table(pl.concat(tables, how="diagonal"), asked.format)
        return
    reply, tables = Call.read(log, asked, call, *pairs)
    compare_answer(reply, [*zip(metrics, tables, strict=True)])


def _print_answer(
    answer: Callable[..., None],
    log: Scorio[Any], asked: Namespace, call: str, plan: pl.DataFrame | pl.LazyFrame,
    *further: pl.DataFrame | pl.LazyFrame,
) -> None:  # fmt: skip
    """Print the rows of a plan for a program, or the answer to a reader, which may need others."""
    if asked.format != "table":
        print_table(plan, asked.format)
    else:
        reply, tables = Call.read(log, asked, call, plan, *further)
        answer(reply, *tables)


def run_rank(log: Scorio[Any], asked: Namespace, call: str) -> None:
    """Print the models in their order."""
    options: dict[str, Any] = {**chosen_settings(asked).report, "unmatched": asked.unmatched}
    options["overall"] = asked.overall
    answer = partial(rank_answer, alone=partial(_undecided_alone, log, asked, options))
    _print_answer(answer, log, asked, call, log.rank(asked.metric, **options))


_PAIRED = 60  # models, all of whose pairs are compared for a title


def _undecided_alone(
    log: Scorio[Any], asked: Namespace, options: dict[str, Any], rows: pl.DataFrame
) -> int:
    """Number of pairs that would be decided alone, in a stratum in which none is with all."""
    if not (rows["tier"] == 1).all() or not 2 < rows.height <= _PAIRED:
        return 0
    with without_repeated_warnings():  # of the ranking
        pairs = log.compare(asked.metric, **options).lazy().collect()
    strata = [name for name in bind_roles(log.frame.lazy(), log._roles).strata
              if name in pairs.columns]  # fmt: skip
    of_stratum = pairs.join(rows, on=strata, how="semi", nulls_equal=True) if strata else pairs
    return decided_alone(of_stratum, asked.confidence)


def run_describe(log: Scorio[Any], asked: Namespace, call: str) -> None:
    """Print what is in the log."""
    _print_answer(describe_answer, log, asked, call, log.describe(per=asked.per))


def run_check(log: Scorio[Any], asked: Namespace, call: str) -> int:
    """Print all tests of the log; an alarm is the status."""
    checks = log.check().lazy().collect()
    _print_answer(check_answer, log, asked, call, checks)
    return int("alarm" in checks["verdict"])


def run_counts(log: Scorio[Any], asked: Namespace, _call: str) -> None:
    """Print a table of counts, which the command reads again with ``--count count``."""
    print_table(log.counts(), asked.format)


def run_frontier(log: Scorio[Any], asked: Namespace, call: str) -> None:
    """Print the models, the cheapest first."""
    options = {name: getattr(asked, name) for name in ("confidence", "unmatched", "target")}
    plans = log.frontier(asked.metric, **options), log.rank(asked.metric, **options)
    _print_answer(frontier_answer, log, asked, call, *plans)


def run_reruns(log: Scorio[Any], asked: Namespace, call: str) -> None:
    """Print how far a rerun moves the scores, or the flaky questions."""
    options = {"n": asked.n_rerun, "per": asked.per, "confidence": asked.confidence}
    answer = _flaky_answer if asked.per == "question" else reruns_answer
    _print_answer(answer, log, asked, call, log.reruns(asked.metric, **options))


def _flaky_answer(reply: Call, flips: pl.DataFrame) -> None:
    rows_answer(reply, flaky_title(flips.height), flips, reply.next("questions"))


def run_questions(log: Scorio[Any], asked: Namespace, call: str) -> None:
    """Print how many questions tell nothing, and the ones to look at."""
    options = {"per": asked.per, "unmatched": asked.unmatched}
    if asked.format != "table":
        print_table(log.questions(**options), asked.format)
        return
    summary = LogSummary.read(log.frame.lazy(), log._roles, log._tool_totals)
    summary.refuse()
    cells, cover, roles = summary.cells, summary.describe(), summary.roles
    if summary.steps is not None:  # numbers or times again, in their order
        name = summary.trials.by[0].name
        at = pl.col("stratum").replace_strict(*summary.steps)
        cells, cover = (frame.with_columns(at).rename({"stratum": name})
                        for frame in (cells, cover))  # fmt: skip
        roles = replace(roles, by=name)
    counted = Scorio(cells, roles, log._chosen)
    reply = Call(counted, asked, call, cover, Screen.from_output())
    whole = whole_scope(summary, common_questions(summary), (avg(),), asked.overall)
    whole = whole if whole is None else whole.ranked(Settings())
    questions_answer(reply, counted.questions(**options), whole)


def run_regressions(log: Scorio[Any], asked: Namespace, call: str) -> None:
    """Print the questions that became worse than under a baseline."""
    log, asked.baseline = versions_log(log, asked)
    options: dict[str, Any] = {"improvements": asked.improvements, "unmatched": asked.unmatched}
    rows = log.regressions(asked.baseline, fdr=asked.fdr, **options)
    _print_answer(regressions_answer, log, asked, call, rows)


def run_plan(log: Scorio[Any], asked: Namespace, call: str) -> None:
    """Print how many more trials, or questions, would decide."""
    logs, width, overall = _paired_logs(log, asked), asked.half_width, asked.overall
    # Verdicts about several pairs with a baseline hold at once.
    shared: dict[str, Any] = {"confidence": asked.confidence ** (1 / len(logs))}
    if width is None:
        shared |= {"power": asked.power, "unmatched": asked.unmatched}
    plans = [
        each.trials_needed(asked.metric, half_width=width, overall=overall, **shared).lazy()
        for each in logs
    ]

    def answer(reply: Call, needs: pl.DataFrame) -> None:
        questions = None
        if width is None and overall is None and needs["extra_trials"].null_count():
            further = (each.questions_needed(asked.metric, **shared).lazy() for each in logs)
            questions = pl.concat(further).collect()
        plan_answer(reply, needs, questions)

    _print_answer(answer, log, asked, call, pl.concat(plans).collect())


def _paired_logs(log: Scorio[Any], asked: Namespace) -> list[Scorio[Any]]:
    """The logs of the pairs that are asked about; the log itself if none are."""
    if asked.baseline is None and asked.pair is None:
        return [log]
    if [asked.baseline, asked.pair, asked.half_width].count(None) < 2:
        raise ValueError("--baseline, --pair and --half-width are three plans: ask for one")
    trials = bind_roles(log.frame.lazy(), log._roles)
    if trials.model is None:
        raise ValueError(
            "--baseline and --pair need several models: name their column with --model"
        )
    model = trials.model.expr
    known = trials.frame.select(model.unique().sort()).collect().to_series().to_list()
    wanted = [typed_model(log, name) for name in asked.pair or [asked.baseline]]
    if unknown := [name for name in wanted if name not in known]:
        raise ValueError(f"{unknown[0]!r} is none of the models: {known_text(unknown[0], known)}")
    pairs = [wanted] if asked.pair else [[*wanted, name] for name in known if name != wanted[0]]
    return [Scorio(trials.frame.filter(model.is_in(pair)), log._roles) for pair in pairs]


def run_summary(log: Scorio[Any], asked: Namespace, call: str) -> ValueError | TypeError | None:
    """Print finding, leaderboard and facts; return why the log has no report, if so."""
    wanted = StoryOptions(tuple(asked.metric), chosen_settings(asked))
    frame, roles = log.frame.lazy(), log._roles
    _, coverage, story = read_story(frame, roles, wanted, totals=log._tool_totals)
    reply = Call(log, asked, call, coverage, Screen.from_output())
    if isinstance(story, Story):
        summary_answer(reply, story)
        return None
    why = command_words(account_words(tell_refusal(story)), vars(asked))
    rows_answer(reply, why, coverage, reply.next("describe"), refused=True)
    return story


def run_leaderboard(log: Scorio[Any], asked: Namespace, _call: str) -> None:
    """Print the leaderboard as a table for a README, a paper or a page."""
    options = {**chosen_settings(asked).report, "unmatched": asked.unmatched}
    board = log.leaderboard(*asked.metric, overall=asked.overall, **options)
    form: Any = asked.format or ("table" if sys.stdout.isatty() else "markdown")
    if form == "latex":
        print_text(to_latex(board))
    elif form == "html":
        print_text(to_great_table(board).as_raw_html())
    elif form == "table":
        table = Table.read(board, percent=None)
        print_lines(board_lines(table, Screen.from_output(), "--format markdown"))
    else:
        print_table(board, form)


# What runs each command: a number is its exit status, an error says why there is no report.
Run: TypeAlias = "Callable[[Scorio[Any], Namespace, str], int | ValueError | TypeError | None]"
RUNS: dict[str, Run] = {
    "summary": run_summary,
    "report": run_report,
    "leaderboard": run_leaderboard,
    "describe": run_describe,
    "check": run_check,
    "compare": run_compare,
    "rank": run_rank,
    "counts": run_counts,
    "gate": run_gate,
    "regressions": run_regressions,
    "plan": run_plan,
    "questions": run_questions,
    "reruns": run_reruns,
    "card": run_card,
    "frontier": run_frontier,
}
