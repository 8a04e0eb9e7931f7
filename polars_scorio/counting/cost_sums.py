"""Sums of costs that are the same for each order of the rows.

Sums of floats depend on their order in the last digits. So each cost becomes an integer, the
largest multiple of 2^-74 up to it, and its square that of 2^-52; sums of these are exact in 128
bits. One integer suffices, where real-valued rewards of any sign need two: costs of at least 2^-21
(half a millionth of a dollar) lose no digit.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from polars_scorio.counting.tally_numbers import Number, largest_number, least_number, summed_number
from polars_scorio.counting.trials import CATEGORY, COST

# The cost of all trials of a question, and of its successes; the squares of both; its dearest
# trial.
TOTAL_COST, SUCCESS_COST = ":total_cost", ":success_cost"
COST_SQUARES, SUCCESS_SQUARES = ":cost_squares", ":success_squares"
LARGEST_COST = ":largest_cost"
# The rules on costs look at these: trials whose cost is null or NaN, and the least cost.
COSTLESS, LEAST_COST = ":costless", ":least_cost"
# Costs are smaller, so that sums of 2^20 squares have 128 bits.
COST_LIMIT = 2.0**27
_UNIT, _SQUARE_UNIT = 2.0**-74, 2.0**-52
# Integers of the costs of single trials.
_EXACT, _EXACT_SQUARE = ":exact_cost", ":exact_square"
_OF_SUCCESS, _SQUARE_OF_SUCCESS = ":exact_success", ":exact_success_square"


@dataclass(frozen=True, slots=True)
class CostColumns:
    """The sums of costs that a report needs.

    Attributes
    ----------
    of_successes : bool
        Whether the cost of the successes is needed by itself.
    success_squares : bool
        Whether their squares are too, for tries until the first success.
    """

    of_successes: bool
    success_squares: bool

    @property
    def columns(self) -> list[str]:
        """The columns of a question beside its counts."""
        return [LARGEST_COST, *self._exact_columns]

    @property
    def _exact_columns(self) -> dict[str, tuple[str, float]]:
        """Each sum, with the integers that it adds up and their unit."""
        columns = {TOTAL_COST: (_EXACT, _UNIT), COST_SQUARES: (_EXACT_SQUARE, _SQUARE_UNIT)}
        if self.of_successes:
            columns[SUCCESS_COST] = _OF_SUCCESS, _UNIT
        if self.success_squares:
            columns[SUCCESS_SQUARES] = _SQUARE_OF_SUCCESS, _SQUARE_UNIT
        return columns

    def with_exact_costs(
        self, rows: pl.LazyFrame, success: pl.Expr, *, drops: bool
    ) -> pl.LazyFrame:
        """Add the integers of the cost of each trial.

        With `drops`, trials without an outcome are left out, and so are their costs.
        """
        cost = pl.when(pl.col(CATEGORY).is_not_null()).then(COST) if drops else pl.col(COST)
        square = pl.col(COST) * pl.col(COST)
        exact = rows.with_columns(cost.alias(COST)).with_columns(
            _in_units(pl.col(COST), _UNIT).alias(_EXACT),
            _in_units(square, _SQUARE_UNIT).alias(_EXACT_SQUARE),
        )
        parts = {_OF_SUCCESS: _EXACT} if self.of_successes else {}
        if self.success_squares:
            parts[_SQUARE_OF_SUCCESS] = _EXACT_SQUARE
        return exact.with_columns(
            pl.when(success).then(whole).alias(part) for part, whole in parts.items()
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
                summed_number(name, pl.col(exact).sum())
                for name, (exact, _) in self._exact_columns.items()
            ),
        ]

    def with_costs(self, questions: pl.LazyFrame) -> pl.LazyFrame:
        """Replace the exact sums of questions by floats."""
        return questions.with_columns(
            pl.col(name).cast(pl.Float64) * unit for name, (_, unit) in self._exact_columns.items()
        )


def exact_cost(cost: pl.Expr) -> tuple[pl.Expr, float]:
    """The integer of the cost of a trial, null if it is no number, and its unit."""
    units = cost.cast(pl.Float64) * (1 / _UNIT)
    return units.round().cast(pl.Int128, strict=False), _UNIT


def _in_units(number: pl.Expr, unit: float) -> pl.Expr:
    """A number as a multiple of a unit, in 128 bits; any integer for what is refused elsewhere.

    A cast that checks nothing, and rounds down: checks of floats are slow, and so is rounding.
    """
    return (number * (1 / unit)).cast(pl.Int128, wrap_numerical=True)
