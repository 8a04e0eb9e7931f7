"""Weighted averages of the categories: Bayes@N and avg@N."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from polars_scorio.maths.array_rows import Floats
from polars_scorio.maths.credits import GainsOf, fixed_gains
from polars_scorio.maths.interval import Estimate, average_estimate
from polars_scorio.maths.posteriors import QuestionPosteriors, weighted_average
from polars_scorio.maths.questions import States, Subgroups
from polars_scorio.maths.reward_variances import GroupRewards, QuestionRewards
from polars_scorio.metrics.metric import (
    Bounds,
    Description,
    Metric,
    RewardMetric,
    Summary,
    WeightPairs,
    Weights,
    weighted_fields,
    with_parameter_help,
)

if TYPE_CHECKING:
    from typing_extensions import Self


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class WeightedMetric(Metric):
    """A metric that is an average of the weights of the categories."""

    averages_weights = True

    def weighing(self, w: WeightPairs) -> Self:
        """The metric with these weights, if it has none yet."""
        return self if self.w is not None else replace(self, w=w)

    def draw(self, k: int | None) -> GainsOf:
        """One trial."""
        return fixed_gains(np.ones(1))

    def variances(
        self, questions: States, strata: Subgroups[States] | None = None
    ) -> list[Estimate]:
        """The variance of the average of three or more weights, or of one."""
        return [average_estimate(questions, self.weights, strata)]

    def _estimate(self, states: States) -> Floats:
        """The average weight of the trials of the questions of each group."""
        return states.mean(weighted_average(states.counts, self.weights))

    def _posterior_mean(self, posterior: QuestionPosteriors) -> tuple[Floats, Floats]:
        """Mean and standard deviation of the expected weight of a trial of each group."""
        mu, sigma = posterior.weighted((self.weights - self._origin) / self.unit)
        return self._origin + self.unit * mu, self.unit * sigma

    @property
    def _origin(self) -> float:
        # In units of their range: the square of the weights may be larger than a float.
        return float(np.clip(0.0, *self.support))


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PosteriorMean(WeightedMetric):
    """The posterior mean of the expected weight of a trial."""

    headline = "mu"

    def summary(self, posterior: QuestionPosteriors, k: int | None) -> Summary:
        """Estimate and posterior of each group."""
        return Summary(self._estimate(posterior.states), *self._posterior_mean(posterior))


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class TrialMean(WeightedMetric, RewardMetric):
    """The average weight of the trials themselves, in which prior trials have no say."""

    calibrated = True
    uses_prior = False
    averages_rewards = True

    @property
    def interval_limits(self) -> Bounds | None:
        """Range into which published intervals are clipped: that of the weights by default."""
        return self.support if self.bounds is None else self.bounds

    def reward_estimates(self, rewards: GroupRewards, k: int | None) -> QuestionRewards:
        """The mean reward of each question, and its noise."""
        return rewards.averages()

    def trial_noise(self, posterior: QuestionPosteriors) -> Floats:
        """Expected variance (P,) of a trial of each question, in squared `unit`."""
        return posterior.trial_noise(self.weights / self.unit)

    def summary(self, posterior: QuestionPosteriors, k: int | None) -> Summary:
        """Estimate and posterior of each group."""
        estimate, (low, high) = self._estimate(posterior.states), self.support
        posterior = posterior.without_prior()
        sigma = self.unit * posterior.average_sigma((self.weights - self._origin) / self.unit)
        extreme = (estimate == low) | (estimate == high)
        if not (posterior.shared_prior and extreme.any()):
            return Summary(estimate, estimate, sigma)
        # An average on a bound has no interval of its own that is worth the name.
        centre = np.where(extreme, self._posterior_mean(posterior), (estimate, sigma))
        return Summary(estimate, estimate, sigma, centre)


def trial_mean(metric: Metric) -> TrialMean | None:
    """The metric, if it is the average weight of the trials."""
    return metric if isinstance(metric, TrialMean) else None


@with_parameter_help
def bayes(
    w: Weights | None = None, *, bounds: Bounds | None = None, name: str | None = None
) -> PosteriorMean:
    """Bayes@N: posterior mean of the average score, after all trials [1]_.

    The prior of each question is uniform, unless you name another one. A question with 3 of 4
    right has (3 + 1) / (4 + 2) = .667. For the plain share of right answers use `avg`.

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
    return PosteriorMean(**weighted_fields(described, w, bounds, name))


@with_parameter_help
def avg(
    w: Weights | None = None, *, bounds: Bounds | None = None, name: str | None = None
) -> TrialMean:
    """avg@N: average score of the trials, with its interval [1]_.

    It is the accuracy if outcomes are right or wrong, the mean reward if the category column has
    floats, and the mean weight if there are several categories. The trials of each question are
    averaged first, then the questions, so that each question counts the same.

    Raises
    ------
    ValueError
        If `w` is empty, not flat or not finite, or if `bounds` are reversed.

    Notes
    -----
    The estimate is the mean over questions of ``sum_j w_j c_j / n``, for c_j of n trials in
    category j. A prior changes sigma but not the estimate.

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
    >>> report.select("questions", "estimate", pl.col("lo", "hi").round(2)).row(0)
    (2, 0.75, 0.21, 0.99)
    """
    described = Description("avg", "avg@{n}", "the mean weight of the trials of a question")
    return TrialMean(**weighted_fields(described, w, bounds, name))
