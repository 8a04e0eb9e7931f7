"""Drawings of a page, each from its numbers and words alone."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any

from polars_scorio.display.blocks import Cell, Figure, Line, TableBlock, Text
from polars_scorio.display.media.marks import (
    Axis,
    band,
    box,
    column_beside,
    dot,
    dots,
    drawn_cells,
    end_places,
    group,
    held_at,
    interval,
    level,
    path,
    picture,
    ratio_ticks,
    spread_ends,
    spread_labels,
    stretched,
    strip,
    text,
    tick_row,
    upright,
)
from polars_scorio.display.media.tables import (
    grid_lines,
    line_rows,
    ruled_lines,
    score_ticks,
    table_html,
)
from polars_scorio.display.numbers import Unit, html_text
from polars_scorio.display.phrases import short_name
from polars_scorio.maths.array_rows import Floats


def figures_html(figures: Sequence[Figure]) -> str:
    """Figures as HTML; empty without any."""
    return "".join(map(_figure_html, figures))


def _figure_html(figure: Figure) -> str:
    if isinstance(figure, TableBlock):
        return table_html(figure)
    if isinstance(figure, Text):
        return f'<p class="note">{html_text(figure.words)}</p>'
    said = {"label": figure.label} if figure.label else {}
    return _DRAWINGS[figure.kind](**figure.data, **said)


def stairs_drawing(
    names: Sequence[str], cells: Mapping[str, Sequence[tuple[int, int]]], label: str, *, wide: bool
) -> str:
    """Cells of rows and columns, each of a kind, below a diagonal of names."""
    number, size = len(names), 24 if wide else 15
    body = ""
    for kind, places in cells.items():
        drawn = "".join(f"M{column} {row}.5h.92" for row, column in places)
        body += f'<path class="{kind}" d="{drawn}"/>' if drawn else ""
    corners = [(100 * row / number, (row + 0.5) * size + 4) for row in range(number)]
    beside = "".join(text(*at, short_name(name, 20), "end", -8)
                     for at, name in zip(corners, names, strict=True))  # fmt: skip
    left, high = 8 + 8 * min(max(map(len, names)), 20), number * size
    drawn = (f'<svg class="stairs" viewBox="0 0 {number} {number}" preserveAspectRatio="none" '
             f'width="100%" height="{high}">{body}</svg>')  # fmt: skip
    room = f"padding-left:{left}px;max-width:{high + left}px"
    return f'<div style="{room}">{picture(high, drawn + beside, label)}</div>'


_COLUMNS = 28  # of dots


def duel_drawing(
    sides: Sequence[str], zero: str, dots: Sequence[tuple[float, str]],
    numbers: Sequence[tuple[float, str]], parts: Sequence[tuple[int, str, str]], said: str,
    label: str,
) -> str:  # fmt: skip
    """Dots and an interval on both sides of zero, and a bar of parts with their words."""
    axis = Axis.spanning([0.0, *(value for value, _ in [*numbers, *dots])], 0.08)
    heads = "".join(f"<span><b>{html_text(each)}</b></span>" for each in sides)
    (lo, lo_words), (mid, mid_words), (hi, hi_words) = ((axis(at), said) for at, said in numbers)
    near = min(abs(mid - lo), abs(mid - hi)) < 9  # so that words would touch
    body = level(0, 100, 0.5) + upright(axis(0), 0, 26, "z")
    body += group("ink", level(lo, hi, 16, "z") + dot(mid, 16, 4.5))
    body += text(lo, 40, lo_words, "end" if near else "mid")
    body += text(hi, 40, hi_words, "" if near else "mid")
    body += text(mid, 56 if near else 40, mid_words, "mid i w")
    shares = "".join(f'<span class="{hue}" style="flex:{number}">{words}</span>'
                     for number, hue, words in parts)  # fmt: skip
    top = picture(20, text(axis(0), 14, zero, held_at(axis(0), 12)), "")
    stacks = _dot_columns([(axis(value), hue) for value, hue in dots], axis(0))
    low = picture(64 if near else 48, body, label)
    bar = f'<div class="wtl" role="img" aria-label="{escape(said)}">{shares}</div>'
    return f'<div class="sides">{heads}</div>{top}{stacks}{low}{bar}'


def _dot_columns(dots: Sequence[tuple[float, str]], zero: float) -> str:
    """Stacked dots, each of which stays on its side of zero."""
    columns: dict[int, list[str]] = {}
    for at, hue in dots:
        columns.setdefault(column_beside(at, zero, _COLUMNS), []).append(hue)
    tall = max(map(len, columns.values()), default=1) + 0.4
    middle = zero / 100 * _COLUMNS
    body = f'<path class="z" vector-effect="non-scaling-stroke" d="M{middle:.2f} 0V{tall:g}"/>'
    for column, hues in sorted(columns.items()):
        for row, hue in enumerate(hues):
            place = f'cx="{column + 0.5}" cy="{tall - 0.5 - row:.2f}"'
            body += f'<circle class="{hue} dot" {place} r=".45"/>'
    return f'<svg class="p" viewBox="0 0 {_COLUMNS} {tall:g}" aria-hidden="true">{body}</svg>'


def strata_drawing(
    rows: Sequence[tuple[str, Sequence[tuple[str, float, float, float]], Cell, str]], opened: int,
    fold: str, span: Sequence[float], key: Sequence[tuple[str, str]], note: str, *, percent: bool,
) -> str:  # fmt: skip
    """A line for each stratum on one axis, the last ones in a fold."""
    axis = Axis.spanning(span, share=percent)
    ticks = tick_row(axis, score_ticks(axis, Unit(percent=percent), 6), most=6)
    lines = [_stratum_line(axis, *row) for row in rows]
    ticks = f"<span></span>{ticks}<span></span>"
    first, rest = (f'<div class="where">{"".join(part)}{ticks}</div>' if part else ""
                   for part in (lines[:opened], lines[opened:]))  # fmt: skip
    rest = f"<details><summary>{fold}</summary>{rest}</details>" if rest else ""
    swatches = " and ".join(f'<i class="sw {hue}"></i>{html_text(name)}' for hue, name in key)
    grid = f'<g id="strata-grid">{grid_lines(axis, 44, 6)}</g>'
    grid = f'<svg width="0" height="0" class="away" aria-hidden="true">{grid}</svg>'
    return f'{grid}{first}<p class="note">{swatches}{escape(note)}</p>{rest}'


_HEIGHTS = {"a": 15, "b": 30}  # of intervals; those of other colours are dots between them


def _stratum_line(
    axis: Axis, name: str, marks: Sequence[tuple[str, float, float, float]], words: Cell, said: str
) -> str:
    """Name, intervals and dots, and words beside them."""
    grey: dict[str, list[float]] = {"o": [], "m": []}
    body = ""
    for hue, lo, mid, hi in marks:
        if hue in _HEIGHTS:
            ends = interval(axis, lo, mid, hi, _HEIGHTS[hue], "ci t", 5.5)
            body = group(hue, ends) + body
        else:
            grey[hue] += [axis(mid)] * math.isfinite(mid)
    points = "".join(group(hue, dots(xs, 22.5)) for hue, xs in grey.items() if xs)
    body = f'<use href="#strata-grid"/>{stretched(44, points) if points else ""}{body}'
    label = f'<bdi title="{escape(name)}">{escape(short_name(name, 28))}</bdi>'
    beside = html_text(words.words)
    beside = f"<b>{beside}</b>" if words.style and beside else beside
    return f'<b>{label}</b>{picture(44, body, said)}<span class="k">{beside}</span>'


def fan_drawing(
    lines: Sequence[Line], tries: Sequence[str], span: Sequence[float],
    ends: Sequence[tuple[float, str, str]], between: str, label: str, *, percent: bool,
) -> str:  # fmt: skip
    """Pairs of curves from one point, the last pair with the area between, and words at its end."""
    height, (high, low) = 280, lines[-2:]
    axis = Axis(0, 1) if percent else Axis.spanning(span)
    xs = [100 * place / max(len(tries) - 1, 1) for place in range(len(tries))]

    def y(value: float) -> float:
        return 8 + (100 - axis(value)) / 100 * (height - 36)

    ticks = [0, 0.25, 0.5, 0.75, 1] if percent else axis.ticks(5)
    labels = score_ticks(axis, Unit(), 4) if percent else [f"{tick:g}" for tick in ticks]
    scale = "".join(f'<span style="top:{y(tick):.0f}px">{words}</span>'
                    for tick, words in zip(ticks, labels, strict=True))  # fmt: skip
    body = "".join(level(0, 100, y(tick)) for tick in ticks)
    held = ["", *["mid"] * (len(tries) - 2), "end"]
    for x, words, hold in zip(xs, tries, held, strict=False):
        body += text(x, height - 8, words, hold)
    above, below = ([*map(y, line.numbers[0].tolist())] for line in (high, low))
    inner = group(high.hue, band(xs, above, below, "fan"))
    inner += "".join(_line_curve(line, xs, y) for line in lines)
    points = "".join(dot(x, at, 4) for x, at in zip([*xs, *xs], [*above, *below], strict=True))
    drawn = picture(height, body + stretched(height, inner) + group(high.hue, points), label)
    (can, best, once), (does, worst, every) = ends
    up, down, free = end_places(y(can) + 8, y(does) - 8)
    middle = f'<span style="top:{(up + down) / 2:.0f}px">{between}</span>' * free
    high_at, low_at = f"top:{max(up, 16):.0f}px", f"top:{max(down, 60):.0f}px"
    beside = f'<span style="{high_at}"><b>{html_text(best)}</b><br>{once}</span>{middle}'
    beside += f'<span style="{low_at}"><b>{html_text(worst)}</b><br>{every}</span>'
    beside = f'<div class="ends" style="height:{height}px">{beside}</div>'
    return f'<div class="fans"><div class="ends left">{scale}</div>{drawn}{beside}</div>'


def _line_curve(line: Line, xs: Sequence[float], y: Callable[[float], float]) -> str:
    """A line, and its band if it is known and not thin; nothing of what is unknown."""
    mid, lo, hi = ([*map(y, each)] for each in line.numbers.tolist())
    drawn = path(zip(xs, mid, strict=True), "ln t" if line.thin else "ln")
    area = "" if line.thin or not math.isfinite(sum((*lo, *hi))) else band(xs, hi, lo)
    return group(line.hue, area + drawn) * math.isfinite(sum(mid))


def steps_drawing(
    kind: str, lines: Sequence[Line], steps: Sequence[tuple[float, str]], span: Sequence[float],
    ends: Sequence[tuple[float, str, str]], label: str, *, percent: bool = True,
    dots: Sequence[tuple[float, str, float]] = (), best: Sequence[tuple[float, float]] = (),
    below: str = "",
) -> str:  # fmt: skip
    """Curves along steps with words at their ends; dots below, and one on a curve."""
    height, foot, above = _STEPS[kind]
    axis = Axis(0, 1) if kind == "one run" else Axis.spanning(span, share=percent)

    def y(value: float) -> float:
        return 10 + (100 - axis(value)) / 100 * (height - foot)

    body = ruled_lines(axis, Unit(percent=percent), y) + _step_labels(steps, height - above)
    inner = "".join(_line_curve(line, line.at, y) for line in lines)
    marks = "".join(group(hue, dot(at, height - 10, r)) for at, hue, r in dots)
    marks += "".join(group("a", dot(at, y(value), 5)) for at, value in best)
    words = [(y(value), f"<b>{html_text(bold)}</b>{rest}") for value, bold, rest in ends]
    labels = [f'<span style="top:{at:.0f}px">{each}</span>' for at, each in spread_ends(words)]
    labels += [f'<span style="top:{height - 10}px">{below}</span>'] if below else []
    drawn = picture(height, body + stretched(height, inner) + marks, label)
    beside = f'<div class="ends" style="height:{height}px">{"".join(labels)}</div>'
    return f'<div class="byrun">{drawn}{beside}</div>'


# Height, room below the curves, and how far above the bottom labels are.
_STEPS = {"one run": (380, 62, 32), "several runs": (300, 40, 6)}


def _step_labels(steps: Sequence[tuple[float, str]], y: float) -> str:
    """Labels of steps, held so that they stay in their picture."""
    held = ["", *["mid"] * (len(steps) - 2), "end"]
    kept = spread_labels(*zip(*steps, strict=True))
    return "".join(text(steps[each][0], y, steps[each][1], held[each]) for each in kept)


_STRIPS = {"models": (22, 2), "many models": (13, 1), "steps": (20, 2), "many steps": (10, 1)}


def strips_drawing(
    kind: str, rows: Sequence[tuple[str, bool, str]], scores: Floats, ends: Sequence[str]
) -> str:
    """A strip of cells for each name, bold or not, and words for the ends of their order."""
    height, gap = _STRIPS[kind]
    lines = _named_strips(rows, scores, height)
    sides = "".join(f"<span>{escape(end)}</span>" for end in ends)
    return (f'<div class="strip" style="row-gap:{gap}px">{lines}<span></span>'
            f'<span class="sides">{sides}</span></div>')  # fmt: skip


def _named_strips(rows: Sequence[tuple[str, bool, str]], scores: Floats, height: float) -> str:
    """Names, bold or not, and beside each a strip of its scores; of many means of neighbours."""
    return "".join(
        f'<span class="{"in" * bold}" title="{escape(name)}"><bdi>{escape(short_name(name, 28))}'
        f"</bdi></span>{strip(cells, height, said)}"
        for (name, bold, said), cells in zip(rows, drawn_cells(scores).tolist(), strict=True)
    )


def lists_drawing(parts: Sequence[tuple[str, Sequence[str], str]]) -> str:
    """Names below their heads."""
    items = ""
    for head, names, rest in parts:
        codes = ", ".join(f"<code>{escape(name)}</code>" for name in names)
        items += f"<div><h3>{html_text(head)}</h3><p>{codes}{rest}</p></div>"
    return f'<div class="cols">{items}</div>'


def plane_drawing(
    points: Sequence[tuple[str, Sequence[float], Sequence[float], str]],
    corners: Sequence[tuple[float, float]], label: str, *, percent: bool,
) -> str:  # fmt: skip
    """Points by amount (middle, lo, hi) and score (lo, middle, hi), and stairs through corners."""
    unit = Unit(percent=percent)
    logs = [math.log10(end) for _, _, amount, _ in points for end in amount[1:]]
    scores = [end for _, score, *_ in points for end in (score[0], score[2])]
    up = Axis.spanning(scores, share=percent)
    across, height = Axis.spanning(logs, 0.08), 400

    def x(amount: float) -> float:
        return across(math.log10(amount))

    def y(score: float) -> float:
        return 10 + (100 - up(score)) / 100 * (height - 44)

    body = ruled_lines(up, unit, y)
    for tick in ratio_ticks(across):
        body += upright(x(tick), 10, height - 26)
        body += text(x(tick), height - 8, f"{tick:g}", held_at(x(tick)))
    line = [(x(corners[0][0]), y(corners[0][1]))]
    for (_, before), (amount, score) in itertools.pairwise(corners):
        line += [(x(amount), y(before)), (x(amount), y(score))]
    line.append((100, y(corners[-1][1])))
    drawn, taken = "", [(0.0, 10.0, y(at) - 5) for at in up.ticks(5)]
    for name, (lo, mid, hi), amounts, hue in points:
        at, left, right = map(x, amounts)
        marks = upright(at, y(hi), y(lo), "ci t") + level(left, right, y(mid), "ci t")
        drawn += group(hue, marks + dot(at, y(mid), 6.5))
        drawn += _point_name(name, at, (y(hi), y(lo)), taken) if name else ""
    stairs = stretched(height, group("ink", path(line, "ln t")))
    return picture(height, body + stairs + drawn, label)


_LETTER = 1.2  # half a letter, in percent of a picture on a phone


def _point_name(
    name: str, at: float, ends: tuple[float, float], taken: list[tuple[float, float, float]]
) -> str:
    """The name of a point, above it, or below it where other words are near on a phone."""
    half = _LETTER * len(name)
    held = held_at(at, half)
    left = {"": at, "mid": at - half, "end": at - 2 * half}[held]
    right = left + 2 * half
    above, below = ends[0] - 10, ends[1] + 18

    def free(height: float) -> bool:
        return height > 0 and all(
            right < start or left > end or abs(height - other) > 15 for start, end, other in taken
        )

    places = [height for step in range(0, 160, 16) for height in (above - step, below + step)]
    height = next(filter(free, places), above)
    taken.append((left, right, height))
    return text(at, height, name, f"{held} i w".strip())


def lifts_drawing(lines: Sequence[Mapping[str, Any]], *, percent: bool) -> str:
    """A line for each model: a ring, and a dot with its interval, joined."""
    unit = Unit(percent=percent)
    ends = [end for line in lines for end in (line["ends"][0], line["ends"][2])]
    axis = Axis.spanning([*ends, *(line["ring"] for line in lines)], share=percent)
    rows = []
    for line in lines:
        ring, (lo, mid, hi), body = line["ring"], line["ends"], grid_lines(axis, 40)
        if math.isfinite(ring) and math.isfinite(mid):
            body += level(axis(mid), axis(ring), 20, "z") + dot(axis(ring), 20, 6, "ring")
        body += group(line["hue"], interval(axis, lo, mid, hi, 20))
        cell = line["label"]
        if line["texts"]:
            cell = "{} → <b>{}</b>".format(*line["texts"])
        drawn = picture(40, body, line["label"])
        rows.append((f"<bdi>{escape(line['name'])}</bdi>", drawn, cell))
    return line_rows(rows, 150, 110, tick_row(axis, score_ticks(axis, unit)))


def floors_drawing(
    lines: Sequence[tuple[str, float, str, tuple[str, str], str]], *, below: bool
) -> str:
    """A line for each number of trials: as far on both sides as its number."""
    reach = 1.1 * max(floor for _, floor, *_ in lines)
    axis, rows = Axis(-reach, reach), []
    for name, floor, hue, (number, unit), said in lines:
        body = upright(axis(0), 0, 36, "z") + group(hue, level(axis(-floor), axis(floor), 18, "ci"))
        rows.append(
            (name, picture(36, body, said), f'<b>{number}</b> <span class="k">{unit}</span>')
        )
    drawn = line_rows(rows, 108, 110)
    return f'<div class="h3">{drawn}</div>' if below else drawn


def cases_drawing(
    names: Sequence[str], labels: Sequence[str], scores: Floats,
    parts: Sequence[tuple[str, str, int]],
    lists: Sequence[tuple[str, Sequence[tuple[str, str]], str]],
) -> str:  # fmt: skip
    """A strip for each version, a bar of the kinds of its cells with a key, and lists."""
    rows = [(name, True, said) for name, said in zip(names, labels, strict=True)]
    cells = _named_strips(rows, scores, 30)
    marks, key, at, whole = "", "", 0.0, sum(number for *_, number in parts)
    for kind, words, number in parts:
        wide = 100 * number / whole
        marks += box(at, at + wide, 4, 5, kind) if number else ""
        swatch = f'<svg class="sw" aria-hidden="true">{box(0, 100, 0, 10, kind)}</svg>'
        key += f"<span>{swatch}<b>{number:,}</b> {words}</span>"
        at += wide
    said = ", ".join(f"{number} {words}" for _, words, number in parts)
    bar = f'{picture(14, marks, said)}<div class="key">{key}</div>'
    drawn = f'<div class="strip">{cells}<span></span><div>{bar}</div></div>'
    for head, items, note in lists:
        drawn += f'<h3 class="h3">{escape(head)}</h3><ul class="cases">' + "".join(
            f"<li><code>{escape(name)}</code> {was_now}</li>" for name, was_now in items
        )
        drawn += "</ul>" + (f'<p class="note">{note}</p>' if note else "")
    return drawn


_DRAWINGS: dict[str, Callable[..., str]] = {
    "cases": cases_drawing, "duel": duel_drawing, "fan": fan_drawing, "floors": floors_drawing,
    "lifts": lifts_drawing, "lists": lists_drawing, "plane": plane_drawing, "steps": steps_drawing,
    "strips": strips_drawing, "strata": strata_drawing, "stairs": stairs_drawing,
}  # fmt: skip
