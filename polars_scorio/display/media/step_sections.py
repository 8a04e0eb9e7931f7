"""Sections of runs of training: curves along steps, and what was gained at each k."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape

import numpy as np
import polars as pl

from polars_scorio.counting.log import Study, collected_together
from polars_scorio.decisions.best import best
from polars_scorio.decisions.compare import compare
from polars_scorio.decisions.rank import rank
from polars_scorio.decisions.regressed_questions import regressed_questions
from polars_scorio.display.blocks import Account, Section, TableBlock, Title, html_figure
from polars_scorio.display.facts.log_summary import LogSummary, stepped_log
from polars_scorio.display.facts.ranking_facts import About, Board, Curve, Gap, Sheet
from polars_scorio.display.facts.scopes import Scope, lead_label
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
from polars_scorio.display.media.sections import Fan, question_lists, ruled, strip_grid
from polars_scorio.display.media.tables import score_axis
from polars_scorio.display.numbers import Unit, html_text, named
from polars_scorio.display.phrases import count_of, short_name, step_words
from polars_scorio.display.settings import Settings
from polars_scorio.display.words.question_words import steps_title
from polars_scorio.display.words.ranking_words import interval_table, score_cell, tell
from polars_scorio.maths.families import statement_number
from polars_scorio.metrics.success import pass_at_k
from polars_scorio.metrics.weighted import avg
from polars_scorio.study.report import report

_FDR = 0.1  # false discovery rate of single questions


@dataclass(frozen=True, slots=True, eq=False)
class TrainingRun:
    """One run of training: Pass@k and Pass^k at each step, and the last step against the first."""

    steps: list[str]  # labels, ascending
    at: list[object]  # their numbers or times
    fan: Fan  # with steps in place of models
    curve: Curve
    board: Board  # steps by one try, the best first
    name: str  # of the column of steps
    best: tuple[float, float]  # interval of the highest step, corrected for the selection
    scores: pl.DataFrame  # of each question at each step, the hardest at the first one on top

    @property
    def ends(self) -> tuple[str, str]:
        """The first and the last step, as a reader sees them."""
        return step_words(self.steps[0]), step_words(self.steps[-1])

    @classmethod
    def from_summary(cls, summary: LogSummary, settings: Settings) -> TrainingRun | None:
        """None if the questions change along the steps, or if nothing can be drawn of them."""
        log, roles = stepped_log(summary)
        (name,) = summary.trials.strata
        asked = log.select(name, "question").unique().collect()
        whole = asked[name].n_unique() * asked["question"].n_unique()
        if summary.steps is None or asked.height != whole or asked[name].n_unique() < 2:
            return None
        labels = dict(summary.steps.select("at", "stratum").rows())
        at = [value for value in labels if value is not None]
        cells = log.collect().with_columns(
            model=pl.col(name).replace_strict(labels, return_dtype=pl.String)
        )
        steps = [labels[value] for value in at]
        cells = cells.drop(name)
        main = Scope("", Study(cells), replace(roles, model="model", by=()), (avg(),))
        main = replace(main, fewest=summary.fewest)
        fan = Fan.from_scope(main, settings, steps)
        if fan is None or fan.rewards:
            return None
        order = rank(main.study, main.roles, avg(), **settings.report).collect()
        rows = report(main.study, main.roles, [avg()], **settings.report).collect()
        curve = _gain_curve(main, fan.k, steps[0], steps[-1], settings)
        chosen = best(main.study, main.roles, avg(), **settings.report).collect()
        ends = chosen.select("best_lo", "best_hi").row(0)
        wide = main.question_scores().pivot("model", index="question", values="score")
        wide = wide.select("question", *steps).sort(steps[0], steps[-1], "question")
        return cls(steps, at, fan, curve, Board.from_rows(rows, order), name, ends, wide)

    def turned(self, *, lost: bool) -> list[str]:
        """Questions with a trial that counts at the first step alone, or at the last one alone."""
        one, other = pl.col(self.steps[0]), pl.col(self.steps[-1])
        one, other = (one, other) if lost else (other, one)
        return self.scores.filter(one > 0, other == 0)["question"].cast(pl.String).to_list()

    def reach_words(self) -> str:
        """Sentence on the questions that the last step never gets right, and those that are new."""
        lost, new = (len(self.turned(lost=lost)) for lost in (True, False))
        (first, last), word = self.ends, self.fan.word
        if not lost + new:
            return ""
        return (
            f"{count_of(lost, 'question')} {word} at least once at step {first} "
            f"{'is' if lost == 1 else 'are'} never {word} at step {last}; {new:,} the other way "
            "round."
        )


def _gain_curve(
    main: Scope, sizes: tuple[int, ...], first: str, last: str, settings: Settings
) -> Curve:
    """The last step less the first one at each k, with one confidence for all k."""
    two = Study(main.counts.filter(pl.col("model").is_in([first, last])))
    metric, band_of = pass_at_k(list(sizes)), settings.prior is None
    number = statement_number(sizes, np.ones(len(sizes), np.bool_), draws=True).item()
    alone = replace(settings, confidence=settings.confidence ** (1 / number))
    options = settings.report if band_of else alone.report
    rows = compare(two, main.roles, metric, simultaneous=band_of, **options).collect()
    gaps = [Gap.from_pairs(rows.filter(k=k), last, first) for k in sizes]
    diff, lo, hi = np.array([(of.diff, of.lo, of.hi) if of else (np.nan,) * 3 for of in gaps]).T
    named = [gap.better if gap else None for gap in gaps]
    better = np.array([0 if name is None else 1 if name == last else -1 for name in named])
    return Curve(sizes, diff, lo, hi, better)


def tell_run(run: TrainingRun, about: About) -> Account:
    """Gains and losses of a run."""
    unit, top = Unit(), run.fan.k[-1]
    first, last = run.ends

    def moved(place: int, tries: str) -> str:
        before, after = run.fan.numbers[0, 0, place, 0], run.fan.numbers[0, -1, place, 0]
        gap = unit.gap(run.curve.diff[place], points=True)
        ends = unit.gaps(run.curve.lo[place], run.curve.hi[place])
        return f"{tries}: {unit.score(before)} → {unit.score(after)}, {gap} {ends}."

    one = run.board.first_tier.sum() == 1
    title = Title(
        steps_title(run.curve, first, last),
        "best step decided" if one else "best step undecided",
        "yes" if one else "",
    )
    numbers = f"{moved(0, 'One try')} {moved(len(run.fan.k) - 1, f'{top} tries')}"
    against = f"step {last} against step {first}"
    about = replace(about, metric=against, family="curve", errored=False)
    return tell(
        [title], [("lede", numbers), ("aside", run.reach_words())], about, _steps_table(run)
    )


def _steps_table(run: TrainingRun) -> TableBlock:
    """The steps by one try, in their order; bright ones may be the best."""
    board, unit = run.board, run.board.unit
    lines = []
    for step in run.steps:
        at = board.models.index(step)
        number = score_cell(unit, board.lo[at], board.score[at], board.hi[at])
        lines.append((step, number, "a" * bool(board.first_tier[at])))
    return interval_table("steps", run.name, "avg", lines, percent=unit.percent)


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


def next_of_steps(run: TrainingRun) -> list[str]:
    """The step to take."""
    may, unit, top = {*run.board.leaders}, Unit(), run.fan.k[-1]
    earliest = next(step for step in run.steps if step in may)
    place = run.steps.index(earliest)
    taken, (first_step, last_step) = step_words(earliest), run.ends
    steps = [f"Take step {taken}."]
    if len(may) > 1:
        score, last = (unit.score(run.fan.numbers[0, each, -1, 0]) for each in (place, -1))
        steps[0] = (
            f"Take step {taken}: the earliest of the {len(may):,} steps that may be the best by "
            f"one try; its Pass@{top} is {score}, that of step {last_step} {last}."
        )
    end, since = run.curve.last
    if end < 0:
        steps.append(f"If you search with {since} or more tries, step {first_step} is better than "
                    f"step {last_step}.")  # fmt: skip
    return steps


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
