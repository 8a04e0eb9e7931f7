"""A category as a value of its column: never cast to something near it."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl

_FLOATS: dict[str, type[np.floating[Any]]] = {
    "Float16": np.float16,
    "Float32": np.float32,
    "Float64": np.float64,
}


def column_category(value: str | float, dtype: pl.DataType) -> str | float | None:
    """The value of a column that is a category.

    Parameters
    ----------
    value : category
        A word, a number or a truth value.
    dtype : DataType
        What the column holds.

    Returns
    -------
    category or None
        True for 1 in a Boolean column, 1 for 1.0 in one of integers, and the nearest fraction in
        one of floats, as 0.1 is in a Float32 too. None where no value of the column is equal.

    Examples
    --------
    >>> [column_category(value, pl.Int8()) for value in (1.0, 1.5, 300)]
    [1, None, None]
    >>> column_category(1, pl.Boolean())
    True
    """
    if isinstance(value, str):
        return value
    if dtype == pl.Boolean:
        return bool(value) if value in {0, 1} else None
    if isinstance(value, float) and not math.isfinite(value):
        return None
    whole = int(value) == value
    if dtype.is_float():
        return _held_by_floats(value, dtype, whole=whole)
    return int(value) if whole and _fits_dtype(int(value), dtype) else None


def category_literal(value: str | float, dtype: pl.DataType) -> pl.Expr | None:
    """A category in the dtype of its column; None where the column cannot hold it."""
    own = column_category(value, dtype)
    # A word stays a String: a categorical is compared with words.
    return None if own is None else pl.lit(own, pl.String() if isinstance(own, str) else dtype)


def _held_by_floats(value: float, dtype: pl.DataType, *, whole: bool) -> float | None:
    with np.errstate(over="ignore"):
        try:
            near = _FLOATS[str(dtype)](value).item()
        except OverflowError:
            return None
    if not math.isfinite(near):
        return None
    # Fractions are compared with what was meant by them, whole numbers with themselves.
    return None if whole and Fraction(near) != Fraction(value) else near


def _fits_dtype(value: int, dtype: pl.DataType) -> bool:
    name = str(dtype)
    bits = int("".join(filter(str.isdigit, name)))
    least = 0 if name.startswith("U") else -(1 << (bits - 1))
    return least <= value < least + (1 << bits)


def plain_answer(answer: pl.Expr, dtype: pl.DataType) -> pl.Expr:
    """The value by which answers are compared: of lists and structs their text in JSON."""
    if dtype.is_float():
        return answer.fill_nan(None)
    if not dtype.is_nested():
        return answer
    # Nested values can be compared, but none is the smallest that a message would name.
    text = pl.struct(answer.alias("answer")).struct.json_encode()
    return pl.when(answer.is_not_null()).then(text)


def check_dtype(what: str, role: str, dtype: pl.DataType) -> None:
    """Refuse dtypes that a role cannot have."""
    if role in {"category", "truth"}:
        if dtype in (pl.List, pl.Array):
            raise TypeError(
                f"{what} is {dtype}; a row is one trial. Where a list holds the trials of a "
                "question, make rows of it with .explode(...) before."
            )
        if not (dtype.is_integer() or dtype.is_float() or dtype == pl.Boolean or is_label(dtype)):
            raise TypeError(
                f"{what} is {dtype}; a category is Boolean, an integer, a float, or a label "
                "(String, Categorical, Enum). Cast it, or pass an expression."
            )
    elif role == "count":
        if not dtype.is_integer():
            raise TypeError(f"{what} is {dtype}; multiplicities are integers. Cast it to pl.Int64.")
    elif role == "cost":
        _refuse_no_number(what, dtype)
    elif role == "answer":
        if dtype == pl.Object:
            raise TypeError(f"{what} is {dtype}, which cannot be compared. Cast it to words.")
    elif dtype.is_nested() or dtype == pl.Object:
        joined = {pl.List: 'pl.col(...).list.join("/")', pl.Array: 'pl.col(...).arr.join("/")'}
        example = joined.get(dtype.base_type(), 'pl.concat_str("a", "b", separator="/")')
        raise TypeError(
            f"{what} is {dtype}, which has no order to report it in. Pass an expression for "
            f"one plain column, for instance {example}."
        )


def _refuse_no_number(what: str, dtype: pl.DataType) -> None:
    """Refuse a cost that is no number."""
    if not (dtype.is_integer() or dtype.is_float()):
        raise TypeError(f"{what} is {dtype}; a cost is a number. Cast it to pl.Float64.")


def is_label(dtype: pl.DataType) -> bool:
    """Whether categories of this dtype are words."""
    return dtype in (pl.String, pl.Categorical, pl.Enum)
