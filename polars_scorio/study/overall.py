"""One number over all strata: their mean, or all their questions in one pool."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl
from polars.dataframe.group_by import GroupBy

from polars_scorio.arguments import Overall, View, check_choice
from polars_scorio.counting.checks import AS_ROWS, WholePlan
from polars_scorio.counting.log import EVERYTHING, STAND_IN, Trials
from polars_scorio.counting.tally import QUESTIONS
from polars_scorio.metrics.costs import CostMetric
from polars_scorio.metrics.metric import Metric, number_column
from polars_scorio.study.calibrated import CalibratedInference
from polars_scorio.study.cell_numbers import (
    BOUNDS,
    COST_FACTS,
    INFERENCE,
    INFORMATION,
    JUDGED,
    LABEL_COUNT,
    RANGE,
    VALUES,
    WEIGHT,
    Row,
    error_of_mean,
    information_of_strata,
    mean_of_strata,
    unless_lacking,
)
from polars_scorio.study.cost_numbers import part_columns
from polars_scorio.study.evaluate import RESULTS, ReportColumns, tidy_rows
from polars_scorio.study.question_cells import STRATUM
from polars_scorio.study.request import Request


def check_overall(overall: Overall, trials: Trials, *, per_question: bool) -> None:
    """Refuse rows over strata where there are none.

    Raises
    ------
    ValueError
        If it is not known what is wanted, or there are no strata, or questions have rows.
    """
    check_choice("overall", overall, Overall)
    if not trials.by:
        raise ValueError(f"overall={overall!r} needs strata: name their columns with by=")
    if per_question:
        raise ValueError(f'overall={overall!r} is about models: it has no per="question"')


def with_pool(groups: WholePlan, trials: Trials) -> WholePlan:
    """Add a group for each model, without a stratum, that has the questions of all its strata."""

    def pooled(strata: pl.DataFrame) -> pl.DataFrame:
        return _per_model(strata, trials).agg(pl.col(QUESTIONS).explode(**AS_ROWS))

    return _with_overall(groups, trials, pooled)


def with_all_questions(grouped: WholePlan, trials: Trials, overall: Overall) -> WholePlan:
    """Add a group for each model that has the rows of the questions of all its strata.

    With "macro" each row has its `WEIGHT`: strata count the same, however many questions they have.
    """
    check_overall(overall, trials, per_question=False)

    def pooled(strata: pl.DataFrame) -> pl.DataFrame:
        if overall == "macro":
            share = (1.0 / pl.len().cast(pl.Float64)).alias(WEIGHT)
            weighted = pl.element().struct.with_fields(share)
            strata = strata.with_columns(pl.col(RESULTS).list.eval(weighted))
        return _per_model(strata, trials).agg(pl.col(RESULTS).explode(**AS_ROWS))

    return _with_overall(grouped, trials, pooled)


def with_mean(grouped: WholePlan, request: Request, columns: ReportColumns) -> WholePlan:
    """Add a group for each model, without a stratum, that has the mean results of its strata.

    The strata have their `QUESTIONS`, if these give the numbers of a mean; means have none.
    """
    trials = request.trials

    def averaged(strata: pl.DataFrame) -> pl.DataFrame:
        rows = tidy_rows(strata.drop(QUESTIONS, strict=False))
        pooled = _pooled_numbers(strata, request, columns) if QUESTIONS in strata.columns else {}
        means = pl.concat(
            (
                _stratum_means(rows, request, columns, metric, view, pooled)
                for metric, view in request.metrics
            ),
            how="diagonal",
        )
        # A mean is not averaged again: it needs no other column that is hidden.
        hidden = [
            pl.lit(None, dtype).alias(name)
            for name, dtype in columns.hidden.items()
            if name not in means.columns
        ]
        return _per_model(means.with_columns(hidden), trials).agg(
            pl.struct(*columns.schema).alias(RESULTS)
        )

    return _with_overall(grouped, trials, averaged)


def _pooled_numbers(
    strata: pl.DataFrame, request: Request, columns: ReportColumns
) -> dict[Row, pl.DataFrame]:
    """The numbers of means over strata that one fit of all their questions gives."""
    trials = request.trials
    questions = strata.select(*trials.models, QUESTIONS).with_row_index(STRATUM)
    named = pl.col(QUESTIONS).struct.with_fields(pl.col(STRATUM))
    each = questions.explode(QUESTIONS, **AS_ROWS).with_columns(named)
    cells = request.cells(_per_model(each, trials).agg(QUESTIONS)[QUESTIONS])
    found = dict[Row, pl.DataFrame]()
    for metric, view in cells.without_rewards(request.metrics):
        inference = request.choice.inference_of(metric, view)
        if isinstance(inference, CalibratedInference):
            asked = inference.macro_numbers([(metric, view)], cells)
            found |= {row: numbers.columns() for row, numbers in asked.items()}
        if isinstance(metric, CostMetric) and VALUES in columns.hidden:
            for k in metric.row_sizes:
                parts = part_columns(metric, k, cells, trials.question.name)
                found[metric.name, k] = found[metric.name, k].hstack(parts)
    return found


def _with_overall(
    groups: WholePlan, trials: Trials, overall: Callable[[pl.DataFrame], pl.DataFrame]
) -> WholePlan:
    """Add rows that a function makes of the strata of each model, after the strata."""

    def apply(strata: pl.DataFrame) -> pl.DataFrame:
        _refuse_lacking(strata, trials)
        rows = overall(strata).sort(*trials.models, EVERYTHING).drop(EVERYTHING)
        return pl.concat([strata, rows], how="diagonal_relaxed")

    # A filter must not go below: it would change what is averaged.
    return groups.then(apply, filters=False)


def _per_model(frame: pl.DataFrame, trials: Trials) -> GroupBy:
    return frame.group_by(*trials.models, STAND_IN, maintain_order=True)


def _stratum_means(
    rows: pl.DataFrame,
    request: Request,
    columns: ReportColumns,
    metric: Metric,
    view: View,
    pooled: dict[Row, pl.DataFrame],
) -> pl.DataFrame:
    """The means of one metric over the strata of each model, with their intervals.

    Numbers in `pooled` replace those that follow from the intervals of the strata.
    """
    inference = request.choice.inference_of(metric, view)
    means = []
    for k in metric.row_sizes:
        of_k = (pl.col("metric") == metric.name) & pl.col("k").eq_missing(pl.lit(k, pl.Int64))
        strata = _per_model(rows.filter(of_k), request.trials)
        numbers = strata.agg(
            pl.col(*columns.labels).first(),
            pl.col(*columns.facts).sum(),
            mean_of_strata("estimate"),
            mean_of_strata("mu"),
            error_of_mean("sigma"),
            *([pl.col(BOUNDS).first()] if BOUNDS in columns.numbers else []),
            *_information_of_mean(request, columns),
            *_labels_of_strata(request),
            *(
                pl.lit(None, dtype).alias(name)
                for name, dtype in COST_FACTS.items()
                if name in columns.numbers
            ),
            _inference_of_strata(),
            *(_values_of_strata() if VALUES in columns.hidden else []),
        )
        lo, hi = map(number_column, inference.mean_interval(metric, strata))
        numbers = numbers.with_columns(lo.alias("lo"), hi.alias("hi"))
        known = pooled.get((metric.name, k))
        means.append(
            numbers
            if known is None
            else _replaced_numbers(numbers, known, columns, whole=metric.looks_at == "costs")
        )
    return pl.concat(means)


def _replaced_numbers(
    numbers: pl.DataFrame, known: pl.DataFrame, columns: ReportColumns, *, whole: bool
) -> pl.DataFrame:
    """The rows of models with other numbers, as far as these are known, in the same order.

    The inference remains that of the strata: a mean of ranges is a range. If the numbers are
    `whole`, what is null among them stays so.
    """
    if whole:
        return numbers.with_columns(known[name] for name in known.columns if name in columns.schema)
    return numbers.with_columns(
        known[name].zip_with(known[name].is_not_null(), numbers[name])
        if name in numbers.columns
        else known[name]
        for name in known.columns
        if name in columns.schema and name != INFERENCE
    )


def _values_of_strata() -> list[pl.Expr]:
    """The estimates of the questions of all strata, and the share of each in the mean."""
    size = pl.col(VALUES).list.len()
    share = (1.0 / size).repeat_by(size)
    return [
        unless_lacking(VALUES, pl.col(VALUES).explode(**AS_ROWS)),
        unless_lacking(VALUES, share.explode(**AS_ROWS)).alias(WEIGHT),
    ]


def _inference_of_strata() -> pl.Expr:
    """The inference of the strata, or `RANGE` if one of them has a range."""
    inference = pl.col(INFERENCE)
    ranges = (inference == RANGE).any()
    return pl.when(ranges).then(pl.lit(RANGE)).otherwise(inference.first()).alias(INFERENCE)


def _labels_of_strata(request: Request) -> list[pl.Expr]:
    """The mean of the verdicts as they are, and the labels: those of each stratum, or of all."""
    if not request.trials.judged:
        return []
    labels = pl.col(LABEL_COUNT)
    shared = request.trials.truth is None
    return [mean_of_strata(JUDGED), labels.max() if shared else labels.sum()]


def _information_of_mean(request: Request, columns: ReportColumns) -> list[pl.Expr]:
    """The information of a mean over strata, if the rows have theirs."""
    if INFORMATION not in columns.numbers:
        return []
    return [information_of_strata(request.choice.target)]


def _refuse_lacking(groups: pl.DataFrame, trials: Trials) -> None:
    """Raise if models lack a stratum that others have."""
    if trials.model is None:
        return
    strata, model = [*trials.strata], trials.model.name
    models, all_strata = groups.select(model).unique(), groups.select(strata).unique()
    lacking = models.join(all_strata, how="cross").join(groups, on=[*strata, model], how="anti")
    if lacking.height:
        first = lacking.sort(model, *strata).row(0, named=True)
        place = ", ".join(f"{name}={first[name]!r}" for name in strata)
        names = sorted(map(repr, lacking[model].unique().to_list()))
        raise ValueError(
            f"overall: {len(names):,} of the models lack a stratum: {', '.join(names)}; the first "
            f"has no trial at {place}. A number over all strata needs each of them: filter the log "
            "to those that all models have."
        )
