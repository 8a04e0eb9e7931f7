"""The binary metrics have one form: the mean credit of k trials drawn from a question."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from polars_scorio.kernels.arrays import Floats, Ints, Mask
from polars_scorio.kernels.draws import credit_moments, expected_credit
from polars_scorio.kernels.posteriors import Questions
from polars_scorio.kernels.states import States
from polars_scorio.metrics.base import (
    Bounds,
    DrawSizes,
    Headline,
    Summary,
    beta_prior,
    draw_sizes,
    full_name,
    interval_bounds,
)
from polars_scorio.metrics.counted import OnCounts

UNIT = (0.0, 1.0)
ALL_TRIALS = (None,)  # the draw is all n trials of a question
Gains = Callable[..., Floats]


@dataclass(frozen=True, slots=True)
class DrawMetric(OnCounts):
    """A metric that scores a draw of k trials by the number of its successes.

    The formula of such a metric is ``gains(k, *arguments)``: what the first, the second, ...
    success of a draw adds to its credit. Without a `k`, the draw is all n trials of a question.
    """

    name: str
    k: tuple[int | None, ...]
    gains: Gains = field(repr=False)
    arguments: tuple[object, ...] = ()
    prior: tuple[float, float] = (1.0, 1.0)
    bounds: Bounds | None = UNIT
    w: None = None
    span: Bounds = UNIT
    uses_prior: bool = True
    rewards: bool = False
    poles: bool = False
    headline: Headline = "estimate"

    def summary(self, posterior: Questions, k: int | None) -> Summary:
        """Estimate and posterior of each group."""
        n, c = trials_and_successes(posterior.states)

        def moments(nu: Floats, n: Ints) -> tuple[Floats, Floats]:
            mean, variance = np.zeros((2, n.size))
            for rows, gains in self._draws(n, k):
                failures, successes = nu[rows].T
                mean[rows], variance[rows] = credit_moments(successes, failures, gains)
            return mean, variance

        expected = np.empty(n.size)
        for rows, gains in self._draws(n, k):
            expected[rows] = expected_credit(n[rows], c[rows], gains)
        mu, sigma = posterior.integrate(moments, self.alpha)
        return Summary(posterior.states.mean(expected), mu, sigma)

    def _draws(self, n: Ints, k: int | None) -> Iterator[tuple[slice | Mask, Floats]]:
        """The states whose draws have one size, and the gains of such a draw."""
        if k is not None:
            yield slice(None), self.gains(k, *self.arguments)
            return
        for size in np.unique(n[n > 0]).tolist():
            yield n == size, self.gains(size, *self.arguments)

    @property
    def alpha(self) -> Floats:
        """Parameters of the Beta prior: of failure, of success."""
        return np.array(self.prior[::-1])


def trials_and_successes(states: States) -> tuple[Ints, Ints]:
    """Trials n and successes c of each state."""
    return states.counts.sum(axis=1), states.counts[:, 1]


def draw_metric(
    function: str,
    gains: Gains,
    k: DrawSizes | tuple[None],
    alpha0: float,
    beta0: float,
    bounds: Bounds | None,
    name: str | None,
    **arguments: object,
) -> DrawMetric:
    """A draw metric from the arguments of its function, after their check.

    `arguments` are those of `gains` beside k; the name shows them.
    """
    sizes = ALL_TRIALS if k is ALL_TRIALS else draw_sizes(k)  # type: ignore[arg-type]
    prior, limits = beta_prior(alpha0=alpha0, beta0=beta0), interval_bounds(bounds)
    given = {key: (value, None) for key, value in arguments.items()}
    name = full_name(function, name, **given, **shown_prior(prior), bounds=(limits, UNIT))
    return DrawMetric(name, sizes, gains, tuple(arguments.values()), prior, limits)


def shown_prior(prior: tuple[float, float]) -> dict[str, tuple[object, object]]:
    """The parameters of the prior beside their defaults, for the name of a metric."""
    return {"alpha0": (prior[0], 1.0), "beta0": (prior[1], 1.0)}
