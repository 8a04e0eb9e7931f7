"""Did trials stop on their outcomes? The columns of coverage, from the outcomes of questions."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import polars as pl

from polars_scorio.counting.checks import AS_ROWS
from polars_scorio.counting.log import CATEGORY, COUNT, TRIAL, Trials, category_literal, is_label
from polars_scorio.maths.stopping_tests import reward_stopping_evidence, stopping_evidence

STOPPING_COLUMNS = ("stopping", "p_pattern", "p_order", "p_difficulty")
OUTCOMES = (TRIALS, _C, _LAST) = (":n", ":c", ":last")
# Of real-valued rewards: whether some are neither 0 nor 1; how many are as large as the largest of
# the question, and whether the last one is.
REAL_VALUED, _TOP, _LAST_IS_TOP = ":real_valued", ":top", ":last_is_top"
LATEST = ":latest"  # the largest trial id of those that a row stands for

_STATES, _STATE, _OFTEN = ":states", ":state", ":often"
_EVIDENCE = pl.Struct(dict.fromkeys(STOPPING_COLUMNS, pl.Float64()) | {"stopping": pl.String()})


def stopping_columns(
    trials: Trials, *, tallied: bool = False, graded: bool = False
) -> list[pl.Expr]:
    """Trials with an outcome, successes, and whether the last one is a success, of each question.

    Null if success, or the last trial, is unknown. Real-valued rewards count the largest of the
    question as successes: who stops at a good reward stops at the largest so far. `tallied` rows
    are those of `question_tallies`; `graded` rewards are levels, of which 1 is the success.
    """
    success = _success_condition(trials)
    if success is None:
        nothing = {TRIALS: pl.Int64(), _C: pl.Int64(), _LAST: pl.Boolean()}
        return [pl.lit(None, dtype).alias(name) for name, dtype in nothing.items()] + _no_rewards()
    category, seen = pl.col(CATEGORY), pl.col(CATEGORY).is_not_null()

    def often(condition: pl.Expr) -> pl.Expr:
        each = pl.when(condition).then(COUNT) if trials.count or tallied else condition
        return each.sum().cast(pl.Int64, strict=False)

    def last(condition: pl.Expr) -> pl.Expr:
        if not in_order(trials):
            return pl.lit(None, pl.Boolean)
        latest = pl.col(LATEST if tallied else TRIAL)
        return condition.filter(seen & (latest == latest.filter(seen).max())).first()

    counted = [often(seen).alias(TRIALS), often(success).alias(_C), last(success).alias(_LAST)]
    graded = graded or trials.roles.levels is not None or trials.roles.successes is not None
    if graded or not trials.category.dtype.is_float():
        return counted + _no_rewards()
    top = category == category.max()
    fraction = ((category != 0) & (category != 1)).any()
    rewards = fraction.alias(REAL_VALUED), often(top).alias(_TOP), last(top).alias(_LAST_IS_TOP)
    return [*counted, *rewards]


def _no_rewards() -> list[pl.Expr]:
    """The columns of real-valued rewards of a log that has none."""
    columns = {REAL_VALUED: False, _TOP: 0, _LAST_IS_TOP: False}
    return [pl.lit(value).alias(name) for name, value in columns.items()]


def stopping_states() -> pl.Expr:
    """Distinct `stopping_columns` of a group's questions, with how many questions share each.

    One state stands for all if each question has as many trials. Without any trial the list is
    empty. Last outcomes are null if some question does not tell its own. If some question has
    real-valued rewards, its successes are the largest rewards of a question.
    """
    differ = pl.col(TRIALS).filter(_is_scored()).n_unique() > 1
    ordered = pl.col(_LAST).filter(_is_scored()).is_not_null().all()
    real = pl.col(REAL_VALUED).any()
    c = pl.when(real).then(_TOP).otherwise(_C).alias(_C)
    last = pl.when(real).then(_LAST_IS_TOP).otherwise(_LAST)
    states = pl.struct(
        TRIALS, c, pl.when(ordered).then(last).alias(_LAST), real.alias(REAL_VALUED)
    ).alias(_STATE)
    often = states.filter(_is_scored()).value_counts(name=_OFTEN)
    return often.head(pl.when(differ).then(pl.len()).otherwise(1)).alias(_STATES)


def with_stopping(groups: pl.LazyFrame) -> pl.LazyFrame:
    """Groups with `STOPPING_COLUMNS` in place of their `stopping_states`."""
    evidence = pl.col(_STATES).map_batches(
        _evidence_of_groups, return_dtype=_EVIDENCE, is_elementwise=True
    )
    return groups.with_columns(evidence).unnest(_STATES)


def _is_scored() -> pl.Expr:
    """Whether a question has trials, and as many successes as it can have."""
    return ((pl.col(TRIALS) > 0) & pl.col(_C).is_between(0, pl.col(TRIALS))).fill_null(value=False)


def _success_condition(trials: Trials) -> pl.Expr | None:
    """Whether a trial succeeded: what `success` says, else 1; None where no category is that."""
    named, dtype = trials.roles.successes, trials.category.dtype
    if named is None:
        named = () if is_label(dtype) else (1,)
    values = [category_literal(value, dtype) for value in named]
    own = [pl.col(CATEGORY) == value for value in values if value is not None]
    return pl.any_horizontal(own) if own else None


def in_order(trials: Trials) -> bool:
    """Whether trial ids say which trial came last: words do not."""
    dtype = trials.trial.dtype if trials.identified and trials.trial else pl.String()
    return dtype.is_numeric() or dtype.is_temporal()


def _evidence_of_groups(groups: pl.Series) -> pl.Series:
    """Word and p-values of each group, from its states; Polars passes a part of the groups."""
    flat = groups.explode(**AS_ROWS).struct.unnest().unnest(_STATE)
    ends = groups.list.len().fill_null(0).clip(1).cum_sum()  # an empty list is one row of nulls
    rows = [
        dict(zip(STOPPING_COLUMNS, _group_evidence(flat[start:end]), strict=True))
        for start, end in pairwise([0, *ends])
    ]
    return pl.Series(rows, dtype=_EVIDENCE)


def _group_evidence(
    states: pl.DataFrame,
) -> tuple[str | None, float | None, float | None, float | None]:
    """Word and p-values of one group; nulls if it has no trials."""
    if states[TRIALS].null_count():
        return None, None, None, None
    states = states.sort(OUTCOMES)
    n, c, often = (states[name].to_numpy().astype(np.int64) for name in (TRIALS, _C, _OFTEN))
    last = None
    if states[_LAST].null_count() == 0:
        last = np.where(states[_LAST].to_numpy(), often, 0)
    if states[REAL_VALUED][0]:
        evidence = reward_stopping_evidence(n, c, often, last)
    else:
        evidence = stopping_evidence(n, c, often, last)
    return evidence.followed, evidence.pattern, evidence.order, evidence.difficulty
