"""Numbers of a question: how each is aggregated over trials, and over parts of a question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from polars_scorio.counting.lists import AS_ROWS


@dataclass(frozen=True, slots=True, eq=False)
class Number:
    """One column of the tally of a question.

    Some tallies take two steps: first the trials of a question with the same category, answer or
    cluster, then the parts of the question.

    Attributes
    ----------
    name : str
        The column.
    of_trials : Expr
        Its aggregation over trials.
    of_parts : Expr
        Its aggregation over the tallies of the parts.
    """

    name: str
    of_trials: pl.Expr
    of_parts: pl.Expr


def summed_number(name: str, of_trials: pl.Expr) -> Number:
    """A number that is added up over the parts."""
    return Number(name, of_trials.alias(name), pl.col(name).sum())


def least_number(name: str, of_trials: pl.Expr) -> Number:
    """A value of which the least one of the parts is kept."""
    return Number(name, of_trials.alias(name), pl.col(name).min())


def largest_number(name: str, of_trials: pl.Expr) -> Number:
    """A value of which the largest one of the parts is kept."""
    return Number(name, of_trials.alias(name), pl.col(name).max())


def joined_list(name: str, of_trials: pl.Expr) -> Number:
    """A list that is joined over the parts."""
    return Number(name, of_trials.alias(name), pl.col(name).explode(**AS_ROWS).drop_nulls())


def over_trials(numbers: Sequence[Number]) -> list[pl.Expr]:
    """The aggregations over trials."""
    return [number.of_trials for number in numbers]


def over_parts(numbers: Sequence[Number]) -> list[pl.Expr]:
    """The aggregations over the parts of a question."""
    return [number.of_parts for number in numbers]
