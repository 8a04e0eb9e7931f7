"""The texts of a table: numbers with their intervals, and what stands beside them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import floor, isfinite, log10

import polars as pl

from polars_scorio.arguments import check_count, check_flag
from polars_scorio.display.leaderboard import FACTS, JUDGED_ENDS, SEPARATOR
from polars_scorio.display.metric_titles import column_heading, row_heading
from polars_scorio.display.notes import HEADINGS, each_trials, table_note
from polars_scorio.display.number_format import MISSING, Scale, probability_text, sigma_values
from polars_scorio.reporting.threshold_curves import in_one_column

_DIGITS = 6  # decimals of a number that a user joined, at most
# Tables with a single number in each row: what it is called, where the name of its metric is not.
_TIDY = {"mu": "score", "diff": "difference"}
_CHANCES = {"prob", "p_best"}
# What a table has no room for, or says in the note.
_HIDDEN = {
    *FACTS,
    "holds",
    "sigma",
    "rank_ci",
    "rank_lo",
    "rank_hi",
    "could_be_best",
    "z_next",
    "prior",
}


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table for people.

    Attributes
    ----------
    group, label : str
        The stratum, or nothing; and what stands below it.
    texts : tuple of str
        The cells.
    right : bool
        Whether they are numbers, which stand on the right.
    interval : bool
        Whether they have intervals.
    heat : tuple of float or None
        Where each lies between the least (0) and the largest (1); empty without colours.
    bold : tuple of bool
        Whether each is bold: the names of models that are first beyond doubt; empty without any.
    """

    group: str
    label: str
    texts: tuple[str, ...]
    right: bool = False
    interval: bool = False
    heat: tuple[float | None, ...] = ()
    bold: tuple[bool, ...] = ()

    def bold_texts(self, text: Callable[[str], str], bold: str) -> list[str]:
        """The cells after a change of their texts, the bold ones in a frame such as ``**{}**``."""
        marks = self.bold or (False,) * len(self.texts)
        return [
            bold.format(text(cell)) if mark else text(cell)
            for cell, mark in zip(self.texts, marks, strict=True)
        ]


@dataclass(frozen=True, slots=True)
class Number:
    """The columns of a frame that have a number, its interval and its estimate.

    Attributes
    ----------
    name : str
        The column of the number, which says where the table has it.
    group, metric : str
        The stratum, and the name of the metric.
    value : str
        The column of what lies in the interval: `name`, or that of mu.
    parts : tuple of str
        The columns of lo, hi, sigma and the estimate, of which the last two may be missing.
    """

    name: str
    group: str
    metric: str
    value: str
    parts: tuple[str, str, str, str]

    @classmethod
    def find(cls, columns: Sequence[str]) -> list[Number]:
        """The numbers of a leaderboard or of any other result."""
        found, known = [], set(columns)
        for name in columns:
            *group, metric = name.rsplit(SEPARATOR, 1)
            lo, hi, sigma, estimate, mu = (
                f"{name}_{end}" for end in ("lo", "hi", "sigma", "estimate", "mu")
            )
            # Of a wide report the name is that of the estimate where mu has a column of its own.
            estimate, value = (name, mu) if mu in known else (estimate, name)
            if {lo, hi} <= known and name not in _HIDDEN and name != "rank":
                parts = (lo, hi, sigma, estimate)
                found.append(cls(name, "".join(group), metric, value, parts))
        if not found and {"lo", "hi"} <= known:
            parts = ("lo", "hi", "sigma", "estimate")
            found = [cls(name, "", name, name, parts) for name in _TIDY if name in known]
        return found


@dataclass(frozen=True, slots=True)
class Table:
    """The texts of a frame."""

    columns: tuple[Column, ...]
    note: str

    @classmethod
    def read(cls, frame: object, *, percent: bool | None, digits: int | None = None) -> Table:
        """Find the numbers by their names, and write them."""
        percent = None if percent is None else check_flag("percent", percent)
        digits = None if digits is None else check_count("digits", digits, least=0, most=12)
        if not isinstance(frame, pl.DataFrame):
            raise TypeError(f"a table is made of a DataFrame, got {type(frame).__name__}")
        numbers = Number.find(frame.columns)
        if not numbers:
            raise ValueError(
                "a table is made of what leaderboard, report, compare or rank returns, with "
                f"columns such as bayes, bayes_lo and bayes_hi; the columns are {frame.columns}"
            )
        shown = {number.name: number for number in numbers}
        hidden = {part for each in numbers for part in (each.value, *each.parts)} | _HIDDEN
        hidden |= {f"{each.name}{end}" for each in numbers for end in JUDGED_ENDS}
        frame = in_one_column(frame)
        # One metric is said once, above its numbers.
        hidden |= {"metric"} if _only_heading(frame) else set()
        columns: list[Column] = []
        for name in frame.columns:
            if name in shown:
                columns += _number_columns(
                    frame, shown[name], numbers, percent=percent, digits=digits
                )
            elif name not in hidden and not (name == "k" and "metric" in frame.columns):
                columns.append(_plain_column(frame, name))
        pairs = [(each.value, each.parts[-1]) for each in numbers]
        columns, stratum = _without_twins(_with_bold_names(columns, frame))
        if stratum or all(number.group for number in numbers):
            frame = frame.drop("overall", strict=False)
        notes = [f"Stratum: {stratum}."] * bool(stratum)
        notes += [table_note(frame, pairs)] if frame.height else []
        return cls(tuple(columns), " ".join(filter(None, notes)))

    @classmethod
    def of_columns(cls, frame: pl.DataFrame) -> Table:
        """A table of the columns as they are, without intervals or a note."""
        return cls(tuple(_plain_column(frame, name) for name in frame.columns), "")

    def written(self, text: Callable[[str], str]) -> Table:
        """The table after a change of all its texts."""
        columns = tuple(
            replace(each, group=text(each.group), label=text(each.label),
                    texts=tuple(map(text, each.texts)))
            for each in self.columns
        )  # fmt: skip
        return Table(columns, self.note)


