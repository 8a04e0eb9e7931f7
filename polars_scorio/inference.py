"""How mu, sigma and the interval of a metric are found: pooling, target, confidence, shape."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from polars_scorio.intervals import beta_interval, normal_interval, small_sample_factor
from polars_scorio.kernels.arrays import Floats, Ints, Mask
from polars_scorio.kernels.posteriors import Independent, Pooled, Questions, Target
from polars_scorio.kernels.states import Rewards, States
from polars_scorio.metrics.metric import Metric, Summary, weights
from polars_scorio.options import Interval, Pooling, View
from polars_scorio.roles import Classes


@dataclass(frozen=True, slots=True, eq=False)
class Inference:
    """What a user chose, and which classes the trials of a question are counted into."""

    kinds: Classes
    confidence: float = 0.95
    interval: Interval = "normal"
    pooling: Pooling = "none"
    target: Target = "benchmark"

    def posterior(
        self, view: View, states: States, fitted: States | None = None, owner: Ints | None = None
    ) -> Questions:
        """What a metric looks at.

        Parameters
        ----------
        view : "categories" or "success"
            Whether all categories are told apart, or only failure and success.
        states : States
            The questions; each of its groups has results.
        fitted : States, optional
            The same questions in the groups to which partial pooling fits a prior each; default
            those of `states`.
        owner : ndarray of int, optional
            The group of `fitted` to which each group of `states` belongs, ascending.

        Returns
        -------
        Independent or Pooled
        """
        # Two classes of which the last is success are what is wanted already.
        if view == "success" and (self.kinds.size, self.kinds.successful) != (2, [1]):
            states = states.binary(self.kinds.successful)
            fitted = None if fitted is None else fitted.binary(self.kinds.successful)
        if self.pooling == "none":
            return Independent(states)
        if fitted is None or owner is None:
            return Pooled.fit(states, states, np.arange(states.groups), self.target)
        return Pooled.fit(states, fitted, owner, self.target)

    def around(self, summary: Summary, posterior: Questions | Rewards) -> tuple[Floats, Floats]:
        """Mean and standard deviation that the interval of each cell is made of."""
        mu, sigma = (summary.mu, summary.sigma) if summary.around is None else summary.around
        if self.target == "population" and not isinstance(posterior, Rewards):
            sigma = sigma * small_sample_factor(posterior.states.size, self.confidence)
        return mu, sigma

    def bounds(
        self, metric: Metric, mu: Floats, sigma: Floats, posterior: Questions | Rewards
    ) -> tuple[Floats, Floats]:
        """The credible interval of each cell, from what it is `around`."""
        if isinstance(posterior, Rewards):
            return mu, mu
        w, states = weights(metric.w), posterior.states
        if not metric.uses_prior:
            states = states.observed()
        lowest, highest = (states.only(np.flatnonzero(w == end).tolist()) for end in metric.span)
        return self.interval_around(metric, mu, sigma, lowest, highest)

    def interval_around(
        self, metric: Metric, mu: Floats, sigma: Floats, lowest: Mask, highest: Mask
    ) -> tuple[Floats, Floats]:
        """The interval of means and standard deviations, clipped to the bounds of the metric.

        `lowest` and `highest` tell where all that was observed is the least (the most) there is.
        """
        low, high = metric.span
        if self.interval == "normal" or low == high:
            return normal_interval(mu, sigma, self.confidence, metric.bounds)
        uncertain = sigma > 0
        lo, hi = beta_interval(
            mu,
            sigma,
            self.confidence,
            (low, high),
            lowest=lowest & uncertain,
            highest=highest & uncertain,
        )
        lower, upper = metric.bounds or (-np.inf, np.inf)
        return np.clip(lo, lower, upper), np.clip(hi, lower, upper)
