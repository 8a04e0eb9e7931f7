"""Totals per question, as published tables and some tools have them, as counts of categories."""

from __future__ import annotations

from typing import overload

import polars as pl
from polars.exceptions import ColumnNotFoundError

from polars_scorio.counting.checks import check_frame
from polars_scorio.counting.lists import AS_ROWS

_BAD = ":bad"


@overload
def from_successes(frame: pl.DataFrame, n: str = ..., successes: str = ...) -> pl.DataFrame: ...
@overload
def from_successes(frame: pl.LazyFrame, n: str = ..., successes: str = ...) -> pl.LazyFrame: ...
def from_successes(
    frame: pl.DataFrame | pl.LazyFrame, n: str = "n", successes: str = "c"
) -> pl.DataFrame | pl.LazyFrame:
    """Counts of failure and success from the totals of each question.

    Parameters
    ----------
    frame : DataFrame or LazyFrame
        One row per question (and model, and stratum): its number of trials, and of successes.
    n, successes : str
        The columns of these numbers.

    Returns
    -------
    DataFrame or LazyFrame
        As `frame`, with two rows for each of its rows: the columns `n` and `successes` make way for
        `category` (0 and 1, Int8) and `count` (Int64). Read it with ``.scorio(count="count")``.

    Raises
    ------
    ColumnNotFoundError, TypeError, ValueError
        At the call: if a column is missing or holds no numbers, or `category` or `count` is there
        already. At collection: totals that are null, negative or fractional, more successes than
        trials; with the first such row.

    Examples
    --------
    >>> import polars as pl
    >>> import polars_scorio as ps
    >>> totals = pl.DataFrame({"model": "m", "question": [1, 2], "n": [4, 4], "c": [1, 3]})
    >>> counts = ps.from_successes(totals)
    >>> counts.rows()
    [('m', 1, 0, 3), ('m', 1, 1, 1), ('m', 2, 0, 1), ('m', 2, 1, 3)]
    >>> counts.scorio(count="count").avg()["mu"].item()
    0.5
    """
    if not isinstance(frame, pl.DataFrame | pl.LazyFrame):
        raise TypeError(f"frame must be a Polars DataFrame or LazyFrame, got {frame!r}")
    plan = _outcome_counts(frame.lazy(), n, successes)
    return plan if isinstance(frame, pl.LazyFrame) else plan.collect(engine="streaming")


def _outcome_counts(frame: pl.LazyFrame, n: str, successes: str) -> pl.LazyFrame:
    schema = frame.collect_schema()
    for role, name in {"n": n, "successes": successes}.items():
        if name not in schema:
            raise ColumnNotFoundError(
                f"there is no column {name!r} for {role}; the columns are {schema.names()}. "
                f"Name it with {role}="
            )
        if not (schema[name].is_integer() or schema[name].is_float()):
            raise TypeError(f"{role} column {name!r} is {schema[name]}; totals are numbers")
    others = [name for name in schema if name not in (n, successes)]
    taken = [name for name in others if name in ("category", "count")]
    if taken:
        raise ValueError(f"the frame has a column {taken[0]!r} already: rename or drop it")
    total, good = pl.col(n), pl.col(successes)
    bad = pl.any_horizontal(
        total.is_null() | good.is_null(), (good < 0) | (good > total),
        *(~_is_whole(pl.col(name)) for name in (n, successes) if schema[name].is_float()),
    ).fill_null(value=True)  # fmt: skip

    def check(rows: pl.DataFrame) -> pl.DataFrame:
        wrong = rows.filter(_BAD)
        if wrong.height:
            first = wrong.row(0, named=True)
            place = ", ".join(f"{name}={first[name]!r}" for name in others)
            raise ValueError(
                f"{wrong.height:,} row{'s have' if wrong.height > 1 else ' has'} wrong totals, "
                f"the first{' at ' * bool(place)}{place}: {n}={first[n]!r}, "
                f"{successes}={first[successes]!r}. They are whole numbers with "
                f"0 <= {successes} <= {n}."
            )
        return rows

    whole = check_frame(frame.with_columns(bad.alias(_BAD)), check)
    codes = pl.concat_list(pl.lit(0, pl.Int8), pl.lit(1, pl.Int8)).alias("category")
    counts = pl.concat_list((total - good).cast(pl.Int64), good.cast(pl.Int64)).alias("count")
    return whole.select(*others, codes, counts).explode("category", "count", **AS_ROWS)


def _is_whole(number: pl.Expr) -> pl.Expr:
    return number.is_finite() & (number == number.floor())
