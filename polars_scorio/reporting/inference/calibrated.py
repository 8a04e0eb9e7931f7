"""Calibrated numbers: the unbiased estimates of a report, and the price of their noise."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import fields, replace
from functools import cache
from typing import TypeAlias

import numpy as np
import polars as pl

from polars_scorio.arguments import View
from polars_scorio.kernels.array_types import Floats
from polars_scorio.kernels.calibrated.group_fits import Calibrated
from polars_scorio.kernels.calibrated.metric_numbers import (
    Clusters,
    Numbers,
    credit_numbers,
    price_numbers,
)
from polars_scorio.kernels.calibrated.population_mean import sampled_price
from polars_scorio.kernels.calibrated.variance_price import Price, estimates
from polars_scorio.kernels.clusters import Clustered
from polars_scorio.kernels.posteriors import Independent
from polars_scorio.kernels.states import States
from polars_scorio.metrics.metric import Metric
from polars_scorio.metrics.summary import NUMBERS, number_column, quiet_infinities
from polars_scorio.reporting.inference.choice import Inference
from polars_scorio.reporting.inference.intervals import CENTER, REACH, Intervals

# Name and draw size: a row of a report.
Row: TypeAlias = "tuple[str, int | None]"

# What comparisons need to know of an estimate, beside its numbers.
PRICE = ":price"
_PARTS = [field.name for field in fields(Price)][:6]
PRICE_DTYPE = pl.Struct(dict.fromkeys(_PARTS, pl.Float64()))


def calibrated_numbers(
    metrics: Sequence[tuple[Metric, View]],
    states: States,
    inference: Inference,
    clusters: Clustered | None = None,
) -> dict[Row, dict[str, pl.Series]]:
    """The numbers of all rows of some metrics, null where there is no such number.

    Parameters
    ----------
    metrics : sequence of tuple
        What is reported, and what each looks at; all of them calibrated.
    states : States
        The questions of each group, by class.
    inference : Inference
        What a user chose.
    clusters : Clustered, optional
        Where the questions come in clusters.

    Returns
    -------
    dict
        As `Intervals.numbers`, and `PRICE`, for each row.
    """
    intervals, found = inference.intervals, dict[Row, Numbers]()
    if intervals.target == "benchmark":
        clusters = None  # these very questions are no sample

    @cache
    def fit(successes: tuple[int, ...]) -> Calibrated:
        return Calibrated.fit(states.binary([*successes]))

    credited = defaultdict[tuple[int, ...], list[Metric]](list)
    for metric, view in metrics:
        successes = inference.successes(metric, view)
        if successes is not None:
            credited[successes].append(metric)
            continue
        seen = fit(tuple(inference.classes.successful)) if view == "success" else states
        with quiet_infinities(metric):
            for k, price in zip(metric.k, metric.prices(seen), strict=True):
                found[metric.name, k] = _priced(metric, k, price, states, intervals, clusters)
    for successes, own in credited.items():
        clustered = clusters and clusters.binary([*successes])
        found |= _credited(own, fit(successes), intervals, clustered)
    named = {metric.name: metric for metric, _ in metrics}
    return {row: row_columns(numbers, named[row[0]]) for row, numbers in found.items()}


def _priced(
    metric: Metric,
    k: int | None,
    price: Price,
    states: States,
    intervals: Intervals,
    clusters: Clustered | None,
) -> Numbers:
    """Those of a metric that is no credit."""
    if intervals.target == "benchmark":
        return price_numbers(price, intervals.confidence)
    every = np.arange(len(states.counts))
    each = replace(states, group=every, state=every, questions=1 + 0 * every, groups=every.size)
    values = metric.summary(Independent(each), k).estimate
    return sampled_numbers(price, states, values, clusters, intervals.confidence)


def sampled_numbers(
    price: Price, states: States, values: Floats, clusters: Clustered | None, confidence: float
) -> Numbers:
    """Those of a price where questions, or their clusters, are a sample.

    `values` are the estimates of a question in each state.
    """
    if clusters is None:
        sampled = sampled_price(price, states, values, confidence)
        return price_numbers(sampled, confidence, states.size)
    variance, number = clusters.variance(states, values[states.state]), clusters.effective
    sampled = sampled_price(
        price, states, values, confidence, cluster_variance=variance, clusters=number
    )
    return price_numbers(sampled, confidence, number)


def _credited(
    metrics: Sequence[Metric],
    fitted: Calibrated,
    intervals: Intervals,
    clusters: Clustered | None,
) -> dict[Row, Numbers]:
    """Those of metrics that credit the same successes: one pass for all of them."""
    rows = [(metric, k) for metric in metrics for k in metric.k]
    draws = [draw for metric, k in rows if (draw := metric.draw(k)) is not None]
    of_draws = None
    if clusters is not None:
        states = fitted.states
        values = (estimates(states, draw)[0][states.state] for draw in draws)
        number = clusters.effective
        of_draws = [Clusters(clusters.variance(states, own), number) for own in values]
    found = credit_numbers(fitted, draws, intervals.confidence, intervals.target, of_draws)
    return {
        (metric.name, k): numbers.scaled(*metric.support)
        for (metric, k), numbers in zip(rows, found, strict=True)
    }


def row_columns(numbers: Numbers, metric: Metric) -> dict[str, pl.Series]:
    """The columns of a row of a report, for all groups."""
    bounds = metric.bounds or (-np.inf, np.inf)
    lo, hi = np.clip(numbers.lo, *bounds), np.clip(numbers.hi, *bounds)
    none = np.full_like(lo, np.nan)
    shown = (numbers.estimate, numbers.mu, numbers.sigma, lo, hi, none, none)
    parts = pl.DataFrame({name: getattr(numbers.price, name) for name in _PARTS})
    return {
        **dict(zip((*NUMBERS, CENTER, REACH), map(number_column, shown), strict=True)),
        PRICE: parts.to_struct(),
    }


def price_of(rows: pl.DataFrame, metric: Metric) -> Price:
    """The price that rows of a report of one metric carry."""
    low, high = metric.support
    parts: dict[str, Floats] = {name: rows[PRICE].struct.field(name).to_numpy() for name in _PARTS}
    return Price(**parts, low=low, width=high - low, bounded=not metric.unbounded)
