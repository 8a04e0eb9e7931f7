"""A metric that the package does not know, as a user writes one."""

from dataclasses import dataclass

import numpy as np

import polars_scorio as ps


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Agreement(ps.Metric):
    """How often do two trials of a question end alike?"""

    function: str = "agreement"
    title: str = "Agreement@{n}"
    formula: str = "(C(c, 2) + C(n - c, 2)) / C(n, 2): two trials of a question end alike"
    bounds: tuple[float, float] = (0.0, 1.0)

    def summary(self, posterior, k):
        states = posterior.states
        n, c = states.n, states.counts[:, 1]
        alike = c * (c - 1) + (n - c) * (n - c - 1)
        estimate = np.where(n > 1, alike / np.maximum(n * (n - 1), 1), np.nan)
        return ps.Summary(states.mean(estimate), *posterior.integrate(moments))


def moments(nu, n):  # noqa: ARG001 - of the success rate, however many trials there were
    """Mean and variance of 1 - 2 p q, where p has a Beta distribution."""
    failures, successes = nu.T
    total = failures + successes
    mixed = failures * successes / (total * (total + 1))
    squared = mixed * (failures + 1) * (successes + 1) / ((total + 2) * (total + 3))
    return 1 - 2 * mixed, 4 * (squared - mixed**2)
