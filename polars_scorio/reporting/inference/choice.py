"""The inference of a metric's numbers: as a user chose, and as metrics allow.

An inference is one of four values, each in the file of its name. All have the same methods:
`numbers`, of metrics for the cells of a report; `model_scores`, for differences of models;
`mean_interval`, of a mean over strata; `ranking_numbers`, without intervals.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from polars_scorio.arguments import InferenceKind, View
from polars_scorio.kernels.posteriors import Target
from polars_scorio.metrics.metric import Metric
from polars_scorio.reporting.inference.calibrated import CalibratedInference
from polars_scorio.reporting.inference.judged import JudgedInference
from polars_scorio.reporting.inference.pooled import PooledInference
from polars_scorio.reporting.inference.published import PublishedInference

Inference: TypeAlias = PublishedInference | PooledInference | CalibratedInference | JudgedInference
# Inferences of unbiased estimates, which have no posterior.
UnbiasedInference = CalibratedInference | JudgedInference


JudgeLabels = Literal["on these trials", "from elsewhere"]


@dataclass(frozen=True, slots=True)
class InferenceChoice:
    """The inference that a user chose for a report, its confidence, and what mu is about."""

    kind: InferenceKind | None
    confidence: float = 0.95
    target: Target = "benchmark"
    anytime: int | None = None  # planned trials a question (or questions) of repeated looks
    posteriors: bool = False  # prior trials or single questions: what is asked for are posteriors
    judged: JudgeLabels | None = None  # where the labels are that a judge is corrected by

    def inference_of(self, metric: Metric, view: View) -> Inference:
        """The inference that gives the numbers of a metric."""
        if self.judged is not None:
            return JudgedInference(self.confidence, self.target, self.judged == "on these trials")
        chosen = "published" if self.kind is None and self.posteriors else self.kind
        kind = inference_kind(metric, chosen, self.target, view)
        if kind == "published":
            return PublishedInference(self.confidence)
        if kind == "pooled":
            return PooledInference(self.confidence, self.target)
        return CalibratedInference(self.confidence, self.target, self.anytime)


def inference_kind(
    metric: Metric,
    chosen: InferenceKind | None,
    target: Target = "benchmark",
    view: View | None = None,
) -> InferenceKind:
    """The name of the inference that gives the numbers of a metric.

    Votes, costs and rewards of any value are always calibrated. If nobody chose an inference, a
    metric is calibrated unless its user wrote a prior into it. Posterior means are published if
    nobody chose otherwise, and pooled if calibrated numbers are chosen; so are, about a population,
    blends with a negative power, which have no range.
    """
    if metric.looks_at != "outcomes" or view == "rewards":
        return "calibrated"
    if chosen is None and metric.beta_prior != (1.0, 1.0):
        return "published"
    if chosen in {"published", "pooled"}:
        return chosen
    if not metric.calibrated:
        return "pooled" if chosen or target == "population" else "published"
    return "calibrated" if target == "benchmark" or not metric.unbounded else "pooled"
