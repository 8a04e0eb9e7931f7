"""Whether trial ids repeat, from the sum of their hashes: the check in the one pass over the log.

Ids 0, 1, ..., n-1 and 1, 2, ..., n are known by the sum of their hashes [1]_, a number of 64 bits.
Other ids that nobody chose, repeated ones among them, have one of these two sums with probability
2^-63. The hash has no secret seed: somebody who wants to hide a repetition can search for ids that
have such a sum, so that the check is no defence against the author of a log.

Questions whose sum is not known (ids with gaps, seeds), and ids that are no integers, are left to
`second_look`.

References
----------
.. [1] D. Clarke, S. Devadas, M. van Dijk, B. Gassend & G. E. Suh (2003), Incremental multiset hash
   functions and their application to memory integrity checking. ASIACRYPT, 188-207.
"""

from __future__ import annotations

from functools import cache

import polars as pl

from polars_scorio.counting.checks import ROWS
from polars_scorio.counting.tally_numbers import Number, summed_number
from polars_scorio.counting.trials import TRIAL, Trials

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
