"""Sections of logs that name no winner: of one model, or whose errored trials decide."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from html import escape

import polars as pl

from polars_scorio.counting.log import collected_together
from polars_scorio.decisions.reruns import reruns
from polars_scorio.display.facts.scopes import Scope, average_metric
from polars_scorio.display.finding import (
    Finding,
    Gap,
    html_text,
    named,
    names_list,
    one_model_title,
)
from polars_scorio.display.media.gate_sections import as_number
from polars_scorio.display.media.marks import (
    Axis,
    group,
    interval,
    level,
    picture,
    tick_row,
    upright,
)
from polars_scorio.display.media.page import Section
from polars_scorio.display.media.sections import (
    Fan,
    QuestionFacts,
    Sheet,
    bold_numbers,
    grid_lines,
    line_rows,
    number_table,
    questions_section,
    score_ticks,
)
from polars_scorio.display.verdict import lead_label, lead_rows
from polars_scorio.display.words.phrases import count_of, short_name, these_questions
from polars_scorio.study.report import report

_LINES = 40  # strata of one model that are drawn


def one_model_finding(
    sheet: Sheet,
    fan: Fan | None,
    like: tuple[float, float] | None,
    flaky: int,
    basis: Sequence[str],
) -> Finding:
    """The share that a single model gets right, at one try and every time."""
    board, unit = sheet.board, sheet.board.unit
    always = None if fan is None or fan.rewards else unit.score(fan.numbers[1, 0, -1, 0])
    tries = 1 if fan is None else fan.k[-1]
    score = unit.score(board.score[0])
    asked = sheet.asked
    title = one_model_title(board.models[0], score, always=always, tries=tries, questions=asked)
    of_success = unit.percent and not (fan is not None and fan.rewards)
    # An attack that succeeds is no right answer, and a mean of strata no share of questions.
    of_success &= not sheet.main.roles.lower_is_better and sheet.main.overall != "macro"
    if not of_success:
        title = f"{named(board.models[0])} scores {score}."
    elif sheet.main.lead.name not in {"avg", "bayes"}:  # no share of right answers
        title = f"{named(board.models[0])} scores {score} ({lead_label(sheet.main)})."
    ends = unit.interval(board.lo[0], board.hi[0])
    numbers = f"{sheet.settings.level}: {ends} for {these_questions(asked)}"
    numbers += f", {unit.interval(*like)} for questions like these." if like else "."
    plain = lead_rows(sheet.main)["estimate"].item()
    if plain is not None and unit.score(plain) != score:
        numbers += f" The plain estimate is {unit.score(plain)}."
    aside = ""
    if flaky:
        verb, come = ("is", "comes") if flaky == 1 else ("are", "come")
        ways = (
            f"{verb} right in one run and wrong in the next"
            if of_success
            else f"{come} out both ways"
        )
        aside = f"{count_of(flaky, 'question')} {ways}."
    return Finding(title, "one model", "", numbers, aside, tuple(basis))


def population_interval(sheet: Sheet) -> tuple[float, float, float] | None:
    """Score and interval for questions like these; None where they cannot be had."""
    main = sheet.main
    if main.judged or sheet.settings.target == "population" or sheet.settings.prior is not None:
        return None
    if main.counts["question"].n_unique() < 2:
        return None
    confidence = sheet.settings.confidence
    asked = {"target": "population", "confidence": confidence}
    row = main.numbers(report, [main.lead], **asked).collect()
    numbers = row.select("mu", "lo", "hi").row(0)
    return None if None in numbers else numbers


def one_model_hero(
    sheet: Sheet, like: tuple[float, float, float] | None, parts: Sequence[Scope]
) -> str:
    """These questions, questions like these, and strata, on one axis."""
    board, unit = sheet.board, sheet.board.unit
    lines = [("these questions", (board.score[0], board.lo[0], board.hi[0]), "a", 7.0)]
    if like:
        lines.append(("questions like these", like, "a", 7.0))
    of_parts = [(part.name, lead_rows(part).select("mu", "lo", "hi").row(0)) for part in parts]
    of_parts.sort(key=lambda each: -(each[1][0] or 0.0))
    lines += [(name, numbers, "m", 5.5) for name, numbers in of_parts[:_LINES]]
    every = [v for _, numbers, *_ in lines for v in numbers if v is not None]
    axis = Axis(0, 1) if unit.percent else Axis.spanning(every)
    rows = []
    for place, (label, given, hue, r) in enumerate(lines):
        mu, lo, hi = (as_number(value) for value in given)
        body = grid_lines(axis, 46, 5) + group(hue, interval(axis, lo, mu, hi, 23, "ci", r))
        name = (
            f"<b>{label}</b>"
            if place < 1 + bool(like)
            else f"<bdi>{escape(short_name(label, 28))}</bdi>"
        )
        said = f"{label}: {unit.score(mu)} {unit.interval(lo, hi)}"
        rows.append((name, picture(46, body, said), bold_numbers(unit, mu, lo, hi)))
    ticks = tick_row(axis, score_ticks(axis, unit, 5), most=5)
    note = "More trials narrow the first interval, more questions the second." if like else ""
    return line_rows(rows, 150, 160, ticks) + f'<p class="note">{note}</p>' * bool(note)


def flaky_section(facts: QuestionFacts, sheet: Sheet) -> Section:
    """Questions of one model that come out both ways, and how far chance moves a rerun of it."""
    rerun = _noise_floor(sheet)
    if facts.trials < 2 or len(facts.names) < 2 or not facts.mixed:
        return rerun
    questions, end = questions_section(sheet, facts), "."
    if rerun.figure:
        end = f"; {rerun.title[0].lower()}{rerun.title[1:]}"
    title = f"{len(facts.mixed):,} of {count_of(len(facts.names), 'question')} are flaky{end}"
    figure = f'{questions.figure}<div class="h3">{rerun.figure}</div>'
    return Section("flaky", title, [*questions.words, *rerun.words], figure)


def _noise_floor(sheet: Sheet) -> Section:
    """How far a rerun lies from this log by chance alone, with as many trials or fewer."""
    main, title = sheet.main, ""
    metric = average_metric(main.lead)
    whole = 0 if main.each is None else main.each
    if main.judged or main.errored or sheet.settings.prior is not None or whole < 1:
        return Section("rerun", title, [])
    sizes = sorted({whole, *(n for n in (4, 2, 1) if n < whole)}, reverse=True)
    try:
        confidence = sheet.settings.confidence
        plans = [reruns(main.study, main.roles_by_stratum, metric, n=n, confidence=confidence)
                 for n in sizes]  # fmt: skip
        parts = collected_together(plans)
    except ValueError:  # a metric without unbiased estimates
        return Section("rerun", title, [])
    if any(part["noise_floor"].null_count() for part in parts):
        return Section("rerun", title, [])
    # Of the mean of several strata, whose reruns are independent.
    floors = [math.hypot(*part["noise_floor"]) / part.height for part in parts]
    unit, reach = sheet.board.unit, 1.1 * max(floors)
    axis = Axis(-reach, reach)
    lines = []
    for n, floor in zip(sizes, floors, strict=True):
        hue = "a" if n == whole else "o"
        body = upright(axis(0), 0, 36, "z") + group(hue, level(axis(-floor), axis(floor), 18, "ci"))
        sized = unit.size(floor)
        number, _, word = sized.partition(" ")
        lines.append((f"{count_of(n, 'trial')} each", picture(36, body, f"{n}: within {sized}"),
                      f'<b>±{number}</b> <span class="k">{word}</span>'))  # fmt: skip
    said = (
        f"How far a new run of the same model on {these_questions(sheet.asked)} may lie from this "
        f"log by chance alone ({sheet.settings.level}), if runs differ by nothing else."
    )
    words = [said]
    flips = parts[0].select(
        (pl.col("flips") * pl.col("questions")).sum() / pl.col("questions").sum()
    )
    if not parts[0]["flips"].null_count():
        words.append(f"Of the questions, {unit.score(flips.item())} change their verdict from "
                     "one single trial to the next.")  # fmt: skip
    title = f"Below {unit.size(floors[0])}, a change is not news."
    return Section("rerun", title, words, line_rows(lines, 108, 110))


def next_of_one(sheet: Sheet) -> list[str]:
    """How to compare a new version, and what a broader claim needs."""
    each = sheet.main.each
    steps = []
    if each and each > 1:
        steps.append(f"Compare a new version with {count_of(each, 'trial')} of each question.")
    return [*steps, "For a claim beyond these questions, add questions, not trials."]


WHATEVER = ", whatever the errored trials were"  # behind a confidence
_ADVICE = (
    "A timeout is an outcome: count it as a failure. A trial that the harness lost is not: run it "
    "again."
)


def errored_finding(finding: Finding, sheet: Sheet) -> Finding:
    """A finding that holds whatever the errored trials were, or that they decide."""
    main, board = sheet.main, sheet.board
    metric, level, *rest = finding.basis
    finding = replace(finding, basis=(metric, level + WHATEVER, *rest))
    decide = count_of(main.errored, "errored trial") + " decide" + "s" * (main.errored == 1)
    if len(board.models) == 1:
        ends = " to ".join(map(board.unit.score, lead_rows(main).select(*_ENDS).row(0)))
        title = f"{named(board.models[0])} scores {ends}: {decide}."
        return replace(finding, title=title)
    if not board.ranked or sheet.gap is None:
        return finding
    known = [(_MEANING[each], gap.diff) for each, gap in _pair_readings(sheet) if each in _MEANING]
    a, b = map(named, board.models[:2])
    ends = board.unit.gaps(sheet.gap.lo, sheet.gap.hi)
    gaps = [
        f"{board.unit.gap(diff, points=not place)} if {meaning}"
        for place, (meaning, diff) in enumerate(known)
    ]
    numbers = f"{a} less {b}: {', '.join([*gaps, ends])} whatever they were."
    if len(board.leaders) == 1 or not _is_decisive(sheet):
        return replace(finding, numbers=numbers.replace(" they ", " errored trials ", 1))
    title = f"{decide} between {names_list(board.leaders)}."
    return replace(finding, title=title, numbers=numbers)


_ENDS = ("lo_missing", "hi_missing")
_MEANING = {"counted as failures": "they failed", "left out": "they are left out"}


def _pair_readings(sheet: Sheet) -> list[tuple[str, Gap]]:
    """The difference of the first two models under each meaning of an error."""
    pairs = {**sheet.main.readings, "anything they could have been": sheet.main.pairs}
    gaps = {
        meaning: Gap.from_pairs(rows, *sheet.board.models[:2]) for meaning, rows in pairs.items()
    }
    return [(meaning, gap) for meaning, gap in gaps.items() if gap is not None]


def _is_decisive(sheet: Sheet) -> bool:
    """Whether some meaning of an error decides between models that may be the best."""
    both = pl.col("model_a", "model_b").is_in(sheet.board.leaders)
    return any(
        rows.filter(pl.all_horizontal(both))["better"].count() > 0
        for rows in sheet.main.readings.values()
    )


def readings_section(sheet: Sheet) -> Section:
    """The first two models under each meaning of an error."""
    if sheet.gap is None:
        return Section("errored", "", [])
    a, b = map(named, sheet.board.models[:2])
    unit, rows = sheet.board.unit, []
    for meaning, gap in _pair_readings(sheet):
        verdict = "open" if gap.better is None else f"{named(gap.better)} is better"
        diff = unit.gap(gap.diff) if math.isfinite(gap.prob_better) else ""
        rows.append(("", meaning, [*map(html_text, (diff, unit.gaps(gap.lo, gap.hi), verdict))]))
    heads = [html_text(f"{a} less {b}"), f"{sheet.settings.level} interval", "verdict"]
    table = number_table("Meanings of an error", "errored trials are", heads, rows)
    title, said = f"{a} or {b}?", "The same log under each meaning of an error."
    return Section("errored", title, [said], table)


def errored_cells(sheet: Sheet) -> list[str]:
    """The errored trials of each model, of all its trials, and its score if they were solved."""
    rows = sheet.board.rows_of(lead_rows(sheet.main)).select("errored", "trials", _ENDS[1]).rows()
    return [
        f"{errored:,} of {trials:,}" + f": to {sheet.board.unit.score(most)}" * bool(errored)
        for errored, trials, most in rows
    ]


def next_of_errored(sheet: Sheet, models: Sequence[str]) -> list[str]:
    """Trials of open models that errored are run again before others are added."""
    rows = lead_rows(sheet.main).filter(pl.col("model").cast(pl.String).is_in(models))
    most = rows.sort("errored", "model", descending=[True, False]).select("model", "errored")
    model, errored = most.row(0)
    again = f"Run {named(model)}'s {count_of(errored, 'errored trial')} again." * bool(errored)
    return [*filter(None, [again]), _ADVICE]
