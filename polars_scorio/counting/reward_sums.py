"""Sums of real-valued rewards, exact and in any order of the rows.

Sums of floats depend on their order in the last digits. So each reward becomes an integer, whose
sums, and sums of squares, are exact in 128 bits. Rewards inside a known range are multiples of
2^-52 of it, and one integer each. Without a range, rewards up to 2^30 are split in two integers: a
multiple of 2^-22, and the rest as a multiple of 2^-74. A log whose rewards are all below 2^-54
would lose digits and is refused.

All else follows from these sums and the least and largest reward of a question: a report of
averages costs little more than a bare aggregation.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import polars as pl

from polars_scorio.counting.checks import (
    AS_ROWS,
    MISSING,
    OUTSIDE,
    ROWS,
    Number,
    largest_number,
    least_number,
    over_trials,
    summed_number,
)
from polars_scorio.counting.log import CATEGORY, COUNT
from polars_scorio.counting.roles import Roles
from polars_scorio.maths.reward_prices import GroupRewards

RewardRange: TypeAlias = "tuple[float, float]"

# The mean reward of a question, and its standard error; its least and its largest reward; whether
# some of its rewards are neither 0 nor 1 (1 if so).
MEAN_REWARD, REWARD_ERROR = ":mean_reward", ":reward_error"
LEAST_REWARD, LARGEST_REWARD, FRACTIONS = ":least_reward", ":largest_reward", ":fractions"
# So many trials of a question have sums of squares of 128 bits.
MOST_TRIALS = 2**20
# Rewards without a known range are at most as large.
LARGEST_REWARD_SIZE = 2.0**30
# The largest reward of a log without a known range is at least as large, or all rewards are 0.
LEAST_REWARD_SIZE = 2.0**-54
_COARSE, _FINE = 2.0**22, 2.0**52
_LARGEST_FLOAT = sys.float_info.max


@dataclass(frozen=True, slots=True)
class RewardColumns:
    """Columns of rewards that a report needs."""

    range: RewardRange | None  # all rewards have to be in it
    usual: RewardRange | None  # the accessor's, for metrics without one
    observed: bool  # is the range of the rewards themselves needed?
    averages: bool  # mean rewards
    lists: bool  # the rewards themselves, for the best and the worst of k

    @property
    def columns(self) -> list[str]:
        """The columns of a question beside its counts."""
        moments = [MEAN_REWARD, REWARD_ERROR] * self.averages
        observed = [LEAST_REWARD, LARGEST_REWARD] * self.observed
        return [FRACTIONS, *moments, *observed]


def reward_numbers(asked: RewardColumns, *, counted: bool) -> list[Number]:
    """The aggregations of rewards; `counted` rows stand for several trials each."""
    # A row may stand for no trial.
    kept = pl.when(pl.col(COUNT) > 0).then(_float_reward()) if counted else _float_reward()
    ends = [least_number(LEAST_REWARD, kept.min()), largest_number(LARGEST_REWARD, kept.max())]
    if not asked.averages:
        fractional = (kept != 0) & (kept != 1)
        return [*ends, largest_number(FRACTIONS, fractional.any().cast(pl.Int8))]
    parts = {name: part for name, (part, _) in _integer_parts(asked).items()}
    products = {f"{a}{b}": parts[a] * parts[b] for a, b in _part_pairs(parts)}
    return ends + [
        summed_number(f":sum_{name}", (part * pl.col(COUNT) if counted else part).sum())
        for name, part in (parts | products).items()
    ]


def with_stray_reward(questions: pl.LazyFrame, asked: RewardColumns) -> pl.LazyFrame:
    """Add `OUTSIDE`: a reward outside the range, infinite, or too large; null if all are fine."""
    low, high = asked.range or (-LARGEST_REWARD_SIZE, LARGEST_REWARD_SIZE)
    if asked.range is None and not asked.averages:
        low, high = -_LARGEST_FLOAT, _LARGEST_FLOAT
    below, above = pl.col(LEAST_REWARD) < low, pl.col(LARGEST_REWARD) > high
    stray = pl.when(below).then(LEAST_REWARD).when(above).then(LARGEST_REWARD)
    return questions.with_columns(stray.alias(OUTSIDE))


def largest_size() -> pl.Expr:
    """The size of the largest reward of some questions, of any sign."""
    return pl.max_horizontal(pl.col(LEAST_REWARD, LARGEST_REWARD).abs()).max()


def with_sure_successes(questions: pl.LazyFrame, asked: RewardColumns, name: str) -> pl.LazyFrame:
    """Add how many rewards of a question are 1, if all of its rewards are 0 or 1; else 0."""
    part, (_, unit) = next(iter(_integer_parts(asked).items()))
    ones = (pl.col(f":sum_{part}").cast(pl.Float64) * unit).round().cast(pl.Int64, strict=False)
    return questions.with_columns(
        pl.when(pl.col(FRACTIONS) == 0).then(ones).otherwise(0).alias(name)
    )


def with_reward_moments(questions: pl.LazyFrame, asked: RewardColumns) -> pl.LazyFrame:
    """Add `MEAN_REWARD`, `REWARD_ERROR` and `FRACTIONS` to the sums of questions.

    The error is null for a single trial. Products of sums may wrap around 128 bits, but sums of
    squared distances from the whole part of the mean fit, so that these come out right.
    """
    if not asked.averages:
        return questions
    n = (pl.col(ROWS) - pl.col(MISSING)).cast(pl.Int128)
    trials = n.cast(pl.Float64)
    units = {name: unit for name, (_, unit) in _integer_parts(asked).items()}
    first = next(iter(units.values()))  # squares in units of its own may be no floats
    total = {name: pl.col(f":sum_{name}") for name in units}
    whole = {name: total[name] // n for name in units}
    mean = pl.sum_horizontal(total[name].cast(pl.Float64) * units[name] for name in units) / trials
    shift = pl.sum_horizontal(
        (total[name] - n * whole[name]).cast(pl.Float64) * (units[name] / first) for name in units
    )
    squares = pl.sum_horizontal(
        (1 if a == b else 2)
        * (units[a] / first * (units[b] / first))
        * _centred_products(pl.col(f":sum_{a}{b}"), (whole[a], whole[b]), (total[a], total[b]), n)
        for a, b in _part_pairs(units)
    )
    square = (squares - shift**2 / trials).clip(0.0) / (trials * (trials - 1))
    return questions.with_columns(
        mean.alias(MEAN_REWARD),
        pl.when(n > 1).then(square.sqrt() * first).alias(REWARD_ERROR),
        (~_all_zero_or_one(asked)).cast(pl.Int8).alias(FRACTIONS),
    )


def _all_zero_or_one(asked: RewardColumns) -> pl.Expr:
    """Whether all rewards of a question are 0 or 1, from their ends and sums.

    An integer q between 0 and 1/unit is one of the two if, and only if, q^2 = q/unit. The ends tell
    rewards that are too small for a unit from 0.
    """
    within = pl.all_horizontal(pl.col(LEAST_REWARD, LARGEST_REWARD).is_in([0.0, 1.0]))
    (whole, (_, unit)), *finer = _integer_parts(asked).items()
    one = round(1 / unit) if asked.range is None or asked.range[1] >= 1 else 0
    equal = pl.col(f":sum_{whole}{whole}") == pl.col(f":sum_{whole}") * one
    return pl.all_horizontal(within, equal, *(pl.col(f":sum_{name * 2}") == 0 for name, _ in finer))


def _centred_products(
    products: pl.Expr, whole: tuple[pl.Expr, pl.Expr], total: tuple[pl.Expr, pl.Expr], n: pl.Expr
) -> pl.Expr:
    """Sum of the products of distances from two numbers, exact, as a float."""
    (a, b), (sum_a, sum_b) = whole, total
    return (products - a * sum_b - b * sum_a + n * a * b).cast(pl.Float64)


def _float_reward() -> pl.Expr:
    return pl.col(CATEGORY).cast(pl.Float64)


def _integer_parts(asked: RewardColumns) -> dict[str, tuple[pl.Expr, float]]:
    """The integers of a reward, each with its unit."""
    if asked.range is not None:
        _, exponent = math.frexp(max(map(abs, asked.range)))
        unit = math.ldexp(1.0, exponent - 53)
        return {"q": (_nearest_integer(_float_reward() / unit), unit)}
    scaled = _float_reward() * _COARSE
    coarse = scaled.round()
    fine = (scaled - coarse) * _FINE
    return {
        "h": (_nearest_integer(coarse), 1 / _COARSE),
        "l": (_nearest_integer(fine), 1 / (_COARSE * _FINE)),
    }


def _nearest_integer(number: pl.Expr) -> pl.Expr:
    """The nearest integer in 128 bits; any integer for numbers that are refused elsewhere.

    A cast to 64 bits that checks nothing, and then one to 128, takes a quarter less time than a
    checked cast to 128 bits: the checks of floats are what is slow.
    """
    return number.round().cast(pl.Int64, wrap_numerical=True).cast(pl.Int128)


def _part_pairs(parts: Iterable[str]) -> list[tuple[str, str]]:
    """The pairs of parts of which products are summed."""
    names = [*parts]
    return [(a, b) for i, a in enumerate(names) for b in names[i:]]


_GROUP = ":group"
_SUMS = RewardColumns(None, None, observed=False, averages=True, lists=True)


@dataclass(frozen=True, slots=True)
class ListedRewards:
    """The rewards of each group as a list, in an aggregation; of `roles` only `missing` applies."""

    roles: Roles

    def aggregation(self, outcome: pl.Expr) -> pl.Expr:
        """The rewards of a group; an empty list if its column has no floats."""
        rewards = outcome.map_batches(
            self._float_rewards, return_dtype=pl.Float64(), is_elementwise=True
        )
        return rewards.drop_nulls().implode()

    def _float_rewards(self, column: pl.Series) -> pl.Series:
        """The rewards, null if missing; all null if the column has another dtype than a float."""
        if not column.dtype.is_float():
            return pl.Series(column.name, [None], dtype=pl.Float64).new_from_index(0, len(column))
        missing = self.roles.missing
        rewards = column.cast(pl.Float64).fill_nan(None)
        return rewards if isinstance(missing, str) else rewards.fill_null(float(missing))


def grouped_rewards(name: str, lists: pl.Series) -> GroupRewards:
    """The rewards of groups, each a question whose range is that of its rewards.

    An infinite reward is refused; no list may be empty.
    """
    trials = lists.list.len().to_numpy().astype(np.int64)
    flat = lists.explode(**AS_ROWS)
    # A callback sees some of the groups: it can neither count the bad ones nor name the first.
    if not flat.is_finite().all():
        raise ValueError(
            f"an infinite reward in {name!r}: recode it, or set it to null and see missing=."
        )
    low, high = (end.to_numpy() for end in (lists.list.min(), lists.list.max()))
    group = np.arange(trials.size)
    # A power of two that makes the largest reward of a group about 1 changes no digit.
    _, exponent = np.frexp(np.maximum(np.abs(low), np.abs(high)))
    scaled = np.ldexp(flat.to_numpy(), -np.repeat(exponent, trials))
    rows = pl.LazyFrame({_GROUP: np.repeat(group, trials), CATEGORY: scaled})
    numbers = over_trials(reward_numbers(_SUMS, counted=False))
    sums = rows.group_by(_GROUP).agg(
        pl.len().cast(pl.Int64).alias(ROWS), pl.lit(0).alias(MISSING), *numbers
    )
    moments = with_reward_moments(sums, _SUMS).sort(_GROUP).collect()
    mean, error = (
        np.ldexp(moments[column].to_numpy().astype(np.float64), exponent)
        for column in (MEAN_REWARD, REWARD_ERROR)
    )
    return GroupRewards(trials, group, trials.size, low, high - low, mean, error, flat.to_numpy())
