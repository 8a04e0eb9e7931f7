"""Tables: cells, order, text, Markdown, LaTeX; and the flat dict of a tracker."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from math import floor, isfinite, log10
from typing import TYPE_CHECKING

import polars as pl

from polars_scorio.arguments import check_count, check_flag, value_text
from polars_scorio.display.facts.table_facts import (
    BEST,
    HEADINGS,
    RowFacts,
    board_headings,
    each_trials,
    exceeded_trials,
    has_tiers,
)
from polars_scorio.display.leaderboard import FACTS, JUDGED_ENDS, SEPARATOR
from polars_scorio.display.phrases import (
    MISSING,
    NumberFormat,
    column_heading,
    probability_text,
    row_heading,
    sigma_values,
    visible_text,
)
from polars_scorio.display.words.table_words import DAGGER, table_note
from polars_scorio.study.report import in_one_column

if TYPE_CHECKING:
    from great_tables import GT


_DIGITS = 6  # decimals of a number that a user joined, at most
# Tables with a single number in each row: what it is called, where the name of its metric is not.
_TIDY = {"mu": "score", "estimate": "score", "diff": "difference"}
_CHANCES = {"prob_better", "prob_best"}
# What a table has no room for, or says in the note.
_HIDDEN = {
    *FACTS,
    "adjusted_for",
    "sigma",
    "rank_tied",
    "rank_lo",
    "rank_hi",
    "could_be_best",
    "tier",
    "z_next",
    "prior",
}


@dataclass(frozen=True, slots=True)
class FrameColumn:
    """A column of a table for people."""

    head: str
    cells: Sequence[str]  # a text for each row
    right: bool = True  # numbers, aligned on the right
    group: str = ""  # stratum, or empty
    interval: bool = False  # the cells have intervals
    heat: tuple[float | None, ...] = ()  # 0 (least) to 1 (largest); empty without colours
    bold: tuple[bool, ...] = ()  # the best beyond doubt; empty without any

    def bold_cells(self, text: Callable[[str], str], bold: str) -> list[str]:
        """The cells after a change of their texts, the bold ones in a frame such as ``**{}**``.

        A number is bold without its interval.
        """
        parts = (each.partition(" [") if self.interval else (each, "", "") for each in self.cells)
        marks = self.bold or (False,) * len(self.cells)
        return [
            (bold if mark else "{}").format(text(first)) + (f" {text(f'[{ends}')}" if ends else "")
            for (first, _, ends), mark in zip(parts, marks, strict=True)
        ]


@dataclass(frozen=True, slots=True)
class NumberColumns:
    """Columns of a frame that have a number, its interval and its estimate."""

    name: str  # column of the number: its place in the table
    group: str  # stratum
    metric: str
    value: str  # column of what lies in the interval: `name`, or mu
    parts: tuple[str, str, str, str]  # columns of lo, hi, sigma, estimate; last two optional

    @classmethod
    def find(cls, columns: Sequence[str]) -> list[NumberColumns]:
        """The numbers of a leaderboard or of any other result."""
        numbers, known = [], set(columns)
        for name in columns:
            *group, metric = name.rsplit(SEPARATOR, 1)
            lo, hi, sigma, estimate, mu = (
                f"{name}_{end}" for end in ("lo", "hi", "sigma", "estimate", "mu")
            )
            # Of a wide report the name is that of the estimate where mu has a column of its own.
            estimate, value = (name, mu) if mu in known else (estimate, name)
            if {lo, hi} <= known and name not in _HIDDEN and name != "rank":
                parts = (lo, hi, sigma, estimate)
                numbers.append(cls(name, "".join(group), metric, value, parts))
        if not numbers and {"lo", "hi"} <= known:
            parts = ("lo", "hi", "sigma", "estimate")
            numbers = [cls(name, "", name, name, parts) for name in _TIDY if name in known][:1]
        return numbers

    def unbiased(self, frame: pl.DataFrame) -> str:
        """The column that is null where k exceeds the trials, whatever a prior says."""
        return self.parts[-1] if self.parts[-1] in frame.columns else self.value


@dataclass(frozen=True, slots=True)
class Table:
    """Columns of the same length, and what is said about them."""

    columns: Sequence[FrameColumn]
    note: str = ""  # below the table

    @classmethod
    def read(cls, frame: object, *, percent: bool | None, digits: int | None = None) -> Table:
        """Find the numbers by their names, and write them."""
        percent = None if percent is None else check_flag("percent", percent)
        digits = None if digits is None else check_count("digits", digits, least=0, most=12)
        if not isinstance(frame, pl.DataFrame):
            raise TypeError(f"a table is made of a DataFrame, got {type(frame).__name__}")
        numbers = NumberColumns.find(frame.columns)
        if not numbers:
            raise ValueError(
                "a table is made of what leaderboard, report, compare or rank returns, with "
                f"columns such as bayes, bayes_lo and bayes_hi; the columns are {frame.columns}"
            )
        numbers_by_name = {number.name: number for number in numbers}
        hidden = {part for each in numbers for part in (each.value, *each.parts)} | _HIDDEN
        hidden |= {f"{each.name}{end}" for each in numbers for end in (*JUDGED_ENDS, BEST)}
        frame = in_one_column(frame)
        hidden -= {"tier"} if has_tiers(frame) else set()
        # One metric is said once, above its numbers.
        hidden |= {"metric"} if _only_heading(frame) else set()
        columns: list[FrameColumn] = []
        for name in frame.columns:
            if name in numbers_by_name:
                columns += _read_number(frame, numbers_by_name[name], numbers, percent, digits)
            elif name not in hidden and not (name == "k" and "metric" in frame.columns):
                columns.append(_plain_column(frame, name))
        columns, stratum = _without_twins(_with_bold_names(columns, frame))
        if stratum or all(number.group for number in numbers):
            frame = frame.drop("overall", strict=False)
        notes = [f"Stratum: {stratum}."] if stratum else []
        ends = [(each.value, each.parts[0], each.unbiased(frame)) for each in numbers]
        notes += [table_note(RowFacts.from_frame(frame, ends))] if frame.height else []
        return cls(columns, " ".join(filter(None, notes)))

    def written(self, text: Callable[[str], str]) -> Table:
        """The table after a change of all its texts."""
        columns = [
            replace(each, group=text(each.group), head=text(each.head),
                    cells=tuple(map(text, each.cells)))
            for each in self.columns
        ]  # fmt: skip
        return replace(self, columns=columns)


def _with_bold_names(columns: Sequence[FrameColumn], frame: pl.DataFrame) -> list[FrameColumn]:
    """The columns, with bold names of the models that have the first rank and no other."""
    ranked = {"rank", "rank_lo", "rank_hi"} <= set(frame.columns)
    if not ranked or frame.height == 1 or HEADINGS in frame.columns:  # of a board numbers are bold
        return [*columns]
    first = tuple(frame["rank_hi"].eq_missing(1))
    place = [column.head for column in columns].index("rank") + 1
    return [
        replace(column, bold=first) if at == place and any(first) else column
        for at, column in enumerate(columns)
    ]


def _without_twins(columns: Sequence[FrameColumn]) -> tuple[list[FrameColumn], str]:
    """The columns without those of the only stratum, if the whole log has the same; its name."""
    strata = {column.group for column in columns if column.group}
    twins = [replace(column, group="") for column in columns if column.group]
    if len(strata) != 1 or not all(twin in columns for twin in twins):
        return [*columns], ""
    return [column for column in columns if not column.group], strata.pop()


def _read_number(
    frame: pl.DataFrame,
    number: NumberColumns,
    numbers: Sequence[NumberColumns],
    percent: bool | None,  # noqa: FBT001 - passed on
    digits: int | None,
) -> Iterator[FrameColumn]:
    """A number with its interval and, where it is another, its estimate.

    All strata of a metric have the same unit, digits and colours.
    """
    same = [other for other in numbers if other.metric == number.metric]
    values = [value for other in same for value in frame[other.value].drop_nulls()]
    sigmas = [
        sigma for other in same for sigma in sigma_values(frame, other.parts[2], *other.parts[:2])
    ]
    least = -1.0 if number.name == "diff" else 0.0
    scale = NumberFormat.from_values(values, sigmas, least=least, percent=percent, digits=digits)
    lo, hi, _, estimate = number.parts
    heat = tuple(_heat_share(value, values) for value in frame[number.value])
    rows = frame.select(number.value, lo, hi).rows()
    beyond = frame.select(exceeded_trials(number.unbiased(frame), lo)).to_series()
    cells = tuple(scale.cell(*row) + DAGGER * mark for row, mark in zip(rows, beyond, strict=True))
    best = frame.get_column(f"{number.name}{BEST}", default=None)
    bold = () if best is None or frame.height == 1 else tuple(best.fill_null(value=False))
    head = _number_heading(frame, number) + scale.sign
    yield FrameColumn(head, cells, group=number.group, interval=True, heat=heat, bold=bold)
    known = estimate in frame.columns and not beyond.any()
    estimates = tuple(map(scale.text, frame[estimate])) if known else ()
    if known and estimates != tuple(map(scale.text, frame[number.value])):
        yield FrameColumn(f"estimate{scale.sign}", estimates, group=number.group)


def _number_heading(frame: pl.DataFrame, number: NumberColumns) -> str:
    """Heading of a number: its metric, and what it is of several or of a pair of models."""
    if number.name in _TIDY:
        metric, kind = _only_heading(frame), _TIDY[number.name]
        return f"{kind} of {metric}" if metric and number.name == "diff" else metric or kind
    known = {name: text for board in board_headings(frame) for name, text in board.items()}
    return known.get(number.metric) or column_heading(number.metric, each_trials(frame))


def _only_heading(frame: pl.DataFrame) -> str:
    """The metric of all rows as people write it; empty if there is none or several."""
    known = {"metric", "k"} <= set(frame.columns)
    headings = frame.select("metric", "k").unique().rows() if known else []
    if len(headings) != 1:
        return ""
    return row_heading(headings[0][0], headings[0][1], each_trials(frame))


def _plain_column(frame: pl.DataFrame, name: str) -> FrameColumn:
    """A column beside the numbers: the ranks that are open, metrics as people write them."""
    if name == "rank" and {"rank_lo", "rank_hi"} <= set(frame.columns):
        return FrameColumn(name, tuple(rank_texts(frame)))
    if name == "metric" and "k" in frame.columns:
        trials, rows = each_trials(frame), frame.select(name, "k").rows()
        return FrameColumn(name, [row_heading(each, k, trials) for each, k in rows], right=False)
    column = frame[name]
    if name in _CHANCES:
        return FrameColumn(name, tuple(map(probability_text, column)))
    if column.dtype.is_float():
        return FrameColumn(name, tuple(_short_numbers(column)))
    return FrameColumn(name, tuple(map(cell_text, column)), right=column.dtype.is_numeric())


def rank_texts(frame: pl.DataFrame) -> Iterator[str]:
    """The places that a model may have."""
    for lo, hi in frame.select("rank_lo", "rank_hi").rows():
        yield MISSING if lo is None else f"{lo}" if lo == hi else f"{lo}\N{EN DASH}{hi}"


def _short_numbers(column: pl.Series) -> Iterator[str]:
    """Numbers with so many decimals that each has its first three digits.

    >>> list(_short_numbers(pl.Series([0.15, 2.5, 10.0, 0.1 + 0.2])))
    ['0.15', '2.50', '10.00', '0.30']
    """
    finite = [value for value in column.drop_nulls() if isfinite(value) and value]
    shorter = [f"{round(value, 2 - floor(log10(abs(value)))):.{_DIGITS}f}" for value in finite]
    digits = max((len(text.rstrip("0").partition(".")[2]) for text in shorter), default=0)
    for value in column:
        yield MISSING if value is None else f"{value:.{digits}f}"


def cell_text(value: object, form: str = "", most: int | None = None) -> str:
    """Text of a value, numbers in a form of `format`; of a list, its members, at most so many.

    >>> cell_text(["a", None, "b"]), cell_text(None), cell_text(1200, ",")
    ('a, \N{EN DASH}, b', '\N{EN DASH}', '1,200')
    """
    if value is None:
        return MISSING
    if isinstance(value, pl.Series | list | tuple):
        rest = f" and {len(value) - most:,} more" if most and len(value) > most else ""
        return ", ".join(map(cell_text, value[:most])) + rest
    return str(value).lower() if isinstance(value, bool) else format(value, form)


def _heat_share(value: float | None, values: Sequence[float]) -> float | None:
    """Place of a value between the smallest (0) and the largest (1); None if all are equal."""
    if value is None or min(values) == max(values):
        return None
    return (value - min(values)) / (max(values) - min(values))


_LIGHT, _FULL = (255, 255, 255), (130, 190, 235)  # of heat colours; black is legible on both
_WIDE = 4  # numbers with their intervals that fit a line of a page; of more each has two lines
_LONG = 40  # characters of a text that is broken into lines in LaTeX
_LONG_COLUMN = r"p{0.28\linewidth}"
# What a tabular shrinks in where it is wider than a line.
_FITTED = r"\par\noindent\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%"
_PIECES = re.compile(r"[^-/_.:]{1,12}[-/_.:]*|[-/_.:]+")
_MARKDOWN = re.compile(r"[\\|*`<\[\]~]|(?<![0-9A-Za-z])_|_(?![0-9A-Za-z])|&(?=[#0-9A-Za-z])")
# Where Markdown makes links of bare addresses, whatever stands before them.
_LINKS = re.compile(r"(?<=:)(?=//)|(?<=www)(?=\.)|(?=@[\w-]+\.)|(?<!\w)(?=@)", re.IGNORECASE)
_LATEX = {
    **{char: f"\\{char}" for char in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    MISSING: "--",
    DAGGER: r"\textsuperscript{\dag}",
}


def to_great_table(
    frame: pl.DataFrame, *, percent: bool | None = None, digits: int | None = None
) -> GT:
    """A result as a Great Tables table, for notebooks and HTML.

    It needs the extra `style`: ``pip install "polars-scorio[style]"``.

    Parameters
    ----------
    frame : DataFrame
        The result of `leaderboard`, `report`, `compare` or `rank`; you may filter rows, drop
        columns and join others.
    percent : bool, optional
        Whether to show percentages. Default: for each metric whose numbers lie between 0 and 1.
    digits : int, optional
        Decimals. Default: as many as show two significant digits of the metric's median sigma; at
        least one for percentages.

    Returns
    -------
    great_tables.GT
        Numbers as ``64.3 [41.1, 87.5]``; the estimate has a column of its own if it differs from
        the number before the interval. Larger numbers have darker cells, with one scale for a
        metric in all strata. The source note says how many questions and trials there are, and
        what the intervals are.

    Raises
    ------
    ImportError
        If Great Tables is not installed.
    TypeError, ValueError
        If `frame` is no such result.

    Examples
    --------
    >>> import polars as pl
    >>> import polars_scorio as ps
    >>> trials = pl.DataFrame({"model": ["ada", "bob"], "question": 1, "category": [1, 0]})
    >>> table = ps.to_great_table(trials.scorio(trial=None).leaderboard(ps.avg()))
    >>> "100.0 [2.5, 100.0]" in table.as_raw_html()
    True
    """
    try:
        from great_tables import GT, loc, style  # noqa: PLC0415 - an extra
    except ImportError:
        raise ImportError(
            'to_great_table needs Great Tables: pip install "polars-scorio[style]"'
        ) from None
    table = _visible_table(frame, percent, digits)
    names = {str(place): column for place, column in enumerate(table.columns)}
    made = GT(pl.DataFrame({name: column.cells for name, column in names.items()}))
    made = made.cols_label({name: column.head for name, column in names.items()})
    for place, (group, members) in enumerate(groupby(names, lambda name: names[name].group)):
        if group:
            # Strata of the same name beside each other are one; others need an id of their own.
            made = made.tab_spanner(group, columns=list(members), id=f"{place}:{group}")
    right = [name for name, column in names.items() if column.right]
    intervals = [name for name, column in names.items() if column.interval]
    made = made.cols_align("left").cols_align("right", columns=right)
    made = made.tab_style(style.css("white-space: nowrap;"), loc.body(columns=intervals))
    for name, column in names.items():
        heat = {row: share for row, share in enumerate(column.heat) if share is not None}
        shades: list[str | None] = [*map(_heat_shade, heat.values())]
        if heat:  # by the numbers, whatever the cells say
            made = made.data_color(name, [*heat], fn=lambda _: shades, autocolor_text=False)  # noqa: B023 - called at once
        bold = [row for row, mark in enumerate(column.bold) if mark]
        if bold:
            made = made.tab_style(style.text(weight="bold"), loc.body(columns=name, rows=bold))
    return made.tab_source_note(table.note) if table.note else made


def to_markdown(
    frame: pl.DataFrame, *, percent: bool | None = None, digits: int | None = None
) -> str:
    """A result as a Markdown table, for a README or an issue.

    Parameters
    ----------
    frame, percent, digits
        As in `to_great_table`.

    Returns
    -------
    str
        The table, an empty line, and the note on questions, trials and intervals.

    Raises
    ------
    TypeError, ValueError
        If `frame` is no such result.

    Examples
    --------
    >>> import polars as pl
    >>> import polars_scorio as ps
    >>> trials = pl.DataFrame({"model": ["ada", "bob"], "question": 1, "category": [1, 0]})
    >>> board = trials.scorio(trial=None).leaderboard(ps.avg())
    >>> print(ps.to_markdown(board.drop("rank")))
    | model | avg@1 (%) |
    | --- | ---: |
    | ada | 100.0 [2.5, 100.0] |
    | bob | 0.0 [0.0, 97.5] |
    <BLANKLINE>
    1 question, 1 trial per question. In brackets: calibrated 95 % intervals, about these questions.
    """
    return markdown_table(_visible_table(frame, percent, digits))


def markdown_text(text: str) -> str:
    """Text that Markdown shows as it is; a hyphen in front is no list inside a cell.

    No backslash keeps an address from becoming a link, but a word joiner, which is not seen, does.
    """
    escaped = _MARKDOWN.sub(lambda match: f"\\{match.group()}", " ".join(text.split()))
    return _LINKS.sub("\N{WORD JOINER}", escaped)


def markdown_rows(frame: pl.DataFrame) -> str:
    r"""Any frame as a Markdown table: as `to_markdown`, or each column as it is.

    >>> print(markdown_rows(pl.DataFrame({"model": ["a|b"], "count": [2]})))
    | model | count |
    | --- | ---: |
    | a\|b | 2 |
    """
    if NumberColumns.find(frame.columns):
        return to_markdown(frame)
    plain = Table([_plain_column(frame, name) for name in frame.columns])
    return markdown_table(plain.written(visible_text))


def markdown_table(table: Table, text: Callable[[str], str] = markdown_text) -> str:
    """Markdown of a table, with its note."""
    cells = [
        [
            text(": ".join(filter(None, (column.group, column.head)))),
            "---:" if column.right else "---",
            *column.bold_cells(str if column.right else text, "**{}**"),
        ]
        for column in table.columns
    ]
    lines = [f"| {' | '.join(row)} |" for row in zip(*cells, strict=True)]
    return "\n".join([*lines, *(["", table.note] if table.note else [])])


def to_latex(
    frame: pl.DataFrame,
    *,
    percent: bool | None = None,
    digits: int | None = None,
    caption: str | None = None,
    label: str | None = None,
) -> str:
    r"""A result as a LaTeX table that fits the page; it needs the packages booktabs and graphicx.

    It is one tabular, whatever the number of strata and metrics: of more than four numbers in a
    row the intervals stand below them. A bold number is the best beyond doubt in its column. Names
    of more than 40 characters break into lines, and a table that is wider than the text shrinks.
    Emoji or Chinese need lualatex and a font that has them.

    Parameters
    ----------
    frame, percent, digits
        As in `to_great_table`.
    caption, label : str, optional
        Caption and label of a table environment around it; LaTeX in the caption is shown as text.

    Returns
    -------
    str
        A tabular, or a table environment if there is a caption or a label; below it the note on
        questions, trials and intervals.

    Raises
    ------
    TypeError, ValueError
        If `frame` is no such result.

    Examples
    --------
    >>> import polars as pl
    >>> import polars_scorio as ps
    >>> trials = pl.DataFrame({"model": ["a_1", "b_2"], "question": 1, "category": [1, 0]})
    >>> latex = ps.to_latex(trials.scorio(trial=None).leaderboard(ps.avg()).drop("rank"))
    >>> print("\n".join(latex.splitlines()[2:7]))
    \begin{tabular}{lr}
    \toprule
    model & avg@1 (\%) \\
    \midrule
    a\_1 & 100.0 [2.5, 100.0] \\
    """
    table = _visible_table(frame, percent, digits)
    foot = [rf"{{\footnotesize {_latex_text(table.note)}\par}}"] if table.note else []
    lines = [_FITTED, *_tabular_lines(table.columns), "}", r"\par\smallskip", *foot]
    if caption is None and label is None:
        return "\n".join([r"{\small", *lines, "}"])
    heads = [] if caption is None else [rf"\caption{{{_latex_text(caption)}}}"]
    heads += [] if label is None else [rf"\label{{{label}}}"]
    return "\n".join([r"\begin{table}", r"\centering\small", *heads, *lines, r"\end{table}"])


def _visible_table(frame: pl.DataFrame, percent: bool | None, digits: int | None) -> Table:  # noqa: FBT001 - passed on
    """The texts of a frame, where every character is seen."""
    return Table.read(frame, percent=percent, digits=digits).written(visible_text)


def _heat_shade(share: float) -> str:
    """The heat colour from the least (0) to the largest (1)."""
    mixed = (light + share * (full - light) for light, full in zip(_LIGHT, _FULL, strict=True))
    return "#" + "".join(f"{round(part):02x}" for part in mixed)


def _tabular_lines(columns: Sequence[FrameColumn]) -> list[str]:
    """A tabular; where it is wide, the intervals of a row are a smaller row below it."""
    alignment, cells = "", []
    wide = sum(column.interval for column in columns) > _WIDE
    for column in columns:
        long = not column.right and max(map(len, column.cells), default=0) > _LONG
        alignment += "r" if column.right else _LONG_COLUMN if long else "l"
        text = _latex_number if column.right else _broken_latex if long else _latex_text
        cells.append([_latex_text(column.head), *column.bold_cells(text, r"\textbf{{{}}}")])
    labels, *bodies = zip(*cells, strict=True)
    rows = [line for row in bodies for line in (_stacked_rows(row) if wide else [_latex_row(row)])]
    heads = [rf"\begin{{tabular}}{{{alignment}}}", r"\toprule", *_stratum_spanners(columns)]
    heads += [_latex_row(labels), r"\midrule"]
    return [*heads, *rows, r"\bottomrule", r"\end{tabular}"]


def _stacked_rows(cells: Sequence[str]) -> list[str]:
    r"""A row of numbers, and below it a row of their intervals.

    >>> print(*_stacked_rows(["ada", "7.5 [6.1, 8.2]"]), sep="\n")
    ada & 7.5 \\
     & {\scriptsize [6.1, 8.2]} \\
    """
    parts = [cell.partition(" [") for cell in cells]
    below = [rf"{{\scriptsize [{rest}}}" if rest else "" for _, _, rest in parts]
    return [_latex_row([first for first, *_ in parts]), _latex_row(below)]


def _stratum_spanners(columns: Sequence[FrameColumn]) -> list[str]:
    """The strata above their columns, in LaTeX."""
    if not any(column.group for column in columns):
        return []
    groups = [column.group for column in columns]
    first = next(place for place, column in enumerate(columns) if column.interval)
    named = next(place for place, group in enumerate(groups) if group)
    groups[first:named] = ["all strata"] * (named - first)
    heads, rules, start = [], [], 1
    for group, members in groupby(groups):
        size = len(list(members))
        heads.append(rf"\multicolumn{{{size}}}{{c}}{{{_latex_text(group)}}}")
        if group:
            rules.append(rf"\cmidrule(lr){{{start}-{start + size - 1}}}")
        start += size
    return [" & ".join(heads) + r" \\", "".join(rules)]


def _latex_text(text: str) -> str:
    """Text that LaTeX shows as it is."""
    return "".join(_LATEX.get(char, char) for char in " ".join(text.split()))


def _broken_latex(text: str) -> str:
    r"""Text that LaTeX may break behind signs, and inside of long words.

    >>> _broken_latex("org/ada_7b")
    'org/\\allowbreak{}ada\\_\\allowbreak{}7b'
    """
    words = ([*map(_latex_text, _PIECES.findall(word))] for word in text.split())
    return " ".join(r"\allowbreak{}".join(pieces) for pieces in words)


def _latex_row(cells: Sequence[str]) -> str:
    """A row that does not begin with what the line break or the rule before would take for its own.

    >>> _latex_row(["[x]", "1"])[:9]
    '{}[x] & 1'
    """
    row = " & ".join(cells) + r" \\"
    return f"{{}}{row}" if row.startswith(("[", "*")) else row


def _latex_number(text: str) -> str:
    r"""A number with its interval, where a hyphen is a minus.

    >>> _latex_number("-0.5 [-1.0, 0.0]"), _latex_number("<0.001")
    ('$-$0.5 [$-$1.0, 0.0]', '\\textless{}0.001')
    """
    return "$-$".join(map(_latex_text, text.split("-")))


_NUMBERS = "estimate", "sigma", "lo", "hi"  # and mu, where a row of the report is a posterior
_REFUSED = re.compile(r"[^\w.\- ]+")  # characters that MLflow does not take, within a part


def to_metrics(report: pl.DataFrame | pl.LazyFrame) -> dict[str, float]:
    """A report as a flat dict of numbers, for MLflow, Weights & Biases and training loops.

    Parameters
    ----------
    report : DataFrame or LazyFrame
        The result of `report` or of a metric; you may filter rows, and drop or join columns before
        `metric`.

    Returns
    -------
    dict of str to float
        Estimate, sigma, lo and hi of each row (and mu, of posteriors), without nulls. A name joins
        by slashes the strata, the model (if there are several), the metric with its value of k, and
        the number: ``"airline/pass_hat_2/lo"``. Characters other than letters, digits, points,
        hyphens and blanks become underscores.

    Raises
    ------
    ValueError
        If the frame is no tidy report, or two rows would have the same name.

    Examples
    --------
    >>> import polars as pl
    >>> import polars_scorio as ps
    >>> log = pl.DataFrame({"model": "ada", "question": [1, 1, 2, 2], "category": [1, 0, 1, 1]})
    >>> report = log.scorio(trial=None).pass_at_k([1, 2])
    >>> metrics = ps.to_metrics(report)
    >>> metrics["pass_at_2/estimate"], len(metrics)
    (1.0, 8)

    In a training loop: ``wandb.log(ps.to_metrics(report), step=step)``.
    """
    if not isinstance(report, pl.DataFrame | pl.LazyFrame):
        raise TypeError(
            "report must be the DataFrame or LazyFrame that report() returns, got "
            f"{value_text(report)}"
        )
    frame = report.lazy().collect()
    lacking = [name for name in ("metric", "k", *_NUMBERS) if name not in frame.columns]
    if lacking:
        raise ValueError(
            f"the frame lacks the columns {lacking} of a tidy report: pass what report() returns, "
            f"without wide=True; the columns are {frame.columns}"
        )
    keys = frame.columns[: frame.columns.index("metric")]
    if "model" in keys and frame["model"].n_unique() <= 1:
        keys.remove("model")
    values: dict[str, float] = {}
    for row in frame.iter_rows(named=True):
        parts = [*(str(row[key]) for key in keys), _metric_at(row["metric"], row["k"])]
        prefix = "/".join(_REFUSED.sub("_", part).strip("_") for part in parts)
        numbers = {f"{prefix}/{name}": row[name] for name in (*_NUMBERS, "mu") if name in row}
        if values.keys() & numbers.keys():
            raise ValueError(
                f"two rows of the report would have the name {prefix!r}: filter the report, or "
                "name its metrics with name="
            )
        values |= {
            name: value
            for name, value in numbers.items()
            if isinstance(value, int | float) and isfinite(value)
        }
    return values


def _metric_at(metric: str, k: int | None) -> str:
    """The name of a metric with the number k in place of the letter.

    >>> _metric_at("g_pass_at_k_tau(tau=0.5)", 2), _metric_at("tail_pass(k=8)", 3)
    ('g_pass_at_2_tau(tau=0.5)', 'tail_pass(k=8)_3')
    """
    if k is None:
        return metric
    named, replaced = re.subn(r"_k(?![a-z0-9])", f"_{k}", metric, count=1)
    return named if replaced else f"{metric}_{k}"
