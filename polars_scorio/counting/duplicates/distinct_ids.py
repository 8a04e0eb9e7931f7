"""How many distinct trial ids a question has.

Where integers are counted for each category, a set of them is its blocks of 128 with a word of bits
each, as in roaring bitmaps [1]_: exact for all integers, merged by ``or``, and of constant size
where ids are dense, as 0..n-1 are. Elsewhere ids are listed; words as 64 bits of hash: repeated ids
are always found, and n different ones pass for repeated with probability n^2 / 2^65, which is 3e-16
for 100 trials.

References
----------
.. [1] S. Chambi, D. Lemire, O. Kaser & R. Godin (2016), arXiv:1402.6407.
"""

from __future__ import annotations

from inspect import signature

import polars as pl

from polars_scorio.counting.checks import IDS, NO_ID, ROWS
from polars_scorio.counting.refusals import integer_ids
from polars_scorio.counting.trials import TRIAL, Trials

# To be used as a key beside those of the question; null for a null id.
BLOCK, BITS = ":block", ":bits"

# A list in any order is streamed, and takes less than half the memory of a set.
_LISTED = "maintain_order" in signature(pl.Expr.implode).parameters


def blocks() -> list[pl.Expr]:
    """The block of each trial id, named by its largest id, and the bit of the id in it."""
    # A lookup: Polars has no shift, and a power costs seven times as much. The sign is a bit too.
    bits = pl.lit([*(1 << i for i in range(127)), -(1 << 127)], pl.List(pl.Int128))
    return [
        (pl.col(TRIAL) | 127).alias(BLOCK),
        bits.list.get(pl.col(TRIAL) & 127).alias(BITS),
    ]


def block_identities() -> list[pl.Expr]:
    """How many distinct trial ids a block of a question has, and how many are null."""
    return [
        pl.col(BITS).bitwise_count_ones().alias(IDS),
        pl.when(pl.col(BLOCK).is_null()).then(pl.col(ROWS)).alias(NO_ID),
    ]


def compared(trials: Trials) -> list[pl.Expr]:
    """The trial id as a question keeps it, but integers: of words the hash, but null stays null."""
    if trials.trial is None or not trials.identified or integer_ids(trials):
        return []
    words = trials.trial.dtype in (pl.String, pl.Binary)
    hashed = pl.when(pl.col(TRIAL).is_not_null()).then(pl.col(TRIAL).hash())
    return [hashed.alias(TRIAL) if words else pl.col(TRIAL)]


def identities(ids: pl.Expr) -> list[pl.Expr]:
    """How many distinct trial ids, as `compared`, a question has, and how many are null."""
    distinct = ids.implode(maintain_order=False).list.n_unique() if _LISTED else ids.n_unique()
    return [distinct.alias(IDS), ids.null_count().alias(NO_ID)]
