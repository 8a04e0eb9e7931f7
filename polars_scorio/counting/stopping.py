"""Did trials stop on their outcomes? What a look at a log needs to know of its questions."""

from __future__ import annotations

import numpy as np
import polars as pl

from polars_scorio.counting.category_values import is_label, literal
from polars_scorio.counting.trials import CATEGORY, COUNT, TRIAL, Trials
from polars_scorio.kernels.calibrated.stopping_test import stopping

STOPPING = "stopping"
OUTCOMES = (TRIALS, _C, _LAST) = (":n", ":c", ":last")
LATEST = ":latest"  # the largest trial id of those that a row stands for

_STATE, _OFTEN = ":state", ":often"


def outcomes(trials: Trials, *, tallied: bool = False) -> list[pl.Expr]:
    """Of each question: trials with an outcome, successes, and whether the last is one.

    Null where nothing says what success is, or which trial was the last.

    Parameters
    ----------
    trials : Trials
        The log.
    tallied : bool
        Whether the rows are those of `tallies`: categories, with `COUNT` and `LATEST`.
    """
    success = _success_condition(trials)
    if success is None:
        nothing = {TRIALS: pl.Int64(), _C: pl.Int64(), _LAST: pl.Boolean()}
        return [pl.lit(None, dtype).alias(name) for name, dtype in nothing.items()]
    seen, last = pl.col(CATEGORY).is_not_null(), pl.lit(None, pl.Boolean)
    if in_order(trials):
        latest = pl.col(LATEST if tallied else TRIAL)
        last = success.filter(seen & (latest == latest.filter(seen).max())).first()
    numbers = [
        (pl.when(which).then(pl.col(COUNT)) if trials.count or tallied else which).sum()
        for which in (seen, success)
    ]
    n, c = (number.cast(pl.Int64, strict=False) for number in numbers)
    return [n.alias(TRIALS), c.alias(_C), last.alias(_LAST)]


def stopping_states() -> pl.Expr:
    """Of each group, from the `outcomes` of its questions: what the numbers of trials followed.

    A list, empty where they are all the same, that `stopping_word` makes the word of.
    """
    differ = pl.col(TRIALS).filter(_is_scored()).n_unique() > 1
    states = pl.struct(OUTCOMES).alias(_STATE).filter(_is_scored()).value_counts(name=_OFTEN)
    return states.head(pl.when(differ).then(pl.len()).otherwise(0)).alias(STOPPING)


def stopping_word() -> pl.Expr:
    """The word for it: "outcomes", "difficulty", or nothing."""
    return pl.col(STOPPING).map_batches(
        _stopping_words, return_dtype=pl.String(), is_elementwise=True
    )


def _is_scored() -> pl.Expr:
    """Whether a question has trials, and as many successes as it can have."""
    return ((pl.col(TRIALS) > 0) & pl.col(_C).is_between(0, pl.col(TRIALS))).fill_null(value=False)


def _success_condition(trials: Trials) -> pl.Expr | None:
    """Whether a trial succeeded: what `success` says, else 1; None where no category is that."""
    named, dtype = trials.roles.successes, trials.category.dtype
    if named is None:
        named = () if is_label(dtype) else (1,)
    values = [literal(value, dtype) for value in named]
    own = [pl.col(CATEGORY) == value for value in values if value is not None]
    return pl.any_horizontal(own) if own else None


def in_order(trials: Trials) -> bool:
    """Whether trial ids say which trial came last: words do not."""
    dtype = trials.trial.dtype if trials.identified and trials.trial else pl.String()
    return dtype.is_numeric() or dtype.is_temporal()


def _stopping_words(groups: pl.Series) -> pl.Series:
    """Polars calls it with a part of the groups."""
    return pl.Series([_group_word(states) for states in groups], dtype=pl.String)


def _group_word(states: pl.Series | None) -> str | None:
    """The word for the states of one group; None if they show nothing."""
    if states is None or states.is_empty():
        return None
    flat = states.struct.unnest().unnest(_STATE).sort(OUTCOMES)
    n, c, often = (flat[name].to_numpy().astype(np.int64) for name in (TRIALS, _C, _OFTEN))
    known = flat[_LAST].is_not_null().to_numpy() & (n > 1)
    if not known.any():
        return stopping(n, c, often)
    last = flat[_LAST].fill_null(value=False).to_numpy().astype(np.float64)
    others = (c - last) / np.maximum(n - 1, 1)
    before, latest = (np.repeat(each[known], often[known]) for each in (others, last))
    return stopping(n, c, often, (latest, before))
