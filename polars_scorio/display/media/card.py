"""A picture of 1,200 by 630 that says what a log says: for a chat, a post or a slide."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from pathlib import Path
from textwrap import wrap
from typing import TypeAlias
from xml.sax.saxutils import escape

import numpy as np

from polars_scorio.display.blocks import CardBlocks, Interval, TableBlock
from polars_scorio.display.media.marks import Axis, palette
from polars_scorio.display.media.tables import score_ticks
from polars_scorio.display.numbers import MINUS, Unit, plain_text, unbroken_text
from polars_scorio.display.phrases import short_name, visible_text
from polars_scorio.display.whole_files import write_whole

WIDTH, HEIGHT = 1200, 630
_LEFT, _RIGHT, _ROWS = 64, 1136, 6
_ENDS = (356, 890)  # of the axis
_BOTTOM = 548  # of the rows, above the labels of the axis
_LETTER = 0.56  # mean width of a letter, in units of its size
_FONT = "Liberation Sans, Arial, Helvetica, sans-serif"  # vl-convert brings the first one along
_TONES = palette()
_INK, _SOFT, _BAND = (_TONES[name] for name in ("ink", "soft", "band"))
_COLOURS = {"a": _TONES["a"], "b": _TONES["b"], "m": _TONES["mid"], "o": _TONES["mark"]}


def card_svg(card: CardBlocks, day: date | None = None) -> str:
    """The card as a drawing."""
    account = card.account
    said = plain_text(account.title.words)
    size = 58 if len(_title_lines(said, 58)) <= 2 else 48
    parts = [_text_element(_LEFT, 72, 24, card.about, _SOFT)]
    y = 72 + 36.0
    for line in _title_lines(said, size)[:3]:
        y += 1.14 * size
        parts.append(_text_element(_LEFT, y - 8, size, line, _INK, weight=700))
    alert = "".join(f"{each.partition('. ')[0]}." for each in account.texts("alert"))
    numbers = plain_text(account.lede or account.aside)
    for line in [*_title_lines(alert, 28)[:2], *_title_lines(numbers, 28)[:2]]:
        y += 40
        parts.append(_text_element(_LEFT, y + 4, 28, line, _SOFT))
    parts += [] if card.table is None else _table_picture(card.table, y, lower=card.lower)
    day = day or date.today()  # noqa: DTZ011 - the day on the desk of who draws it
    facts = [*map(plain_text, account.basis), f"{day.day} {day:%B %Y}"]
    foot = " \N{MIDDLE DOT} ".join(facts)
    parts += [
        f'<path d="M64 604h34" stroke="{_COLOURS["a"]}" stroke-width="7" stroke-linecap="round"/>',
        f'<circle cx="86" cy="604" r="9" fill="{_COLOURS["a"]}"/>',
        _text_element(112, 611, 21, "polars-scorio", _INK, weight=700),
        _text_element(_RIGHT, 611, min(21, 1_600 // len(foot)), foot, _SOFT, anchor="end"),
    ]
    quoted = escape(said, {'"': "&quot;"})
    return visible_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
        f'viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{quoted}">'
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>{"".join(parts)}</svg>'
    )


def _table_picture(table: TableBlock, y: float, *, lower: bool) -> list[str]:
    """Differences over their zones, else the scores."""
    rows, rest = _table_rows(table), _rest_words(len(table.rows))
    if table.kind in {"gains", "gate"}:
        return [*_difference_rows(rows, y + 50, table, lower=lower), *rest]
    one = table.kind == "parts"
    axis = Axis(0, 1) if one and table.percent else _axis_of(rows)
    shaded = 0 if one else [*(row.bright for row in table.rows[:_ROWS]), False].index(False)
    labels = score_ticks(axis, Unit(percent=table.percent), 6)
    return [*_interval_rows(rows, axis, y + 34, shaded), *_axis_line(axis, labels), *rest]


def _rest_words(number: int) -> list[str]:
    """How many of the models, or lines, are left out."""
    words = f"and {number - _ROWS:,} more"
    return [_text_element(_LEFT, _BOTTOM + 24, 21, words, _SOFT)] if number > _ROWS else []


def _axis_line(axis: Axis, labels: Sequence[str]) -> list[str]:
    """The axis below the rows: its line, ticks and their labels."""
    left, right = _ENDS
    places = [_card_x(axis, tick) for tick in axis.ticks(6)]
    marks = "".join(f"M{x:.1f} {_BOTTOM}v6" for x in places)
    line = f'<path d="M{left} {_BOTTOM}H{right}{marks}" stroke="{_SOFT}" fill="none"/>'
    return [line, *(_text_element(x, _BOTTOM + 24, 17, label, _SOFT, anchor="middle")
                    for x, label in zip(places, labels, strict=True))]  # fmt: skip


def _card_x(axis: Axis, value: float) -> float:
    """The place of a number on the card."""
    return _ENDS[0] + axis(value) / 100 * (_ENDS[1] - _ENDS[0])


# A line of the card: a name, a number with its ends on the shared axis, and its colour.
_CardRow: TypeAlias = "tuple[str, Interval, str]"


def _axis_of(rows: list[_CardRow], *also: float) -> Axis:
    """The axis of the numbers of the rows."""
    ends = [end for _, each, _ in rows for end in (each.lo, each.mid, each.hi)]
    return Axis.spanning([*also, *ends], 0.01)


def _table_rows(table: TableBlock) -> list[_CardRow]:
    """The first rows of a table."""
    rows = zip(table.column("name").words, table.intervals, table.rows, strict=True)
    return [(name, each, row.hue) for name, each, row in [*rows][:_ROWS] if np.isfinite(each.mid)]


def _interval_rows(rows: list[_CardRow], axis: Axis, top: float, band: int) -> list[str]:
    """The rows on one axis, the first ones on a band."""
    height = _row_height(rows, top)
    parts, line = list[str](), 'stroke-width="11" stroke-linecap="round" opacity=".36"'
    if band:
        parts.append(
            f'<rect x="44" y="{top:.1f}" width="1112" height="{band * height:.1f}" rx="12" '
            f'fill="{_BAND}"/>'
        )
    for place, (name, each, hue) in enumerate(rows):
        y, colour = top + (place + 0.5) * height, _COLOURS[hue]
        cut, weight = short_name(name, int(276 / (24 * _LETTER))), 700 if place < band else 400
        parts.append(_text_element(_LEFT, y + 8, 24, cut, _INK, weight=weight))
        left, dot, right = (_card_x(axis, end) for end in (each.lo, each.mid, each.hi))
        if np.isfinite(left + right):
            parts.append(f'<path d="M{left:.1f} {y:.1f}H{right:.1f}" stroke="{colour}" {line}/>')
            parts.append(_text_element(1004, y + 8, 21, each.ends, _SOFT))
        parts += [
            f'<circle cx="{dot:.1f}" cy="{y:.1f}" r="10" fill="{colour}"/>',
            _text_element(990, y + 9, 28, each.text, _INK, weight=700, anchor="end"),
        ]
    return parts


def _row_height(rows: list[_CardRow], top: float) -> float:
    """The height with which rows fill the card."""
    return (_BOTTOM - 6 - top) / max(len(rows), 1)


def _difference_rows(
    rows: list[_CardRow], top: float, table: TableBlock, *, lower: bool
) -> list[str]:
    """Differences over what is beyond the margin, allowed, and better."""
    margin, scale = abs(table.margin), 100 if table.percent else 1
    (left, right), high = _ENDS, len(rows) * _row_height(rows, top)
    axis = _axis_of(rows, -margin, margin)
    edge, zero = (_card_x(axis, each) for each in (margin if lower else -margin, 0.0))
    (first, last), hues = sorted((edge, zero)), "ab" if lower else "ba"
    zones = [(left - 12, first, hues[0]), (last, right + 12, hues[1])]
    tint = f'y="{top:.1f}" height="{high:.1f}" opacity=".1"'
    words = f"{'+' if lower else MINUS}{table.margin_text.partition(' ')[0]}"
    anchor = "start" if lower else "end"
    mark = [_text_element(edge, top - 8, 17, words, _SOFT, anchor=anchor)] if margin else []
    labels = [f"{scale * tick:+g}".replace("-", MINUS) if tick else "0" for tick in axis.ticks(6)]
    labels[-1] += " points" * table.percent
    return [
        *(
            f'<rect x="{a:.1f}" width="{b - a:.1f}" fill="{_COLOURS[hue]}" {tint}/>'
            for a, b, hue in zones
        ),
        f'<path d="M{zero:.1f} {top:.1f}v{high:.1f}" stroke="{_INK}" stroke-width="2"/>',
        *mark,
        *_interval_rows(rows, axis, top, 0),
        *_axis_line(axis, labels),
    ]


def _title_lines(text: str, size: int) -> list[str]:
    """The lines of a title, as few as fit and about as long as each other."""
    most = int((_RIGHT - _LEFT) / (_LETTER * size))

    def lines(letters: int) -> list[str]:
        return wrap(unbroken_text(text), letters, break_long_words=False, break_on_hyphens=False)

    fewest = len(lines(most))
    return next(filter(lambda each: len(each) == fewest, map(lines, range(1, most))), lines(most))


def _text_element(
    x: float, y: float, size: int, text: str, fill: str, weight: int = 400, anchor: str = "start"
) -> str:
    return (
        f'<text x="{x:g}" y="{y:.1f}" font-family="{_FONT}" font-size="{size}" '
        f'font-weight="{weight}" fill="{fill}" text-anchor="{anchor}">{escape(text)}</text>'
    )


def write_card(path: Path, svg: str) -> Path:
    """Write a card as .svg, or as .png by vl-convert.

    Raises
    ------
    ImportError
        If the extra `plot` is not installed, for .png.
    ValueError
        If the file has another ending.
    """
    if path.suffix == ".svg":
        write_whole(path, svg)
        return path
    if path.suffix != ".png":
        raise ValueError(f"a card is a .png or a .svg, got {path.name!r}")
    try:
        import vl_convert  # noqa: PLC0415 - an extra
    except ImportError:
        raise ImportError(
            'a card as .png needs the extra plot: pip install "polars-scorio[plot]"; '
            ".svg needs nothing"
        ) from None
    write_whole(path, vl_convert.svg_to_png(svg))
    return path
