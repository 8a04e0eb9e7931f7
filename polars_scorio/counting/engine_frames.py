"""Questions to the engine of a frame, through narwhals: its schema and one or two aggregations.

Rows are only ever counted. Distinct ids inside a group_by would be cheaper, but for Dask narwhals
(2.29) adds up the distinct ids of each partition, and an id that is in two of them is lost.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, TypeAlias

import narwhals.stable.v2 as nw
import polars as pl
from narwhals.stable.v2.dtypes import DType

from polars_scorio.counting.checks import IDS, NO_ID
from polars_scorio.counting.log import CATEGORY, COUNT, TRIAL

_BITS, _MOST_IDS = ":bits", 53  # a float sums the powers of two below 2^53 exactly
EngineFrame: TypeAlias = "nw.DataFrame[Any] | nw.LazyFrame[Any]"

# As what a column of Python objects, or of numbers behind a dictionary, is read.
_PLAIN: dict[type, DType] = {
    bool: nw.Boolean(),
    int: nw.Int64(),
    float: nw.Float64(),
    str: nw.String(),
    date: nw.Date(),
}


@dataclass(frozen=True, slots=True, eq=False)
class EngineLog:
    """A log in another engine, and the dtypes by which its columns are grouped."""

    frame: EngineFrame
    plain: dict[str, DType]

    def column(self, name: str) -> nw.Expr:
        """A column in its plain dtype: labels as words, as parts of a log may number them anew."""
        column, plain = nw.col(name), self.plain[name]
        # pandas would write nulls out as words, and groups by whatever there is.
        kept = plain == self.dtype(name) or self.frame.implementation.is_pandas_like()
        return column if kept else column.cast(plain)

    def dtype(self, name: str) -> DType:
        """The dtype that the engine has for a column."""
        return self.frame.collect_schema()[name]

    def schema(self) -> pl.Schema:
        """All columns with the dtypes that they have in Polars; Null where they have no role."""
        dtypes = {name: self._result_dtype(name) for name in self.plain}
        rest = self.frame.collect_schema().names()
        polars = nw.Schema(dtypes).to_polars()
        return pl.Schema({name: polars.get(name, pl.Null()) for name in rest})

    def _result_dtype(self, name: str) -> DType:
        dtype, plain = self.dtype(name), self.plain[name]
        return dtype if plain == nw.String and _is_dictionary(dtype) else plain


def engine_log(frame: object, columns: Iterable[str]) -> EngineLog:
    """A native frame as narwhals sees it, with those of some columns that it has."""
    known: object = nw.from_native(frame, pass_through=True)
    if not isinstance(known, nw.DataFrame | nw.LazyFrame):
        raise TypeError(
            "frame must be of Polars or of an engine that narwhals supports (PySpark, DuckDB, "
            f"Dask, Ibis, pandas, pyarrow, ...), got {type(frame).__name__}"
        )
    present = set(known.collect_schema().names())
    return EngineLog(
        known, {name: _plain_dtype(known, name) for name in columns if name in present}
    )


def engine_outcome(log: EngineLog, category: str, threshold: float | None) -> nw.Expr:
    """The category of a trial; with a threshold 1 if it is reached, 0 if not, -1 for null or NaN.

    All engines make integers without a null of a condition alike; see `threshold_reached`.
    """
    column = log.column(category)
    if threshold is None:
        return column
    missing = column.is_null()
    if log.plain[category].is_float():
        missing = missing | column.is_nan()
    reached = nw.when(column >= threshold).then(nw.lit(1)).otherwise(nw.lit(0))
    return nw.when(missing).then(nw.lit(-1)).otherwise(reached)


def threshold_reached() -> pl.Expr:
    """Whether a threshold was reached, from a collected `engine_outcome`; null if missing."""
    return pl.when(pl.col(CATEGORY) >= 0).then(pl.col(CATEGORY) == 1).alias(CATEGORY)


def category_counts(
    log: EngineLog, keys: Sequence[str], category: nw.Expr, trial: str | None
) -> pl.DataFrame:
    """How many rows with some keys have each category (`COUNT`), and the sum of 2^id (`_BITS`)."""
    columns, sums = [category.alias(CATEGORY)], [nw.len().alias(COUNT)]
    if trial is not None and log.plain[trial].is_integer():
        number = nw.col(trial)
        small = (number >= 0) & (number < _MOST_IDS)
        bit = nw.when(small).then(nw.lit(2.0) ** number).otherwise(nw.lit(2.0**_MOST_IDS))
        columns.append(bit.alias(_BITS))
        sums.append(nw.col(_BITS).sum())
    rows = log.frame.select(*map(log.column, keys), *columns)
    return collect_engine(rows.group_by(*keys, CATEGORY).agg(*sums))


def has_distinct_ids(counts: pl.DataFrame, keys: Sequence[str]) -> bool:
    """Whether the sums of 2^id show that no question has an id twice; many ids they cannot show."""
    # As many ones as terms: each power is there once. Floats are exact up to 2^53.
    if _BITS not in counts:
        return False
    questions = counts.lazy().group_by(keys).agg(pl.col(_BITS, COUNT).sum())
    ones = pl.col(_BITS).cast(pl.UInt64, strict=False).bitwise_count_ones()
    settled = (pl.col(_BITS) < 2.0**_MOST_IDS) & (ones == pl.col(COUNT))
    return bool(questions.select(settled.all()).collect().item())


def distinct_ids(log: EngineLog, keys: Sequence[str], trial: str) -> pl.DataFrame:
    """How many trial ids each question has (`IDS`), and how many rows without one (`NO_ID`)."""
    rows = log.frame.select(*map(log.column, keys), log.column(trial).alias(TRIAL))
    ids = rows.group_by(*keys, TRIAL).agg(nw.len().alias(COUNT))
    none = nw.when(nw.col(TRIAL).is_null()).then(nw.col(COUNT)).otherwise(nw.lit(0))
    each = ids.with_columns(none.alias(NO_ID)).group_by(*keys)
    return collect_engine(each.agg(nw.len().alias(IDS), nw.col(NO_ID).sum()))


def _plain_dtype(frame: EngineFrame, name: str) -> DType:
    """The dtype of a column, or that of what is in it where the engine does not tell."""
    dtype = frame.collect_schema()[name]
    if dtype == nw.Unknown:  # UUIDs, times of day: words are what all engines make of them
        return nw.String()
    if isinstance(dtype, nw.Datetime) and dtype.time_unit == "s":  # a unit that Polars lacks
        return nw.Datetime("ms", dtype.time_zone)
    if isinstance(dtype, nw.Duration) and dtype.time_unit == "s":
        return nw.Duration("ms")
    if not (dtype == nw.Object or _is_dictionary(dtype)):
        return dtype
    if isinstance(frame, nw.LazyFrame):
        return nw.String()
    types = {type(value) for value in frame[name].drop_nulls().unique().to_list()}
    unclear = nw.Object() if dtype == nw.Object else nw.String()
    return _PLAIN.get(types.pop(), unclear) if len(types) == 1 else unclear


def _is_dictionary(dtype: DType) -> bool:
    return dtype in (nw.Categorical, nw.Enum)


def collect_engine(frame: EngineFrame) -> pl.DataFrame:
    """The frame that an engine computes, as one of Polars."""
    eager = frame.collect("polars") if isinstance(frame, nw.LazyFrame) else frame
    result: pl.DataFrame = eager.to_polars()
    return result
