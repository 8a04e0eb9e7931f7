"""Numbers of a metric for all groups."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from typing import NamedTuple, TypeAlias

import numpy as np
import polars as pl
import scipy
from numpy.typing import NDArray

from polars_scorio.arguments import View
from polars_scorio.maths.array_rows import Floats, Ints
from polars_scorio.maths.credit_numbers import Numbers, sample_numbers
from polars_scorio.maths.families import anytime_critical
from polars_scorio.maths.posteriors import Pooled, Target
from polars_scorio.maths.price import Price
from polars_scorio.maths.questions import States
from polars_scorio.maths.sample_bound import QuestionSample
from polars_scorio.metrics.metric import Metric, quiet_infinities
from polars_scorio.subjects.question_cells import QuestionCells

Words: TypeAlias = NDArray[np.str_]

# The last column of a report: the inference of the row, or `RANGE` where k exceeds the trials.
INFERENCE, RANGE = "inference", "range"
# Information at this look over the planned information, if intervals hold at every look.
INFORMATION = "information_fraction"
# Whether the range of real-valued rewards was given, or is that of the rewards that were seen.
BOUNDS = "bounds"
# The estimate from the verdicts of a judge as they are, and the labels behind its correction.
JUDGED, LABEL_COUNT = "estimate_uncorrected", "labels"
JUDGE_DTYPES: dict[str, pl.DataType] = {JUDGED: pl.Float64(), LABEL_COUNT: pl.UInt64()}
# The number of the judge of an estimate, which estimates with the same number share.
JUDGE = ":judge"


def clipped_ends(metric: Metric, *ends: Floats) -> Iterator[Floats]:
    """Ends of intervals, clipped to the bounds of the metric."""
    bounds = metric.bounds or (-np.inf, np.inf)
    return (np.clip(end, *bounds) for end in ends)


def refuse_outside(mu: Floats, metric: Metric) -> None:
    """Refuse numbers outside bounds that a user gave; these may be a part of the groups."""
    low, high = metric.bounds or (-np.inf, np.inf)
    near = 1e-9 * metric.unit
    outside = ((mu < low - near) | (mu > high + near)) & np.isfinite(mu)
    if "bounds" in dict(metric.given) and outside.any():
        raise ValueError(
            f"{metric.name}: the value of some model lies outside these bounds, so no interval "
            "within them contains it: leave bounds= out, or give wider ones"
        )


class ClusterSample(NamedTuple):
    """The questions of each group as a sample of clusters."""

    size: Floats  # effective number of clusters
    stretch: Floats  # by which the mean is noisier than that of as many questions without


# From a metric, its draw size and its view to the sample that its groups are.
SampleOf = Callable[[Metric, "int | None", View], "ClusterSample | None"]


def cluster_samples(cells: QuestionCells, target: Target) -> SampleOf:
    """Noise of each metric and k if the questions are a sample of clusters; else None.

    The design effect [1]_ is the variance of the mean of the posterior means of questions with
    clusters over that without: so their shrinkage cancels.

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


def sampled_numbers(
    price: Price, sample: QuestionSample, values: Floats, confidence: Floats | float
) -> Numbers:
    """The numbers of a metric that is no credit, about the population of the questions.

    The variance is that of the estimates between the questions, or between their clusters, and
    never below the noise of the trials: questions that all say the same are no proof that others
    do.
    """
    unit = (values - price.low) / (price.width or 1.0)
    independent = np.maximum(sample.variance_between(unit), price.variance)
    sigma = sample.sigma(unit, independent)
    return sample_numbers(unit, sigma, sample, confidence).scaled(price.low, price.width)


def root_of_squares(deviation: Floats) -> Floats:
    """The root of the summed squares of deviations of strata (L, S), over their number."""
    return np.asarray(np.sqrt((deviation**2).sum(axis=1)) / deviation.shape[1])


_SUREST = 1 - 2.0**-52  # the largest confidence below 1 of which half of the rest is a number


def planned_share(cells: QuestionCells, target: Target, plan: int) -> Floats:
    """Information of each cell, over the planned one.

    About these questions it is the harmonic mean of their trials, about a population their number.
    """
    states = cells.states
    if target == "population":
        return np.asarray(states.size / plan)
    return np.asarray(1 / (states.mean(1 / states.n) * plan))


def look_confidence(confidence: float, information: Floats) -> Floats:
    """The confidence of one look with the critical value of a look that is one of many.

    Comparisons do not use it, but the tail itself: of the tail of a look at a hundredth of the plan
    no digit is left here, and the interval is the whole range.
    """
    z = scipy.special.ndtri((1 + confidence) / 2)
    tail = scipy.special.ndtr(-anytime_critical(z, information))
    return np.asarray(np.minimum(1 - 2 * tail, _SUREST))


def information_of_strata(target: Target, information: Floats, questions: Ints) -> Floats:
    """Information of means over strata, from that of the strata and their questions, (L, S)."""
    if target == "population":
        return np.asarray(information.sum(axis=1))
    return np.asarray(questions.sum(axis=1) / (questions / information).sum(axis=1))
