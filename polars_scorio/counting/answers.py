"""How often each answer of a question was given, and how often it was right: what votes count."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from polars_scorio.counting.checks import (
    BALLOTS,
    MISSING,
    ROWS,
    TWOFOLD,
    Number,
    joined_list,
    least_number,
    over_parts,
    over_trials,
)
from polars_scorio.counting.log import ANSWER, Trials, is_label

# The trials of an answer that have an outcome, and how many of them are right.
VOTES, RIGHT = ":votes", ":right"


def by_answer(
    rows: pl.LazyFrame,
    keys: Sequence[str],
    numbers: Sequence[Number],
    right: pl.Expr,
    trials: Trials,
) -> tuple[pl.LazyFrame, list[Number]]:
    """One row per question with `BALLOTS` and `TWOFOLD`, by way of one row per answer.

    `right` aggregates the right trials of an answer. Also returns all numbers of the result.
    """
    answers = (
        rows.group_by(*keys, ANSWER)
        .agg(over_trials(numbers))
        .with_columns(
            right.cast(pl.Int64, strict=False).alias(RIGHT),
            (pl.col(ROWS) - pl.col(MISSING)).cast(pl.Int64, strict=False).alias(VOTES),
        )
    )
    given = pl.col(ANSWER).is_not_null() & (pl.col(VOTES) > 0)
    own = [
        joined_list(BALLOTS, pl.struct(VOTES, RIGHT).filter(given)),
        least_number(TWOFOLD, pl.col(TWOFOLD).min()),
    ]
    questions = answers.with_columns(_twofold_words(trials)).group_by(*keys)
    return questions.agg(*over_parts(numbers), *over_trials(own)), [*numbers, *own]


def _twofold_words(trials: Trials) -> pl.Expr:
    """The finding on an answer that is both right and wrong; null for all other answers."""
    dtype = pl.String() if trials.answer is None else trials.answer.dtype
    quote = "'" if is_label(dtype) else ""
    # Bytes need not be text.
    answer = pl.col(ANSWER).bin.encode("hex") if dtype == pl.Binary else pl.col(ANSWER)
    name = answer.cast(pl.String, strict=False).fill_null("an answer")
    parts = (quote, name, f"{quote} is right in ", pl.col(RIGHT), " of ", pl.col(VOTES), " trials")
    said = pl.concat_str(pl.lit(part) if isinstance(part, str) else part for part in parts)
    both = pl.col(ANSWER).is_not_null() & (pl.col(RIGHT) > 0) & (pl.col(RIGHT) < pl.col(VOTES))
    return pl.when(both).then(said).alias(TWOFOLD)
