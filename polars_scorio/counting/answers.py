"""How often each answer of a question was given, and how often it was right: what votes count."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from polars_scorio.counting.category_values import is_label
from polars_scorio.counting.checks import BALLOTS, MISSING, ROWS, TWOFOLD, fault_columns
from polars_scorio.counting.duplicates.distinct_ids import compared, identities
from polars_scorio.counting.lists import AS_ROWS
from polars_scorio.counting.trials import ANSWER, TRIAL, Trials

# The trials of an answer that have an outcome, and how many of them are right.
VOTES, RIGHT = ":votes", ":right"


def by_answer(
    rows: pl.LazyFrame,
    keys: Sequence[str],
    own: Sequence[pl.Expr],
    lists: Sequence[pl.Expr],
    totals: Sequence[pl.Expr],
    right: pl.Expr,
    trials: Trials,
) -> pl.LazyFrame:
    """One row per question, by way of one for each of its answers.

    Parameters
    ----------
    rows : LazyFrame
        The trials, with their `ANSWER`.
    keys : sequence of str
        What tells questions apart.
    own, lists : sequence of Expr
        What is aggregated of the trials alone: `ROWS`, `MISSING` and, where rows are counted,
        `BAD`; lists.
    totals : sequence of Expr
        Sums and minima, which are aggregated of the answers as of the trials.
    right : Expr
        How many trials of an answer are right, from all of these.
    trials : Trials
        The log.
    """
    ids = compared(trials)
    answers = (
        rows.group_by(*keys, ANSWER)
        .agg(*own, *lists, *totals, *ids)
        .with_columns(
            right.cast(pl.Int64, strict=False).alias(RIGHT),
            (pl.col(ROWS) - pl.col(MISSING)).cast(pl.Int64, strict=False).alias(VOTES),
        )
    )
    given = pl.col(ANSWER).is_not_null() & (pl.col(VOTES) > 0)
    return answers.with_columns(_twofold(trials)).group_by(*keys).agg(
        pl.struct(VOTES, RIGHT).filter(given).alias(BALLOTS),
        pl.col(TWOFOLD).min(),
        pl.col(ROWS, MISSING, *fault_columns(trials)).sum(),
        *(pl.col(each.meta.output_name()).explode(**AS_ROWS).drop_nulls() for each in lists),
        *totals,
        *(identities(pl.col(TRIAL).explode(**AS_ROWS)) if ids else []),
    )  # fmt: skip


def _twofold(trials: Trials) -> pl.Expr:
    """What is said of an answer that is right and wrong, null where it is one of them."""
    dtype = pl.String() if trials.answer is None else trials.answer.dtype
    quote = "'" if is_label(dtype) else ""
    # Bytes need not be text.
    answer = pl.col(ANSWER).bin.encode("hex") if dtype == pl.Binary else pl.col(ANSWER)
    name = answer.cast(pl.String, strict=False).fill_null("an answer")
    parts = (quote, name, f"{quote} is right in ", pl.col(RIGHT), " of ", pl.col(VOTES), " trials")
    said = pl.concat_str(pl.lit(part) if isinstance(part, str) else part for part in parts)
    both = pl.col(ANSWER).is_not_null() & (pl.col(RIGHT) > 0) & (pl.col(RIGHT) < pl.col(VOTES))
    return pl.when(both).then(said).alias(TWOFOLD)
