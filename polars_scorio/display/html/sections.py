"""The parts of a page, in the order in which people ask."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import polars as pl

from polars_scorio.display.html import page_tables as tables
from polars_scorio.display.html import pictures
from polars_scorio.display.html.baseline_section import BaselineRows, baseline_section
from polars_scorio.display.html.page import Section
from polars_scorio.display.html.pair_section import pair_section
from polars_scorio.display.html.question_section import questions_section
from polars_scorio.display.html.step_section import steps_section
from polars_scorio.display.judge_words import judge_words, labels_of
from polars_scorio.display.phrases import count_of, range_text
from polars_scorio.display.settings import Settings
from polars_scorio.display.verdict.headline import lead_label, lead_rows, selected_words
from polars_scorio.display.verdict.log_summary import Look
from polars_scorio.display.verdict.log_verdict import LogVerdict
from polars_scorio.display.verdict.scopes import (
    ASSURANCE,
    Scope,
    holds_fractions,
    knows_success,
)
from polars_scorio.reporting.inference.cell_numbers import JUDGED

_SMALLEST = 0.05  # points that are not rounded to none
_NO_DRAWS = "A question has a single trial, so that several trials cannot be drawn."
_WIDENING = (
    "Bands may widen where k comes close to the number of trials: of as many trials as are drawn, "
    "a question gives a single draw."
)
_PLAN = (
    "Neighbours in the ranking that are statistically indistinguishable, by the criterion of the "
    "verdict. After so many further trials of each question, by both models, the interval of their "
    f"difference excludes zero with a probability of {100 * ASSURANCE:g} %."
)
_QUESTIONS = (
    "Where no number of trials is enough, the last column has the number of further questions that "
    "would be, if the questions are a sample."
)
_DISTINGUISHED = "All neighbours in the ranking are distinguishable."
_COVERAGE = (
    "n_min and n_max: the fewest and the most trials of a question. missing: questions that other "
    "models of the stratum have and this one lacks. nulls: trials without an outcome."
)
_TOTALS = " planned and reported: trials and score as the tool that wrote the log says them."
_BEST = (
    "P(best) is the probability that a model is the best of all. It takes into account that the "
    "leader of several owes part of its lead to luck, which the comparison of two models does not."
)
_HEAT = 40  # strata of a heat table
_ROWS = 100  # of the table of coverage


def page_sections(
    look: Look,
    verdict: LogVerdict,
    coverage: pl.DataFrame,
    settings: Settings,
    against: BaselineRows | None = None,
) -> Iterator[Section]:
    """The sections of a log that can be reported.

    Yields
    ------
    Section
        As far as the log has something to show.
    """
    overall, parts, main = verdict.overall, verdict.parts, verdict.main
    several = len(main.models) > 1 and main.ranks["rank"].is_not_null().any() and not main.biased
    yield _leaderboard_section(main, overall, parts, settings)
    if several:
        yield pair_section(main, settings)
    if against is not None:
        yield baseline_section(against, main, settings)
    if look.steps is not None:
        yield steps_section(look, verdict, settings)
    elif overall is not None and len(parts) > 1:
        yield _strata_section(overall, parts)
    rewards = holds_fractions(main.counts, main.roles)
    if rewards or knows_success(main.counts, main.roles, main.metrics):
        yield _curves_section(main, settings)
    yield questions_section(main, settings)
    if several and not main.judged:
        yield _needed_section(main)
    yield coverage_section(coverage, look.question_count)


def _leaderboard_section(
    main: Scope, overall: Scope | None, parts: Sequence[Scope], settings: Settings
) -> Section:
    lines = []
    if main.name:
        lines.append(f"At {main.name}.")
    elif parts and overall is not None:
        lines.append("All questions of all strata in one pool.")
    if len(main.models) > 1 and not main.biased:
        about_best = f" {_BEST}" * tables.shows_p_best(main)
        lines.append(
            f"Ranked by {lead_label(main)}. A range of ranks holds at {settings.level} confidence, "
            f"for all models at once.{about_best}"
        )
        lines += filter(None, [selected_words(main)])
    lines += judge_lines(main)
    colours = pictures.model_classes(main)
    shown = {}
    for scope in [overall] if overall is not None else parts[:_HEAT]:
        for table in tables.leaderboard_tables(scope, settings, colours):
            shown[table.folded or ("" if overall is not None else scope.name)] = table
    return Section("leaderboard", "Leaderboard", lines, tables=shown)


def _strata_section(overall: Scope, parts: Sequence[Scope]) -> Section:
    table = tables.strata_table(parts[:_HEAT], overall)
    rest = len(parts) - _HEAT
    lines = [f"{lead_label(overall)} of each model in each stratum."]
    lines += [f"The other {rest:,} strata are in the data at the end of the page."] * (rest > 0)
    return Section("strata", "Where do they differ?", lines, tables={"": table})


def judge_lines(main: Scope) -> list[str]:
    """Sentences on the correction of the errors of a judge; none if there is no judge."""
    if not main.judged:
        return []
    corrected = judge_words(main.roles, labels_of(main.rows))
    gaps = lead_rows(main).select(pl.col("estimate") - pl.col(JUDGED)).to_series().drop_nulls()
    most = 100 * max(map(abs, gaps), default=0.0)
    by = f"by up to {most:.1f} points" if most >= _SMALLEST else f"by less than {_SMALLEST} points"
    words = (
        f"Numbers are about the truth behind the verdicts of a judge, {corrected}. The correction "
        f"moves {lead_label(main)} {by}; what the labels leave open is in the intervals."
    )
    lines = [words]
    unknown = main.rows["estimate"].null_count()
    if unknown:
        lines.append(
            f"{count_of(unknown, 'number')} {'is' if unknown == 1 else 'are'} missing: fewer than "
            "5 trials of a verdict are labelled, the labels do not show that the judge is better "
            "than a coin, or the noise of the correction exceeds the range of the metric."
        )
    return lines


def _curves_section(main: Scope, settings: Settings) -> Section:
    figures = pictures.curve_figures(main, settings)
    lines = [_WIDENING] * (main.fewest <= pictures.DRAWN) if figures else [_NO_DRAWS]
    return Section("curves", "What do more draws buy?", lines, figures)


def _needed_section(main: Scope) -> Section:
    shown = {"": tables.trials_needed_table(main)} if main.needed.height else {}
    lines = [_PLAN if shown else _DISTINGUISHED]
    lines += [_QUESTIONS] * ("questions_extra" in main.needed.columns)
    title = "How many more trials would distinguish them?"
    return Section("trials", title, lines, tables=shown)


def coverage_section(coverage: pl.DataFrame, questions: int = 0, *, whole: bool = False) -> Section:
    """Section on the coverage of the log: a sentence where models are alike, rows for all others.

    Parameters
    ----------
    coverage : DataFrame
        As `Look.coverage` returns it.
    questions : int
        Distinct questions of the log, if it has strata.
    whole : bool
        Whether all models have rows, as where the log is refused.
    """
    alike = _alike_rows(coverage)
    rest = coverage if whole or not alike.sum() else coverage.filter(~alike)
    lines = []
    if rest.height < coverage.height:
        usual = coverage.filter(alike).row(0, named=True)
        asked, each = usual["questions"], range_text(usual["n_min"], usual["n_max"])
        strata = coverage["stratum"].n_unique() if "stratum" in coverage.columns else 1
        subject = "" if coverage.height == strata else "All models are alike: "
        if rest.height:
            subject = f"{int(alike.sum()):,} of {coverage.height:,} rows are alike: "
        where = ""
        if strata > 1 and rest.is_empty():
            where = f"{f', {asked:,}' * (questions > asked)} in each of {strata:,} strata"
            asked = max(questions, asked)
        lines.append(
            f"{subject}{count_of(asked, 'question')} with {each} "
            f"trial{'' if usual['n_max'] == 1 else 's'} each{where}, none missing."
        )
    if rest.is_empty():
        return Section("coverage", "What is in the log?", lines)
    lines.append(_COVERAGE + (_TOTALS if "planned" in coverage.columns else ""))
    if rest.height > _ROWS:
        lines.append(f"The first {_ROWS} of {rest.height:,} rows; all are in the data below.")
    table = tables.coverage_table(rest.head(_ROWS))
    return Section("coverage", "What is in the log?", lines, tables={"": table})


def _alike_rows(coverage: pl.DataFrame) -> pl.Series:
    """Whether a row is as usual, with nothing missing; one row among others is not."""
    names = {"questions", "trials", "n_min", "n_max", "missing", "nulls"}
    if "planned" in coverage.columns or not names <= {*coverage.columns}:
        return pl.repeat(value=False, n=coverage.height, eager=True)
    columns = ["questions", "trials", "n_min", "n_max"]
    sound = (pl.col("missing") == 0) & (pl.col("nulls") == 0)
    if "stopping" in coverage.columns:
        sound &= pl.col("stopping").is_null()
    if "duplicates" in coverage.columns:
        sound &= pl.col("duplicates").fill_null(0) == 0
    rows = coverage.select(sound.alias("sound"), shared=pl.concat_str(columns, separator=" "))
    usual = rows.filter("sound")["shared"].mode().sort()
    if usual.is_empty():
        return rows["sound"]
    alike = pl.col("sound") & (pl.col("shared") == usual[0])
    return rows.select(alike & ((alike.sum() > 1) | (pl.len() == 1))).to_series()
