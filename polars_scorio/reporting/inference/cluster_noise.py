"""Questions as a sample of clusters: what that adds to the noise of a pooled mean."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np

from polars_scorio.arguments import View
from polars_scorio.kernels.array_types import Floats
from polars_scorio.kernels.clusters import Clustered
from polars_scorio.kernels.posteriors import Questions
from polars_scorio.kernels.states import States
from polars_scorio.metrics.metric import Metric
from polars_scorio.metrics.summary import quiet_infinities
from polars_scorio.reporting.inference.choice import Inference
from polars_scorio.reporting.inference.intervals import Sample

# From a metric, its draw size and its view to the sample that its groups are.
SampleOf = Callable[[Metric, "int | None", View], "Sample | None"]


def sample_of(states: States, clusters: Clustered | None, inference: Inference) -> SampleOf:
    """How noisy each metric is whose questions are a sample of clusters.

    Parameters
    ----------
    states : States
        The questions of each group.
    clusters : Clustered or None
        The same questions in their clusters.
    inference : Inference
        What a user chose.

    Returns
    -------
    callable
        From a metric and a draw size to the design effect [1]_: the variance of the mean of what
        the questions are worth by themselves, under the fitted population, with clusters over that
        without. Their own shrinkage cancels, and there is one for each k. None where questions are
        no sample, or have no clusters.

    References
    ----------
    .. [1] L. Kish (1965), Survey Sampling, section 5.4.
    """
    if clusters is None or inference.intervals.target == "benchmark":
        return lambda *_: None
    pairs = np.arange(states.group.size)
    alone = replace(states, group=pairs, questions=1 + 0 * pairs, groups=pairs.size)

    @cache
    def posterior(view: View) -> Questions:
        return inference.posterior(view, alone, states, states.group)

    def sample(metric: Metric, k: int | None, view: View) -> Sample | None:
        if view == "rewards":
            return None
        with quiet_infinities(metric):
            values = metric.summary(posterior(view), k).mu / metric.unit
            clustered = clusters.variance(states, values)
        effect = _ratio(clustered, _variance(states, values))
        return Sample(clusters.effective, np.sqrt(np.maximum(effect, 1.0)))

    return sample


def _variance(states: States, values: Floats) -> Floats:
    """Of the mean of a value for each pair of a group and a state, over independent questions."""
    size, group = states.size, states.group
    mean = np.bincount(group, states.questions * values, states.groups) / size
    square = np.bincount(group, states.questions * (values - mean[group]) ** 2, states.groups)
    return np.asarray(square / (size * np.maximum(size - 1, 1)))


def _ratio(above: Floats, below: Floats) -> Floats:
    return np.divide(above, below, out=np.ones_like(above), where=below > 0)
