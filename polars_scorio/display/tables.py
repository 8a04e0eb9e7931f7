"""Leaderboards as tables: HTML with Great Tables, Markdown, LaTeX."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from math import floor, log10
from statistics import median
from typing import TYPE_CHECKING

import polars as pl

from polars_scorio.arguments import check_flag
from polars_scorio.display.leaderboard import ENDS, FACTS, SEPARATOR

if TYPE_CHECKING:
    from great_tables import GT

_MISSING = "\N{EN DASH}"
_USUAL_SIGMA = 0.01  # where all are zero
_LIGHT, _FULL = (255, 255, 255), (130, 190, 235)  # of heat colours; black is legible on both
_MARKDOWN = re.compile(r"[\\|*`<\[\]~]|(?<![0-9A-Za-z])_|_(?![0-9A-Za-z])|&(?=[#0-9A-Za-z])")
# Where Markdown makes links of bare addresses, whatever stands before them.
_LINKS = re.compile(r"(?<=:)(?=//)|(?<=www)(?=\.)|(?=@)", re.IGNORECASE)
# What turns the direction of a text around, and other characters that are not seen but do things.
_CONTROLS = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"
)
_LATEX = {
    **{char: f"\\{char}" for char in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    _MISSING: "--",
}


def style(leaderboard: pl.DataFrame, *, percent: bool | None = None) -> GT:
    """A leaderboard as a Great Tables table, for notebooks and HTML.

    It needs the extra `style`: ``pip install "polars-scorio[style]"``.

    Parameters
    ----------
    leaderboard : DataFrame
        What `df.scorio.leaderboard` returns; rows may be filtered, columns left out or joined.
    percent : bool, optional
        Whether numbers are percentages. Default: those of each metric that all lie within 0 and 1.

    Returns
    -------
    great_tables.GT
        Numbers as ``64.3 [41.1, 87.5]``, with so many decimals that the median sigma of the
        metric has two significant digits, percentages with one decimal at least; the larger the
        number, the darker its cell, a metric on the same scale in all strata. The source note says
        how many questions and trials there are, and what the intervals mean.

    Raises
    ------
    ImportError
        If Great Tables is not installed.
    TypeError, ValueError
        If it is no leaderboard.

    Examples
    --------
    >>> import polars as pl
    >>> import polars_scorio as ps
    >>> trials = pl.DataFrame({"model": ["ada", "bob"], "question": 1, "category": [1, 0]})
    >>> table = ps.style(trials.scorio(trial=None).leaderboard(ps.bayes()))
    >>> "66.7 [20.5, 112.9]" in table.as_raw_html()
    True
    """
    try:
        from great_tables import GT, loc, style  # noqa: PLC0415 - an extra
    except ImportError:
        raise ImportError('style needs Great Tables: pip install "polars-scorio[style]"') from None
    table = _Table.read(leaderboard, percent=percent)
    shown = pl.DataFrame({column.name: column.texts for column in table.columns})
    made = GT(shown).cols_label({column.name: column.label for column in table.columns})
    for group, columns in groupby(table.columns, lambda column: column.group):
        if group:
            made = made.tab_spanner(group, columns=[column.name for column in columns])
    for column in table.columns:
        made = made.cols_align("right" if column.number else "left", columns=column.name)
        for row, colour in enumerate(column.colours):
            body = loc.body(columns=column.name, rows=[row])
            made = made.tab_style(style.fill(colour), body) if colour else made
    return made.tab_source_note(table.note) if table.note else made


def to_markdown(leaderboard: pl.DataFrame, *, percent: bool | None = None) -> str:
    """A leaderboard as a Markdown table, for a README or an issue.

    Parameters
    ----------
    leaderboard, percent
        As in `style`.

    Returns
    -------
    str
        The table, an empty line, and the note on questions, trials and intervals.

    Raises
    ------
    TypeError, ValueError
        If it is no leaderboard.

    Examples
    --------
    >>> import polars as pl
    >>> import polars_scorio as ps
    >>> trials = pl.DataFrame({"model": ["ada", "bob"], "question": 1, "category": [1, 0]})
    >>> board = trials.scorio(trial=None).leaderboard(ps.bayes())
    >>> print(ps.to_markdown(board))  # doctest: +ELLIPSIS
    | rank | model | bayes (%) |
    | --- | --- | ---: |
    | 1 | ada | 66.7 [20.5, 112.9] |
    | 1 | bob | 33.3 [-12.9, 79.5] |
    <BLANKLINE>
    1 question, 1 trial per question. In brackets: 95 % credible intervals around the poster...
    """
    table = _Table.read(leaderboard, percent=percent)
    cells = [
        [
            markdown_text(": ".join(filter(None, (column.group, column.label)))),
            "---:" if column.number else "---",
            *(column.texts if column.number else map(markdown_text, column.texts)),
        ]
        for column in table.columns
    ]
    lines = [f"| {' | '.join(row)} |" for row in zip(*cells, strict=True)]
    return "\n".join([*lines, *(["", table.note] if table.note else [])])


def to_latex(leaderboard: pl.DataFrame, *, percent: bool | None = None) -> str:
    r"""A leaderboard as a LaTeX table; it needs the package booktabs.

    Parameters
    ----------
    leaderboard, percent
        As in `style`.

    Returns
    -------
    str
        A tabular, and the note on questions, trials and intervals below it.

    Raises
    ------
    TypeError, ValueError
        If it is no leaderboard.

    Examples
    --------
    >>> import polars as pl
    >>> import polars_scorio as ps
    >>> trials = pl.DataFrame({"model": ["a_1", "b_2"], "question": 1, "category": [1, 0]})
    >>> latex = ps.to_latex(trials.scorio(trial=None).leaderboard(ps.bayes()))
    >>> print("\n".join(latex.splitlines()[:5]))
    \begin{tabular}{llr}
    \toprule
    rank & model & bayes (\%) \\
    \midrule
    1 & a\_1 & 66.7 [20.5, 112.9] \\
    """
    table = _Table.read(leaderboard, percent=percent)
    alignment = "".join("r" if column.number else "l" for column in table.columns)
    cells = [
        [_latex(column.label), *map(_latex_number if column.number else _latex, column.texts)]
        for column in table.columns
    ]
    labels, *rows = (_latex_row(row) for row in zip(*cells, strict=True))
    lines = [
        rf"\begin{{tabular}}{{{alignment}}}",
        r"\toprule",
        *_spanners(table.columns),
        labels,
        r"\midrule",
        *rows,
        r"\bottomrule",
        r"\end{tabular}",
    ]
    note = [r"\par\smallskip", rf"{{\footnotesize {_latex(table.note)}\par}}"]
    return "\n".join([*lines, *(note if table.note else [])])


@dataclass(frozen=True, slots=True)
class _Column:
    """A column of a table for people.

    Attributes
    ----------
    name : str
        The column of the leaderboard.
    group, label : str
        The stratum, or nothing; and what stands below it.
    texts : tuple of str
        The cells.
    number : bool
        Whether they are numbers with intervals.
    colours : tuple of str
        Their heat colours, empty where a cell has none.
    """

    name: str
    group: str
    label: str
    texts: tuple[str, ...]
    number: bool = False
    colours: tuple[str, ...] = ()

    def visible(self) -> _Column:
        """The same where every character is seen."""
        texts = tuple(map(visible, self.texts))
        return replace(self, group=visible(self.group), label=visible(self.label), texts=texts)


@dataclass(frozen=True, slots=True)
class _Table:
    """The texts of a leaderboard."""

    columns: tuple[_Column, ...]
    note: str

    @classmethod
    def read(cls, board: pl.DataFrame, *, percent: bool | None) -> _Table:
        """Find the numbers by their names, and write them."""
        if percent is not None:
            percent = check_flag("percent", percent)
        if not isinstance(board, pl.DataFrame):
            raise TypeError(f"a leaderboard is a DataFrame, got {type(board).__name__}")
        numbers = [
            name for name in board.columns if {f"{name}{end}" for end in ENDS} <= set(board.columns)
        ]
        if not numbers:
            raise ValueError(
                "a leaderboard has columns such as bayes, bayes_sigma, bayes_lo and bayes_hi; the "
                f"columns are {board.columns}. Pass what df.scorio.leaderboard returns."
            )
        parts = {f"{name}{end}" for name in numbers for end in ENDS}
        columns = tuple(
            _number(board, name, numbers, percent=percent)
            if name in numbers
            else _words(board, name)
            for name in board.columns
            if name not in parts and name not in FACTS
        )
        outside = sum(
            board.select((~pl.col(name).is_between(f"{name}_lo", f"{name}_hi")).sum()).item()
            for name in numbers
        )
        shown = tuple(column.visible() for column in columns)
        return cls(shown, _note(board, outside) if board.height else "")


def _words(board: pl.DataFrame, name: str) -> _Column:
    texts = board[name].cast(pl.String).fill_null(_MISSING)
    return _Column(name, "", name, tuple(texts))


def _number(
    board: pl.DataFrame, name: str, numbers: Sequence[str], *, percent: bool | None
) -> _Column:
    """Numbers with intervals as texts, all with the same number of digits."""
    *group, metric = name.split(SEPARATOR)
    same = [other for other in numbers if other.split(SEPARATOR)[-1] == metric]
    values = [value for other in same for value in board[other].drop_nulls()]
    sigmas = [sigma for other in same for sigma in board[f"{other}_sigma"].drop_nulls() if sigma]
    if percent is None:
        percent = all(0 <= value <= 1 for value in values)
    unit = 100 if percent else 1
    digits = max(_digits(unit * median(sigmas or [_USUAL_SIGMA])), 1 if percent else 0)

    def text(value: float | None) -> str:
        # Adding zero turns -0.0 into 0.0.
        return _MISSING if value is None else f"{round(unit * value, digits) + 0.0:.{digits}f}"

    def cell(value: float | None, lo: float | None, hi: float | None) -> str:
        interval = "" if lo is None or hi is None else f" [{text(lo)}, {text(hi)}]"
        return text(value) + interval

    cells = board.select(name, f"{name}_lo", f"{name}_hi").rows()
    return _Column(
        name,
        SEPARATOR.join(group),
        f"{metric} (%)" if percent else metric,
        tuple(cell(*row) for row in cells),
        number=True,
        colours=tuple(_heat(value, values) for value in board[name]),
    )


def _digits(sigma: float) -> int:
    """Decimals that show two significant digits of sigma.

    >>> [_digits(sigma) for sigma in (118.0, 11.8, 0.118, 0.0096)]
    [-1, 0, 2, 4]
    """
    return 1 - floor(log10(sigma))


def _heat(value: float | None, values: Sequence[float]) -> str:
    """A colour for a value among others; none where they are all the same."""
    if value is None or min(values) == max(values):
        return ""
    share = (value - min(values)) / (max(values) - min(values))
    mixed = (
        round(light + share * (full - light)) for light, full in zip(_LIGHT, _FULL, strict=True)
    )
    return "#" + "".join(f"{part:02x}" for part in mixed)


def _note(board: pl.DataFrame, outside: int) -> str:
    """What holds for all numbers, as far as the columns that say so are still there."""
    known = {name for name in FACTS if name in board.columns}
    notes = []
    if {"questions", "trials"} <= known:
        each = (board["trials"] / board["questions"]).round(1)
        notes.append(
            f"{_range(board['questions'], 'question')}, {_range(each, 'trial')} per question."
        )
    if "dropped" in known and board["dropped"].sum():
        notes.append(f"{_range(board['dropped'], 'trial')} of a model dropped.")
    if "overall" in known:
        means = {"macro": "means of the strata", "micro": "all questions in one pool"}
        kinds = [means.get(kind, kind) for kind in board["overall"].unique().sort()]
        notes.append(f"Columns without a stratum: {', '.join(kinds)}.")
    if "confidence" in known:
        level = " or ".join(f"{100 * each:g} %" for each in board["confidence"].unique().sort())
        notes.append(
            f"In brackets: {level} credible intervals around the posterior mean. Models that are "
            f"not told apart from the one before at {level} share its rank."
        )
    if "prior" in known:
        notes.append(f"Prior: {', '.join(board['prior'].unique().sort())}.")
    if outside:
        notes.append(
            f"Estimates outside their interval: {outside:,}; there the prior outweighs the data, "
            'and pooling="partial" fits it to them.'
        )
    return " ".join(notes)


def _range(numbers: pl.Series, unit: str) -> str:
    """One number, or the smallest and the largest, with their unit."""
    values = numbers.drop_nulls().to_list()
    ends = sorted({min(values), max(values)}) if values else []
    texts = [f"{end:,.1f}".removesuffix(".0") for end in ends]
    return f"{' to '.join(texts)} {unit}{'' if ends == [1] else 's'}"


def _spanners(columns: Sequence[_Column]) -> list[str]:
    """The strata above their columns, in LaTeX."""
    if not any(column.group for column in columns):
        return []
    heads, rules, start = [], [], 1
    for group, members in groupby(columns, lambda column: column.group):
        size = len(list(members))
        heads.append(rf"\multicolumn{{{size}}}{{c}}{{{_latex(group)}}}")
        if group:
            rules.append(rf"\cmidrule(lr){{{start}-{start + size - 1}}}")
        start += size
    return [" & ".join(heads) + r" \\", "".join(rules)]


def visible(text: str) -> str:
    r"""Text with the names of characters that would change how the others are read.

    >>> visible("safe\u202e5-tpg")
    'safe(U+202E)5-tpg'
    """
    return _CONTROLS.sub(lambda found: f"(U+{ord(found.group()):04X})", text)


def markdown_text(text: str) -> str:
    """Text that Markdown shows as it is; a hyphen in front is no list inside a cell.

    No backslash keeps an address from becoming a link, but a word joiner, which is not seen, does.
    """
    escaped = _MARKDOWN.sub(lambda found: f"\\{found.group()}", " ".join(text.split()))
    return _LINKS.sub("\N{WORD JOINER}", escaped)


def _latex(text: str) -> str:
    """Text that LaTeX shows as it is."""
    return "".join(_LATEX.get(char, char) for char in " ".join(text.split()))


def _latex_row(cells: Sequence[str]) -> str:
    """A row that does not begin with what the line break or the rule before would take for its own.

    >>> _latex_row(["[x]", "1"])[:9]
    '{}[x] & 1'
    """
    row = " & ".join(cells) + r" \\"
    return f"{{}}{row}" if row.startswith(("[", "*")) else row


def _latex_number(text: str) -> str:
    """A number with its interval, where a hyphen is a minus."""
    return text.replace("-", "$-$").replace(_MISSING, "--")
