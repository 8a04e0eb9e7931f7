"""Whether trial ids repeat, which the one pass over the log tells of most questions without them.

Ids 0, 1, ..., n-1 and 1, 2, ..., n are known by the sum of their hashes [1]_, a number of 64 bits:
other ids, repeated ones among them, have one of the two with probability 2^-63. Ids with gaps,
seeds and others that no sum tells are looked at once more, those of the questions in doubt alone.

References
----------
.. [1] D. Clarke, S. Devadas, M. van Dijk, B. Gassend & G. E. Suh (2003), Incremental multiset hash
   functions and their application to memory integrity checking. ASIACRYPT, 188-207.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import polars as pl

from polars_scorio.counting.checks import (
    IDS,
    NO_ID,
    PLACE,
    PROBLEM,
    ROWS,
    Rule,
    identity_rules,
    integer_ids,
    marked,
    raise_first,
)
from polars_scorio.counting.duplicates.distinct_ids import identities
from polars_scorio.counting.roles import TRIAL, Trials

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


def _look_again(trials: Trials) -> Callable[[pl.DataFrame], None]:
    """The look at the ids of the questions in doubt, which raises if one repeats or is null."""
    question, broken = trials.question.name, identity_rules(trials)
    keys = [*trials.groups, question]

    def identified(asked: pl.DataFrame, ids: pl.Expr) -> pl.DataFrame:
        # Values of each key pass down to a reader of files, which a join on all of them does not.
        values = {key: asked[key].unique() for key in keys}
        near = [pl.col(key).is_in(v.implode()) for key, v in values.items() if v.len() <= _FEW]
        rows = trials.rows().filter(*near).with_columns(ids)
        found = rows.group_by(keys).agg(pl.len().alias(ROWS), *identities(pl.col(TRIAL)))
        return found.collect(engine="streaming").join(asked, on=keys, how="semi")

    def look(doubted: pl.DataFrame) -> None:
        asked = doubted.select(*trials.groups, pl.col(PLACE).alias(question))
        # Their last 32 bits take half the room, and all but always differ where the ids do.
        narrow = identified(asked, pl.col(TRIAL).cast(pl.UInt32, wrap_numerical=True))
        if narrow.height < asked.height:
            number = f"{asked.height:,} question{'s' if asked.height > 1 else ''}"
            raise ValueError(
                f"{trials.owner}the trial ids of {number} had to be read twice, and of those "
                f"{narrow.height:,} were there the second time. Does the log change, or can it be "
                "read once only? Collect it first, or skip the check with validate=False."
            )
        alike = narrow.filter((pl.col(IDS) < pl.col(ROWS)) | (pl.col(NO_ID) > 0))
        if alike.height:
            whole = identified(alike.select(keys), pl.col(TRIAL)).lazy()
            again = marked(whole, question, broken).filter(pl.col(PROBLEM).is_not_null())
            raise_first(again.collect(), trials, broken)

    return look
