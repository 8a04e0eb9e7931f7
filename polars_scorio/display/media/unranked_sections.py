"""Sections of logs that name no winner: of one model, or whose errored trials decide."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

import numpy as np
import polars as pl

from polars_scorio.counting.log import collected_together
from polars_scorio.decisions.reruns import reruns
from polars_scorio.display.blocks import Section, html_figure
from polars_scorio.display.facts.gate_facts import FDR, Gated
from polars_scorio.display.facts.question_facts import QuestionFacts
from polars_scorio.display.facts.ranking_facts import RankingFacts, Sheet, as_number
from polars_scorio.display.facts.scopes import average_metric
from polars_scorio.display.media.drawings import figures_html
from polars_scorio.display.media.marks import Axis, box, group, level, picture, upright
from polars_scorio.display.media.sections import questions_section, strip_rows
from polars_scorio.display.media.tables import line_rows, number_table
from polars_scorio.display.numbers import html_text, named
from polars_scorio.display.phrases import count_of, short_name, these_questions, without_stratum
from polars_scorio.display.words.gate_words import broken_words, case_clauses

_LINES = 40  # strata of one model that are drawn


def flaky_section(facts: QuestionFacts, sheet: Sheet) -> Section:
    """Questions of one model that come out both ways, and how far chance moves a rerun of it."""
    rerun = _noise_floor(sheet)
    if facts.trials < 2 or len(facts.names) < 2 or not facts.mixed:
        return rerun
    questions, end = questions_section(sheet, facts), "."
    if rerun.figures:
        end = f"; {rerun.title[0].lower()}{rerun.title[1:]}"
    title = f"{len(facts.mixed):,} of {count_of(len(facts.names), 'question')} are flaky{end}"
    figures = [*questions.figures, *html_figure(f'<div class="h3">{figures_html(rerun)}</div>')]
    return Section("flaky", title, [*questions.words, *rerun.words], figures)


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
    return Section("rerun", title, words, html_figure(line_rows(lines, 108, 110)))


def readings_section(facts: RankingFacts) -> Section:
    """The first two models under each meaning of an error."""
    if facts.errored is None or facts.gap is None:
        return Section("errored", "", [])
    a, b = map(named, facts.board.models[:2])
    unit, rows = facts.board.unit, []
    for meaning, gap in facts.errored.readings.items():
        verdict = "undecided" if gap.better is None else f"{named(gap.better)} is better"
        diff = unit.gap(gap.diff) if math.isfinite(gap.prob_better) else ""
        rows.append(("", meaning, [*map(html_text, (diff, unit.gaps(gap.lo, gap.hi), verdict))]))
    level = f"{100 * facts.about.confidence:.6g} % interval"
    heads = [html_text(f"{a} less {b}"), level, "verdict"]
    table = number_table("Meanings of an error", "errored trials are", heads, rows)
    title, said = f"{a} or {b}?", "The same log under each meaning of an error."
    return Section("errored", title, [said], html_figure(table))


def cases_section(gated: Gated, facts: QuestionFacts, models: Sequence[str]) -> Section:
    """A map of the questions under baseline and candidate: broken, flaky, the same, fixed."""
    gate, old = gated.gate, gated.baseline
    row, new = gate.worst, gate.line.model
    if not gated.changes:
        return Section("cases", "", [])
    broke, fixed = (gated.changed(kind, new) for kind in ("broken", "repaired"))
    down, up = gate.broke or [], gate.fixed or []
    before, after = (facts.scores[[*models].index(name)] for name in (old, new))
    mixed = [0 < a < 1 or 0 < b < 1 for a, b in zip(before, after, strict=True)]
    kind = np.array([0 if name in {*down} else 3 if name in {*up} else 1 if flaky else 2
                     for name, flaky in zip(facts.names, mixed, strict=True)])  # fmt: skip
    order = np.lexsort((before, after - before, kind))
    strips = strip_rows(np.stack([before, after])[:, order], 30, [f"{old}, before", f"{new}, now"])
    cells = "".join(
        f'<span class="in" title="{escape(name)}"><bdi>{escape(short_name(name, 28))}</bdi></span>'
        + strip
        for name, strip in zip((old, new), strips, strict=True)
    )
    marks, key = _case_marks(np.bincount(kind, minlength=4).tolist())
    word = facts.word
    lists = _case_list(f"Broke: {word} trials before and after", broke)
    lists += _case_list("Fixed", fixed)
    were = "was" if len(up) == 1 else "were"
    title = f"{count_of(len(down), 'question')} broke; {len(up):,} {were} fixed."
    words = [
        (
            f"Every question, the largest loss on the left. Full colour: {word} in all trials. A "
            f"question “broke” if its own test says so ({100 * FDR:g} % false discoveries), and "
            f"is flaky if a version has it {word} in some trials, not in all."
        )
    ]
    chance = row["pvalue_broken"]
    if chance is not None and (as_number(chance) < 0.05 or not down):
        words.append(broken_words(row, lower_is_better=gate.lower))
    words += case_clauses(gate)
    figure = f'<div class="strip">{cells}<span></span><div>{marks}{key}</div></div>{lists}'
    return Section(
        "cases", title if down or up else "No question broke.", words, html_figure(figure)
    )


_CASES = (("fb", "broke"), ("part", "flaky"), ("open", "the same"), ("fa", "fixed"))


def _case_marks(counts: Sequence[int]) -> tuple[str, str]:
    """A bar below the map with a part for each kind of question, and its key."""
    marks, key, at = "", "", 0.0
    for number, (kind, words) in zip(counts, _CASES, strict=True):
        wide = 100 * number / sum(counts)
        marks += box(at, at + wide, 4, 5, kind) * bool(number)
        swatch = f'<svg class="sw" aria-hidden="true">{box(0, 100, 0, 10, kind)}</svg>'
        key += f"<span>{swatch}<b>{number:,}</b> {words}</span>"
        at += wide
    said = ", ".join(f"{number} {words}" for number, (_, words) in zip(counts, _CASES, strict=True))
    return picture(14, marks, said), f'<div class="key">{key}</div>'


def _case_list(head: str, rows: pl.DataFrame, most: int = 24) -> str:
    if rows.is_empty():
        return ""
    items = "".join(
        f"<li><code>{escape(short_name(without_stratum(question)))}</code> "
        f"{_right_of(before, n)} → {_right_of(now, m)}</li>"
        for question, before, now, n, m in rows.head(most)
        .select("question", "rate_baseline", "rate", "trials_baseline", "trials")
        .rows()
    )
    rest = rows.height - most
    note = f'<p class="note">{rest:,} more are in the data.</p>' * (rest > 0)
    return f'<h3 class="h3">{head}</h3><ul class="cases">{items}</ul>{note}'


def _right_of(rate: float, trials: int) -> str:
    return f"{round(rate * trials)}/{trials}"
