"""How many distinct trial ids a question has, at a memory that rows do not fill.

A set of integers is its blocks of 128 with a word of bits each, as in roaring bitmaps [1]_: exact
for all integers, merged by ``or``, and of constant size where ids are dense, as 0..n-1 are. A
report keeps ids that are far from zero, such as seeds, as they are: each would have a block of its
own, which takes three times as long and twice the memory of the id. Words are compared by 64 bits
of hash: repeated ids are always found; n different ones pass for repeated with probability
n^2 / 2^65, which is 3e-16 for 100 trials.

References
----------
.. [1] S. Chambi, D. Lemire, O. Kaser & R. Godin (2016), arXiv:1402.6407.
"""

from __future__ import annotations

from inspect import signature

import polars as pl

from polars_scorio.counting.checks import IDS, NO_ID, ROWS
from polars_scorio.counting.roles import TRIAL, Trials
from polars_scorio.counting.values import held

# To be used as a key beside those of the question; null for a null id.
BLOCK, BITS, FAR = ":block", ":bits", ":far"

_NEAR = 2**14  # ids below it are in blocks: no question has more than 256
_NO_BLOCK = 0  # which is the largest id of none
# Polars 1.35 has all rows in memory where distinct values are counted.
_STREAMED = tuple(int(part) for part in pl.__version__.split(".")[:2]) > (1, 35)
# A list in any order is streamed, and takes less than half the memory of a set.
_LISTED = "maintain_order" in signature(pl.Expr.implode).parameters


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


def may_be_far(trials: Trials) -> bool:
    """Whether trial ids can be too far from zero for blocks, as none in a narrow column are."""
    assert trials.trial is not None  # noqa: S101 - the caller has seen to that
    return _STREAMED and held(_NEAR, trials.trial.dtype) is not None


def near_blocks(trials: Trials) -> list[pl.Expr]:
    """As `blocks`, but ids that are far from zero are kept in `FAR`, and share a block."""
    assert trials.trial is not None  # noqa: S101 - the caller has seen to that
    dtype, (block, bits) = trials.trial.dtype, blocks()
    low = 0 if dtype.is_unsigned_integer() else -_NEAR
    far = ~pl.col(TRIAL).is_between(pl.lit(low, dtype), pl.lit(_NEAR - 1, dtype))
    return [
        pl.when(far).then(pl.lit(_NO_BLOCK, dtype)).otherwise(block).alias(BLOCK),
        bits,
        pl.when(far).then(pl.col(TRIAL)).alias(FAR),
    ]


def block_identities(*, far: bool = False) -> list[pl.Expr]:
    """How many distinct trial ids a block of a question has, and how many are null."""
    ids = pl.col(BITS).bitwise_count_ones()
    if far:
        ids = pl.when(pl.col(BLOCK) == _NO_BLOCK).then(pl.col(FAR)).otherwise(ids)
    return [
        ids.alias(IDS),
        pl.when(pl.col(BLOCK).is_null()).then(pl.col(ROWS)).alias(NO_ID),
    ]


def compared(trials: Trials) -> list[pl.Expr]:
    """The trial id as a question keeps it, if at all: of words the hash, but null stays null."""
    if trials.trial is None or not trials.identified:
        return []
    words = trials.trial.dtype in (pl.String, pl.Binary)
    hashed = pl.when(pl.col(TRIAL).is_not_null()).then(pl.col(TRIAL).hash())
    return [hashed.alias(TRIAL) if words else pl.col(TRIAL)]


def identities(ids: pl.Expr, trials: Trials) -> list[pl.Expr]:
    """How many distinct trial ids, as `compared`, a question has, and how many are null."""
    if in_blocks(trials) or not _LISTED:  # an engine in memory counts numbers faster than lists
        distinct = ids.n_unique()
    else:
        distinct = ids.implode(maintain_order=False).list.n_unique()
    return [distinct.alias(IDS), ids.null_count().alias(NO_ID)]
