"""Blocks laid out for a terminal: broken lines, narrow tables, intervals drawn in characters.

What comes from a log is escaped where it enters; the codes of colours are added after that.
"""

from __future__ import annotations

import math
import os
import shlex
import shutil
import sys
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TypeAlias

import numpy as np

from polars_scorio.display.blocks import Account, Column, Interval, TableBlock, TableRow, Title
from polars_scorio.display.media.marks import Axis
from polars_scorio.display.numbers import MINUS, plain_text, unbroken_text
from polars_scorio.display.phrases import MISSING, count_of, short_name, visible_text
from polars_scorio.display.table import Table

Span: TypeAlias = "tuple[str, str]"  # text and style
Spans: TypeAlias = Sequence[Span]
TextCell: TypeAlias = "str | Spans"

_COLUMNS, _FEWEST = 80, 40  # width without a terminal, and of the narrowest one that is obeyed
_USUAL_WIDTH = 100  # with more columns there is room for chances
_STYLES = {"bold": 1, "strong": 1, "faint": 2, "fail": 31, "pass": 32, "open": 33}
_INDENT, _GAP, _KEY = 2, 2, 12
_CELLS, _MOST_CELLS = (12, 20), 80  # of a drawn interval: the fewest, usual and most
_NAMES = (8, 16)  # letters that are left of a name: at worst, and as long as there is room
# Of a drawn interval: line, point, line over zero, zero, grid.
_DRAWN: dict[tuple[bool, bool], tuple[str, ...]] = {
    (True, True): (*"━●┿│·",), (True, False): (*"─○┼│·",),
    (False, True): (*"=o+|:",), (False, False): (*"-.+|:",),
}  # fmt: skip
_ASCII = str.maketrans({
    "\N{MINUS SIGN}": "-", "\N{EN DASH}": "-", "\N{MULTIPLICATION SIGN}": "x",
    "\N{MIDDLE DOT}": ",", "\N{HORIZONTAL ELLIPSIS}": "~", "\N{PLUS-MINUS SIGN}": "+-",
    "\N{RIGHTWARDS ARROW}": "->",
})  # fmt: skip


