"""Sections of runs of training: curves along steps, and what was gained at each k."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from html import escape

import numpy as np
import polars as pl

from polars_scorio.counting.log import Study, collected_together
from polars_scorio.decisions.regressed_questions import regressed_questions
from polars_scorio.display.blocks import Section, html_figure
from polars_scorio.display.facts.log_summary import LogSummary, stepped_log
from polars_scorio.display.facts.ranking_facts import Sheet
from polars_scorio.display.facts.run_facts import TrainingRun
from polars_scorio.display.facts.scopes import lead_label
from polars_scorio.display.media.marks import (
    Axis,
    band,
    dot,
    group,
    path,
    picture,
    stretched,
    text,
)
from polars_scorio.display.media.sections import question_lists, ruled, strip_grid
from polars_scorio.display.media.tables import score_axis
from polars_scorio.display.numbers import Unit, html_text, named
from polars_scorio.display.phrases import count_of, short_name, step_words
from polars_scorio.study.report import report

_FDR = 0.1  # false discovery rate of single questions


def steps_hero(run: TrainingRun, level_words: str) -> str:
    """Pass@1, Pass@4, Pass@k and Pass^4 by step with bands; below, steps that may be the best."""
    height, fan, unit = 380, run.fan, Unit()
    at = _step_places(run.at)

    def y(value: float) -> float:
        return 10 + (1 - value) * (height - 62)

    labels = [short_name(step_words(step), 12) for step in run.steps]
    body = ruled(Axis(0, 1), unit, y) + _step_labels(at, labels, height - 32)
    sizes, last = fan.k, len(fan.k) - 1
    four = sizes.index(4) if 4 in sizes else last
    drawn = [(0, last, "b", f"at least 1 of {sizes[last]}"), (0, 0, "a", "one try"),
             (1, four, "o", f"all {sizes[four]}")]  # fmt: skip
    if four < last:
        drawn.insert(1, (0, four, "o", f"at least 1 of {sizes[four]}"))
    inner, places = "", []
    for kind, k, hue, words in drawn:
        mu, lo, hi = ([y(v) for v in fan.numbers[kind, :, k, part]] for part in range(3))
        area = band(at, hi, lo) if np.isfinite([*lo, *hi]).all() else ""
        inner += group(hue, area + path(zip(at, mu, strict=True), "ln"))
        value = html_text(unit.score(fan.numbers[kind, -1, k, 0]))
        places.append((mu[-1], f"<b>{value}</b><br>{words}"))
    ends = _end_labels(places)
    may = {*run.board.leaders}
    marks = "".join(
        group("a" if step in may else "o", dot(at[place], height - 10, 5 if step in may else 3))
        for place, step in enumerate(run.steps)
    )
    top = run.steps.index(run.board.models[0])
    marks += group("a", dot(at[top], y(fan.numbers[0, top, 0, 0]), 5))
    start, end = (unit.score(fan.numbers[0, step, 0, 0]) for step in (0, -1))
    said = f"one try: {start} to {end}"
    high = ""
    if None not in run.best:
        step, ends_of = step_words(run.board.models[0]), unit.interval(*run.best)
        high = html_text(
            f" Highest (dot): step {step}, {unit.score(run.board.score[0])} {ends_of}, corrected "
            "for having been chosen."
        )
    picture_of = picture(height, body + stretched(height, inner) + marks, f"By {run.name}, {said}")
    return (
        f'<div class="byrun">{picture_of}<div class="ends" style="height:{height}px">{ends}'
        f'<span style="top:{height - 10}px">may be best</span></div></div><p class="note">By '
        f"{escape(run.name)}. Bands: {level_words} intervals. Dots below: steps that may be the "
        f"best by one try, for all steps at once ({len(may):,} of {len(run.steps):,}).{high}</p>"
    )


def _step_places(at: Sequence[object]) -> list[float]:
    """Places of steps on the width, in percent: as far apart as their numbers or times."""
    numbers = pl.Series(at).to_physical().cast(pl.Float64).to_numpy()
    return [float(each) for each in 100 * (numbers - numbers[0]) / (numbers[-1] - numbers[0])]


_LETTER, _GAP = 1.4, 3.0  # percent of a picture on a phone: half a letter, and between labels


def spread_labels(places: Sequence[float], labels: Sequence[str]) -> list[int]:
    """Steps whose labels do not touch on a phone: both ends, and evenly between where they can.

    >>> spread_labels([0.0, 25.0, 50.0, 75.0, 100.0], ["0", "500", "1,000", "1,500", "2,000"])
    [0, 1, 2, 3, 4]
    """
    last, wide = len(places) - 1, [2 * _LETTER * len(label) for label in labels]
    starts = [place - width / 2 for place, width in zip(places, wide, strict=True)]
    starts[0], starts[last] = 0.0, 100 - wide[last]

    def apart(kept: Sequence[int]) -> bool:
        return all(starts[a] + wide[a] + _GAP <= starts[b] for a, b in itertools.pairwise(kept))

    even = ([*range(0, last + 1, stride)] for stride in range(1, last) if last % stride == 0)
    uneven = ([*(p for p in range(0, last, stride) if apart([p, last])), last]
              for stride in range(1, last + 1))  # fmt: skip
    return next(filter(apart, itertools.chain(even, uneven)), [0, last])


def _step_labels(places: Sequence[float], labels: Sequence[str], y: float) -> str:
    """Labels of steps, held so that they stay in their picture."""
    held = ["", *["mid"] * (len(places) - 2), "end"]
    kept = spread_labels(places, labels)
    return "".join(text(places[each], y, labels[each], held[each]) for each in kept)


def _end_labels(places: Sequence[tuple[float, str]]) -> str:
    """Labels at the ends of lines, 36 pixels apart."""
    labels, floor = "", -99.0
    for place, words in sorted(places):
        floor = max(place, floor + 36)
        labels += f'<span style="top:{floor:.0f}px">{words}</span>'
    return labels


def step_questions_section(run: TrainingRun, log: LogSummary) -> Section:
    """Every question at every step, the hardest at the first step on the left."""
    cells = log.cells.with_columns(model=pl.col("stratum").cast(pl.String)).drop("stratum")
    roles, wide = replace(log.roles, by=()), run.scores
    scores = np.clip(wide.select(run.steps).to_numpy().T, 0, 1)
    may = {*run.board.leaders}
    steps = [(f"step {step_words(step)}", step in may) for step in run.steps]
    ends = f"hardest at step {run.ends[0]}", f"easiest of {wide.height:,}"
    strips = strip_grid(steps, scores, ends, 20 if len(steps) <= 20 else 10)
    two = Study(cells.filter(pl.col("model").is_in([run.steps[0], run.steps[-1]])))
    tests = [
        regressed_questions(two, roles, run.steps[0], fdr=_FDR, improvements=better)
        for better in (True, False)
    ]
    won, lost = (
        each.filter(pl.col("qvalue") <= _FDR).sort("qvalue", "question")["question"]
        .cast(pl.String).to_list()
        for each in collected_together(tests)
    )  # fmt: skip
    since = f"since step {run.ends[0]}"
    gone, new, word = run.turned(lost=True), run.turned(lost=False), run.fan.word
    names = ("Out of reach", "Came into reach")
    if word != "right":
        names = (f"No longer {word}", f"New: {word}")
    turned = dict(zip(names, (gone, new), strict=True))
    lists = question_lists(turned | {f"Won {since}": won, f"Lost {since}": lost})
    moved = f"{count_of(len(won), 'question')} got better, {len(lost):,} got worse"
    rate = f"{100 * _FDR:g} % false discoveries"
    alone = "One question alone hardly ever shows that it went out of reach; many together do."
    words = [
        f"Every question, every step. Full colour: {word} in all trials.",
        f"{moved}, each by a test of its own ({rate}). {alone * bool(gone)}".strip(),
    ]
    title = f"{count_of(len(gone), 'question')} went out of reach, {len(new):,} came into reach."
    if word != "right":
        title = f"{count_of(len(gone), 'question')} no longer {word}, {len(new):,} newly so."
    return Section("questions", title, words, html_figure(strips + lists))


def runs_section(summary: LogSummary, sheet: Sheet) -> Section:
    """Several runs along their steps: the first two with bands, the others thin."""
    log, roles = stepped_log(summary)
    (name,) = summary.trials.strata
    main, height = sheet.main, 300
    rows = report(log, roles, [main.lead], **sheet.settings.report).collect()
    at = rows[name].unique().sort().drop_nulls()
    if at.len() < 2:
        return Section("steps", "", [])
    where = dict(zip(at.to_list(), _step_places(at.to_list()), strict=True))
    unit = Unit.from_rows(rows)
    axis = score_axis([*rows["lo"].drop_nulls(), *rows["hi"].drop_nulls()], unit)

    def y(value: float) -> float:
        return 10 + (100 - axis(value)) / 100 * (height - 40)

    body = ruled(axis, unit, y)
    labels, xs = [short_name(step_words(str(step)), 12) for step in where], [*where.values()]
    body += _step_labels(xs, labels, height - 6)
    inner, ends = "", []
    for place in range(len(sheet.board.models) - 1, -1, -1):
        model = sheet.board.models[place]
        of_model = rows.filter(pl.col("model").cast(pl.String) == model).sort(name).drop_nulls("mu")
        xs = [where[value] for value in of_model[name].to_list()]
        mu, lo, hi = ([y(v) for v in of_model[part].to_list()] for part in ("mu", "lo", "hi"))
        hue = sheet.board.hue(place) if place < 2 else "o"
        area = band(xs, hi, lo) if place < 2 and of_model["lo"].null_count() == 0 else ""
        inner += group(hue, area + path(zip(xs, mu, strict=True), "ln" if place < 2 else "ln t"))
        if place < 2 and mu:
            ends.append((mu[-1], f"<b>{html_text(named(model))}</b>"))
    said = f"{lead_label(main)} by {name}"
    drawn = picture(height, body + stretched(height, inner), said)
    beside = f'<div class="ends" style="height:{height}px">{_end_labels(ends)}</div>'
    figure = f'<div class="byrun">{drawn}{beside}</div>'
    sentences = [
        f"{lead_label(main)} along {name}, with {sheet.settings.level} bands; grey: the others."
    ]
    first = sheet.board.models[0]
    highest = rows.filter(pl.col("mu") == pl.col("mu").max().over(name))
    leading = highest.filter(pl.col("model").cast(pl.String) == first)[name].n_unique()
    title = f"{named(first)} has the highest score at {leading:,} of {count_of(at.len(), 'step')}."
    return Section("steps", title, sentences, html_figure(figure))
