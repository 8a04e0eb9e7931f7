"""The binary metrics have one form: the mean credit of k trials drawn from a question."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from polars_scorio.intervals import Bounds
from polars_scorio.kernels.arrays import Floats, Ints
from polars_scorio.kernels.draws import credit_moments, expected_credit
from polars_scorio.kernels.states import States
from polars_scorio.metrics.metric import (
    DrawSizes,
    Summary,
    beta_prior,
    draw_sizes,
    full_name,
    interval_bounds,
)

UNIT = (0.0, 1.0)
Gains = Callable[..., Floats]


@dataclass(frozen=True, slots=True)
class DrawMetric:
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
    rewards: bool = False
    poles: bool = False

    def summary(self, states: States, k: int | None) -> Summary:
        """Estimate and posterior of each group."""
        n, c = trials_and_successes(states)
        a, b = success_rate(states, self.prior)
        if k is not None:
            estimate, (mean, variance) = _drawn(n, c, a, b, self.gains(k, *self.arguments))
        else:
            estimate, mean, variance = np.empty((3, n.size))
            for size in np.unique(n):
                same = n == size
                gains = self.gains(int(size), *self.arguments)
                moments = _drawn(n[same], c[same], a[same], b[same], gains)
                estimate[same], (mean[same], variance[same]) = moments
        return Summary(states.mean(estimate), states.mean(mean), states.sigma(variance))


def _drawn(
    n: Ints, c: Ints, a: Floats, b: Floats, gains: Floats
) -> tuple[Floats, tuple[Floats, Floats]]:
    return expected_credit(n, c, gains), credit_moments(a, b, gains)


def trials_and_successes(states: States) -> tuple[Ints, Ints]:
    """Trials n and successes c of each state."""
    return states.counts.sum(axis=1), states.counts[:, 1]


def success_rate(states: States, prior: tuple[float, float]) -> tuple[Floats, Floats]:
    """Parameters a, b of the Beta posterior of the success rate of each state."""
    failures, successes = (states.counts + states.prior).T
    alpha0, beta0 = prior
    return alpha0 + successes, beta0 + failures


def draw_metric(
    function: str,
    gains: Gains,
    k: DrawSizes | None,
    alpha0: float,
    beta0: float,
    bounds: Bounds | None,
    name: str | None,
    **arguments: object,
) -> DrawMetric:
    """A draw metric from the arguments of its function, after their check.

    `arguments` are those of `gains` beside k; the name shows them.
    """
    sizes = (None,) if k is None else draw_sizes(k)
    prior, limits = beta_prior(alpha0=alpha0, beta0=beta0), interval_bounds(bounds)
    given = {key: (value, None) for key, value in arguments.items()}
    name = full_name(function, name, **given, **shown_prior(prior), bounds=(limits, UNIT))
    return DrawMetric(name, sizes, gains, tuple(arguments.values()), prior, limits)


def shown_prior(prior: tuple[float, float]) -> dict[str, tuple[object, object]]:
    """The parameters of the prior beside their defaults, for the name of a metric."""
    return {"alpha0": (prior[0], 1.0), "beta0": (prior[1], 1.0)}