def _with_bold_names(columns: Sequence[Column], frame: pl.DataFrame) -> list[Column]:
    """The columns, with bold names of the models that have the first rank and no other."""
    if not {"rank", "rank_lo", "rank_hi"} <= set(frame.columns) or frame.height == 1:
        return [*columns]
    first = tuple(frame["rank_hi"].eq_missing(1))
    place = [column.label for column in columns].index("rank") + 1
    return [
        replace(column, bold=first) if at == place and any(first) else column
        for at, column in enumerate(columns)
    ]


def _without_twins(columns: Sequence[Column]) -> tuple[list[Column], str]:
    """The columns without those of the only stratum, if the whole log has the same; its name."""
    strata = {column.group for column in columns if column.group}
    twins = [replace(column, group="") for column in columns if column.group]
    if len(strata) != 1 or not all(twin in columns for twin in twins):
        return [*columns], ""
    return [column for column in columns if not column.group], strata.pop()


def _number_columns(
    frame: pl.DataFrame,
    number: Number,
    numbers: Sequence[Number],
    *,
    percent: bool | None,
    digits: int | None,
) -> Iterator[Column]:
    """A number with its interval and, where it is another, its estimate.

    All strata of a metric have the same unit, digits and colours.
    """
    same = [other for other in numbers if other.metric == number.metric]
    values = [value for other in same for value in frame[other.value].drop_nulls()]
    sigmas = [
        sigma for other in same for sigma in sigma_values(frame, other.parts[2], *other.parts[:2])
    ]
    least = -1.0 if number.name == "diff" else 0.0
    scale = Scale.of(values, sigmas, least=least, percent=percent, digits=digits)
    label = _number_heading(frame, number)
    lo, hi, _, estimate = number.parts
    cells = tuple(scale.cell(*row) for row in frame.select(number.value, lo, hi).rows())
    heat = tuple(_heat_share(value, values) for value in frame[number.value])
    yield Column(number.group, f"{label}{scale.sign}", cells, right=True, interval=True, heat=heat)
    if estimate in frame.columns:
        texts = tuple(map(scale.text, frame[estimate]))
        known = frame[estimate].is_not_null().any()
        if known and texts != tuple(map(scale.text, frame[number.value])):
            yield Column(number.group, f"estimate{scale.sign}", texts, right=True)


def _number_heading(frame: pl.DataFrame, number: Number) -> str:
    """Heading of a number: its metric, and what it is of several or of a pair of models."""
    if number.name not in _TIDY:
        known = _board_headings(frame).get(number.metric)
        return known or column_heading(number.metric, each_trials(frame))
    metric, kind = _only_heading(frame), _TIDY[number.name]
    if not metric:
        return kind
    return f"{kind} of {metric}" if number.name == "diff" else metric


def _only_heading(frame: pl.DataFrame) -> str:
    """The metric of all rows as people write it; empty if there is none or several."""
    if not {"metric", "k"} <= set(frame.columns):
        return ""
    found = frame.select("metric", "k").unique().rows()
    return row_heading(found[0][0], found[0][1], each_trials(frame)) if len(found) == 1 else ""


def _board_headings(frame: pl.DataFrame) -> dict[str, str]:
    """Headings that a leaderboard has for the columns of its metrics."""
    if HEADINGS not in frame.columns:
        return {}
    texts = frame[HEADINGS].drop_nulls().unique().sort()  # several, if boards were joined
    return {name: heading for text in texts for name, heading in json.loads(text).items()}


def _plain_column(frame: pl.DataFrame, name: str) -> Column:
    """A column beside the numbers: the ranks that are open, metrics as people write them."""
    if name == "rank" and {"rank_lo", "rank_hi"} <= set(frame.columns):
        return Column("", name, tuple(rank_texts(frame)), right=True)
    if name == "metric" and "k" in frame.columns:
        trials = each_trials(frame)
        texts = tuple(
            row_heading(metric, k, trials) for metric, k in frame.select(name, "k").rows()
        )
        return Column("", name, texts)
    column = frame[name]
    if name in _CHANCES:
        return Column("", name, tuple(map(probability_text, column)), right=True)
    if column.dtype.is_float():
        return Column("", name, tuple(_short_numbers(column)), right=True)
    return Column("", name, tuple(map(_cell_text, column)), right=column.dtype.is_numeric())


def rank_texts(frame: pl.DataFrame) -> Iterator[str]:
    """The places that a model may have.

    >>> list(rank_texts(pl.DataFrame({"rank_lo": [1, 1, None], "rank_hi": [1, 3, None]})))
    ['1', '1\N{EN DASH}3', '\N{EN DASH}']
    """
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


def _cell_text(value: object) -> str:
    """Text of a value; of a list, its members.

    >>> _cell_text(["a", None, "b"]), _cell_text(None)
    ('a, \N{EN DASH}, b', '\N{EN DASH}')
    """
    if value is None:
        return MISSING
    if isinstance(value, pl.Series | list | tuple):
        return ", ".join(map(_cell_text, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def _heat_share(value: float | None, values: Sequence[float]) -> float | None:
    """Place of a value between the smallest (0) and the largest (1); None if all are equal."""
    if value is None or min(values) == max(values):
        return None
    return (value - min(values)) / (max(values) - min(values))
