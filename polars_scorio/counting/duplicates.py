"""Trial ids that repeat.

Ids 0, ..., n-1 and 1, ..., n are known by the 64-bit sum of their hashes [1]_, which other ids have
with probability 2^-63. The hash has no secret seed: it is no defence against the author of a log.

Other integers are read a second time and compared; this read must have the rows and
the sum of the first. Ids that are no integers are compared in the first pass by 64 bits of hash: n
different ones pass for repeated with probability n^2 / 2^65; a second read would take a third
longer.

References
----------
.. [1] D. Clarke, S. Devadas, M. van Dijk, B. Gassend & G. E. Suh (2003), Incremental multiset hash
   functions and their application to memory integrity checking. ASIACRYPT, 188-207.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from inspect import signature

import polars as pl

from polars_scorio.counting.checks import (
    AS_ROWS,
    IDS,
    NO_ID,
    PLACE,
    PROBLEM,
    ROWS,
    Number,
    Rule,
    mark_problems,
    over_trials,
    summed_number,
    violations_of,
)
from polars_scorio.counting.log import TRIAL, Trials
from polars_scorio.counting.refusals import identity_rules

DIGEST = ":digest"

_LONGEST = 2**12  # trials of a question whose sum is known: a table of 32 kB costs .2 ms


def ids_are_summable(trials: Trials) -> bool:
    """Whether trial ids are checked, and integers: a sum of hashes may settle them."""
    return trials.identified and trials.trial is not None and trials.trial.dtype.is_integer()


def id_hash(trials: Trials) -> list[pl.Expr]:
    """The hash of each trial id, as `DIGEST`; nothing if ids are not checked."""
    return [pl.col(TRIAL).hash().alias(DIGEST)] if trials.identified else []


def hash_sum(trials: Trials) -> list[Number]:
    """The sum of the hashes of a question; nothing if ids are no integers, or not checked."""
    return [summed_number(DIGEST, pl.col(DIGEST).sum())] if ids_are_summable(trials) else []


def sum_is_unsettled() -> pl.Expr:
    """Whether the sum leaves open that an id of a question, an integer, repeats or is null."""
    single = (pl.col(ROWS) == 1) & pl.col(DIGEST).ne(_null_hash())
    known = (sums.list.get(pl.col(ROWS), null_on_oob=True) for sums in _known_sums())
    return ~single & pl.all_horizontal(pl.col(DIGEST).ne_missing(sums) for sums in known)


@cache
def _null_hash() -> int:
    """The hash of a null among integers of any width."""
    return int(pl.Series([None], dtype=pl.Int64).hash().item())


@cache
def _known_sums() -> tuple[pl.Expr, pl.Expr]:
    """The sums for n = 0, 1, 2, ...: of ids from 0, and of ids from 1."""
    hashes, none = pl.int_range(_LONGEST, eager=True).hash(), pl.Series([0], dtype=pl.UInt64)
    starts = (hashes, hashes[1:])
    sums = (pl.concat([none, start.cum_sum()]).to_list() for start in starts)
    of_zero, of_one = (pl.lit(each, pl.List(pl.UInt64)) for each in sums)
    return of_zero, of_one


_FEW = 10_000  # values of a key that are looked up anew for every block of rows

# Arguments of `implode`: a list in any order is streamed, and takes less than half the memory.
_IN_ANY_ORDER = {
    name: False for name in signature(pl.Expr.implode).parameters if name == "maintain_order"
}


def trial_id_rules(trials: Trials) -> list[Rule]:
    """The rules, to be the last ones, on the trial ids of tallied questions."""
    if not ids_are_summable(trials):
        return identity_rules(trials)
    return [Rule(sum_is_unsettled(), (), "ids in doubt", "", _look_again(trials))]


def id_numbers(trials: Trials) -> list[Number]:
    """The numbers that a tally keeps of trial ids: a sum of hashes, or all hashes and the nulls."""
    if ids_are_summable(trials) or not trials.identified:
        return hash_sum(trials)
    hashes = pl.col(DIGEST).implode(**_IN_ANY_ORDER)
    parts = pl.col(IDS).explode(**AS_ROWS).implode(**_IN_ANY_ORDER)
    return [Number(IDS, hashes.alias(IDS), parts), summed_number(NO_ID, pl.col(TRIAL).null_count())]


def distinct_counted(questions: pl.LazyFrame, trials: Trials) -> pl.LazyFrame:
    """Tallied questions, with the number of distinct ids in place of their hashes."""
    if ids_are_summable(trials) or not trials.identified:
        return questions
    return questions.with_columns(pl.col(IDS).list.n_unique())


def with_identities(questions: pl.DataFrame, trials: Trials) -> pl.DataFrame:
    """Add `IDS` and `NO_ID`, distinct and null trial ids, to tallied questions that lack them."""
    if not ids_are_summable(trials):
        return questions
    keys = [*trials.groups, trials.question.name]
    open_questions = questions.filter(sum_is_unsettled()).select(*keys, ROWS, DIGEST)
    if open_questions.is_empty():  # nothing to read again
        none = pl.lit(0, pl.get_index_type()).alias(NO_ID)
        return questions.with_columns(pl.col(ROWS).alias(IDS), none)
    found = _read_again(trials, open_questions).select(*keys, IDS, NO_ID)
    both = questions.join(found, on=keys, how="left", nulls_equal=True, maintain_order="left")
    return both.with_columns(pl.col(IDS).fill_null(pl.col(ROWS)), pl.col(NO_ID).fill_null(0))


def repeated_trials() -> pl.Expr:
    """How many trials of a question have an id that another one had before."""
    distinct = pl.col(TRIAL).drop_nulls().n_unique()
    return pl.col(TRIAL).count().cast(pl.Int64) - distinct


def _look_again(trials: Trials) -> Callable[[pl.DataFrame], list[tuple[Rule, pl.DataFrame]]]:
    """The function that reads the ids of questions in doubt once more, and finds repeated ones."""
    question, broken = trials.question.name, identity_rules(trials)

    def look(doubted: pl.DataFrame) -> list[tuple[Rule, pl.DataFrame]]:
        first = doubted.select(*trials.groups, pl.col(PLACE).alias(question), ROWS, DIGEST)
        second = _read_again(trials, first).lazy()
        again = mark_problems(second, question, broken).filter(pl.col(PROBLEM).is_not_null())
        return violations_of(again.collect(), broken)

    return look


def _read_again(trials: Trials, first: pl.DataFrame) -> pl.DataFrame:
    """Rows, sum of hashes, distinct and null ids of questions, from a second read that agrees."""
    keys = [*trials.groups, trials.question.name]
    # Values of each key pass down to a reader of files, which a join on all of them does not.
    values = {key: first[key].unique() for key in keys}
    near = [
        pl.col(key).is_in(value.implode(), nulls_equal=True)
        for key, value in values.items()
        if value.len() <= _FEW
    ]
    rows = trials.rows().filter(*near).with_columns(*id_hash(trials))
    totals = [pl.len().cast(pl.Int64).alias(ROWS), *over_trials(hash_sum(trials))]
    found = rows.group_by(keys).agg(*totals, *_exact_identities()).collect(engine="streaming")
    second = found.join(first, on=keys, how="semi", nulls_equal=True)
    _refuse_changed(first, second, trials)
    return second


def _exact_identities() -> list[pl.Expr]:
    """How many distinct trial ids a question has, and how many are null."""
    distinct = pl.col(TRIAL).implode(**_IN_ANY_ORDER).list.n_unique()
    return [distinct.alias(IDS), pl.col(TRIAL).null_count().alias(NO_ID)]


def _refuse_changed(first: pl.DataFrame, second: pl.DataFrame, trials: Trials) -> None:
    """Refuse a log whose second read has other rows or ids than the first."""
    keys, again = [*trials.groups, trials.question.name], ":again"
    both = first.join(second, on=keys, how="left", suffix=again, nulls_equal=True)
    same = [pl.col(name).eq_missing(pl.col(f"{name}{again}")) for name in (ROWS, DIGEST)]
    changed = both.filter(~pl.all_horizontal(same)).sort(keys)
    if changed.is_empty():
        return
    worst = changed.row(0, named=True)
    place = ", ".join(f"{key}={worst[key]!r}" for key in (*trials.keys, trials.question.name))
    raise ValueError(
        f"{trials.owner}the trial ids of {first.height:,} question{'s' * (first.height > 1)} had "
        f"to be read twice, and those of {changed.height:,} differ the second time, the first at "
        f"{place}: {worst[ROWS]:,} rows, then {worst[f'{ROWS}{again}'] or 0:,}. Does the log "
        "change, or can it be read once only? Collect it first, or skip the check with "
        "validate=False."
    )
