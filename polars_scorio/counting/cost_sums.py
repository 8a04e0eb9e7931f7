"""Sums of costs that are the same for each order of the rows.

Sums of floats depend on their order in the last digits. So each cost becomes an integer, the
largest multiple of 2^-74 up to it, and its square a multiple of 2^-52 and the rest as one of
2^-94; sums of these are exact in 128 bits. Costs of at least 2^-21 (half a millionth of a dollar)
lose no digit. A log whose costs are all below 2^-34 would lose digits and is refused.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from polars_scorio.counting.checks import Number, largest_number, least_number, summed_number
from polars_scorio.counting.log import CATEGORY, COST

# The cost of all trials of a question, and of its successes; the squares of both; its dearest
# trial.
TOTAL_COST, SUCCESS_COST = ":total_cost", ":success_cost"
COST_SQUARES, SUCCESS_SQUARES = ":cost_squares", ":success_squares"
LARGEST_COST = ":largest_cost"
# The rules on costs look at these: trials whose cost is null or NaN, and the least cost.
COSTLESS, LEAST_COST = ":costless", ":least_cost"
# Costs are smaller, so that sums of 2^20 squares have 128 bits.
COST_LIMIT = 2.0**27
# The largest cost of a log is at least as large, or all costs are 0.
LEAST_COST_SIZE = 2.0**-34
_UNIT, _SQUARE_UNIT, _FINE_UNIT = 2.0**-74, 2.0**-52, 2.0**-94
# Integers of the costs of single trials, and of their squares.
_EXACT, _EXACT_SQUARE, _FINE_SQUARE = ":exact_cost", ":exact_square", ":fine_square"
_SUCCESS = ":success"


@dataclass(frozen=True, slots=True)
class CostColumns:
    """Sums of costs that a report needs."""

    of_successes: bool  # the cost of successes
    success_squares: bool  # and their squares, for tries until the first success

    @property
    def columns(self) -> list[str]:
        """The columns of a question beside its counts."""
        return [LARGEST_COST, *self._exact_columns]

    @property
    def _exact_columns(self) -> dict[str, dict[str, float]]:
        """Each sum, with the integers that it adds up and their units."""
        total, squares = {_EXACT: _UNIT}, {_EXACT_SQUARE: _SQUARE_UNIT, _FINE_SQUARE: _FINE_UNIT}
        columns = {TOTAL_COST: total, COST_SQUARES: squares}
        for name, parts, needed in (
            (SUCCESS_COST, total, self.of_successes),
            (SUCCESS_SQUARES, squares, self.success_squares),
        ):
            if needed:
                columns[name] = {f"{_SUCCESS}{part}": unit for part, unit in parts.items()}
        return columns

    def with_exact_costs(
        self, rows: pl.LazyFrame, success: pl.Expr, *, drops: bool
    ) -> pl.LazyFrame:
        """Add the integers of the cost of each trial.

        With `drops`, trials without an outcome are left out, and so are their costs.
        """
        cost = pl.when(pl.col(CATEGORY).is_not_null()).then(COST) if drops else pl.col(COST)
        square = pl.col(COST) * pl.col(COST) * (1 / _SQUARE_UNIT)
        rest = (square - square.floor()) * (_SQUARE_UNIT / _FINE_UNIT)
        exact = rows.with_columns(cost.alias(COST)).with_columns(
            _whole_number(pl.col(COST) * (1 / _UNIT)).alias(_EXACT),
            _whole_number(square).alias(_EXACT_SQUARE),
            rest.cast(pl.Int64, wrap_numerical=True).alias(_FINE_SQUARE),
        )
        parts = {part for columns in self._exact_columns.values() for part in columns}
        return exact.with_columns(
            pl.when(success).then(part.removeprefix(_SUCCESS)).alias(part)
            for part in sorted(parts)
            if part.startswith(_SUCCESS)
        )

    def cost_numbers(self, *, drops: bool) -> list[Number]:
        """The aggregations of costs over the trials of a question."""
        lost = pl.col(COST).is_null() | pl.col(COST).is_nan()
        costless = (lost & pl.col(CATEGORY).is_not_null()).sum() if drops else lost.sum()
        return [
            summed_number(COSTLESS, costless),
            least_number(LEAST_COST, pl.col(COST).min()),
            largest_number(LARGEST_COST, pl.col(COST).max()),
            *(
                summed_number(f"{name}{part}", pl.col(part).sum())
                for name, parts in self._exact_columns.items()
                for part in parts
            ),
        ]

    def with_costs(self, questions: pl.LazyFrame) -> pl.LazyFrame:
        """Replace the exact sums of questions by floats."""
        return questions.with_columns(
            pl.sum_horizontal(
                pl.col(f"{name}{part}").cast(pl.Float64) * unit for part, unit in parts.items()
            ).alias(name)
            for name, parts in self._exact_columns.items()
        )


def exact_cost(cost: pl.Expr) -> tuple[pl.Expr, float]:
    """The integer of the cost of a trial, null if it is no number, and its unit."""
    units = cost.cast(pl.Float64) * (1 / _UNIT)
    return units.round().cast(pl.Int128, strict=False), _UNIT


def _whole_number(number: pl.Expr) -> pl.Expr:
    """The largest integer up to a number, in 128 bits; any integer for what is refused elsewhere.

    A cast that checks nothing, and rounds down: checks of floats are slow, and so is rounding.
    """
    return number.cast(pl.Int128, wrap_numerical=True)
