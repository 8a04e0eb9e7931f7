"""Whether trial ids repeat, which the one pass over the log tells of most questions without them.

Ids 0, 1, ..., n-1 and 1, 2, ..., n are known by the sum of their hashes [1]_, a number of 64 bits.
Other ids that nobody chose, repeated ones among them, have one of these two sums with probability
2^-63. The hash has no secret seed: somebody who wants to hide a repetition can search for ids that
have such a sum, so that the check is no defence against the author of a log.

Ids with gaps, seeds and others that no sum tells are read once more and compared exactly, those of
the questions in doubt alone. The second read must have the rows and the sum of the first, or the
log is refused: nothing follows from a log that changes while it is read.

References
----------
.. [1] D. Clarke, S. Devadas, M. van Dijk, B. Gassend & G. E. Suh (2003), Incremental multiset hash
   functions and their application to memory integrity checking. ASIACRYPT, 188-207.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import polars as pl

from polars_scorio.counting.checks import PLACE, PROBLEM, ROWS, Rule, marked, violations_of
from polars_scorio.counting.duplicates.distinct_ids import identities
from polars_scorio.counting.refusals import identity_rules, integer_ids
from polars_scorio.counting.trials import TRIAL, Trials

DIGEST = ":digest"

_MOST = 2**12  # trials of a question whose sum is known: a table of 32 kB costs .2 ms
_FEW = 10_000  # values of a key that are looked up anew for every block of rows


def digest(trials: Trials) -> list[pl.Expr]:
    """What is summed of the trial ids of a question: a hash, of integers that are checked."""
    return [pl.col(TRIAL).hash().alias(DIGEST)] if integer_ids(trials) else []


def doubts(trials: Trials) -> list[Rule]:
    """The rule, to be the last one, that finds questions whose ids their sum does not tell."""
    if not integer_ids(trials):
        return []
    known = (sums.list.get(pl.col(ROWS), null_on_oob=True) for sums in _known_sums())
    other = pl.all_horizontal(pl.col(DIGEST).ne_missing(sums) for sums in known)
    return [Rule(other, pl.lit(""), "ids in doubt", "", _look_again(trials))]


@cache
def _known_sums() -> tuple[pl.Expr, pl.Expr]:
    """The sums for n = 0, 1, 2, ...: of ids from 0, and of ids from 1."""
    hashes, none = pl.int_range(_MOST, eager=True).hash(), pl.Series([0], dtype=pl.UInt64)
    starts = (hashes, hashes[1:])
    sums = (pl.concat([none, start.cum_sum()]).to_list() for start in starts)
    of_zero, of_one = (pl.lit(each, pl.List(pl.UInt64)) for each in sums)
    return of_zero, of_one


def _look_again(trials: Trials) -> Callable[[pl.DataFrame], list[tuple[Rule, pl.DataFrame]]]:
    """The function that reads the ids of questions in doubt once more, and finds repeated ones."""
    question, broken = trials.question.name, identity_rules(trials)

    def look(doubted: pl.DataFrame) -> list[tuple[Rule, pl.DataFrame]]:
        first = doubted.select(*trials.groups, pl.col(PLACE).alias(question), ROWS, DIGEST)
        second = _second_read(trials, first)
        _refuse_changed(first, second, trials)
        again = marked(second.lazy(), question, broken).filter(pl.col(PROBLEM).is_not_null())
        return violations_of(again.collect(), broken)

    return look


def _second_read(trials: Trials, asked: pl.DataFrame) -> pl.DataFrame:
    """Rows, sum of hashes and distinct ids of the questions that are asked for, read once more."""
    keys = [*trials.groups, trials.question.name]
    # Values of each key pass down to a reader of files, which a join on all of them does not.
    values = {key: asked[key].unique() for key in keys}
    near = [pl.col(key).is_in(v.implode()) for key, v in values.items() if v.len() <= _FEW]
    rows = trials.rows().filter(*near).with_columns(*digest(trials))
    totals = [pl.len().cast(pl.Int64).alias(ROWS), pl.col(DIGEST).sum()]
    found = rows.group_by(keys).agg(*totals, *identities(pl.col(TRIAL)))
    return found.collect(engine="streaming").join(asked, on=keys, how="semi")


def _refuse_changed(first: pl.DataFrame, second: pl.DataFrame, trials: Trials) -> None:
    """Refuse a log whose second read has other rows or ids than the first: it says nothing.

    Raises
    ------
    ValueError
        With the number of questions that differ, and the first of them.
    """
    keys, again = [*trials.groups, trials.question.name], ":again"
    both = first.join(second, on=keys, how="left", suffix=again)
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
