"""Checks and plans that all comparisons of models share: they see a whole stratum at once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl

from polars_scorio.arguments import (
    Adjusted,
    Compared,
    check_choice,
    fits_column,
    is_several,
    known_text,
    value_text,
    value_tuple,
)
from polars_scorio.counting.category_values import is_label
from polars_scorio.counting.common_questions import Alignment
from polars_scorio.counting.roles import Category
from polars_scorio.counting.trials import Trials
from polars_scorio.decisions.strata_arrays import STRATUM, in_all_strata
from polars_scorio.kernels.array_types import Ints
from polars_scorio.metrics.from_text import check_metric
from polars_scorio.metrics.metric import Metric
from polars_scorio.reporting.options import DecisionOptions, InferenceOptions


def per_stratum(
    grouped: pl.LazyFrame,
    trials: Trials,
    function: Callable[[pl.DataFrame], pl.DataFrame],
    schema: dict[str, pl.DataType],
) -> pl.LazyFrame:
    """Apply a function to the models of one stratum at a time; otherwise as `in_all_strata`.

    An error of the function gets the name of the stratum in front.
    """

    def rows_of(groups: pl.DataFrame) -> pl.DataFrame:
        try:
            rows = function(groups.drop(STRATUM, *trials.strata))
        except ValueError as error:
            where = "".join(f"{name}={groups[name][0]!r}: " for name in trials.strata)
            raise ValueError(f"{where}{error}") from error
        place = pl.lit(groups[STRATUM][0], pl.UInt32).alias(STRATUM)
        return rows.select(place, *(pl.col(name).cast(schema[name]) for name in schema))

    def apply(groups: pl.DataFrame) -> pl.DataFrame:
        strata = groups.partition_by(STRATUM, maintain_order=True) if groups.height else []
        nothing = pl.DataFrame(schema={STRATUM: pl.UInt32(), **schema})
        return pl.concat([nothing, *map(rows_of, strata)])

    return in_all_strata(grouped, trials, apply, schema)


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
    models = value_tuple(names)
    for name in models:
        what = (
            f"{keyword}: {value_text(name)} cannot be a model of this log, whose models are {dtype}"
        )
        if isinstance(name, str) != is_label(dtype) or name is None or is_several(name):
            raise TypeError(what)
        if not fits_column(name):
            raise ValueError(what)
        if isinstance(dtype, pl.Enum) and name not in dtype.categories:
            raise ValueError(f"{what}, one of {known_text(name, dtype.categories)}")
    return [*models]  # type: ignore[list-item]  # one of the kinds that were checked


class AlignedOptions(InferenceOptions, total=False):
    """The options of a report in which the questions of the models are aligned."""

    questions: Alignment


def aligned_options(options: DecisionOptions, *, adjustable: bool = False) -> AlignedOptions:
    """The options with the questions that count: the same ones, unless the user says otherwise.

    Raises
    ------
    ValueError
        If `questions` is none of "same", "common" and, where it is `adjustable`, "adjusted".
    """
    questions = options.get("questions", "same")
    check_choice("questions", questions, Adjusted if adjustable else Compared)
    # An adjusted comparison uses all questions.
    return {**options, "questions": "any" if questions == "adjusted" else questions}


def single_k(metric: Metric, method: str) -> int | None:
    """The one draw size of a metric, if it has one at all.

    Raises
    ------
    TypeError
        If `metric` is no metric.
    ValueError
        If it has several draw sizes.
    """
    check_metric(metric, f"{method} takes a metric")
    if len(metric.row_sizes) > 1:
        one, given = ("draw size", "k") if metric.t is None else ("threshold", "t")
        raise ValueError(
            f"{method} takes one {one} at a time, got {metric.name} with "
            f"{given}={list(metric.row_sizes)}"
        )
    return metric.row_sizes[0]


def baseline_columns(groups: pl.DataFrame, trials: Trials, baseline: Category) -> Ints:
    """The place of the baseline among the models of each stratum.

    Raises
    ------
    ValueError
        If a stratum does not have it.
    """
    (model,) = trials.models
    strata = groups.group_by(STRATUM, maintain_order=True).agg(
        pl.col(model).eq(pl.lit(baseline)).arg_true().first().alias("column"),
        pl.col(model),
        *(pl.col(name).first() for name in trials.strata),
    )
    lacking = strata.filter(pl.col("column").is_null())
    if lacking.height:
        first = lacking.row(0, named=True)
        where = "".join(f"{name}={first[name]!r}: " for name in trials.strata)
        known = known_text(baseline, first[model])
        raise ValueError(f"{where}baseline={baseline!r} is none of the models: {known}")
    return strata["column"].to_numpy().astype(np.int64)
