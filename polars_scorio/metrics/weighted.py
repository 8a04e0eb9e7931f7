"""Weighted averages of the categories: Bayes@N and avg@N."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from polars_scorio.kernels.calibrated.average_price import average_price
from polars_scorio.kernels.calibrated.credit_sums import GainsOf, fixed_gains
from polars_scorio.kernels.calibrated.variance_price import Price
from polars_scorio.kernels.dirichlet import weighted_average
from polars_scorio.kernels.expected_variance import ExpectedVariance
from polars_scorio.kernels.posteriors import QuestionPosteriors, SeparatePosteriors
from polars_scorio.kernels.rewards.group_rewards import GroupRewards
from polars_scorio.kernels.rewards.question_rewards import QuestionRewards
from polars_scorio.kernels.states import States
from polars_scorio.metrics.metric import Description, Headline, Metric
from polars_scorio.metrics.metric_arguments import (
    Bounds,
    WeightPairs,
    Weights,
    checked_label,
    interval_bounds,
    unusual_arguments,
    weight_pairs,
)
from polars_scorio.metrics.parameter_help import with_parameter_help
from polars_scorio.metrics.summary import Summary

if TYPE_CHECKING:
    from typing_extensions import Self


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class WeightedMetric(Metric):
    """A metric that is an average of the weights of the categories.

    Attributes
    ----------
    observed : bool
        Whether mu is the average of the trials itself, in which prior trials have no say.
    """

    observed: bool

    @property
    def headline(self) -> Headline:
        """The number that people mean by the name: the average, or the posterior mean."""
        return "estimate" if self.observed else "mu"

    @property
    def uses_prior(self) -> bool:
        """Whether prior trials change the numbers."""
        return not self.observed

    @property
    def interval_limits(self) -> Bounds | None:
        """Range into which published intervals are clipped: an average has that of its weights."""
        return self.support if self.observed and self.bounds is None else self.bounds

    @property
    def calibrated(self) -> bool:
        """Whether calibrated intervals are known: of the average they are."""
        return self.observed

    @property
    def rewards(self) -> bool:
        """Whether, without a `w`, a column of floats holds the rewards themselves."""
        return self.observed

    @property
    def reward_range(self) -> Bounds | None:
        """The range of real-valued rewards that a user gave to the metric: its bounds."""
        return self.bounds

    @property
    def averages_rewards(self) -> bool:
        """Whether mean rewards are all that the metric needs of real-valued rewards."""
        return self.observed

    def reward_estimates(self, rewards: GroupRewards, k: int | None) -> QuestionRewards:  # noqa: ARG002 - no k
        """The mean reward of each question, and its noise."""
        return rewards.averages()

    def weighing(self, w: WeightPairs) -> Self:
        """The metric with these weights, if it has none yet."""
        return self if self.w is not None else replace(self, w=w)

    def expected_variance(self, posterior: QuestionPosteriors) -> ExpectedVariance:
        """Variance that further trials are expected to leave, in squared `unit`.

        Of the questions of each pair of a group and a state of the posterior, shape (P,); if
        `observed`, without prior trials.
        """
        scaled = self.weights / self.unit
        if self.observed:
            return posterior.expected_average_variance(scaled)
        return posterior.expected_variance(scaled)

    def draw(self, k: int | None) -> GainsOf:  # noqa: ARG002 - no k
        """One trial."""
        return fixed_gains(np.ones(1))

    def prices(self, questions: States) -> list[Price]:
        """The price of the average of three or more weights, or of one."""
        return [average_price(questions, self.weights)]

    def summary(self, posterior: QuestionPosteriors, k: int | None) -> Summary:  # noqa: ARG002 - no k
        """Estimate and posterior of each group."""
        w = self.weights
        # In units of their range: the square of the weights may be larger than a float.
        origin, unit = float(np.clip(0.0, w.min(), w.max())), self.unit
        scaled = (w - origin) / unit
        estimate = posterior.states.mean(weighted_average(posterior.states.counts, w))
        if not self.observed:
            mu, sigma = posterior.weighted(scaled)
            return Summary(estimate, origin + unit * mu, unit * sigma)
        posterior = posterior.without_prior()
        sigma = unit * posterior.average_sigma(scaled)
        extreme = (estimate == w.min()) | (estimate == w.max())
        if isinstance(posterior, SeparatePosteriors) or not extreme.any():
            return Summary(estimate, estimate, sigma)
        # An average on a bound has no interval of its own that is worth the name.
        mu, wider = posterior.weighted(scaled)
        around = np.where(extreme, (origin + unit * mu, unit * wider), (estimate, sigma))
        return Summary(estimate, estimate, sigma, around)


@with_parameter_help
def bayes(
    w: Weights | None = None, *, bounds: Bounds | None = None, name: str | None = None
) -> WeightedMetric:
    """Bayes@N: how good is the model on average, judged after all trials [1]_?

    The posterior mean of the average weight of a trial, under a uniform Dirichlet prior for each
    question, or under the prior trials of the report.

    Raises
    ------
    ValueError
        If `w` is empty, not flat or not finite, or if `bounds` are reversed.

    Notes
    -----
    For a question with c_j trials and d_j prior trials in category j, nu_j = 1 + d_j + c_j and
    T = sum nu_j, the mean is m = sum w_j nu_j / T and the variance
    (sum w_j^2 nu_j / T - m^2) / (T + 1). mu is the mean of m over the M questions, sigma the root
    of the summed variances over M; `estimate` is the plain average weight of the trials.

    References
    ----------
    .. [1] M. Hariri, A. Samandar, M. Hinczewski, V. Chaudhary (2026), Don't Pass@k: A Bayesian
       Framework for Large Language Model Evaluation, ICLR 2026, arXiv:2510.04265, algorithm 1.

    Examples
    --------
    >>> import polars as pl
    >>> import polars_scorio as ps
    >>> trials = pl.DataFrame({"question": [1, 1, 1], "category": [0, 1, 2]})
    >>> report = trials.scorio(model=None, trial=None).report(ps.bayes(w=[0, 0.5, 1]))
    >>> report.select("metric", "estimate", "mu").row(0)
    ('bayes(w=[0, 0.5, 1])', 0.5, 0.5)
    """
    described = Description(
        "bayes", "Bayes@{n}", "the posterior mean of the expected weight of a trial"
    )
    return _weighted_metric(described, w, bounds, name, observed=False)


@with_parameter_help
def avg(
    w: Weights | None = None, *, bounds: Bounds | None = None, name: str | None = None
) -> WeightedMetric:
    """avg@N: what did the trials score on average, and how far is that to be trusted [1]_?

    The plain average weight of the trials of a question, averaged over the questions; with binary
    outcomes the accuracy, with real-valued rewards (a category column of floats) the mean reward.

    Raises
    ------
    ValueError
        If `w` is empty, not flat or not finite, or if `bounds` are reversed.

    Notes
    -----
    estimate = mu = mean over questions of sum w_j c_j / n. With C + 1 categories, T = C + 1 + n and
    v the variance of `bayes` without prior trials, the published sigma is
    sqrt(sum (T / n)^2 v) / M. Prior trials do not enter. Real-valued rewards have calibrated
    numbers alone: sigma is the root of the summed variances of the questions, s^2 / n each, over M;
    `bounds` are the range in which each reward has to be.

    References
    ----------
    .. [1] M. Hariri et al. (2026), arXiv:2510.04265, eq. 20 for equal n; here each question is
       rescaled by its own n.

    Examples
    --------
    >>> import polars as pl
    >>> import polars_scorio as ps
    >>> trials = pl.DataFrame({"question": [1, 1, 2, 2], "category": [0, 1, 1, 1]})
    >>> report = trials.scorio(model=None, trial=None).report(ps.avg())
    >>> report.select("metric", "estimate", "mu").row(0)
    ('avg', 0.75, 0.75)
    """
    described = Description("avg", "avg@{n}", "the mean weight of the trials of a question")
    return _weighted_metric(described, w, bounds, name, observed=True)


def _weighted_metric(
    described: Description,
    w: Weights | None,
    bounds: Bounds | None,
    name: str | None,
    *,
    observed: bool,
) -> WeightedMetric:
    pairs, limits = weight_pairs(w), interval_bounds(bounds)
    return WeightedMetric(
        **described._asdict(),
        given=unusual_arguments(w=(pairs, None), bounds=(limits, None)),
        label=checked_label(name),
        w=pairs,
        bounds=limits,
        observed=observed,
    )
