"""Marks of small pictures: an <svg> without viewBox is as wide as its place.

x is in percent and y in pixels, so that text and strokes never scale.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from importlib.resources import files
from itertools import accumulate, chain, groupby, pairwise

import numpy as np

from polars_scorio.maths.array_rows import Floats

_STEPS = (1, 2, 2.5, 5, 10)


def file_text(name: str) -> str:
    """A file beside this one."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


@cache
def palette(theme: str = "light") -> dict[str, str]:
    """Colours, font and sizes of the page, by their names in its style: ink, soft, a, b, ..."""
    themes = re.findall(r":root\{([^}]*)\}", file_text("page.css"))
    light, dark = (dict(re.findall(r"--(\w+):([^;]+)", part)) for part in themes[:2])
    return light | dark if theme == "dark" else light


@dataclass(frozen=True, slots=True)
class Axis:
    """A scale over the whole width of a picture, from lo to hi."""

    lo: float
    hi: float

    @classmethod
    def spanning(cls, values: Iterable[float], pad: float = 0.05, *, share: bool = False) -> Axis:
        """An axis with room at both ends; of shares it stays between 0 and 1."""
        known = [value for value in values if math.isfinite(value)] or [0.0]
        least, most = min(known), max(known)
        room = pad * (most - least) or 0.05 * (abs(most) or 1.0)
        lo, hi = least - room, most + room
        return cls(max(lo, min(0.0, least)), min(hi, max(1.0, most))) if share else cls(lo, hi)

    def __call__(self, value: float) -> float:
        """The place of a number, in percent."""
        return 100 * (value - self.lo) / (self.hi - self.lo)

    def ticks(self, most: int = 7) -> list[float]:
        """Round numbers inside."""
        span = self.hi - self.lo
        power = 10.0 ** math.floor(math.log10(span / most))
        step = next(each * power for each in _STEPS if span / (each * power) <= most)
        first, last = math.ceil(self.lo / step - 1e-9), math.floor(self.hi / step + 1e-9)
        return [round(step * place, 12) for place in range(first, last + 1)]


def digits(value: float) -> str:
    """A coordinate."""
    return f"{value:.2f}".rstrip("0").rstrip(".") if value else "0"


def held_at(x: float, room: float = 2) -> str:
    """How words at a place are held, so that they stay in their picture."""
    return "" if x < room else "end" if x > 100 - room else "mid"


def picture(height: float, body: str, label: str, kind: str = "p") -> str:
    """An SVG as wide as its place, whose label says its numbers."""
    if not label:
        return f'<svg class="{kind}" height="{height:g}" aria-hidden="true">{body}</svg>'
    said = escape(label)
    return f'<svg class="{kind}" height="{height:g}" role="img" aria-label="{said}">{body}</svg>'


def upright(x: float, top: float, bottom: float, kind: str = "g") -> str:
    """An upright line."""
    at = digits(x)
    return f'<line class="{kind}" x1="{at}%" x2="{at}%" y1="{digits(top)}" y2="{digits(bottom)}"/>'


def level(left: float, right: float, y: float, kind: str = "g") -> str:
    """A level line."""
    ends, at = f'x1="{digits(left)}%" x2="{digits(right)}%"', digits(y)
    return f'<line class="{kind}" {ends} y1="{at}" y2="{at}"/>'


def dot(x: float, y: float, r: float = 6, kind: str = "dot") -> str:
    """A point."""
    return f'<circle class="{kind}" cx="{digits(x)}%" cy="{digits(y)}" r="{r:g}"/>'


def text(x: float, y: float, words: str, kind: str = "", dx: float = 0) -> str:
    """Words of 13 pixels; "mid" and "end" say where they are held."""
    moved = f' dx="{dx:g}"' if dx else ""
    named = f' class="{kind}"' if kind else ""
    return f'<text x="{digits(x)}%" y="{digits(y)}"{moved}{named}>{escape(words)}</text>'


def box(left: float, right: float, y: float, height: float, kind: str) -> str:
    """A rectangle."""
    wide = f'x="{digits(left)}%" width="{digits(max(right - left, 0))}%"'
    return f'<rect class="{kind}" {wide} y="{digits(y)}" height="{digits(height)}"/>'


def interval(
    axis: Axis, lo: float, mid: float, hi: float, y: float, kind: str = "ci", r: float = 6
) -> str:
    """A number with its interval; nothing of what is unknown."""
    line = level(axis(lo), axis(hi), y, kind) if math.isfinite(lo + hi) else ""
    return line + (dot(axis(mid), y, r) if math.isfinite(mid) else "")


def group(hue: str, body: str) -> str:
    """Marks of one colour."""
    return f'<g class="{hue}">{body}</g>'


