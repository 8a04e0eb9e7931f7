"""How many distinct trial ids a question has, at a memory that rows do not fill.

A set of integers is its blocks of 128 with a word of bits each, as in roaring bitmaps [1]_: exact
for all integers, merged by ``or``, and of constant size where ids are dense, as 0..n-1 are. Ids
that are far apart, such as seeds, cost a row each until their question is merged.

References
----------
.. [1] S. Chambi, D. Lemire, O. Kaser & R. Godin (2016), arXiv:1402.6407.
"""

from __future__ import annotations

import polars as pl

from polars_scorio.counting.checks import IDS, NO_ID, ROWS
from polars_scorio.counting.roles import TRIAL, Trials

# To be used as a key beside those of the question; null for a null id.
BLOCK, BITS = ":block", ":bits"


def in_blocks(trials: Trials) -> bool:
    """Whether trial ids are checked by their blocks: those that are integers."""
    return trials.trial is not None and trials.identified and trials.trial.dtype.is_integer()


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


def identities(ids: pl.Expr, trials: Trials) -> list[pl.Expr]:
    """How many distinct trial ids a question has, whatever they are, and how many are null."""
    if not trials.identified:
        return []
    return [ids.n_unique().alias(IDS), ids.null_count().alias(NO_ID)]
