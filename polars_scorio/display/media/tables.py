"""Tables of a page, whose intervals are small pictures."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from html import escape

from polars_scorio.display.blocks import Cell, Interval, TableBlock
from polars_scorio.display.media.marks import (
    Axis,
    box,
    group,
    held_at,
    interval,
    level,
    picture,
    text,
    tick_row,
    upright,
)
from polars_scorio.display.numbers import Unit, html_text, shown_models
from polars_scorio.display.phrases import MISSING, short_name

_TIGHT = 12  # models, from where on rows are tight
_LINES = 40  # parts that are drawn
_PER_LETTER, _NAME_WIDTH = 8, (120, 236)  # pixels of a name's letter, and of its column
_BREAKS = "-_/.:"


def table_html(table: TableBlock) -> str:
    """A table whose intervals are drawn."""
    drawn: dict[str, Callable[[TableBlock], str]] = {
        "gate": _gate_table, "parts": _part_lines, "gains": _gain_lines, "plain": _plain_table,
        "beside": lambda each: f'<div class="rel">{_plain_table(each)}</div>',
    }  # fmt: skip
    return drawn.get(table.kind, _score_table)(table)


def _score_table(table: TableBlock) -> str:
    """Rank, name, interval on a shared axis, score, and a column beside them."""
    column, ranks, names = table.column("interval"), table.column("rank"), table.column("name")
    ends, number = table.intervals, len(table.rows)
    tight = number > _TIGHT
    height, small = (31, ("ci t", 5.0)) if tight else (46, ("ci", 6.5))
    axis = _shared_axis(table, share=table.percent)
    last = table.column("number" if table.column("number").cells else "chance")
    head = last.head * any(last.words)
    bright = [place for place, row in enumerate(table.rows) if row.bright]
    final, unit, rows = max(bright, default=-1), " %" * table.percent, list[str]()
    for place, (row, each, model) in enumerate(zip(table.rows, ends, names.words, strict=True)):
        kinds = [row.hue, "in" * row.bright, "cut" * row.starts, "first" if place == 0 else "",
                 "last" if place == final else ""]  # fmt: skip
        drawn = '<use href="#grid"/>' + interval(
            axis, each.lo, each.mid, each.hi, height / 2, *small
        )
        said = f"{model}: {each.text}{unit} {each.ends}" if each.text else "no number"
        rank = ranks.words[place] if ranks.cells else ""
        beside = cell_html(last.cells[place]) if last.cells else ""
        rows.append(
            f'<tr class="{" ".join(filter(None, kinds))}"><td class="rk">{rank}</td>'
            f'<th scope="row" class="nm" title="{escape(model)}">{whole_name(model)}</th>'
            f'<td class="fp">{picture(height, drawn, said)}</td>'
            f'<td class="sc">{each.text or MISSING}</td><td class="iv">{html_text(each.ends)}</td>'
            f'<td class="pb" data-head="{escape(head)}">{beside}</td></tr>'
        )
    top = tick_row(axis, score_ticks(axis, Unit(percent=table.percent)))
    letters = min(max(map(len, names.words)), 99) * _PER_LETTER + 24
    wide = min(max(letters, _NAME_WIDTH[0]), _NAME_WIDTH[1])
    columns = (
        f'<caption class="away">Models, the best first</caption><thead><tr><th class="rk">rank</th>'
        f'<th class="nm" style="width:{wide}px">model</th><th class="fp"><span class="away">'
        f'interval</span>{top}</th><th class="sc">'
        f'{escape(column.head)}{" (%)" * table.percent}</th><th class="iv">{column.side} interval'
        f'</th><th class="pb">{head or "<span class=away>notes</span>"}</th></tr></thead>'
    )
    grid = f'<g id="grid">{grid_lines(axis, height)}</g>'
    return f'<svg width="0" height="0" class="away" aria-hidden="true">{grid}</svg>' + _folded_rows(
        rows, columns, f"lb{' tight' if tight else ''}{' bare' if number == 1 else ''}"
    )


def _shared_axis(table: TableBlock, *also: float, pad: float = 0.05, share: bool = False) -> Axis:
    """An axis of all intervals of a table, and of some further numbers."""
    ends = [end for each in table.intervals for end in (each.lo, each.mid, each.hi)]
    return Axis.spanning([*also, *ends], pad, share=share)


def _folded_rows(rows: Sequence[str], columns: str, kind: str) -> str:
    """A table whose last rows are in a fold, if there are many."""
    opened = shown_models(len(rows))
    drawn, rest = (
        f'<table class="{kind}">{columns}<tbody>{"".join(part)}</tbody></table>'
        for part in (rows[:opened], rows[opened:])
    )
    if opened == len(rows):
        return drawn
    summary = f"<summary>{len(rows) - opened:,} more models</summary>"
    return f"{drawn}<details>{summary}{rest}</details>"


def cell_html(cell: Cell | Interval) -> str:
    """A number with faint ends, or words, behind a bar where they are a chance."""
    if isinstance(cell, Interval):
        ends = f' <span class="k">{html_text(cell.ends)}</span>' if cell.ends else ""
        return html_text(cell.text or MISSING) + ends
    bar = "" if cell.share is None else (
        f'<span class="meter"><i style="width:{100 * cell.share:.0f}%"></i></span>')  # fmt: skip
    return bar + html_text(cell.words)


def _part_lines(table: TableBlock) -> str:
    """A line for each part, with its interval on one axis."""
    names, ends = table.column("name"), table.intervals
    axis = Axis(0, 1) if table.percent else _shared_axis(table)
    lines = []
    for row, name, each in zip(table.rows, names.words, ends, strict=True):
        drawn = interval(axis, each.lo, each.mid, each.hi, 23, "ci", 7.0 if row.bright else 5.5)
        body = grid_lines(axis, 46, 5) + group(row.hue, drawn)
        label = f"<bdi>{escape(short_name(name, 28))}</bdi>"
        said = f"{name}: {each.text}{' %' if table.percent else ''} {each.ends}"
        label = f"<b>{label}</b>" if row.bright else label
        lines.append((label, picture(46, body, said), _line_numbers(each)))
    drawn_rows, rest = lines[:_LINES], len(lines) - _LINES
    ticks = tick_row(axis, score_ticks(axis, Unit(percent=table.percent), 5), most=5)
    note = f'<p class="note">{rest:,} more are in the files of this page.</p>' if rest > 0 else ""
    return line_rows(drawn_rows, 150, 160, ticks) + note


def _gain_lines(table: TableBlock) -> str:
    """A line for each difference, with its interval on one axis."""
    ends, lines = table.intervals, []
    axis = _shared_axis(table, 0.0, pad=0.06)
    for row, name, each in zip(table.rows, table.column("name").words, ends, strict=True):
        drawn = group(row.hue, interval(axis, each.lo, each.mid, each.hi, 18))
        said = f"{name}: {each.text} {table.column('interval').head} {each.ends}"
        drawing = picture(36, upright(axis(0), 0, 36, "z") + drawn, said)
        lines.append((name, drawing, _line_numbers(each)))
    return line_rows(lines, 64, 168)


def _line_numbers(each: Interval) -> str:
    return f'<b>{html_text(each.text)}</b> <span class="k">{html_text(each.ends)}</span>'


def _gate_table(table: TableBlock) -> str:
    """The differences over three zones: beyond the margin, allowed, better."""
    column, names = table.column("interval"), table.column("name")
    verdicts = table.column("verdict")
    ends, edge = table.intervals, table.margin
    axis, rows = _shared_axis(table, -edge, 0.0, edge, pad=0.06), ""
    places = [100.0 * table.lower, axis(edge), axis(0), 100.0 * (not table.lower)]
    zones = "".join(
        box(min(pair), max(pair), 0, 46, kind)
        for pair, kind in zip(itertools.pairwise(places), ("zb", "zm", "za"), strict=True)
    )
    zones += upright(axis(0), 0, 46, "z")
    points = " points" * table.percent
    for place, (row, each, name, verdict) in enumerate(
        zip(table.rows, ends, names.words, verdicts.words, strict=True)
    ):
        drawn = zones + group(row.hue, interval(axis, each.lo, each.mid, each.hi, 23, "ci",
                                                5.5 if place else 7))  # fmt: skip
        said = f"{name}: {each.text}{points} {each.ends}, {verdict}"
        label = whole_name(name) if place else f"<b>{whole_name(name)}</b>"
        words = f"<b>{html_text(verdict)}</b>" if row.bright else html_text(verdict)
        rows += (
            f'<tr class="{row.hue}"><th scope="row" class="nm">{label}</th><td class="fp">'
            f'{picture(46, drawn, said)}</td><td class="sc">{each.text}</td>'
            f'<td class="iv">{html_text(each.ends)}</td><td class="pb">{words}</td></tr>'
        )
    return (
        '<table class="lb gt"><caption class="away">Differences</caption><thead><tr>'
        '<th class="nm"><span class="away">part</span></th><th class="fp"><span class="away">'
        f"interval</span>{picture(20, _zone_heads(axis, table), '', 'p axis')}</th>"
        f'<th class="sc">{column.head}</th><th class="iv">{column.side}</th>'
        f'<th class="pb">verdict</th></tr></thead><tbody>{rows}</tbody></table>'
    )


def _zone_heads(axis: Axis, table: TableBlock) -> str:
    """The names of the zones, as far as they have room."""
    edge, lower = axis(table.margin), table.lower
    worst, best = 100 * lower, 100 * (not lower)
    allowed = table.margin_text.removesuffix(" points").removesuffix(" point")
    top = ""
    if allowed and abs(edge - worst) > 30:
        top = text(worst, 14, f"worse by more than {allowed}", held_at(worst))
    elif allowed and abs(axis(0) - edge) > 8:
        sign = "+" if lower else "\N{MINUS SIGN}"
        top = text(edge, 14, f"{sign}{allowed}", held_at(edge, 4))
    return top + text(axis(0), 14, "0", "mid i w") + text(best, 14, "better", held_at(best))


def whole_name(name: str) -> str:
    """A name in a table: whole, broken where people would break it, short ones not at all."""
    text = escape(name)
    if len(name) > _NAME_WIDTH[1] // _PER_LETTER:
        for mark in _BREAKS:
            text = text.replace(mark, f"{mark}<wbr>")
        return f"<bdi>{text}</bdi>"
    return f'<bdi class="nb">{text}</bdi>'


def score_ticks(axis: Axis, unit: Unit, most: int = 7) -> list[str]:
    """The numbers at the ticks of scores; the last one has the unit."""
    labels = [f"{(100 if unit.percent else 1) * tick:g}" for tick in axis.ticks(most)]
    return [*labels[:-1], f"{labels[-1]}\N{NO-BREAK SPACE}%" if unit.percent else labels[-1]]


def ruled_lines(axis: Axis, unit: Unit, y: Callable[[float], float]) -> str:
    """Level lines at the ticks of scores, with their numbers."""
    ticks = zip(axis.ticks(5), score_ticks(axis, unit, 5), strict=True)
    return "".join(level(0, 100, y(at)) + text(0, y(at) - 5, words, "on") for at, words in ticks)


def grid_lines(axis: Axis, height: float, most: int = 7) -> str:
    """Pale lines at the ticks."""
    return "".join(upright(axis(tick), 0, height) for tick in axis.ticks(most))


def line_rows(rows: Sequence[tuple[str, str, str]], left: int, right: int, axis: str = "") -> str:
    """Rows of a name, a picture and numbers; on a phone the picture lies below them."""
    texts = "".join(
        f'<div class="l3"><span>{name}</span>{drawn}<span class="n">{numbers}</span></div>'
        for name, drawn, numbers in rows
    )
    last = f'<div class="l3"><span></span>{axis}<span></span></div>' if axis else ""
    return f'<div style="--l:{left}px;--r:{right}px">{texts}{last}</div>'


def _plain_table(table: TableBlock) -> str:
    """A row for each name, or text, of the first column, and numbers as they are written."""
    first, *rest = table.columns
    drawn = whole_name if first.kind == "name" else html_text
    heads = [html_text(each.head) + (f'<span class="k"> ({each.side})</span>' if each.side else "")
             for each in rest]  # fmt: skip
    swatch = '<i class="sw"></i>' if table.kind == "beside" else ""
    rows = "".join(
        f'<tr class="{row.hue}"><th scope="row" class="nm">{swatch * row.bright}{drawn(name)}</th>'
        + "".join(f'<td class="n">{cell_html(each.cells[at])}</td>' for each in rest) + "</tr>"
        for at, (row, name) in enumerate(zip(table.rows, first.words, strict=True))
    )  # fmt: skip
    top = "".join(f'<th class="n" scope="col">{head}</th>' for head in heads)
    caption = f'<caption class="away">{table.caption}</caption>'
    return (
        f'<div class="wide"><table class="plain">{caption}<thead><tr><th scope="col">{first.head}'
        f"</th>{top}</tr></thead><tbody>{rows}</tbody></table></div>"
    )
