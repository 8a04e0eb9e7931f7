"""The outcomes of a stratum as arrays with a row for each question and a column for each model."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import polars as pl

from polars_scorio.arguments import Compared
from polars_scorio.counting.lists import AS_ROWS
from polars_scorio.counting.reward_sums import (
    FRACTIONS,
    LARGEST_REWARD,
    LEAST_REWARD,
    MEAN_REWARD,
    REWARD_ERROR,
)
from polars_scorio.counting.tally import QUESTIONS, class_columns
from polars_scorio.counting.trials import CLUSTER, Trials
from polars_scorio.decisions.strata import aligned_options
from polars_scorio.kernels.array_types import Floats, Ints, Mask
from polars_scorio.metrics.metric_arguments import Bounds, Weights
from polars_scorio.metrics.weighted import avg
from polars_scorio.reporting.question_cells import count_matrix
from polars_scorio.reporting.request import Request

_MODEL = ":column"  # the place of a model in its stratum


def average_request(trials: Trials, w: Weights | None) -> Request:
    """The request for the mean outcome of each question, and for the range of its rewards."""
    request = Request.of(trials, [avg(w)])
    rewards = request.classes.rewards
    if rewards is None:
        return request
    ranged = replace(request.classes, rewards=replace(rewards, observed=True))
    return replace(request, classes=ranged)


def named_questions(request: Request, questions: Compared) -> pl.LazyFrame:
    """The groups of a log, with the names of their questions, which all models of a stratum have.

    Raises
    ------
    ValueError
        If `questions` is neither "same" nor "common".
    """
    alignment = aligned_options({"questions": questions})["questions"]
    # A log without a model column has one model, whose questions are those of all.
    asked = "any" if request.trials.model is None else alignment
    return request.groups(per_question=True, questions=asked)


class Outcomes(NamedTuple):
    """Outcomes of Q questions, or clusters of questions, under A models.

    Attributes
    ----------
    mean : ndarray of float, shape (Q, A)
        Mean outcome.
    trial, noise : ndarray of float, shape (Q, A)
        Estimated variance of one trial, and of the mean; NaN for a single trial.
    support : tuple of float or None
        The lowest and the highest outcome that is possible; None if nobody gave the range of
        rewards.
    ever, always : ndarray of bool, shape (Q, A)
        Whether some outcome is above the lowest one, and whether all are the highest one; False if
        these are unknown.
    """

    mean: Floats
    trial: Floats
    noise: Floats
    support: Bounds | None
    ever: Mask
    always: Mask


@dataclass(frozen=True, slots=True, eq=False)
class QuestionTable:
    """Questions, or clusters of questions, of a stratum, and what its models did there.

    Attributes
    ----------
    names : Series
        The questions or clusters, ascending.
    size : ndarray of int, shape (Q,)
        How many questions each row stands for.
    trials : ndarray of int, shape (Q, A)
        Trials with an outcome.
    outcomes : Outcomes
        What came out.
    """

    names: pl.Series
    size: Ints
    trials: Ints
    outcomes: Outcomes

    @classmethod
    def read(cls, groups: pl.DataFrame, request: Request) -> QuestionTable:
        """Read the `QUESTIONS` of the models of one stratum, which have the same questions."""
        question, columns = request.trials.question.name, class_columns(request.classes)
        flat = _question_rows(groups, columns, [question])
        names = flat[question].gather_every(groups.height)
        shape = len(names), groups.height
        counts = count_matrix(flat, columns).reshape(*shape, len(columns))
        every = np.ones(len(names), dtype=np.int64)
        return cls(names, every, counts.sum(axis=2), _outcomes_of(flat, counts, request))

    @classmethod
    def of_clusters(cls, groups: pl.DataFrame, request: Request) -> QuestionTable:
        """Read the clusters of one stratum; the mean of a cluster weighs its questions alike."""
        question, columns = request.trials.question.name, class_columns(request.classes)
        flat = _question_rows(groups, columns, [CLUSTER, question])
        shape = flat.height // groups.height, groups.height
        counts = count_matrix(flat, columns).reshape(*shape, len(columns))
        cluster = flat[CLUSTER].gather_every(groups.height)
        names = cluster.unique(maintain_order=True)
        start = cluster.rle_id().arg_unique().to_numpy()
        size = np.diff(start, append=len(cluster))
        outcomes = _clustered_outcomes(_outcomes_of(flat, counts, request), start, size)
        return cls(names, size, np.add.reduceat(counts.sum(axis=2), start), outcomes)


def _question_rows(groups: pl.DataFrame, columns: list[str], order: list[str]) -> pl.DataFrame:
    """A row for each question with an outcome and each model, ascending."""
    return (
        groups.select(pl.int_range(pl.len()).alias(_MODEL), QUESTIONS)
        .explode(QUESTIONS, **AS_ROWS)
        .unnest(QUESTIONS)
        .filter(pl.sum_horizontal(columns) > 0)
        .sort(*order, _MODEL)
    )


def _outcomes_of(flat: pl.DataFrame, counts: Ints, request: Request) -> Outcomes:
    """The outcomes of rows of questions, whose counts have the shape (Q, A, classes)."""
    ((metric, view),) = request.metrics
    if view == "rewards" and (
        request.trials.roles.bounds not in {None, (0.0, 1.0)} or flat[FRACTIONS].sum()
    ):
        return _reward_outcomes(flat, counts.sum(axis=2), request.trials.roles.bounds)
    if view == "categories":
        return _weighed_outcomes(
            counts, metric.weights, (metric.weights.min(), metric.weights.max())
        )
    success = np.isin(np.arange(counts.shape[2]), request.classes.successful)
    return _weighed_outcomes(counts, success.astype(np.float64), (0.0, 1.0))


def _reward_outcomes(flat: pl.DataFrame, trials: Ints, support: Bounds | None) -> Outcomes:
    """Mean rewards, and what a range of rewards says of them."""
    mean, error, least, most = (
        flat[name].cast(pl.Float64).to_numpy().reshape(trials.shape)
        for name in (MEAN_REWARD, REWARD_ERROR, LEAST_REWARD, LARGEST_REWARD)
    )
    low, high = support or (np.inf, np.inf)
    return Outcomes(mean, trials * error**2, error**2, support, most > low, least >= high)


def _weighed_outcomes(counts: Ints, w: Floats, support: Bounds) -> Outcomes:
    """Mean weights of the categories of trials."""
    trials = counts.sum(axis=2)
    mean = counts @ w / trials
    squares = (counts * (w - mean[:, :, None]) ** 2).sum(axis=2)
    unknown = np.full(mean.shape, np.nan)
    trial = np.divide(squares, trials - 1, out=unknown, where=trials > 1)
    low, high = support
    ever = np.asarray(counts[:, :, w > low].any(axis=2))
    always = np.asarray(~counts[:, :, w < high].any(axis=2))
    return Outcomes(mean, trial, trial / trials, support, ever, always)


def _clustered_outcomes(each: Outcomes, start: Ints, size: Ints) -> Outcomes:
    """The outcomes of clusters, of which each begins at a row and has so many rows."""
    number = size[:, None]
    return Outcomes(
        np.add.reduceat(each.mean, start) / number,
        np.add.reduceat(each.trial, start) / number,
        np.add.reduceat(each.noise, start) / number**2,
        each.support,
        np.logical_or.reduceat(each.ever, start),
        np.logical_and.reduceat(each.always, start),
    )