def cells_of(text: str) -> int:
    """Columns of a terminal that a text takes: two for wide letters, none for combining marks."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(each) else 1 + (unicodedata.east_asian_width(each) in "WF")
        for each in text
    )


def _clean_spans(cell: TextCell) -> tuple[Span, ...]:
    """The parts of a cell, on one line and without characters that command a terminal."""
    parts: Spans = [(cell, "")] if isinstance(cell, str) else cell
    return tuple((" ".join(visible_text(plain_text(text)).split("\n")), style)
                 for text, style in parts)  # fmt: skip


def _span_width(spans: Sequence[Span]) -> int:
    return sum(cells_of(text) for text, _ in spans)


@dataclass(frozen=True, slots=True, eq=False)
class TextColumn:
    """A column of a narrow table: heading and cells; names may be cut in their middle."""

    head: str
    cells: Sequence[TextCell]
    right: bool = False
    names: bool = False
    spare: bool = False  # left out where the terminal is too narrow


@dataclass(frozen=True, slots=True, eq=False)
class Forest:
    """Intervals drawn in characters on one axis: lo, middle and hi of each row, NaN if unknown."""

    numbers: Sequence[tuple[float, float, float]]
    bright: Sequence[bool]  # of the first tier, or decided
    label: Callable[[float], str]
    place: int  # of its column
    zero: float | None = None  # a line upright, which no interval that excludes it touches
    marked: tuple[float, ...] = ()  # further places with a point, such as a margin
    share: bool = False  # the axis stays between 0 and 1

    def drawn(self, cells: int, *, lines: bool) -> tuple[str, list[str]]:
        """The labels above the ticks, and a row of characters for each interval."""
        known = [value for row in self.numbers for value in row]
        fixed = [] if self.zero is None else [self.zero]
        axis = Axis.spanning([*known, *fixed], 0.03, share=self.share)

        def at(value: float) -> int:
            return round(axis(value) / 100 * (cells - 1))

        ticks = axis.ticks(max(2, cells // 8))
        labels, free = [" "] * cells, 0
        for tick in ticks:
            word = self.label(tick)
            start = at(tick) - (len(word) - 1) // 2
            if start >= free and start + len(word) <= cells:
                labels[start : start + len(word)] = word
                free = start + len(word) + 2
        grid = {at(value) for value in (*ticks, *self.marked) if 0 <= at(value) < cells}
        rows = list[str]()
        for (lo, mid, hi), bright in zip(self.numbers, self.bright, strict=True):
            line, point, crossed, upright, mark = _DRAWN[lines, bright]
            row = [mark if place in grid else " " for place in range(cells)]
            known_ends = math.isfinite(lo + hi)
            if known_ends:
                row[at(lo) : at(hi) + 1] = line * (at(hi) + 1 - at(lo))
            if self.zero is not None:
                row[at(self.zero)] = crossed if known_ends and lo <= self.zero <= hi else upright
            if math.isfinite(mid):
                row[at(mid)] = point
            rows.append("".join(row))
        return "".join(labels), rows


@dataclass(frozen=True, slots=True)
class Screen:
    """Width and abilities of a terminal, and texts laid out for it as lists of lines."""

    width: int = _COLUMNS
    coloured: bool = False
    lines: bool = True  # whether its encoding has lines and points

    @classmethod
    def from_output(cls) -> Screen:
        """The terminal that reads the output; 80 columns without colours if it is none."""
        width = shutil.get_terminal_size((_COLUMNS, 24)).columns
        encoding = sys.stdout.encoding or "utf-8"
        able = bool("━●".encode(encoding, "ignore"))
        dumb = os.environ.get("TERM") == "dumb" or bool(os.environ.get("NO_COLOR"))
        return cls(max(width, _FEWEST), sys.stdout.isatty() and not dumb, able)

    def _painted_line(self, spans: Sequence[Span]) -> str:
        """A line without blanks at its end; neighbours of one style are painted as one."""
        cells = []
        for style, parts in groupby(spans, key=lambda span: span[1]):
            text = "".join(text for text, _ in parts).replace("\N{NO-BREAK SPACE}", " ")
            text = text if self.lines else text.translate(_ASCII)
            styled = self.coloured and style and text.strip()
            cells.append(f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if styled else text)
        return "".join(cells).rstrip(" ")

    def prose(self, cell: TextCell, *, indent: int = _INDENT, first: TextCell = "") -> list[str]:
        """Words broken at spaces; the first line begins with `first`, the others with as much room.

        Numbers stay with their units, and words that are longer than a line are broken anywhere.
        """
        begin, room = list(_clean_spans(first)), self.width - indent
        lines: list[list[Span]] = [[*begin, (" " * max(0, indent - _span_width(begin)), "")]]
        used, empty = max(0, _span_width(begin) - indent), True
        words = [(word, style) for text, style in _clean_spans(cell)
                 for word in unbroken_text(text).split(" ") if word]  # fmt: skip
        for whole, style in words:
            pieces = [whole]
            if cells_of(whole) > room:
                pieces = [whole[at : at + room] for at in range(0, len(whole), room)]
            for piece in pieces:
                long = cells_of(piece)
                if not empty and used + 1 + long > room:
                    lines.append([(" " * indent, "")])
                    used, empty = 0, True
                blank = style if lines[-1][-1][1] == style else ""
                lines[-1] += [(" " * (not empty), blank), (piece, style)]
                used, empty = used + long + (not empty), False
        return [*map(self._painted_line, lines)]

    def facts(self, pairs: Sequence[tuple[str, str]]) -> list[str]:
        """Sentences with a word in front that says what they are about."""
        lines = list[str]()
        for key, words in pairs:
            first = [(" " * _INDENT, ""), (f"{key:<{_KEY}}", "faint")]
            lines += self.prose(words, indent=_INDENT + _KEY, first=first)
        return lines

    def command(self, program: str, arguments: Sequence[str]) -> list[str]:
        """The command to type next; a shell joins its lines again."""
        words, room = [program], self.width - _INDENT - 6 - 2
        for each in (shlex.quote(visible_text(argument)) for argument in arguments):
            option = words[-1].startswith("--") and " " not in words[-1]
            if option and not each.startswith("-") and cells_of(f"{words[-1]} {each}") <= room:
                words[-1] += f" {each}"  # an option stays with its value
            else:
                words.append(each)
        lines = words[:1]
        for word in words[1:]:
            if cells_of(lines[-1]) + 1 + cells_of(word) > room:
                lines.append(word)
            else:
                lines[-1] += f" {word}"
        parts = [f"{line} \\" for line in lines[:-1]] + [lines[-1]]
        heads = ["next  ", *[" " * 6] * (len(parts) - 1)]
        return [
            self._painted_line([(" " * _INDENT, ""), (head, "faint"), (part, "")])
            for head, part in zip(heads, parts, strict=True)
        ]

    def table(self, columns: Sequence[TextColumn], forest: Forest | None = None) -> list[str]:
        """A narrow table, with intervals in the place of the column whose heading is empty."""
        kept = [replace(each, cells=[*map(_clean_spans, each.cells)]) for each in columns]
        widths = [max(cells_of(each.head), 0, *map(_span_width, each.cells)) for each in kept]  # type: ignore[arg-type]
        wanted = _CELLS[1] if forest is not None else 0
        cells = self._fit_columns(kept, widths, wanted)
        if forest is not None and cells >= _CELLS[0]:
            labels, rows = forest.drawn(min(cells, _MOST_CELLS), lines=self.lines)
            kept.insert(forest.place, TextColumn(labels, [((row, ""),) for row in rows]))
            widths.insert(forest.place, len(labels))
        head = [((each.head, "faint"),) for each in kept]
        body = zip(*(each.cells for each in kept), strict=True)
        return [self._painted_line(self._table_row(row, kept, widths)) for row in (head, *body)]

    def _fit_columns(self, columns: list[TextColumn], widths: list[int], wanted: int) -> int:
        """Leave spare columns out, then cut names; return how many cells are left."""
        room = self.width - _INDENT

        def left() -> int:
            return room - sum(widths) - _GAP * (len(widths) - bool(not wanted))

        def cut_names(least: int, need: int) -> None:
            names = [at for at, each in enumerate(columns) if each.names]
            while left() < need and any(widths[at] > least for at in names):
                widths[max(names, key=lambda at: widths[at])] -= 1

        cut_names(_NAMES[1], wanted)
        for place, each in [*enumerate(columns)][::-1]:
            if each.spare and left() < min(wanted, _CELLS[0]):
                del columns[place], widths[place]
        cut_names(_NAMES[0], min(wanted, _CELLS[0]))  # without room for intervals there are none
        for at, (each, width) in enumerate(zip(columns, widths, strict=True)):
            if each.names:
                cells = [_cut_spans(cell, width) for cell in each.cells]
                columns[at] = replace(each, head=short_name(each.head, width), cells=cells)
        return left()

    @staticmethod
    def _table_row(
        cells: Sequence[Sequence[Span]], columns: Sequence[TextColumn], widths: Sequence[int]
    ) -> list[Span]:
        row: list[Span] = [(" " * _INDENT, "")]
        for cell, column, width in zip(cells, columns, widths, strict=True):
            blank = (" " * (width - _span_width(cell)), "")
            row += [blank, *cell] if column.right else [*cell, blank]
            row.append((" " * _GAP, ""))
        return row


def _cut_spans(cell: TextCell, most: int) -> tuple[Span, ...]:
    """A name of one part, without its middle if it is too long."""
    (text, style), *rest = _clean_spans(cell)
    if cells_of(text) <= most:
        return ((text, style), *rest)
    kept = short_name(text, most)
    while cells_of(kept) > most:
        kept = short_name(text, len(kept) - 1)
    return ((kept, style),)


def account_lines(screen: Screen, account: Account, most: int | None) -> list[str]:
    """Titles, sentences, the first rows of the table, and clauses."""
    lines = [line for each in account.blocks if isinstance(each, Title)
             for line in _heading_lines(screen, each)]  # fmt: skip
    lines += [line for each in account.texts("alert") for line in screen.prose(each)]
    said, basis = " ".join(account.texts("lede", "plain", "aside")), ", ".join(account.basis)
    lines += screen.prose(said) if said else []
    lines += screen.prose([(basis, "faint")]) if basis else []
    if account.table is not None:
        lines += ["", *table_lines(screen, account.table, most)]
        lines += rows_left(screen, len(account.table.rows), most)
    clauses = [line for each in account.texts("clause") for line in screen.prose(each)]
    return [*lines, *([""] if clauses else []), *clauses]


def _heading_lines(screen: Screen, title: Title) -> list[str]:
    mark = title.chip.removeprefix("gate: ").upper() if title.mark else ""
    head: TextCell = [("  ", ""), (mark, title.mark), ("  ", "")] if mark else ""
    return screen.prose([(title.words, "bold")], first=head)


def rows_left(screen: Screen, whole: int, most: int | None, what: str = "") -> list[str]:
    """How many rows or strata are not shown, if any."""
    if most is None or whole <= most:
        return []
    left = f"{whole - most:,} more{what and ' '}{what}"
    return screen.prose([(f"\N{HORIZONTAL ELLIPSIS} {left}: --all", "faint")])


def table_lines(screen: Screen, table: TableBlock, most: int | None) -> list[str]:
    """The columns that say something, and the intervals drawn beside their numbers."""
    whole = len(table.rows)
    places = [*range(whole)][:most]
    if table.kind == "steps" and most is not None and whole > most:  # spread over all steps
        places = [round(at) for at in np.linspace(0, whole - 1, most)]
    rows = [table.rows[at] for at in places]
    kept = [replace(each, cells=[each.cells[at] for at in places])
            for each in table.columns if _says_something(each, screen)]  # fmt: skip
    columns = [_text_column(each, table, rows) for each in kept]
    drawn = [at for at, each in enumerate(kept) if each.kind == "interval"]
    if not drawn:
        return screen.table(columns) if places else []
    cells = [each for each in kept[drawn[0]].cells if isinstance(each, Interval)]
    scale = 100 if table.percent else 1
    forest = Forest(
        [(each.lo, each.mid, each.hi) for each in cells], [row.bright for row in rows],
        lambda value: f"{scale * value:.6g}".replace("-", MINUS), drawn[0] + 1,
        zero=table.centre, marked=(table.margin,) * (table.kind == "gate"),
        share=table.centre is None and table.percent,
    )  # fmt: skip
    return screen.table(columns, forest)


def _says_something(column: Column, screen: Screen) -> bool:
    """Whether a column has something to say, and there is room for it."""
    texts = {*column.words}
    if column.kind == "tier":
        return len(column.cells) > 2 and bool(texts - {"1", MISSING})
    if column.kind == "chance":
        return screen.width > _USUAL_WIDTH and texts != {""}
    return column.kind != "other" and (column.kind != "rank" or texts != {""})


def _text_column(column: Column, table: TableBlock, rows: Sequence[TableRow]) -> TextColumn:
    if column.kind == "interval":
        percent = " (%)" if table.centre is None and table.percent else ""
        return TextColumn(column.head + percent, _interval_cells(column, table, rows))
    cells: list[TextCell] = []
    for each in column.cells:
        style, words = ("", "") if isinstance(each, Interval) else (each.style, each.words)
        words = words or MISSING * (column.kind == "rank")
        cells.append([(_SAID.get(style, words) if column.kind == "verdict" else words, style)])
    spare = column.kind in {"tier", "chance", "spare"}
    return TextColumn(column.head, cells, right=spare or column.kind == "number", spare=spare,
                      names=column.kind == "name")  # fmt: skip


_SAID = {"pass": "pass", "fail": "fail", "open": "undecided"}


def _interval_cells(column: Column, table: TableBlock, rows: Sequence[TableRow]) -> list[TextCell]:
    """Numbers with faint ends; those of differences stand below one another."""
    cells = [each for each in column.cells if isinstance(each, Interval)]
    width = max((len(each.text) for each in cells), default=0) * (table.centre == 0)
    return [
        [(f"{each.text or MISSING:>{width}}", "bold" * (row.bright and table.centre is None)),
         (f" {each.ends}" if each.ends else "", "faint")]
        for each, row in zip(cells, rows, strict=True)
    ]  # fmt: skip


_FEWEST_COLUMNS = 3  # that are kept, however narrow a terminal is


def board_lines(table: Table, screen: Screen, rest: str) -> list[str]:
    """A leaderboard in the width of a terminal, and who writes the columns that it leaves out."""
    columns = [
        TextColumn(": ".join(filter(None, (each.group, each.head))), each.cells, each.right)
        for each in table.columns
    ]
    number, plain = len(columns), replace(screen, coloured=False)
    wide = [max(map(cells_of, plain.table(columns[:kept]))) for kept in range(number + 1)]
    kept = max(_FEWEST_COLUMNS, sum(cells <= screen.width for cells in wide) - 1)
    said = f"{count_of(number - kept, 'more column')}: {rest}. " if kept < number else ""
    return [*screen.table(columns[:kept]), "", *screen.prose(f"{said}{table.note}")]


def board_text(table: Table) -> str:
    """A leaderboard as Python prints it, in the width of the terminal and without colours."""
    screen = replace(Screen.from_output(), coloured=False)
    return "\n".join(board_lines(table, screen, "ps.to_markdown(leaderboard)"))
