"""Even samples of questions over their difficulty, for a cheaper benchmark."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import TypeVar

import numpy as np
import polars as pl

from polars_scorio.arguments import check_count, value_text, value_tuple
from polars_scorio.counting.checks import once_whole
from polars_scorio.kernels.array_types import Ints

FrameT = TypeVar("FrameT", pl.DataFrame, pl.LazyFrame)


def even_sample(
    questions: FrameT,
    n: int,
    *,
    rate: str = "rate",
    by: str | Iterable[str] = (),
    seed: int = 0,
) -> FrameT:
    """Sample of questions that is spread evenly over their difficulty.

    The questions are ordered by their rate, and each ``M / n``-th of them is kept, from a random
    place on. Each question has the same chance to be kept, so that averages stay unbiased, and they
    are more precise than those of a sample at random. Questions that are chosen because they
    separate the models are no sample: their rates are not those of the benchmark, and no interval
    holds.

    Parameters
    ----------
    questions : DataFrame or LazyFrame
        A row for each question, such as `Scorio.questions` returns.
    n : int
        How many questions to keep, of each stratum if `by` says so.
    rate : str
        The column of the difficulty: finite numbers, such as success rates or mean rewards.
        Questions without a rate come last in the order.
    by : str or several
        The columns of the strata.
    seed : int
        Of the random numbers: the order of questions with the same rate, and the first place. The
        same questions with the same seed make the same sample, whatever the order of the rows.

    Returns
    -------
    DataFrame or LazyFrame
        The rows that are kept, ascending by stratum and rate.

    Raises
    ------
    TypeError
        If `questions` is no Polars frame, `rate` or `by` no name of a column, or the column of the
        rate holds no numbers.
    ValueError
        If `n` is no positive int, or `seed` is negative; where the rows are read, if a rate is NaN
        or infinite, or there are fewer than n questions, in all or in a stratum.
    ColumnNotFoundError
        If a column is missing.

    Examples
    --------
    >>> import polars as pl
    >>> import polars_scorio as ps
    >>> questions = pl.DataFrame({"question": range(8), "rate": [0.1, 0.9, 0.5, 0.3] * 2})
    >>> ps.even_sample(questions, 4)["rate"].to_list()
    [0.1, 0.3, 0.5, 0.9]
    """
    if not isinstance(questions, pl.DataFrame | pl.LazyFrame):
        raise TypeError(
            f"questions must be a Polars frame of questions, got {value_text(questions)}"
        )
    n, seed = check_count("n", n), check_count("seed", seed, least=0, most=None)
    named = [name for name in (*value_tuple(by), rate) if isinstance(name, str)]
    if len(named) <= len(value_tuple(by)):
        raise TypeError(
            f"rate and by must be names of columns, got {value_text(rate)}, {value_text(by)}"
        )
    schema, strata = questions.collect_schema(), named[:-1]
    missing = [name for name in named if name not in schema]
    if missing:
        raise pl.exceptions.ColumnNotFoundError(
            f"there is no column {missing[0]!r} among {schema.names()}: name the columns of the "
            "rate and the strata with rate= and by="
        )
    if not schema[rate].is_numeric():
        raise TypeError(f"rate: the column {rate!r} must hold numbers, and is {schema[rate]}")
    keep = partial(_kept_rows, n=n, rate=rate, strata=strata, seed=seed)
    if isinstance(questions, pl.DataFrame):
        return keep(questions)
    return once_whole(questions, keep, schema, filters=False)


def _kept_rows(
    questions: pl.DataFrame, n: int, rate: str, strata: list[str], seed: int
) -> pl.DataFrame:
    """The sample of each stratum, one after another."""
    wrong = questions.filter(~pl.col(rate).cast(pl.Float64).is_finite())
    if wrong.height:
        raise ValueError(
            f"NaN or infinite rates in {rate!r}: {wrong.height:,} of {questions.height:,}. Leave "
            "such questions out, or set the rate to null, which comes last"
        )
    others = [name for name in questions.columns if name not in {*strata, rate}]
    ordered = questions.sort(*strata, rate, *others, nulls_last=True)
    parts = ordered.partition_by(strata, maintain_order=True) if strata else [ordered]
    for part in parts:
        if part.height < n:
            place = "".join(f"{name}={part[name][0]!r}: " for name in strata)
            there = "is 1 question" if part.height == 1 else f"are {part.height:,} questions"
            raise ValueError(f"{place}n={n:,} questions cannot be kept, as there {there}")
    return pl.concat([ordered.clear(), *(_even_rows(part, n, rate, seed) for part in parts)])


def _even_rows(questions: pl.DataFrame, n: int, rate: str, seed: int) -> pl.DataFrame:
    """Each ``M / n``-th row in the order of the rate, with equal rates in a random order."""
    random = np.random.default_rng(seed)
    shuffled = questions[random.permutation(questions.height)]
    # Means that differ in their last digits are the same.
    ordered = shuffled.sort(pl.col(rate).round(12), nulls_last=True, maintain_order=True)
    return ordered[_even_places(questions.height, n, random.random())]


def _even_places(rows: int, n: int, start: float) -> Ints:
    """So many places at equal distances; `start` is a share of the first distance.

    >>> _even_places(10, 4, 0.5)
    array([1, 3, 6, 8])
    """
    return np.asarray(np.minimum((np.arange(n) + start) * rows / n, rows - 1).astype(np.int64))
