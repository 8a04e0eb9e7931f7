"""Expected scores of the groups of a log after further trials, and of their means over strata."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from polars_scorio.arguments import InferenceKind
from polars_scorio.counting.trials import Trials
from polars_scorio.kernels.array_types import Floats, Ints
from polars_scorio.kernels.expected_variance import ExpectedVariance, expected_squared_sigma
from polars_scorio.kernels.posteriors import QuestionPosteriors
from polars_scorio.kernels.rewards.question_rewards import QuestionRewards
from polars_scorio.metrics.from_text import check_metric
from polars_scorio.metrics.metric import Metric
from polars_scorio.metrics.weighted import WeightedMetric, avg
from polars_scorio.reporting.options import Frame
from polars_scorio.reporting.request import on_levels


@dataclass(frozen=True, slots=True, eq=False)
class ExpectedScores:
    """Expected scores of all groups after further trials, in units of the weights."""

    mu: Floats  # of each group, as sigma
    sigma: Floats
    variance: ExpectedVariance  # of each state, as the next three
    questions: Ints
    trials: Ints
    group: Ints

    @classmethod
    def of(cls, posterior: QuestionPosteriors, metric: WeightedMetric) -> ExpectedScores:
        """Expectations from a posterior."""
        _, mu, sigma, _ = metric.summary(posterior, None)
        states, variance = posterior.states, metric.expected_variance(posterior)
        trials = states.counts.sum(axis=1)[states.state]
        return cls(
            mu / metric.unit, sigma / metric.unit, variance, states.questions, trials, states.group
        )

    @classmethod
    def of_rewards(cls, questions: QuestionRewards, low: Floats, width: Floats) -> ExpectedScores:
        """Expectations from mean rewards, if further trials have the measured noise.

        Parameters
        ----------
        questions : QuestionRewards
            The mean rewards of the questions, on the scale of the range.
        low, width : ndarray of float, shape (G,)
            The range of the rewards of each group.
        """
        unit = width[questions.group]
        # Single trials alone tell no noise: at most it is the spread of the questions.
        spread = (questions.variance_between() * questions.size)[questions.group]
        noise = questions.full_noise() * questions.trials
        of_trial = np.where(np.isnan(noise), spread, noise) * unit**2
        trials = questions.trials.astype(np.float64)
        ahead = ExpectedVariance(of_trial, np.zeros_like(of_trial), trials)
        sigma = np.sqrt(questions.total(ahead.variance(0))) / questions.size
        mu, every = low + width * questions.mean, np.ones_like(questions.trials)
        return cls(mu, sigma, ahead, every, questions.trials, questions.group)

    def after(self, m: Ints) -> Floats:
        """Expected squared sigma of each group after m further trials of each question."""
        return expected_squared_sigma(
            self.variance, m[self.group], self.questions, self.group, self.sigma
        )

    def ends(self) -> tuple[Ints, Ints]:
        """The fewest and the most trials of a question of each group."""
        fewest, most = np.full(self.mu.shape, np.iinfo(np.int64).max), np.zeros(self.mu.shape, int)
        np.minimum.at(fewest, self.group, self.trials)
        np.maximum.at(most, self.group, self.trials)
        return fewest, most

    def typical_trials(self) -> Floats:
        """Harmonic mean of the trials of the questions of each group."""
        inverse = np.bincount(self.group, self.questions / self.trials, self.mu.size)
        return self.sizes() / inverse

    def sizes(self) -> Ints:
        """Questions of each group."""
        return np.bincount(self.group, self.questions, self.mu.size).astype(np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class ExpectedMeans:
    """Expected scores of some groups, followed by those of the mean of each model over its strata.

    Attributes
    ----------
    strata : ExpectedScores
        The groups.
    model : ndarray of int, shape (G,)
        The model of each group; all models have all strata.
    """

    strata: ExpectedScores
    model: Ints

    @property
    def mu(self) -> Floats:
        """Scores of the groups, then of the means."""
        return np.concatenate([self.strata.mu, self._sums(self.strata.mu) / self._number()])

    @property
    def sigma(self) -> Floats:
        """Standard deviations of the groups, then of the means."""
        means = np.sqrt(self._sums(self.strata.sigma**2)) / self._number()
        return np.concatenate([self.strata.sigma, means])

    def after(self, m: Ints) -> Floats:
        """Expected squared sigmas; those of a mean if all of its strata get its trials."""
        groups, means = np.split(m, [self.model.size])
        of_strata = self.strata.after(means[self.model])
        square = self._sums(of_strata) / self._number() ** 2
        return np.concatenate([self.strata.after(groups), square])

    def ends(self) -> tuple[Ints, Ints]:
        """The fewest and the most trials of a question."""
        fewest, most = self.strata.ends()
        low, high = np.full(self._models(), fewest.max()), np.zeros(self._models(), int)
        np.minimum.at(low, self.model, fewest)
        np.maximum.at(high, self.model, most)
        return np.concatenate([fewest, low]), np.concatenate([most, high])

    def typical_trials(self) -> Floats:
        """Harmonic means of the trials of the groups, then of all strata of each model."""
        strata, sizes = self.strata.typical_trials(), self.strata.sizes()
        return np.concatenate([strata, self._sums(sizes) / self._sums(sizes / strata)])

    def sizes(self) -> Ints:
        """Questions of the groups, then of all strata of each model."""
        sizes = self.strata.sizes()
        return np.concatenate([sizes, self._sums(sizes).astype(np.int64)])

    def _models(self) -> int:
        return int(self.model.max()) + 1

    def _number(self) -> float:
        """Strata of each model."""
        return self.model.size / self._models()

    def _sums(self, values: Floats | Ints) -> Floats:
        """Sums over the strata of each model."""
        return np.asarray(np.bincount(self.model, values, self._models()), dtype=np.float64)


def planning_inference(inference: InferenceKind | None, prior: Frame | None) -> InferenceKind:
    """The inference of a plan, which needs posteriors: calibrated numbers are about means."""
    if inference is None and prior is not None:
        return "published"
    return "pooled" if inference in {None, "calibrated"} else inference


def planned_metric(metric: Metric | None, trials: Trials, method: str) -> WeightedMetric:
    """The metric, if the variance that more trials leave of it has a closed form."""
    metric = avg() if metric is None else metric
    check_metric(metric, f"{method} takes a metric")
    if not isinstance(metric, WeightedMetric):
        raise TypeError(
            f"{method} takes ps.bayes() or ps.avg(), whose variance after more trials is known in "
            f"closed form, got {metric!r}. Plan with ps.avg(): where it is decided, the others "
            "mostly are."
        )
    return on_levels(metric, trials)