def stretched(height: float, body: str) -> str:
    """Curves of points (percent, pixels), which stretch with the width."""
    return (
        f'<svg viewBox="0 0 1000 {height:g}" preserveAspectRatio="none" width="100%" '
        f'height="{height:g}">{body}</svg>'
    )


def dots(xs: Iterable[float], y: float) -> str:
    """Points of one colour in a stretched picture: strokes of no length, round at both ends."""
    places = "".join(f"M{digits(10 * x)} {digits(y)}h0" for x in xs)
    return f'<path class="ln dots" d="{places}"/>'


def path(points: Iterable[tuple[float, float]], kind: str, *, closed: bool = False) -> str:
    """A line through points, which is an area if it is closed."""
    ends = "L".join(f"{digits(10 * x)},{digits(y)}" for x, y in points)
    return f'<path class="{kind}" d="M{ends}{"Z" if closed else ""}"/>'


def band(xs: Sequence[float], low: Sequence[float], high: Sequence[float], kind: str = "ar") -> str:
    """The area between two curves."""
    there = [*zip(xs, low, strict=True)]
    back = [*zip(xs, high, strict=True)][::-1]
    return path([*there, *back], kind, closed=True)


def tick_row(axis: Axis, texts: Sequence[str], *, most: int = 7) -> str:
    """The numbers at the ticks of an axis."""
    marks = "".join(
        text(axis(tick), 14, words, held_at(axis(tick)))
        for tick, words in zip(axis.ticks(most), texts, strict=True)
    )
    return picture(20, marks, "", "p axis")


def strip(shares: Sequence[float], height: float, label: str) -> str:
    """A row of cells, 0 empty to 1 full: a path for each shade, equal neighbours merged."""
    shades: dict[float, str] = {}
    place = 0
    for share, cells in groupby(shares):
        width = len([*cells])
        shades[share] = f"{shades.get(share, '')}M{place} .5h{width}"
        place += width
    body = "".join(
        f'<path class="cell" opacity="{digits(0.07 + 0.93 * share)}" d="{drawn}"/>'
        for share, drawn in sorted(shades.items())
        if not math.isnan(share)
    )
    return (
        f'<svg class="p" viewBox="0 0 {len(shares)} 1" preserveAspectRatio="none" '
        f'height="{height:g}" shape-rendering="crispEdges" role="img" '
        f'aria-label="{escape(label)}">{body}</svg>'
    )


def column_beside(place: float, middle: float, columns: int) -> int:
    """The column of a place, on its side of the middle; places in percent."""
    column = min(max(int(place / 100 * columns), 0), columns - 1)
    right, drawn_right = place > middle, column + 0.5 > middle / 100 * columns
    return column + int(right) - int(drawn_right)


def end_places(high: float, low: float) -> tuple[float, float, bool]:
    """Places of the words of two curves, 44 pixels apart, and whether others fit between."""
    if low - high < 44:
        high, low = (high + low) / 2 - 22, (high + low) / 2 + 22
    return high, low, low - high >= 80


_CELLS, _SHADES = 400, 20  # that can be told apart


def drawn_cells(scores: Floats) -> Floats:
    """The cells of strips, (L, M): of many questions means of neighbours, of many scores shades."""
    if scores.shape[1] > _CELLS:
        edges = np.linspace(0, scores.shape[1], _CELLS + 1).astype(int)
        scores = np.stack([scores[:, a:b].mean(axis=1) for a, b in pairwise(edges)], 1)
    if np.unique(scores).size > _SHADES:
        scores = np.round(scores * _SHADES) / _SHADES
    return scores


def spread_ends(places: Iterable[tuple[float, str]]) -> list[tuple[float, str]]:
    """Words at the ends of lines, from the top, 36 pixels apart."""
    labels = sorted(places)
    tops = accumulate((place for place, _ in labels), lambda above, at: max(at, above + 36))
    return [*zip(tops, (words for _, words in labels), strict=True)]


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
        return all(starts[a] + wide[a] + _GAP <= starts[b] for a, b in pairwise(kept))

    even = ([*range(0, last + 1, stride)] for stride in range(1, last) if last % stride == 0)
    uneven = ([*(p for p in range(0, last, stride) if apart([p, last])), last]
              for stride in range(1, last + 1))  # fmt: skip
    return next(filter(apart, chain(even, uneven)), [0, last])


def ratio_ticks(axis: Axis) -> list[float]:
    """Round amounts on a ratio scale."""
    powers = range(math.floor(axis.lo), math.ceil(axis.hi) + 1)
    for steps in ((1,), (1, 3), (1, 2, 5)):
        ticks = [step * 10.0**power for power in powers for step in steps]
        inside = [tick for tick in ticks if 0 < axis(math.log10(tick)) < 100]
        if len(inside) > 2:
            return inside
    return inside
