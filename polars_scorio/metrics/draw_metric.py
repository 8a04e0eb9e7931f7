"""The binary metrics have one form: the mean credit of k trials drawn from a question."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from polars_scorio.kernels.array_types import Floats, Ints, Mask
from polars_scorio.kernels.calibrated.credit_sums import GainsOf, fixed_gains
from polars_scorio.kernels.draws import credit
from polars_scorio.kernels.draws.expected_credit import expected_credit
from polars_scorio.kernels.posteriors import QuestionPosteriors
from polars_scorio.kernels.states import States
from polars_scorio.metrics.metric import Description, Metric
from polars_scorio.metrics.metric_arguments import (
    Bounds,
    DrawSizes,
    beta_parameters,
    checked_label,
    draw_sizes,
    interval_bounds,
    unusual_arguments,
)
from polars_scorio.metrics.summary import Summary

UNIT = (0.0, 1.0)
ALL_TRIALS = (None,)  # the draw is all n trials of a question
Gains = Callable[..., Floats]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class DrawMetric(Metric):
    """A metric that scores a draw of k trials by the number of its successes.

    Attributes
    ----------
    gains : callable
        The whole formula: ``gains(k, *arguments)`` is what the first, the second, ... success of a
        draw adds to its credit.
    arguments : tuple of object
        What `gains` needs beside k.
    beta_prior : tuple of float
        Parameters of the Beta prior of a success rate.
    """

    gains: Gains
    arguments: tuple[object, ...] = ()
    beta_prior: tuple[float, float] = (1.0, 1.0)

    calibrated = True

    @property
    def all_trials(self) -> bool:
        """Whether a draw is all trials of a question: without draw sizes it is."""
        return self.k == ALL_TRIALS

    def summary(self, posterior: QuestionPosteriors, k: int | None) -> Summary:
        """Estimate and posterior of each group."""
        n, c = trials_and_successes(posterior.states)
        expected = np.empty(n.size)
        for rows, gains in self._draws(k, n):
            expected[rows] = expected_credit(n[rows], c[rows], gains)
        mu, sigma = posterior.credit(partial(self._draws, k), self.alpha)
        return Summary(posterior.states.mean(expected), mu, sigma)

    def draw(self, k: int | None) -> GainsOf:
        """The gains of its draw from a question with n trials."""
        if k is not None:
            return fixed_gains(self.gains(k, *self.arguments))
        return lambda n: self.gains(n, *self.arguments)

    def _draws(self, k: int | None, n: Ints) -> Iterator[tuple[slice | Mask, Floats]]:
        """The states whose draws have one size, and the gains of such a draw."""
        if k is not None:
            yield slice(None), self.gains(k, *self.arguments)
            return
        for size in np.unique(n[n > 0]).tolist():
            yield n == size, self.gains(size, *self.arguments)

    @property
    def alpha(self) -> Floats:
        """Parameters of the Beta prior: of failure, of success."""
        return np.array(self.beta_prior[::-1])


def trials_and_successes(states: States) -> tuple[Ints, Ints]:
    """Trials n and successes c of each state."""
    return states.n, states.counts[:, 1]


def draw_metric(
    described: Description,
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
    shown = {key: (value, None) for key, value in arguments.items()}
    shared = draw_fields(described, k, alpha0, beta0, bounds, name, **shown)
    return DrawMetric(**shared, gains=gains, arguments=tuple(arguments.values()))


def threshold_curve(
    described: Description,
    k: int,
    t: tuple[int, ...],
    alpha0: float,
    beta0: float,
    bounds: Bounds | None,
    name: str | None,
) -> DrawMetric:
    """The draw metric of "at least t successes of k", a row for each t, after its check."""
    shared = draw_fields(described, k, alpha0, beta0, bounds, name)
    return DrawMetric(**shared, t=t, gains=credit.at_least, arguments=(k,))


def draw_fields(
    described: Description,
    k: DrawSizes | tuple[None],
    alpha0: float,
    beta0: float,
    bounds: Bounds | None,
    name: str | None,
    **shown: tuple[object, object],
) -> dict[str, Any]:
    """The fields that all metrics of draws have, after the check of their arguments.

    `shown` are the other arguments of the function, each with its default.
    """
    sizes = ALL_TRIALS if k is ALL_TRIALS else draw_sizes(k)  # type: ignore[arg-type]  # the only tuple that is no size
    prior, limits = beta_parameters(alpha0=alpha0, beta0=beta0), interval_bounds(bounds)
    priors = {"alpha0": (prior[0], 1.0), "beta0": (prior[1], 1.0)}
    return {
        **described._asdict(),
        "given": unusual_arguments(**shown, **priors, bounds=(limits, UNIT)),
        "label": checked_label(name),
        "k": sizes,
        "bounds": limits,
        "beta_prior": prior,
    }
