"""Questions as a sample of clusters: how much noise that adds to a pooled mean."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import NamedTuple

import numpy as np

from polars_scorio.arguments import View
from polars_scorio.kernels.array_types import Floats
from polars_scorio.kernels.posteriors import Pooled, Target
from polars_scorio.kernels.states import States
from polars_scorio.metrics.metric import Metric
from polars_scorio.metrics.summary import quiet_infinities
from polars_scorio.reporting.question_cells import QuestionCells


class ClusterSample(NamedTuple):
    """The questions of each group as a sample of clusters.

    Attributes
    ----------
    size : ndarray of float
        Effective number of clusters.
    stretch : ndarray of float
        Factor by which the mean is noisier than that of as many questions without clusters.
    """

    size: Floats
    stretch: Floats


# From a metric, its draw size and its view to the sample that its groups are.
SampleOf = Callable[[Metric, "int | None", View], "ClusterSample | None"]


def cluster_samples(cells: QuestionCells, target: Target) -> SampleOf:
    """Noise of each metric if the questions are a sample of clusters.

    Parameters
    ----------
    cells : QuestionCells
        The questions of each group.
    target : "benchmark" or "population"
        The questions are a sample only of a population.

    Returns
    -------
    callable
        From a metric and a draw size to the design effect [1]_: the variance of the mean of the
        posterior means of single questions, under the fitted population, with clusters over that
        without. The shrinkage of the questions cancels, and each k has its own effect. None if
        questions are no sample, or have no clusters.

    References
    ----------
    .. [1] L. Kish (1965), Survey Sampling, section 5.4.
    """
    clusters, states = cells.clusters, cells.fitted
    if clusters is None or target == "benchmark":
        return lambda *_: None
    pairs = np.arange(states.group.size)
    alone = replace(states, group=pairs, questions=1 + 0 * pairs, groups=pairs.size)

    @cache
    def single_posterior(view: View) -> Pooled:
        single, fitted = cells.seen_as(view, alone), cells.seen_as(view, states)
        return Pooled.fit(single, fitted, states.group, target)

    def sample(metric: Metric, k: int | None, view: View) -> ClusterSample:
        with quiet_infinities(metric):
            values = metric.summary(single_posterior(view), k).mu / metric.unit
            clustered = clusters.variance(states, values)
        effect = _variance_ratio(clustered, _independent_variance(states, values))
        return ClusterSample(clusters.effective, np.sqrt(np.maximum(effect, 1.0)))

    return sample


def _independent_variance(states: States, values: Floats) -> Floats:
    """Variance of the mean of a value for each pair of a group and a state, without clusters."""
    size, group = states.size, states.group
    mean = np.bincount(group, states.questions * values, states.groups) / size
    square = np.bincount(group, states.questions * (values - mean[group]) ** 2, states.groups)
    return np.asarray(square / (size * np.maximum(size - 1, 1)))


def _variance_ratio(above: Floats, below: Floats) -> Floats:
    """The ratio of two variances, 1 if the lower one is zero."""
    return np.divide(above, below, out=np.ones_like(above), where=below > 0)
