"""The models of strata, with which every decision begins."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import polars as pl

from polars_scorio.arguments import (
    Unmatched,
    UnmatchedPairs,
    check_choice,
    fits_column,
    is_several,
    known_text,
    value_text,
    value_tuple,
)
from polars_scorio.counting.checks import AS_ROWS, WholePlan
from polars_scorio.counting.common_questions import Alignment
from polars_scorio.counting.log import Trials, is_label
from polars_scorio.counting.roles import Category
from polars_scorio.maths.array_rows import Ints, row_batches
from polars_scorio.metrics.from_text import check_metric
from polars_scorio.metrics.metric import Metric
from polars_scorio.study.evaluate import Evaluated
from polars_scorio.study.request import DecisionOptions, InferenceOptions
from polars_scorio.subjects.sampled_scores import LIMIT

# The place of a stratum among all, ascending.
STRATUM = ":stratum"
_ROWS = ":rows"


def in_all_strata(
    grouped: WholePlan,
    trials: Trials,
    function: Callable[[pl.DataFrame], pl.DataFrame],
    schema: dict[str, pl.DataType],
) -> pl.LazyFrame:
    """Apply a function to the groups of all strata, which have `STRATUM`, ascending.

    Filters on `by` still reach the scan; `schema` has the columns of the rows beside `STRATUM`.
    """

    def apply(groups: pl.DataFrame) -> pl.DataFrame:
        placed = with_stratum(groups, trials)
        return _packed_rows(function(placed), placed, trials, schema)

    return _unpacked_plan(grouped.then(apply, _packed_schema(trials, schema)))


def in_evaluated_strata(
    plan: WholePlan,
    trials: Trials,
    function: Callable[[pl.DataFrame, Evaluated], pl.DataFrame],
    schema: dict[str, pl.DataType],
) -> pl.LazyFrame:
    """`in_all_strata` of a plan whose last step evaluates it; groups over all strata come last."""

    def apply(found: Evaluated) -> pl.DataFrame:
        placed = with_stratum(found.groups, trials)
        return _packed_rows(function(placed, found), placed, trials, schema)

    return _unpacked_plan(plan.then(apply, _packed_schema(trials, schema)))


def with_stratum(groups: pl.DataFrame, trials: Trials) -> pl.DataFrame:
    """Groups by ascending stratum, with the `STRATUM` of each."""
    place = pl.struct(*trials.strata).rle_id() if trials.strata else pl.lit(0, pl.UInt32)
    return groups.with_columns(place.alias(STRATUM))


def _packed_schema(trials: Trials, schema: dict[str, pl.DataType]) -> dict[str, pl.DataType]:
    return {**trials.strata, _ROWS: pl.List(pl.Struct(schema))}


def _packed_rows(
    rows: pl.DataFrame, groups: pl.DataFrame, trials: Trials, schema: dict[str, pl.DataType]
) -> pl.DataFrame:
    """A list of rows for each stratum: filters on what is in it must not pass below."""
    packed = (
        rows.sort(STRATUM, maintain_order=True)
        .group_by(STRATUM, maintain_order=True)
        .agg(pl.struct(pl.col(name).cast(dtype) for name, dtype in schema.items()).alias(_ROWS))
    )
    places = groups.select(*trials.strata).unique(maintain_order=True)
    columns = [places[name].gather(packed[STRATUM]) for name in trials.strata]
    return pl.DataFrame([*columns, packed[_ROWS].cast(pl.List(pl.Struct(schema)))])


def _unpacked_plan(packed: WholePlan) -> pl.LazyFrame:
    return packed.plan().explode(_ROWS, **AS_ROWS).unnest(_ROWS)


class Block(NamedTuple):
    """Strata with equally many models.

    Places of the strata (S,), of their models among the groups (S, L); column of the baseline.
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
    """The strata by how many models they have; with `last_alone` the last in a block of its own.

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


_ROW = 100  # bytes of a pair in the result of `compare`


def refuse_many_pairs(models: int, pairs: int, rows: int) -> None:
    """Refuse a comparison whose result would exceed `LIMIT`: one row a pair and draw size."""
    if rows * _ROW > LIMIT:
        raise ValueError(
            f"{models:,} models make {pairs:,} pairs, a result of about "
            f"{rows * _ROW / 1e9:,.1f} GB; compare makes at most {LIMIT / 1e9:,.1f} GB. Name one "
            "model with baseline= to compare all others with it, filter the models, or use rank"
        )


def per_stratum(
    grouped: WholePlan,
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
    """The dtype of the model column, which a method needs."""
    if trials.model is None:
        raise ValueError(f"{method} needs several models: name their column with model=")
    return trials.model.dtype


def check_models(names: object, trials: Trials, keyword: str) -> list[Category]:
    """One name or several of models, after a check that the model column can hold them."""
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


# An adjusted comparison uses all questions.
_ALIGNMENT: dict[UnmatchedPairs, Alignment] = {
    "error": "same", "drop": "common", "adjust": "any", "unpaired": "any",
}  # fmt: skip


class AlignedOptions(InferenceOptions, total=False):
    """The options of a report in which the questions of the models are aligned."""

    questions: Alignment


def aligned_options(options: DecisionOptions, *, adjustable: bool = False) -> AlignedOptions:
    """The options with the questions that count: the same ones, unless the user says otherwise."""
    unmatched = options.get("unmatched", "error")
    check_choice("unmatched", unmatched, UnmatchedPairs if adjustable else Unmatched)
    others = {name: value for name, value in options.items() if name != "unmatched"}
    return {**others, "questions": _ALIGNMENT[unmatched]}  # type: ignore[typeddict-item]


def single_k(metric: Metric, method: str) -> int | None:
    """The one draw size of a metric, if it has one at all."""
    check_metric(metric, f"{method} takes a metric")
    if len(metric.row_sizes) > 1:
        one, given = ("draw size", "k") if metric.t is None else ("threshold", "t")
        raise ValueError(
            f"{method} takes one {one} at a time, got {metric.name} with "
            f"{given}={list(metric.row_sizes)}"
        )
    return metric.row_sizes[0]


def refuse_costs(metric: Metric, method: str, way_out: str) -> None:
    """Refuse a metric of costs, with what answers the question."""
    if metric.looks_at == "costs":
        raise ValueError(f"{method} takes no metric of costs, got {metric.name}: {way_out}")


def baseline_columns(groups: pl.DataFrame, trials: Trials, baseline: Category) -> Ints:
    """The place of the baseline among the models of each stratum, which all must have."""
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
