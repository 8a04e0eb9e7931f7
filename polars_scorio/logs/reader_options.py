"""From a table of trials to the accessor: the roles that a reader sets, and those of the user."""

from __future__ import annotations

from collections.abc import Iterable
from inspect import signature
from typing import TYPE_CHECKING, TypeVar, cast

import polars as pl

from polars_scorio.accessors.frame import Scorio
from polars_scorio.counting.roles import Column, Unscored
from polars_scorio.reporting.options import Chosen, OutcomeOptions, RoleOptions
from polars_scorio.signatures import (
    FunctionT,
    answering,
    described,
    entries_of,
    extended,
    sections_of,
)

if TYPE_CHECKING:
    from typing_extensions import Unpack

FrameT = TypeVar("FrameT", pl.DataFrame, pl.LazyFrame)

# Help that all readers share; each reader adds to it.
_PARAMETERS = {
    "paths": """paths : str, path or iterable of them
    Files, folders that hold them at any depth, or globs.""",
    "model": """model : str, optional
    The model of all files, or a pattern with one group that is searched in their paths: a text
    with parentheses is a pattern.""",
    "threshold": """threshold : float, optional
    A score or reward from here on is a success.""",
    "roles": """**roles
    Roles in place of the reader's, such as ``missing=0``.""",
}
_RETURNS = "Scorio\n    The accessor of the table, which is its `frame`."
_MISSING = "FileNotFoundError\n    If there is no such file."
_WRONG = "ValueError\n    If a file is empty, broken off, or of another tool or version."


class LogOptions(OutcomeOptions, Chosen, total=False):
    """Roles that the user of a reader may set; they replace what the reader would set."""

    by: Column | Iterable[Column] | None
    n: int | None
    levels: Iterable[float] | None
    cluster: Column | None
    answer: Column | None
    validate: bool
    unscored: Unscored


def log_reader(function: FunctionT) -> FunctionT:
    """A reader of logs with full help, which refuses unknown keywords before it reads a file.

    >>> @log_reader
    ... def tool(paths, **roles):
    ...     '''A tool.'''
    >>> tool("logs", misssing=0)
    Traceback (most recent call last):
    TypeError: tool() got an unexpected keyword argument 'misssing': did you mean 'missing'? It \
takes paths, answer, by, cluster, confidence, inference, levels, missing, n, success, target, \
unscored, validate
    """
    shown = signature(function)
    raised = entries_of(sections_of(function.__doc__ or "")[1].get("Raises", ""))
    wrong = extended(_WRONG, raised.pop("ValueError", ""))
    raises = "\n".join([_MISSING, *raised.values(), wrong])
    doc = described(function.__doc__, shown, _PARAMETERS, Returns=_RETURNS, Raises=raises)
    return answering(function, shown, doc, sorted(LogOptions.__optional_keys__))


def log_accessor(frame: FrameT, given: LogOptions, **roles: Unpack[RoleOptions]) -> Scorio[FrameT]:
    """The accessor of a table with the roles of the user, and otherwise those of the reader."""
    both = cast("RoleOptions", {**roles, **given})
    return Scorio(frame)(**both)


def reward_outcome(threshold: float | None, reward: str = "reward") -> pl.Expr:
    """The rewards, or whether they reach a threshold; NaN and infinities are null, as no reward is.

    >>> rewards = pl.DataFrame({"reward": [0.2, None, 0.7, float("inf")]})
    >>> rewards.select(reward_outcome(0.5)).to_series().to_list()
    [False, None, True, None]
    """
    number = finite_or_null(pl.col(reward).cast(pl.Float64))
    return number if threshold is None else number >= threshold


def finite_or_null(number: pl.Expr) -> pl.Expr:
    """The numbers, without NaN and infinities: those stand for what was not computed."""
    return pl.when(number.is_finite()).then(number)
