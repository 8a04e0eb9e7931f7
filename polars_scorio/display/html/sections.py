"""The parts of a page, in the order in which people ask."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import polars as pl

from polars_scorio.display.html import page_tables as tables
from polars_scorio.display.html import pictures
from polars_scorio.display.html.headline import (
    lead_label,
    lead_rows,
    possible_best_words,
    rival_models,
)
from polars_scorio.display.html.page import Section
from polars_scorio.display.html.question_section import questions_section
from polars_scorio.display.html.scopes import (
    ASSURANCE,
    Scope,
    holds_fractions,
    knows_success,
)
from polars_scorio.display.judge_words import judge_words, labels_of
from polars_scorio.display.phrases import count_of, name_list
from polars_scorio.display.settings import Settings
from polars_scorio.reporting.inference.cell_numbers import JUDGED

_NAMED = 40  # models in a sentence
_PLAN = (
    "Neighbours in the ranking that are statistically indistinguishable, one pair at a time. After "
    "so many further trials of each question, by both models, the interval of their difference "
    f"excludes zero with a probability of {100 * ASSURANCE:g} %."
)
_DISTINGUISHED = "All neighbours in the ranking are distinguishable, one pair at a time."
_COVERAGE = (
    "n_min and n_max: the fewest and the most trials of a question. missing: questions that other "
    "models of the stratum have and this one lacks. nulls: trials without an outcome."
)
_TOTALS = " planned and reported: trials and score as the tool that wrote the log says them."


def page_sections(
    overall: Scope | None, parts: Sequence[Scope], coverage: pl.DataFrame, settings: Settings
) -> Iterator[Section]:
    """The sections of a log that can be reported.

    Yields
    ------
    Section
        As far as the log has something to show.
    """
    scopes = [scope for scope in (overall, *parts) if scope is not None]
    main = scopes[0]
    yield _intervals_section(main, overall, parts, settings)
    yield _leaderboard_section(overall, parts, settings)
    if len(main.models) > 1:
        yield _comparisons_section(main, settings)
    rewards = holds_fractions(main.counts, main.roles)
    if rewards or knows_success(main.counts, main.roles, main.metrics):
        yield _curves_section(main, settings)
    yield questions_section(main, settings)
    if len(main.models) > 1 and not main.judged:
        yield _needed_section(scopes)
    yield coverage_section(coverage)


def _intervals_section(
    main: Scope, overall: Scope | None, parts: Sequence[Scope], settings: Settings
) -> Section:
    figures = pictures.interval_figures(main, settings)
    lines = []
    if parts:
        lines.append(
            "All questions of all strata in one pool."
            if overall is not None
            else f"No stratum has all models; this is {main.name}."
        )
    return Section("intervals", "How good are they, and how sure is that?", lines, figures)


def _leaderboard_section(
    overall: Scope | None, parts: Sequence[Scope], settings: Settings
) -> Section:
    shown: dict[str, tables.Table] = {}
    if overall is not None:
        shown["All strata in one pool" if parts else ""] = tables.leaderboard_table(overall)
    if len(parts) > 1 and overall is not None:
        title = f"{lead_label(overall)} by stratum"
        shown[title] = tables.strata_table(parts, overall.models)
    if len(parts) > 1 or overall is None:
        shown |= {part.name: tables.leaderboard_table(part) for part in parts}
    main = overall or parts[0]
    ranks = (
        f"Ranked by {lead_label(main)}. A range of ranks holds at {settings.level} confidence, for "
        "all models at once. P(best) is the probability that a model is the best of all."
    )
    lines = [ranks] if len(main.models) > 1 else []
    lines += judge_lines(main)
    return Section("leaderboard", "Leaderboard", lines, tables=shown)


def judge_lines(main: Scope) -> list[str]:
    """Sentences on the correction of the errors of a judge; none if there is no judge."""
    if not main.judged:
        return []
    corrected = judge_words(main.roles, labels_of(main.rows))
    gaps = lead_rows(main).select(pl.col("estimate") - pl.col(JUDGED)).to_series().drop_nulls()
    by = f" by up to {100 * max(map(abs, gaps)):.1f} points" if len(gaps) else ""
    words = (
        f"Numbers are about the truth behind the verdicts of a judge, {corrected}. The correction "
        f"moves {lead_label(main)}{by}; what the labels leave open is in the intervals."
    )
    lines = [words]
    unknown = main.rows["estimate"].null_count()
    if unknown:
        lines.append(
            f"{count_of(unknown, 'number')} are missing: the labels do not show that the judge is "
            "better than a coin, or the noise of the correction exceeds the range of the metric."
        )
    return lines


def _comparisons_section(main: Scope, settings: Settings) -> Section:
    undecided = main.pairs["better"].null_count()
    unsure = rival_models(main)
    of = count_of(main.pairs.height, "pair")
    lines = [
        f"{undecided:,} of {of} undecided at {settings.level} confidence, for all pairs at once.",
        (
            f"Statistically indistinguishable from {main.models[0]}: {name_list(unsure, _NAMED)}."
            if unsure
            else f"{main.models[0]} is distinguishable from all other models."
        ),
    ]
    if possible := possible_best_words(main, settings):
        lines.append(f"Among all models, {possible}.")
    drawn = pictures.matrix_figure(main, settings)
    figures = [] if drawn is None else [drawn]
    return Section(
        "comparisons", "Who is better than whom?", lines, figures, {"": tables.pairs_table(main)}
    )


def _curves_section(main: Scope, settings: Settings) -> Section:
    figures = pictures.curve_figures(main, settings)
    lines = (
        []
        if figures
        else ["A question has a single trial, so that several trials cannot be drawn."]
    )
    return Section("curves", "What do more draws buy?", lines, figures)


def _needed_section(scopes: Sequence[Scope]) -> Section:
    shown = {
        scope.name
        or ("All strata in one pool" if len(scopes) > 1 else ""): tables.trials_needed_table(scope)
        for scope in scopes
        if scope.needed.height
    }
    lines = [_PLAN if shown else _DISTINGUISHED]
    return Section("trials", "How many more trials would distinguish them?", lines, tables=shown)


def coverage_section(coverage: pl.DataFrame) -> Section:
    """Section on the coverage of the log."""
    lines = [_COVERAGE + (_TOTALS if "planned" in coverage.columns else "")]
    return Section(
        "coverage", "What is in the log?", lines, tables={"": tables.coverage_table(coverage)}
    )
