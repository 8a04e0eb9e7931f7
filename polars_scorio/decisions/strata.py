"""What compares models looks at a whole stratum at once."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from polars_scorio.arguments import (
    Adjusted,
    Compared,
    check_choice,
    fits,
    is_several,
    several,
    shown,
)
from polars_scorio.counting.checks import once_whole
from polars_scorio.counting.common_questions import Alignment
from polars_scorio.counting.lists import AS_ROWS
from polars_scorio.counting.roles import EVERYTHING, Category, Trials
from polars_scorio.counting.values import is_label
from polars_scorio.metrics.base import Metric
from polars_scorio.reporting.options import DecisionOptions, InferenceOptions
from polars_scorio.reporting.request import check_metrics, view_of

_GROUPS, _ROWS = ":groups", ":rows"


def per_stratum(
    grouped: pl.LazyFrame,
    trials: Trials,
    function: Callable[[pl.DataFrame], pl.DataFrame],
    schema: dict[str, pl.DataType],
) -> pl.LazyFrame:
    """Apply a function to the groups of each stratum; filters on `by` still reach the scan.

    Parameters
    ----------
    grouped : LazyFrame
        One row per group: its keys, and a list of what is known about it.
    trials : Trials
        The log, for the names of its keys.
    function : callable
        From the groups of one stratum, ascending by model, to rows of the result.
    schema : dict
        The columns of those rows.

    Returns
    -------
    LazyFrame
        The strata and the columns of `schema`, ascending by stratum, in the order of `function`.
    """
    strata = trials.strata
    keys = strata or {EVERYTHING: pl.UInt8()}
    everything = [] if strata else [pl.lit(0, pl.UInt8).alias(EVERYTHING)]
    row = pl.Struct(schema)

    def rows_of(place: dict[str, object], part: pl.Series) -> pl.Series:
        groups = part.struct.unnest()
        try:
            rows = function(groups.sort(*trials.models) if trials.models else groups)
        except ValueError as error:
            where = "".join(f"{name}={place[name]!r}: " for name in strata)
            raise ValueError(f"{where}{error}") from error
        return rows.select(*schema).cast(schema).to_struct()  # type: ignore[arg-type]  # a dict is a mapping

    def apply(packed: pl.DataFrame) -> pl.DataFrame:
        places = packed.select(*keys).iter_rows(named=True)
        rows = [rows_of(*pair) for pair in zip(places, packed[_GROUPS], strict=True)]
        return packed.select(*keys, pl.Series(_ROWS, rows, pl.List(row)))

    groups = pl.struct(pl.exclude(*strata, EVERYTHING)).alias(_GROUPS)
    packed = grouped.select(*everything, *strata, groups).group_by(*keys).agg(_GROUPS).sort(*keys)
    # On a frame, not in an expression: there Polars adds a sentence of its own to an error.
    done = once_whole(packed, apply, {**keys, _ROWS: pl.List(row)}, filters=True)
    return (
        done.filter(pl.col(_ROWS).list.len() > 0)
        .select(*strata, _ROWS)
        .explode(_ROWS, **AS_ROWS)
        .unnest(_ROWS)
    )


def named_model(trials: Trials, method: str) -> pl.DataType:
    """The dtype of the model column, which a method needs.

    Raises
    ------
    ValueError
        If the log has one unnamed model.
    """
    if trials.model is None:
        raise ValueError(f"{method} needs several models: name their column with model=")
    return trials.model.dtype


def check_models(names: object, trials: Trials, keyword: str) -> list[Category]:
    """One name or several of models, after a check that the model column can hold them.

    Raises
    ------
    TypeError
        If a word is given for a column of numbers, or a number for a column of words.
    ValueError
        If an Enum has no such model, or an int is too large for any column.
    """
    dtype = named_model(trials, f"{keyword}=")
    models = several(names)
    for name in models:
        what = f"{keyword}: {shown(name)} cannot be a model of this log, whose models are {dtype}"
        if isinstance(name, str) != is_label(dtype) or name is None or is_several(name):
            raise TypeError(what)
        if not fits(name):
            raise ValueError(what)
        if isinstance(dtype, pl.Enum) and name not in dtype.categories:
            raise ValueError(f"{what}, one of {dtype.categories.to_list()}")
    return [*models]  # type: ignore[list-item]  # one of the kinds that were checked


def refuse_rewards(metric: Metric, trials: Trials, method: str) -> None:
    """Refuse rewards of any value, which have no posterior.

    Raises
    ------
    ValueError
        If the metric takes them as they are.
    """
    if view_of(metric, trials) == "rewards":
        raise ValueError(
            f"{method} needs a posterior, and {metric.name} of rewards of any value has none: say "
            "which rewards there are with levels=, or pass w= with a weight for each category"
        )


class AlignedOptions(InferenceOptions, total=False):
    """The options of a report in which the questions of the models are aligned."""

    questions: Alignment


def aligned(options: DecisionOptions, *, adjustable: bool = False) -> AlignedOptions:
    """The options with the questions that count: the same ones, unless the user says otherwise.

    Raises
    ------
    ValueError
        If `questions` is none of "same", "common" and, where it is `adjustable`, "adjusted".
    """
    questions = options.get("questions", "same")
    check_choice("questions", questions, Adjusted if adjustable else Compared)
    # What is adjusted takes all of them.
    return {**options, "questions": "any" if questions == "adjusted" else questions}


def single_k(metric: Metric, method: str) -> int | None:
    """The one draw size of a metric, if it has one at all.

    Raises
    ------
    TypeError
        If it is no metric.
    ValueError
        If there are several.
    """
    check_metrics([metric])
    if len(metric.k) > 1:
        one, given = ("draw size", "k") if metric.drawn is None else ("threshold", "t")
        raise ValueError(
            f"{method} takes one {one} at a time, got {metric.name} with {given}={list(metric.k)}"
        )
    return metric.k[0]
