"""Which inference gives the numbers of a metric: what a user chose, and what metrics allow.

An inference is one of three values, each in the file of its name. All have the same methods:
`numbers`, of metrics for the cells of a report; `model_scores`, for differences of models;
`mean_interval`, of a mean over strata; `ranking_numbers`, without intervals.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from polars_scorio.arguments import InferenceKind, View
from polars_scorio.kernels.posteriors import Target
from polars_scorio.metrics.metric import Metric
from polars_scorio.reporting.inference.calibrated import CalibratedInference
from polars_scorio.reporting.inference.pooled import PooledInference
from polars_scorio.reporting.inference.published import PublishedInference

Inference: TypeAlias = PublishedInference | PooledInference | CalibratedInference


@dataclass(frozen=True, slots=True)
class InferenceChoice:
    """The inference that a user chose for a report, its confidence, and what mu is about."""

    kind: InferenceKind
    confidence: float = 0.95
    target: Target = "benchmark"
    anytime: int | None = None  # planned trials a question (or questions) of repeated looks

    def inference_of(self, metric: Metric, view: View) -> Inference:
        """The inference that gives the numbers of a metric."""
        kind = inference_kind(metric, self.kind, self.target, view)
        if kind == "published":
            return PublishedInference(self.confidence)
        if kind == "pooled":
            return PooledInference(self.confidence, self.target)
        return CalibratedInference(self.confidence, self.target, self.anytime)


def inference_kind(
    metric: Metric,
    chosen: InferenceKind,
    target: Target = "benchmark",
    view: View | None = None,
) -> InferenceKind:
    """The name of the inference that gives the numbers of a metric.

    Votes and rewards of any value are always calibrated. Posterior means
    are pooled if calibrated numbers are chosen; so are, about a population, blends with a negative
    power, which have no range.
    """
    if metric.answers or view == "rewards":
        return "calibrated"
    if chosen != "calibrated":
        return chosen
    known = metric.calibrated and (target == "benchmark" or not metric.unbounded)
    return "calibrated" if known else "pooled"
