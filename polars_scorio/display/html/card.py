"""A picture of 1,200 by 630 that says what a log says: for a chat, a post or a slide."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

import numpy as np

from polars_scorio.display.finding import Board, plain_text
from polars_scorio.display.html.marks import palette
from polars_scorio.display.whole_files import write_whole
from polars_scorio.display.words import count_of

if TYPE_CHECKING:
    from polars_scorio.display.html.story import Story

WIDTH, HEIGHT = 1200, 630
_LEFT, _RIGHT, _ROWS = 64, 1136, 6
_LETTER = 0.56  # mean width of a letter, in units of its size
_FONT = "Liberation Sans, Arial, Helvetica, sans-serif"  # vl-convert brings the first one along
_TONES = palette()
_INK, _SOFT, _BAND = (_TONES[name] for name in ("ink", "soft", "band"))
_COLOURS = {"a": _TONES["a"], "b": _TONES["b"], "m": _TONES["mid"], "o": _TONES["mark"]}


def card_svg(story: Story, title: str | None = None, day: date | None = None) -> str:
    """The card as a drawing; `title` is a line above the finding."""
    finding, sheet = story.finding, story.sheet
    board = sheet.board if story.first is None else story.first.sheet.board
    count = count_of(sheet.asked, "question")
    if sheet.main.each:
        count += f" \N{MULTIPLICATION SIGN} {count_of(sheet.main.each, 'trial')}"
    models = f"{count_of(len(board.models), 'model')}, " * (len(board.models) > 1)
    what = " \N{MIDDLE DOT} ".join(filter(None, (title, f"{models}{count}")))
    said = plain_text(finding.title)
    size = 58 if len(_title_lines(said, 58)) <= 2 else 48
    parts = [_text_element(_LEFT, 72, 24, what, _SOFT)]
    y = 72 + 36.0
    for line in _title_lines(said, size)[:3]:
        y += 1.14 * size
        parts.append(_text_element(_LEFT, y - 8, size, line, _INK, weight=700))
    for line in _title_lines(plain_text(finding.numbers or finding.aside), 28)[:2]:
        y += 40
        parts.append(_text_element(_LEFT, y + 4, 28, line, _SOFT))
    parts += _forest_rows(board, y + 34)
    day = day or date.today()  # noqa: DTZ011 - the day on the desk of who draws it
    facts = [*map(plain_text, finding.basis), f"{day.day} {day:%B %Y}"]
    foot = " \N{MIDDLE DOT} ".join(facts)
    parts += [
        f'<path d="M64 604h34" stroke="{_COLOURS["a"]}" stroke-width="7" stroke-linecap="round"/>',
        f'<circle cx="86" cy="604" r="9" fill="{_COLOURS["a"]}"/>',
        _text_element(112, 611, 21, "polars-scorio", _INK, weight=650),
        _text_element(_RIGHT, 611, 21 if len(foot) < 80 else 17, foot, _SOFT, anchor="end"),
    ]
    size_of = f'width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size_of} role="img" '
        f'aria-label="{_attribute_text(said)}">'
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>{"".join(parts)}</svg>'
    )


def _forest_rows(board: Board, top: float) -> list[str]:
    """A row for each of the first models: name, interval on a shared axis, numbers."""
    unit, rows = board.unit, min(len(board.models), _ROWS)
    height = min((572 - top) / rows, 52.0)
    band = int(board.first_tier[:rows].sum()) if rows > 1 else 0
    lo, hi, score = board.lo[:rows], board.hi[:rows], board.score[:rows]
    if not np.isfinite(score).any():
        return []
    least, most = float(np.nanmin([lo, score])), float(np.nanmax([hi, score]))
    if rows == 1 and unit.percent:
        least, most = 0.0, 1.0
    scale = (890 - 330) / ((most - least) or 1.0)
    parts, line = list[str](), 'stroke-width="11" stroke-linecap="round" opacity=".36"'
    if band:
        parts.append(
            f'<rect x="44" y="{top:.1f}" width="1112" height="{band * height:.1f}" rx="12" '
            f'fill="{_BAND}"/>'
        )
    for place in range(rows):
        y = top + (place + 0.5) * height
        name = _fitting_name(board.models[place], 24, 250)
        bold = 650 if place < band else 400
        parts.append(_text_element(_LEFT, y + 8, 24, name, _INK, weight=bold))
        if not np.isfinite(score[place]):
            continue
        colour = _COLOURS[board.hue(place)]
        left, dot, right = (330 + scale * (float(each[place]) - least) for each in (lo, score, hi))
        if np.isfinite(left + right):
            parts.append(f'<path d="M{left:.1f} {y:.1f}H{right:.1f}" stroke="{colour}" {line}/>')
            ends = unit.interval(lo[place], hi[place])
            parts.append(_text_element(1004, y + 8, 21, ends, _SOFT))
        number = unit.score(score[place], sign=False)
        parts += [
            f'<circle cx="{dot:.1f}" cy="{y:.1f}" r="10" fill="{colour}"/>',
            _text_element(990, y + 9, 28, number, _INK, weight=700, anchor="end"),
        ]
    return parts


def _title_lines(text: str, size: int) -> list[str]:
    """The lines of a title, by the mean width of a letter."""
    letters, lines = int((_RIGHT - _LEFT) / (_LETTER * size)), [""]
    for word in text.split():
        joined = f"{lines[-1]} {word}".strip()
        if len(joined) <= letters or not lines[-1]:
            lines[-1] = joined
        else:
            lines.append(word)
    return lines


def _fitting_name(name: str, size: int, width: int) -> str:
    """A name that is cut in its middle if it is longer than its column."""
    most = int(width / (_LETTER * size))
    half = most // 2
    return name if len(name) <= most else f"{name[:half]}\N{HORIZONTAL ELLIPSIS}{name[1 - half :]}"


def _text_element(
    x: float, y: float, size: int, text: str, fill: str, weight: int = 400, anchor: str = "start"
) -> str:
    return (
        f'<text x="{x:g}" y="{y:.1f}" font-family="{_FONT}" font-size="{size}" '
        f'font-weight="{weight}" fill="{fill}" text-anchor="{anchor}">{escape(text)}</text>'
    )


def _attribute_text(text: str) -> str:
    return escape(text, {'"': "&quot;"})


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
