"""From a table of trials to the accessor: the roles that a reader sets, and those of the user."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeVar, cast

import polars as pl

from polars_scorio.accessors.frame import Scorio
from polars_scorio.counting.roles import Column, Unscored
from polars_scorio.reporting.options import Chosen, OutcomeOptions, RoleOptions

if TYPE_CHECKING:
    from typing_extensions import Unpack

FrameT = TypeVar("FrameT", pl.DataFrame, pl.LazyFrame)


class LogOptions(OutcomeOptions, Chosen, total=False):
    """Roles that the user of a reader may set; they replace what the reader would set."""

    by: Column | Iterable[Column] | None
    n: int | None
    levels: Iterable[float] | None
    cluster: Column | None
    answer: Column | None
    validate: bool
    unscored: Unscored


def read(frame: FrameT, given: LogOptions, **roles: Unpack[RoleOptions]) -> Scorio[FrameT]:
    """The accessor of a table with the roles of the reader, or those that are given instead.

    Raises
    ------
    TypeError
        If something is given that is no role.
    """
    known = LogOptions.__optional_keys__
    strangers = [name for name in given if name not in known]
    if strangers:
        raise TypeError(
            f"unknown keywords {strangers}: beside those of the reader there are the roles "
            f"{sorted(known)}"
        )
    both = cast("RoleOptions", {**roles, **given})
    return Scorio(frame)(**both)


def scored(threshold: float | None, reward: str = "reward") -> pl.Expr:
    """The rewards, or whether they reach a threshold; NaN is no reward, as null.

    >>> pl.select(reward=pl.Series([0.2, None, 0.7])).select(scored(0.5)).to_series().to_list()
    [False, None, True]
    """
    number = pl.col(reward).cast(pl.Float64).fill_nan(None)
    return number if threshold is None else number >= threshold
