"""Sections of a page about several models: duel, strata, reliability, questions."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from html import escape

import numpy as np
import polars as pl

from polars_scorio.display.blocks import Section, html_figure
from polars_scorio.display.facts.question_facts import Fan, QuestionFacts, question_wins
from polars_scorio.display.facts.ranking_facts import (
    SAME,
    Board,
    Sheet,
    pair_quantiles,
    stratum_boards,
    sure_winners,
)
from polars_scorio.display.facts.scopes import (
    Scope,
)
from polars_scorio.display.media.marks import (
    Axis,
    band,
    dot,
    dots,
    group,
    held_at,
    interval,
    level,
    path,
    picture,
    stretched,
    strip,
    text,
    tick_row,
    upright,
)
from polars_scorio.display.media.tables import (
    cell_html,
    grid_lines,
    number_table,
    score_axis,
    score_ticks,
    shown_models,
    whole_name,
)
from polars_scorio.display.numbers import Unit, chance_words, html_text, named, names_list
from polars_scorio.display.phrases import count_of, short_name, without_stratum
from polars_scorio.display.words.question_words import questions_title
from polars_scorio.display.words.ranking_words import score_cell
from polars_scorio.display.words.section_words import first_of_many, strata_heading
from polars_scorio.maths.array_rows import Floats

_TIGHT = 12  # models, from where on rows are tight


def ruled(axis: Axis, unit: Unit, y: Callable[[float], float]) -> str:
    """Level lines at the ticks of scores, with their numbers."""
    ticks = zip(axis.ticks(5), score_ticks(axis, unit, 5), strict=True)
    return "".join(level(0, 100, y(at)) + text(0, y(at) - 5, words, "on") for at, words in ticks)


_COLUMNS = 28


def duel_section(sheet: Sheet) -> Section:
    """The difference of the first two: 20 dots of equal chance, the interval, the questions."""
    if sheet.gap is None:
        return Section("duel", "", [])
    a, b = sheet.board.models[:2]
    gap, unit = sheet.gap, sheet.board.unit
    dots = pair_quantiles(sheet.main, sheet.settings, a, b)
    axis = Axis.spanning([0.0, gap.lo, gap.hi, *dots], 0.08)
    chance, other = chance_words(gap.prob_better), chance_words(1 - gap.prob_better)
    sides = [f"<span><b>{html_text(named(name))} better: {html_text(words)}</b></span>"
             for name, words in ((b, other), (a, chance))]  # fmt: skip
    lower = sheet.main.roles.lower_is_better
    head = f'<div class="sides">{"".join(sides[:: -1 if lower else 1])}</div>'
    zero = picture(20, text(axis(0), 14, "no difference", held_at(axis(0), 12)), "")
    line = level(0, 100, 0.5) + upright(axis(0), 0, 26, "z")
    ends = level(axis(gap.lo), axis(gap.hi), 16, "z") + dot(axis(gap.diff), 16, 4.5)
    line += group("ink", ends)
    near = min(abs(axis(gap.diff) - axis(end)) for end in (gap.lo, gap.hi)) < 9
    line += text(axis(gap.lo), 40, unit.gap(gap.lo), "end" if near else "mid")
    line += text(axis(gap.hi), 40, unit.gap(gap.hi), "" if near else "mid")
    line += text(axis(gap.diff), 56 if near else 40, unit.gap(gap.diff), "mid i w")
    said = f"{a} less {b}: {unit.gap(gap.diff, points=True)} {unit.gaps(gap.lo, gap.hi)}"
    at_once = ", for all pairs at once" * (len(sheet.board.models) > 2)
    figure = head + zero + _dot_plot(dots, axis, "ba" if lower else "ab")
    figure += picture(64 if near else 48, line, said) + _question_bar(sheet, a, b)
    words = [
        ("Each dot is one chance in 20 of where the true difference lies"
        f"{', in points' * unit.percent}, for this pair alone. The line below is the "
        f"{sheet.settings.level} interval{at_once}."),
        "The bar counts the questions at which each is better.",
    ]  # fmt: skip
    return Section("duel", f"{named(a)} or {named(b)}?", words, html_figure(figure))


def _dot_plot(values: Sequence[float], axis: Axis, hues: str) -> str:
    """Stacked dots, each of which stays on its side of zero; hues of those above and below."""
    columns: dict[int, list[float]] = {}
    zero = axis(0) / 100 * _COLUMNS
    for value in values:
        slot = min(max(int(axis(value) / 100 * _COLUMNS), 0), _COLUMNS - 1)
        if (value > 0) != (slot + 0.5 > zero):
            slot += 1 if value > 0 else -1
        columns.setdefault(slot, []).append(value)
    tall = max(map(len, columns.values()), default=1) + 0.4
    body = f'<path class="z" vector-effect="non-scaling-stroke" d="M{zero:.2f} 0V{tall:g}"/>'
    for slot, those in sorted(columns.items()):
        for place, value in enumerate(those):
            hue = hues[value <= 0]
            y = tall - 0.5 - place
            body += f'<circle class="{hue} dot" cx="{slot + 0.5}" cy="{y:.2f}" r=".45"/>'
    return f'<svg class="p" viewBox="0 0 {_COLUMNS} {tall:g}" aria-hidden="true">{body}</svg>'


def _question_bar(sheet: Sheet, a: str, b: str) -> str:
    won, tied, lost = question_wins(sheet.main, a, b)
    parts = [(lost, "b", count_of(lost, "question")), (tied, "t", f"{tied:,} alike"),
             (won, "a", count_of(won, "question"))]  # fmt: skip
    shares = "".join(
        f'<span class="{hue}" style="flex:{number}">{words}</span>'
        for number, hue, words in parts
        if number
    )
    said = escape(f"{b} better at {lost}, alike at {tied}, {a} better at {won}")
    return f'<div class="wtl" role="img" aria-label="{said}">{shares}</div>'


_OPEN, _STRATA = 12, 40  # that are drawn before a fold, and at all


def strata_section(sheet: Sheet, parts: Sequence[Scope], noun: str) -> Section:
    """A line for each stratum, the largest lead of the first model on top.

    Of many strata those with a winner come first, and the others are in a fold.
    """
    models, unit = sheet.board.models, sheet.board.unit
    boards = stratum_boards(parts)
    sure, many = sure_winners(boards), len(boards) > _OPEN
    two = models[1::-1] if sheet.main.roles.lower_is_better else models[:2]
    order = sorted(boards, key=lambda at: (many and at not in sure, -_lead_of(boards[at], two)))
    every = [v for name in order for each in (boards[name].lo, boards[name].hi, boards[name].score)
             for v in each]  # fmt: skip
    axis = score_axis(every, unit)
    lines = [_stratum_line(name, boards[name], sheet.board, axis) for name in order[:_STRATA]]
    ticks = f"<span></span>{tick_row(axis, score_ticks(axis, unit, 6), most=6)}<span></span>"
    first_two = zip("ab", models, strict=False)
    key = " and ".join(f'<i class="sw {hue}"></i>{html_text(named(one))}' for hue, one in first_two)
    rest = f" The other {len(boards) - _STRATA:,} are in the data." * (len(boards) > _STRATA)
    legend = "; grey: the others" * (len(models) > 2)
    note = f'<p class="note">{key}, with {sheet.settings.level} intervals{legend}.{rest}</p>'
    folded = bool(sheet.board.ranked and not sure)
    opened = len(lines) if folded else _OPEN
    figure = f'<div class="where">{"".join(lines[:opened])}{ticks}</div>{note}'
    if lines[opened:]:
        figure += f"<details><summary>{len(lines) - opened:,} more</summary>"
        figure += f'<div class="where">{"".join(lines[opened:])}{ticks}</div></details>'
    grid = f'<g id="strata-grid">{grid_lines(axis, 44, 6)}</g>'
    figure = f'<svg width="0" height="0" class="away" aria-hidden="true">{grid}</svg>{figure}'
    said = ("Named on the right: the winner where it is beyond chance, for all "
            f"{len(boards):,} at once; else all that may win there.")  # fmt: skip
    return Section("strata", strata_heading(boards, models[0], noun), [said], html_figure(figure),
                   folded=folded)  # fmt: skip


def _lead_of(board: Board, two: Sequence[str]) -> float:
    """How far the first of two models is ahead in a stratum."""
    known: dict[str, float] = dict(zip(board.models, board.score.tolist(), strict=True))
    lead = known.get(two[0], math.nan) - known.get(two[-1], math.nan)
    return -math.inf if math.isnan(lead) else lead


def _stratum_line(name: str, part: Board, whole: Board, axis: Axis) -> str:
    """Name, dots and intervals, and who may win."""
    hues = {model: whole.hue(place) for place, model in enumerate(whole.models)}
    grey: dict[str, list[float]] = {"o": [], "m": []}
    body = ""
    for place, model in enumerate(part.models):
        hue, score = hues.get(model, "o"), part.score[place]
        if hue in grey:
            grey[hue] += [axis(score)] * math.isfinite(score)
        else:
            y = 15 if hue == "a" else 30
            ends = interval(axis, part.lo[place], score, part.hi[place], y, "ci t", 5.5)
            body = group(hue, ends) + body
    points = "".join(group(hue, dots(xs, 22.5)) for hue, xs in grey.items() if xs)
    body = f'<use href="#strata-grid"/>{stretched(44, points) * bool(points)}{body}'
    leaders = part.leaders
    verdict = ""
    if len(part.models) > 1 and leaders:
        one = len(leaders) == 1
        verdict = f"<b>{html_text(named(leaders[0]))}</b>" if one else (
            "open: all" if len(leaders) == len(part.models) > 2 else
            f"open: {html_text(names_list(leaders))}"
        )  # fmt: skip
    elif len(part.models) == 1:
        score = score_cell(part.unit, part.lo[0], part.score[0], part.hi[0])
        verdict = html_text(f"{named(part.models[0])} {score.text} {score.ends}")
    said = f"{name}: " + ", ".join(
        part.numbers(place) for place in range(min(len(part.models), 5))
        if math.isfinite(part.score[place])
    )  # fmt: skip
    label = f'<bdi title="{escape(name)}">{escape(short_name(name, 28))}</bdi>'
    return f'<b>{label}</b>{picture(44, body, said)}<span class="k">{verdict}</span>'


_DRAWN = 64
_RELIABLE, _OFTEN = "Can it, and can you rely on it?", "At least once, or every time?"
_LISTED = 8, 5  # models below the fan, and of more models


def reliability_section(fan: Fan | None, hues: Sequence[str]) -> Section:
    """Pass@k and Pass^k from one point, and their numbers."""
    if fan is None:
        return Section("reliability", _RELIABLE, [])
    flat = pl.DataFrame(fan.numbers.reshape(-1, 3), schema=["mu", "lo", "hi"], nan_to_null=True)
    models, unit, top = fan.models, Unit.from_rows(flat), fan.k[-1]
    can, does = fan.numbers[0, 0, -1], fan.numbers[1, 0, -1]
    leader, shares = named(models[0]), "" if fan.averaged else " of the questions"
    best, worst = unit.score(can[0]), unit.score(does[0])
    luck = ": what it can do, but does not do reliably" * (fan.word == "right")
    words = [
        (f"{leader} gets {best}{shares} {fan.word} at least once in {top:,} tries, and {worst} "
        "every time."),
        (f"Above: at least one of k tries is {fan.word} (Pass@k). Below: all k are (Pass^k). The "
        f"space between is luck{luck}."),
    ]  # fmt: skip
    if fan.fractions:
        words = [
            f"The best of {top:,} tries of {leader} earns {best}, the worst {worst}.",
            ("Above: the best reward of k tries (Max@k). Below: the worst (Min@k). The space "
            "between is luck."),
        ]  # fmt: skip
    figure = _fan_picture(fan, models, hues, unit) + _fan_table(fan, models, hues, unit)
    return Section("reliability", _fan_heading(fan), words, html_figure(figure))


def _fan_heading(fan: Fan) -> str:
    """Nobody relies on what is better if it is rare."""
    return _RELIABLE if fan.word == "right" else _OFTEN


def _fan_picture(fan: Fan, models: Sequence[str], hues: Sequence[str], unit: Unit) -> str:
    height = 280
    share = unit.percent
    axis = Axis(0, 1) if share else Axis.spanning(fan.numbers.ravel())
    xs = [100 * place / max(len(fan.k) - 1, 1) for place in range(len(fan.k))]

    def y(value: float) -> float:
        return 8 + (100 - axis(value)) / 100 * (height - 36)

    ticks = [0, 0.25, 0.5, 0.75, 1] if share else axis.ticks(5)
    labels = score_ticks(Axis(0, 1), unit, 4) if share else [f"{tick:g}" for tick in ticks]
    body = "".join(level(0, 100, y(tick)) for tick in ticks)
    scale = "".join(
        f'<span style="top:{y(tick):.0f}px">{words}</span>'
        for tick, words in zip(ticks, labels, strict=True)
    )
    for x, k in zip(xs, fan.k, strict=True):
        tries = " try" if k == 1 else " tries" if k == fan.k[-1] else ""
        held = "" if k == 1 else "end" if k == fan.k[-1] else "mid"
        body += text(x, height - 8, f"{k}{tries}", held)
    high, low_ = ([y(value) for value in fan.numbers[kind, 0, :, 0]] for kind in (0, 1))
    inner = group(hues[0], band(xs, high, low_, "fan"))
    for place in [*range(len(models) - 1, 1, -1), *([1] if len(models) > 1 else []), 0]:
        thin = place > 1
        for kind in (0, 1):
            mu, lo, hi = ([y(v) for v in fan.numbers[kind, place, :, part]] for part in range(3))
            if not np.isfinite(mu).all():
                continue
            drawn = path(zip(xs, mu, strict=True), "ln t" if thin else "ln")
            hue = f"o{' faint' * (len(models) > 8)}" if thin else hues[place]
            area = "" if thin or not np.isfinite([*lo, *hi]).all() else band(xs, hi, lo)
            inner += group(hue, area + drawn)
    points = "".join(
        dot(x, y(value), 4) for kind in (0, 1)
        for x, value in zip(xs, fan.numbers[kind, 0, :, 0], strict=True)
    )  # fmt: skip
    can, does = (fan.numbers[kind, 0, -1, 0] for kind in (0, 1))
    up, low = y(can) + 8, y(does) - 8
    if low - up < 44:
        up, low = (up + low) / 2 - 22, (up + low) / 2 + 22
    luck = f'<span style="top:{(up + low) / 2:.0f}px">between: luck</span>' * bool(low - up >= 80)
    once, every = ("the best", "the worst") if fan.fractions else (
        "at least once", f"all {fan.k[-1]} times")  # fmt: skip
    ends = (
        f'<div class="ends" style="height:{height}px"><span style="top:{max(up, 16):.0f}px"><b>'
        f"{html_text(unit.score(can))}</b><br>{once}</span>{luck}"
        f'<span style="top:{max(low, 60):.0f}px"><b>{html_text(unit.score(does))}</b><br>{every}'
        "</span></div>"
    )
    said = f"{models[0]}: {once} {unit.score(can)}, {every} {unit.score(does)}"
    drawn = picture(height, body + stretched(height, inner) + group(hues[0], points), said)
    return f'<div class="fans"><div class="ends left">{scale}</div>{drawn}{ends}</div>'


def _fan_table(fan: Fan, models: Sequence[str], hues: Sequence[str], unit: Unit) -> str:
    """One try, at least one of k, all k: of the first models."""
    top = fan.k[-1]
    heads = [
        "1 try",
        f'at least 1 of {top}<span class="k"> (Pass@{top})</span>',
        f'all {top}<span class="k"> (Pass^{top})</span>',
    ]
    if fan.fractions:
        heads[1:] = [f"best of {top}", f"worst of {top}"]
    rows, listed = [], _LISTED[len(models) > _LISTED[0]]
    for place, model in enumerate(models[:listed]):
        mark = '<i class="sw"></i>' if place < 2 else ""
        cells = [fan.numbers[0, place, 0], fan.numbers[0, place, -1], fan.numbers[1, place, -1]]
        once, *several = [score_cell(unit, lo, mu, hi) for mu, lo, hi in cells]
        texts = [html_text(once.text), *map(cell_html, several)]
        rows.append((hues[place], mark + whole_name(model), texts))
    rest = len(models) - listed
    note = f'<p class="note">{count_of(rest, "more model")}: in the files of this page.</p>'
    first = "reward"
    if unit.percent and not fan.fractions:
        first = f"% {fan.word}" if fan.averaged else "% of the questions"
    return (
        f'<div class="rel">{number_table(_fan_heading(fan), first, heads, rows)}</div>'
        + note * (rest > 0)
    )


_CELLS, _SHADES, _NAMES = 400, 20, 5


def strip_rows(scores: Floats, height: float, labels: Sequence[str]) -> list[str]:
    """A strip of cells of each row of scores; of many questions means of neighbours."""
    if scores.shape[1] > _CELLS:
        edges = np.linspace(0, scores.shape[1], _CELLS + 1).astype(int)
        scores = np.stack([scores[:, a:b].mean(axis=1) for a, b in itertools.pairwise(edges)], 1)
    if np.unique(scores).size > _SHADES:
        scores = np.round(scores * _SHADES) / _SHADES
    return [strip(row.tolist(), height, label) for row, label in zip(scores, labels, strict=True)]


def strip_grid(
    rows: Sequence[tuple[str, bool]], scores: Floats, ends: tuple[str, str], height: float
) -> str:
    """A strip for each name, bold or not, and words for the ends of the order of questions."""
    labels = [f"{name}: {count_of(scores.shape[1], 'question')}" for name, _ in rows]
    lines = "".join(
        f'<span class="{"in" * bold}" title="{escape(name)}"><bdi>{escape(short_name(name, 28))}'
        f"</bdi></span>{cells}"
        for (name, bold), cells in zip(rows, strip_rows(scores, height, labels), strict=True)
    )
    sides = "".join(f"<span>{escape(end)}</span>" for end in ends)
    return (
        f'<div class="strip" style="row-gap:{2 if height > 15 else 1}px">{lines}<span></span>'
        f'<span class="sides">{sides}</span></div>'
    )


def questions_section(sheet: Sheet, facts: QuestionFacts) -> Section:
    """All questions, the hardest on the left: one row of cells for each model."""
    models, board = sheet.board.models, sheet.board
    if len(facts.names) < 2:
        return Section("questions", "", [])
    tall = 22 if len(models) <= _TIGHT else 13
    alike = len(models) > 1 and bool((np.ptp(facts.scores, axis=0) < SAME).all())
    drawn = [*zip(models[: shown_models(len(models))], board.first_tier.tolist(), strict=False)]
    ends = "hardest", f"easiest of {len(facts.names):,}"
    strips = strip_grid(drawn, facts.scores[: len(drawn)], ends, tall)
    heads = ("Nobody solved", "Everybody solved, always")
    if facts.word != "right":
        heads = (f"Never {facts.word}", f"Always {facts.word}")
    mixed = f"Sometimes {facts.word} for {named(models[0])}, nearest to half first"
    known = dict(zip(heads, (facts.never, facts.always), strict=True))
    lists = question_lists(known | {mixed: facts.mixed if facts.trials > 1 else []})
    words = [
        "By the verdicts of the judge as they are." * facts.verdicts,
        "Full colour: the highest mean reward. Empty: the lowest."
        if facts.fractions
        else f"Full colour: {facts.word} in every trial. Empty: never.",
        "A column that is empty above and full below deserves a look." * (len(models) > 2),
        first_of_many(len(drawn), len(models)),
    ]
    title = questions_title(facts.facts(), models[0], facts.word)
    if facts.fractions:
        title = "Every question, from the hardest to the easiest."
    return Section("questions", title, words, html_figure(strips + lists), folded=alike)


def question_lists(lists: dict[str, list[str]]) -> str:
    """Lists of the first five questions each; none of what is empty."""
    items = []
    for head, names in lists.items():
        if names:
            rest = f" and {len(names) - _NAMES:,} more" * (len(names) > _NAMES)
            short = [escape(short_name(without_stratum(name))) for name in names[:_NAMES]]
            codes = ", ".join(f"<code>{name}</code>" for name in short)
            top = f"<h3>{html_text(head)}: {len(names):,}</h3>"
            items.append(f"<div>{top}<p>{codes}{rest}</p></div>")
    return f'<div class="cols">{"".join(items)}</div>' * bool(items)
