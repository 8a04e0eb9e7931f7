"""Drawings of single sections: amounts and scores, lifts, floors, and cases."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from polars_scorio.display.media.marks import (
    Axis,
    box,
    dot,
    group,
    held_at,
    interval,
    level,
    path,
    picture,
    ratio_ticks,
    stretched,
    strip_rows,
    text,
    tick_row,
    upright,
)
from polars_scorio.display.media.tables import grid_lines, line_rows, ruled, score_ticks
from polars_scorio.display.numbers import Unit
from polars_scorio.display.phrases import short_name
from polars_scorio.maths.array_rows import Floats


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

    body = ruled(up, unit, y)
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
        drawn += _point_name(name, at, (y(hi), y(lo)), taken) * bool(name)
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
    rows = zip(names, strip_rows(scores, 30, labels), strict=True)
    cells = "".join(f'<span class="in" title="{escape(name)}"><bdi>'
                    f"{escape(short_name(name, 28))}</bdi></span>{strip}"
                    for name, strip in rows)  # fmt: skip
    marks, key, at, whole = "", "", 0.0, sum(number for *_, number in parts)
    for kind, words, number in parts:
        wide = 100 * number / whole
        marks += box(at, at + wide, 4, 5, kind) * bool(number)
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
        drawn += "</ul>" + f'<p class="note">{note}</p>' * bool(note)
    return drawn
