"""Verdicts of today about the pairs of a plan: those of `compare`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from polars_scorio.counting.trials import Trials
from polars_scorio.kernels.array_types import Floats, Ints, Mask
from polars_scorio.metrics.metric import Metric
from polars_scorio.reporting.evaluate import Evaluation, tidy_rows
from polars_scorio.reporting.inference.published import PublishedInference
from polars_scorio.reporting.inference.score_differences import Scores
from polars_scorio.reporting.report_columns import report_columns
from polars_scorio.reporting.request import Request


@dataclass(frozen=True, slots=True, eq=False)
class DecidedPairs:
    """The verdicts of `compare` about the groups of a plan.

    A plan expects normal errors, of which the noise falls with the trials. The verdict of today
    comes from an interval that knows the range of the metric, and may be that of paired questions.
    Without it, 59 of 300 pairs of models with 30 questions and one trial needed no further trial,
    although `compare` did not decide them.

    Attributes
    ----------
    evaluation : Evaluation
        The calibrated rows of groups, with what comparisons need.
    """

    evaluation: Evaluation

    @classmethod
    def of(
        cls, trials: Trials, metric: Metric, confidence: float, anytime: int | None
    ) -> DecidedPairs:
        """The verdicts by a metric."""
        request = Request.of(
            trials, [metric], confidence=confidence, inference="calibrated", anytime=anytime
        )
        rewards = request.classes.rewards is not None
        columns = report_columns(trials, rewards=rewards).with_information(anytime)
        return cls(Evaluation(request, columns.with_price(), warns_of_stopping=False))

    def are_decided(self, groups: pl.DataFrame, pairs: Ints, z: Floats) -> Mask:
        """Whether the interval of the difference of two groups excludes zero, for each pair.

        Parameters
        ----------
        groups : DataFrame
            The groups, with their questions by name.
        pairs : ndarray of int, shape (2, P)
            The groups of each pair.
        z : ndarray of float, shape (P,)
            The critical value.
        """
        if not pairs.size:
            return np.zeros(0, dtype=np.bool_)
        request, rows = self.evaluation.request, tidy_rows(self.evaluation(groups))
        ((metric, view),) = request.metrics
        inference = request.choice.inference_of(metric, view)
        return _excludes_zero(inference.model_scores(metric, rows, pairs.T), z)


def decided_today(
    verdicts: DecidedPairs | None,
    request: Request,
    scores: tuple[Floats, Floats],
    groups: pl.DataFrame,
    pairs: Ints,
    z: Floats,
) -> Mask:
    """Whether the interval of the difference excludes zero today, for each pair.

    Parameters
    ----------
    verdicts : DecidedPairs or None
        The verdicts about groups with questions. None: posteriors decide, as they do about means.
    request : Request
        The metric, and the inference of its posteriors.
    scores : tuple of ndarray of float, shape (G,)
        Scores in units of the metric, and their standard deviations.
    groups : DataFrame
        The groups with questions; means over them come last.
    pairs : ndarray of int, shape (2, P)
        The groups of each pair.
    z : ndarray of float, shape (P,)
        The critical value.
    """
    decided = _decided_by_posteriors(request, scores, pairs, z)
    if verdicts is not None:
        own = pairs[0] < groups.height
        decided[own] = verdicts.are_decided(groups, pairs[:, own], z[own])
    return decided


def _decided_by_posteriors(
    request: Request, scores: tuple[Floats, Floats], pairs: Ints, z: Floats
) -> Mask:
    """Whether the interval of the difference of two posteriors excludes zero, for each pair."""
    ((metric, view),) = request.metrics
    mu, sigma = (metric.unit * each for each in scores)
    rows = pl.DataFrame({"mu": mu, "sigma": sigma})
    # Calibrated numbers of rewards need their price; a plan takes them as normal.
    published = PublishedInference(request.choice.confidence)
    inference = published if view == "rewards" else request.choice.inference_of(metric, view)
    return _excludes_zero(inference.model_scores(metric, rows, pairs.T), z)


def _excludes_zero(scores: Scores, z: Floats) -> Mask:
    """Whether the interval of the difference of the two models of a stratum excludes zero."""
    pair = scores.pair_differences(np.array([0]), np.array([1]), z[:, None])
    return np.asarray(pair.without_zero()[:, 0])
