"""Rewards as outcomes: levels, thresholds, and comparisons that take NaN for a large reward."""

from __future__ import annotations

import math
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from itertools import pairwise

import polars as pl
from polars.exceptions import PolarsError

from polars_scorio.arguments import as_number, flat_numbers, value_text, value_tuple

# How far a reward may be from a level for being it: tau-bench counts as success what is so near 1.
NOISE = 1e-6
# Differences of such rewards still fit into a float, and so does a 2^-53 of them.
_LARGEST, _LEAST = 1e300, 1e-280


def check_levels(levels: object) -> tuple[float, ...]:
    """Levels in ascending order: at least two, further apart than noise."""
    ordered = sorted(flat_numbers(value_tuple(levels)).tolist())
    gaps = [upper - lower for lower, upper in pairwise(ordered)]
    if not gaps or not min(gaps) > 2 * NOISE or not all(map(math.isfinite, ordered)):
        raise ValueError(
            "levels must be at least two different numbers, the rewards that a trial can get, "
            f"got {value_text(levels)}"
        )
    return tuple(ordered)


def check_threshold(threshold: object) -> float:
    """A threshold as a finite float."""
    number = as_number(threshold)
    if not math.isfinite(number):
        raise ValueError(
            "threshold must be a finite number, from which on a reward is a success, got "
            f"{value_text(threshold)}"
        )
    return number


def check_reward_range(bounds: object) -> tuple[float, float]:
    """The range of rewards as two finite floats, lower first; the larger size 1e-280 to 1e300."""
    pair = value_tuple(bounds) if isinstance(bounds, AbstractSet) else bounds
    ends = flat_numbers(pair, most=3).tolist()
    if (
        len(ends) != 2  # both ends
        or not -_LARGEST <= ends[0] < ends[1] <= _LARGEST
        or max(map(abs, ends)) < _LEAST
    ):
        raise ValueError(
            "bounds must be two different finite numbers, the least and the largest reward that "
            f"there may be (and the larger size from {_LEAST:g} to {_LARGEST:g}), got "
            f"{value_text(bounds)}"
        )
    return ends[0], ends[1]


def near_level(reward: pl.Expr, levels: Iterable[float]) -> pl.Expr:
    """A reward as the level that it is within `NOISE`; unchanged if it is none."""
    value = reward.cast(pl.Float64)
    near = (pl.when((value - level).abs() <= NOISE).then(level) for level in levels)
    return pl.coalesce(*near, value)


def reaches_threshold(reward: pl.Expr, dtype: pl.DataType, threshold: float) -> pl.Expr:
    """Whether a reward reaches a threshold; null if the reward is null or NaN.

    >>> rewards = pl.DataFrame({"reward": [0.2, 0.5, float("nan"), None]})
    >>> reached = reaches_threshold(pl.col("reward"), pl.Float64(), 0.5)
    >>> rewards.select(reached).to_series().to_list()
    [False, True, None, None]
    """
    # Polars compares a column of Float32 with the threshold as a Float32.
    return (reward.fill_nan(None) if dtype.is_float() else reward) >= threshold


def refuse_ungraded(keyword: str, name: str, dtype: pl.DataType, owner: str = "") -> None:
    """Refuse a category column that holds no rewards."""
    if not (dtype.is_integer() or dtype.is_float()):
        ways_out = {
            "levels": "Leave it out, and weigh the categories with w=",
            "threshold": "Leave it out, and name the categories that are successes with success=",
            "bounds": "Leave it out: an outcome that is no number has no range",
        }
        raise TypeError(
            f"{owner}{keyword}= is for rewards, but the category column {name!r} is {dtype}. "
            f"{ways_out[keyword]}"
        )


def true_for_nan(frame: pl.LazyFrame, outcome: pl.Expr) -> pl.Expr | None:
    """Whether a Boolean outcome is true although something it compares is NaN; None without floats.

    Polars orders NaN above all numbers, so that ``pl.col("reward") >= 0.5`` is true for NaN.
    """
    operands = _float_operands(frame, outcome)
    if not operands:
        return None
    return outcome & pl.any_horizontal(operand.is_nan() for operand in operands)


def _float_operands(frame: pl.LazyFrame, outcome: pl.Expr) -> list[pl.Expr]:
    """The floats, computed ones too, that a Boolean expression compares."""
    floats: list[pl.Expr] = []
    for operand in outcome.meta.pop():
        dtype = _operand_dtype(frame, operand)
        if dtype is not None and dtype.is_float():
            floats.append(operand)
        elif dtype == pl.Boolean:
            floats += _float_operands(frame, operand)
    return floats


def _operand_dtype(frame: pl.LazyFrame, operand: pl.Expr) -> pl.DataType | None:
    """The dtype of a part of an expression; None for constants and parts that are no column."""
    if not operand.meta.root_names():
        return None
    try:
        return frame.select(operand).collect_schema().dtypes()[0]
    except PolarsError:
        return None
