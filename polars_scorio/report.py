"""States and metrics to a tidy frame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import get_args

import numpy as np
import polars as pl

from polars_scorio.checks import checked
from polars_scorio.counts import STATES, states
from polars_scorio.evaluation import COLUMNS, Evaluation
from polars_scorio.kernels.posteriors import Target
from polars_scorio.metrics.draws import DrawMetric
from polars_scorio.metrics.metric import Metric
from polars_scorio.options import Frame, Interval, Per, Pooling, View
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

_RESULTS = ":results"


def report(
    frame: pl.LazyFrame,
    roles: Roles,
    metrics: Sequence[Metric],
    *,
    prior: Frame | None = None,
    confidence: float = 0.95,
    interval: Interval = "normal",
    pooling: Pooling = "none",
    target: Target = "benchmark",
    per: Per = "model",
) -> pl.LazyFrame:
    """The plan of a report; see `Scorio.report`."""
    _check_metrics(metrics)
    check_confidence(confidence)
    _check_choice("interval", interval, Interval)
    _check_choice("pooling", pooling, Pooling)
    _check_choice("target", target, Target)
    _check_choice("per", per, Per)
    _check_inference(metrics, interval, pooling, target, per)

    trials = bind(frame, roles)
    question = [trials.question.name] if per == "question" else []
    refuse_repeats([*trials.keys, *question, *COLUMNS])
    views: list[View] = [_view(metric, trials) for metric in metrics]
    weighted = [tuple(category for category, _ in metric.w) for metric in metrics if metric.w]
    kinds = classes(trials, weighted, binary="success" in views, rewards="rewards" in views)
    earlier = None if prior is None else bind_prior(prior, trials, kinds)

    schema = dict.fromkeys(question, trials.question.dtype) | COLUMNS
    asked = tuple(zip(metrics, views, strict=True))
    evaluate = Evaluation(
        asked,
        kinds,
        schema,
        float(confidence),
        interval,
        pooling,
        target,
        with_prior=earlier is not None,
    )
    results = pl.col(STATES).map_batches(
        evaluate,
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


def _refuse_infinite(grouped: pl.DataFrame) -> pl.DataFrame:
    """Refuse a blend with a negative power of zero."""
    rows = grouped.explode(_RESULTS).unnest(_RESULTS).drop(EVERYTHING, strict=False)
    infinite = pl.any_horizontal(pl.col("estimate", "mu", "sigma").is_infinite())
    bad = rows.filter(infinite | pl.col("sigma").is_null())
    if bad.height:
        keys = [name for name in bad.columns if name not in COLUMNS]
        first = bad.sort(*keys, maintain_order=True) if keys else bad
        place = first.select(*keys, "metric", "k").row(0, named=True)
        where = ", ".join(f"{name}={value!r}" for name, value in place.items())
        raise ValueError(
            f"{bad.height:,} results have a negative power of zero, the first at {where}: a metric "
            "to which it is applied is 0 there, or nearly so. Use powers that are not negative."
        )
    return grouped


def check_confidence(confidence: float) -> None:
    """Refuse what is no probability of an interval.

    Raises
    ------
    TypeError, ValueError
        If it is not a number, or not between 0 and 1.
    """
    if isinstance(confidence, bool) or not isinstance(confidence, int | float | np.number):
        raise TypeError(f"confidence must be a number between 0 and 1, got {confidence!r}")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must lie between 0 and 1, got {confidence!r}")


def _check_choice(keyword: str, value: object, choices: object) -> None:
    if value not in get_args(choices):
        named = " or ".join(f'"{choice}"' for choice in get_args(choices))
        raise ValueError(f"{keyword} must be {named}, got {value!r}")


def _check_inference(
    metrics: Sequence[Metric], interval: Interval, pooling: Pooling, target: Target, per: Per
) -> None:
    """Refuse options that contradict each other or a metric."""
    if target == "population":
        if pooling == "none":
            raise ValueError(
                'target="population" needs pooling="partial": with a prior of its own for each '
                "question mu keeps a bias however many questions there are, so that the coverage "
                "of the interval goes to zero"
            )
        if per == "question":
            raise ValueError('target="population" is about the mean: it has no per="question"')
    for metric in metrics:
        if pooling == "partial" and metric.prior != (1.0, 1.0):
            raise ValueError(
                f'{metric.name}: pooling="partial" fits the prior, so that alpha0 and beta0 have '
                "no say: leave them out"
            )
        if target == "population" and isinstance(metric, DrawMetric) and None in metric.k:
            raise ValueError(
                f"{metric.name}: without k, a question outside the log has no number of trials; "
                'target="population" needs a k'
            )
        if interval == "beta" and metric.poles:
            raise ValueError(
                f'{metric.name}: a negative power has no range, which interval="beta" needs'
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


def bind_prior(prior: Frame, trials: Trials, kinds: Classes) -> Trials:
    """Find the roles of the data in a frame of prior trials."""
    if not isinstance(prior, pl.DataFrame | pl.LazyFrame):
        raise TypeError(f"prior must be a Polars frame of prior trials, got {prior!r}")
    earlier = bind(prior.lazy(), replace(trials.roles, n=None), owner="prior: ")
    named = kinds.known or kinds.success
    if named:
        as_categories(named, earlier.category, "prior: w or success")
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
