"""States and metrics to a tidy frame."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Literal, TypeAlias

import numpy as np
import polars as pl

from polars_scorio.checks import QUESTIONS, checked
from polars_scorio.counts import DROPPED, REWARDS, STATES, class_columns, states
from polars_scorio.intervals import normal_interval
from polars_scorio.kernels.arrays import Ints
from polars_scorio.kernels.states import Rewards, States
from polars_scorio.metrics.metric import Metric
from polars_scorio.options import Frame, Per
from polars_scorio.roles import (
    EVERYTHING,
    Classes,
    Roles,
    Trials,
    as_categories,
    bind,
    classes,
    refuse_repeats,
)

View: TypeAlias = 'Literal["categories", "success", "rewards"]'

COLUMNS: dict[str, pl.DataType] = {
    "metric": pl.String(),
    "k": pl.Int64(),
    "questions": pl.UInt32(),
    "trials": pl.UInt64(),
    "dropped": pl.UInt64(),
    "estimate": pl.Float64(),
    "mu": pl.Float64(),
    "sigma": pl.Float64(),
    "lo": pl.Float64(),
    "hi": pl.Float64(),
}

_RESULTS, _GROUP, _CELL = ":results", ":group", ":cell"


def report(
    frame: pl.LazyFrame,
    roles: Roles,
    metrics: Sequence[Metric],
    *,
    prior: Frame | None = None,
    confidence: float = 0.95,
    per: Per = "model",
) -> pl.LazyFrame:
    """The plan of a report; see `Scorio.report`."""
    _check_metrics(metrics)
    if isinstance(confidence, bool) or not isinstance(confidence, int | float | np.number):
        raise TypeError(f"confidence must be a number between 0 and 1, got {confidence!r}")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must lie between 0 and 1, got {confidence!r}")
    if per not in ("model", "question"):
        raise ValueError(f'per must be "model" or "question", got {per!r}')

    trials = bind(frame, roles)
    question = [trials.question.name] if per == "question" else []
    refuse_repeats([*trials.keys, *question, *COLUMNS])
    views = [_view(metric, trials) for metric in metrics]
    weighted = [tuple(category for category, _ in metric.w) for metric in metrics if metric.w]
    kinds = classes(trials, weighted, binary="success" in views, rewards="rewards" in views)
    earlier = None if prior is None else _bind_prior(prior, trials, kinds)

    schema = dict.fromkeys(question, trials.question.dtype) | COLUMNS
    asked = list(zip(metrics, views, strict=True))
    results = pl.col(STATES).map_batches(
        _evaluation(asked, kinds, schema, confidence, with_prior=earlier is not None),
        return_dtype=pl.List(pl.Struct(schema)),
        is_elementwise=True,
    )
    grouped = states(trials, kinds, earlier, per_question=per == "question").select(
        *trials.groups, results.alias(_RESULTS)
    )
    if any(metric.poles for metric in metrics):
        grouped = checked(grouped, _refuse_infinite)
    tidy = grouped.select(*trials.keys, _RESULTS).explode(_RESULTS).unnest(_RESULTS)
    # A stable sort: the metrics of a question keep the order in which they were asked for.
    return tidy.sort(*trials.keys, *question, maintain_order=True) if question else tidy


def _view(metric: Metric, trials: Trials) -> View:
    """What a metric looks at: counts by category, by success, or the rewards themselves."""
    if metric.w is not None:
        return "categories"
    real = trials.category.dtype.is_float() and trials.roles.success is None
    return "rewards" if metric.rewards and real else "success"


def _refuse_infinite(grouped: pl.DataFrame) -> None:
    """Refuse a blend with a negative power of zero."""
    rows = grouped.explode(_RESULTS).unnest(_RESULTS).drop(EVERYTHING, strict=False)
    bad = rows.filter(pl.col("estimate").is_infinite() | pl.col("mu").is_infinite())
    if bad.height:
        first = bad.drop(list(COLUMNS)[2:]).row(0, named=True)
        where = ", ".join(f"{name}={value!r}" for name, value in first.items())
        raise ValueError(
            f"{bad.height:,} results have a negative power of zero, the first at {where}: a metric "
            "to which it is applied is 0 there. Use powers that are not negative."
        )


def _check_metrics(metrics: Sequence[Metric]) -> None:
    if not metrics:
        raise TypeError("report needs at least one metric, for instance report(ps.bayes())")
    for metric in metrics:
        if isinstance(metric, type) or not isinstance(metric, Metric):
            raise TypeError(f"report takes metrics such as ps.bayes(), got {metric!r}")
    rows = [(metric.name, k) for metric in metrics for k in metric.k]
    repeated = [row for row in rows if rows.count(row) > 1]
    if repeated:
        name, k = repeated[0]
        raise ValueError(
            f"the report has two rows of the metric {name!r} with k={k}: tell them apart with name="
        )


def _bind_prior(prior: Frame, trials: Trials, kinds: Classes) -> Trials:
    """Find the roles of the data in a frame of prior trials."""
    if not isinstance(prior, pl.DataFrame | pl.LazyFrame):
        raise TypeError(f"prior must be a Polars frame of prior trials, got {prior!r}")
    earlier = bind(prior.lazy(), replace(trials.roles, n=None), owner="prior: ")
    as_categories(kinds.known or kinds.success or (), earlier.category, "prior: w or success")
    for ours, theirs in zip(
        [*trials.by, trials.model, trials.question],
        [*earlier.by, earlier.model, earlier.question],
        strict=True,
    ):
        if ours and theirs and ours.dtype != theirs.dtype:
            raise TypeError(
                f"prior: {theirs.name!r} is {theirs.dtype}, but {ours.dtype} in the data, so that "
                "no question can be matched. Cast one of them."
            )
    return earlier


def _evaluation(
    asked: Sequence[tuple[Metric, View]],
    kinds: Classes,
    schema: dict[str, pl.DataType],
    confidence: float,
    *,
    with_prior: bool,
) -> Callable[[pl.Series], pl.Series]:
    """The function from the states of each group to its rows of the report."""
    question = [name for name in schema if name not in COLUMNS]

    def evaluate(groups: pl.Series) -> pl.Series:
        flat = groups.explode().struct.unnest()
        group = np.repeat(np.arange(len(groups)), groups.list.len().to_numpy())
        # A cell is what has rows of its own in the report: a group, or each of its questions.
        cell = np.arange(len(flat)) if question else group
        cells = len(flat) if question else len(groups)
        counts = _matrix(flat, class_columns(kinds))
        prior = _matrix(flat, class_columns(kinds, ":d")) if with_prior else np.zeros_like(counts)
        tallied = States.tally(counts, prior, cell, flat[QUESTIONS].to_numpy(), cells)
        views: dict[View, States | Rewards] = {"categories": tallied}
        if any(view == "success" for _, view in asked):
            views["success"] = tallied.binary(kinds.successful)
        if kinds.rewards:
            views["rewards"] = _rewards(flat[REWARDS], cell, cells)
        facts = pl.DataFrame(
            {
                _GROUP: group if question else np.arange(cells),
                _CELL: np.arange(cells),
                **{name: flat[name] for name in question},
                "questions": tallied.size,
                "trials": tallied.trials,
                "dropped": np.bincount(cell, weights=flat[DROPPED], minlength=cells),
            }
        )
        rows = pl.concat(
            facts.with_columns(pl.lit(name).alias("metric"), k=pl.lit(k, pl.Int64), **numbers)
            for name, k, numbers in _numbers(views, asked, confidence)
        )
        return (
            rows.sort(_CELL, maintain_order=True)
            .group_by(_GROUP, maintain_order=True)
            .agg(pl.struct(pl.col(name).cast(dtype) for name, dtype in schema.items()))
            .to_series(1)
        )

    return evaluate


def _numbers(
    views: dict[View, States | Rewards], asked: Sequence[tuple[Metric, View]], confidence: float
) -> Iterator[tuple[str, int | None, dict[str, pl.Series]]]:
    """Name, k and the numbers of each row that a cell has in the report."""
    for metric, view in asked:
        for k in metric.k:
            summary = metric.summary(views[view], k)
            lo, hi = normal_interval(summary.mu, summary.sigma, confidence, metric.bounds)
            numbers = {**summary._asdict(), "lo": lo, "hi": hi}
            yield (
                metric.name,
                k,
                {
                    # NaN says that there is no such number.
                    name: pl.Series(values).fill_nan(None)
                    for name, values in numbers.items()
                },
            )


def _rewards(rewards: pl.Series, cell: Ints, cells: int) -> Rewards:
    """The rewards of each question, which is a row."""
    sizes = rewards.list.len().to_numpy()
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    values = rewards.explode().cast(pl.Float64).to_numpy()
    return Rewards(values, offsets, cell, cells)


def _matrix(flat: pl.DataFrame, columns: list[str]) -> Ints:
    """Columns of integers as a matrix with a row for each row."""
    return np.column_stack([flat[column].to_numpy() for column in columns]).astype(np.int64)
