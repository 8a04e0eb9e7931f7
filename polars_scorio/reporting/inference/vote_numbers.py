"""The numbers of votes over answers, which are the same under every inference."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from polars_scorio.counting.answers import RIGHT, VOTES
from polars_scorio.counting.lists import AS_ROWS
from polars_scorio.kernels.array_types import Ints
from polars_scorio.kernels.calibrated.metric_numbers import Numbers, price_numbers
from polars_scorio.kernels.calibrated.variance_price import Price
from polars_scorio.kernels.calibrated.vote_price import Votes
from polars_scorio.kernels.clusters import Clustered
from polars_scorio.kernels.votes import Ballots
from polars_scorio.metrics.metric import Metric
from polars_scorio.reporting.inference.calibrated import Row, row_columns, sampled_numbers
from polars_scorio.reporting.inference.intervals import Intervals


def read_ballots(answers: pl.Series, trials: Ints) -> Ballots:
    """The answers of questions with so many trials each, of which some abstained."""
    lengths = answers.list.len().to_numpy().astype(np.int64)
    question = np.repeat(np.arange(lengths.size), lengths)
    place = np.arange(question.size) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    given = answers.explode(**AS_ROWS).drop_nulls().struct.unnest()
    shape = lengths.size, int(lengths.max(initial=0))
    votes, right = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.bool_)
    votes[question, place] = given[VOTES].to_numpy()
    right[question, place] = given[RIGHT].to_numpy() > 0
    return Ballots(votes, right, trials - votes.sum(axis=1))


def vote_numbers(
    metrics: Sequence[Metric],
    votes: Votes,
    clusters: Clustered | None,
    intervals: Intervals,
) -> dict[Row, dict[str, pl.Series]]:
    """The numbers of all rows of some metrics of answers; as `calibrated_numbers`."""
    return {
        (metric.name, k): row_columns(
            _numbers(metric, k, price, votes, clusters, intervals), metric
        )
        for metric in metrics
        for k, price in zip(metric.k, metric.prices(votes), strict=True)
    }


def _numbers(
    metric: Metric,
    k: int | None,
    price: Price,
    votes: Votes,
    clusters: Clustered | None,
    intervals: Intervals,
) -> Numbers:
    """Those of one row; of a population by what differs between its questions, or clusters."""
    if intervals.target == "benchmark":
        return price_numbers(price, intervals.confidence)
    values = metric.summary(votes.alone, k).estimate
    return sampled_numbers(price, votes.states, values, clusters, intervals.confidence)
