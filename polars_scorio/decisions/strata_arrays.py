"""Arrays with a row for each stratum and a column for each model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import polars as pl

from polars_scorio.counting.checks import once_whole
from polars_scorio.counting.lists import AS_ROWS
from polars_scorio.counting.trials import Trials
from polars_scorio.kernels.array_types import Ints
from polars_scorio.kernels.batches import row_batches

# The place of a stratum among all, ascending.
STRATUM = ":stratum"
_ROWS = ":rows"


def in_all_strata(
    grouped: pl.LazyFrame,
    trials: Trials,
    function: Callable[[pl.DataFrame], pl.DataFrame],
    schema: dict[str, pl.DataType],
    *,
    overall: bool = False,
) -> pl.LazyFrame:
    """Apply a function to the groups of all strata; filters on `by` still reach the scan.

    Parameters
    ----------
    grouped : LazyFrame
        One row per group: its keys, and a list of its questions or its results.
    trials : Trials
        The log, for the names of its keys.
    function : callable
        From all groups, ascending by stratum and model, to rows of the result. Both have the
        column `STRATUM`.
    schema : dict
        The columns of the rows beside `STRATUM`.
    overall : bool
        Whether there are groups over all strata, whose keys are null: they come last.

    Returns
    -------
    LazyFrame
        The strata and the columns of `schema`, ascending by stratum, in the order of `function`.
    """
    keys, row = trials.strata, pl.Struct(schema)

    def apply(groups: pl.DataFrame) -> pl.DataFrame:
        if keys or trials.models:
            groups = groups.sort(*keys, *trials.models, nulls_last=overall)
        stratum = pl.struct(*keys).rle_id() if keys else pl.lit(0, pl.UInt32)
        rows = function(groups.with_columns(stratum.alias(STRATUM)))
        # A list for each stratum: filters on what is in it must not pass below.
        packed = (
            rows.sort(STRATUM, maintain_order=True)
            .group_by(STRATUM, maintain_order=True)
            .agg(pl.struct(pl.col(name).cast(dtype) for name, dtype in schema.items()).alias(_ROWS))
        )
        places = groups.select(*keys).unique(maintain_order=True)
        columns = [places[name].gather(packed[STRATUM]) for name in keys]
        return pl.DataFrame([*columns, packed[_ROWS].cast(pl.List(row))])

    # On a frame, not in an expression: there Polars adds a sentence of its own to an error.
    done = once_whole(grouped, apply, {**keys, _ROWS: pl.List(row)}, filters=True)
    return done.explode(_ROWS, **AS_ROWS).unnest(_ROWS)


class Block(NamedTuple):
    """Strata with equally many models.

    Attributes
    ----------
    strata : ndarray of int, shape (S,)
        Their places among all strata.
    rows : ndarray of int, shape (S, L)
        The places of their models among all groups.
    baseline : int or None
        The column of the model with which all others are compared.
    """

    strata: Ints
    rows: Ints
    baseline: int | None

    def pairs(self) -> tuple[Ints, Ints]:
        """The columns of both models of each pair."""
        models = self.rows.shape[1]
        if self.baseline is None:
            a, b = np.triu_indices(models, 1)
            return a, b
        others = np.delete(np.arange(models), self.baseline)
        return others, np.full_like(others, self.baseline)


def strata_blocks(
    stratum: pl.Series, baseline: Ints | None = None, *, last_alone: bool = False
) -> Iterator[Block]:
    """The strata by how many models they have, some at a time.

    Parameters
    ----------
    stratum : Series
        Of each group, ascending.
    baseline : ndarray of int, optional
        Column of the baseline in each stratum.
    last_alone : bool
        Whether the last stratum is in a block of its own, as a mean over the others is.

    Examples
    --------
    >>> [block.rows.tolist() for block in strata_blocks(pl.Series([0, 0, 1, 2, 2]))]
    [[[2]], [[0, 1], [3, 4]]]
    """
    sizes = np.bincount(stratum.to_numpy())
    starts = np.cumsum(sizes) - sizes
    column = np.zeros_like(sizes) if baseline is None else baseline
    alone = np.arange(sizes.size) == sizes.size - last_alone
    kinds, kind = np.unique(np.column_stack([sizes, column, alone]), axis=0, return_inverse=True)
    for place, (models, base, _) in enumerate(kinds.tolist()):
        strata = np.flatnonzero(kind.ravel() == place)
        for part in row_batches(strata, models**2):
            rows = starts[part][:, None] + np.arange(models)
            yield Block(part, rows, None if baseline is None else base)
