"""How mu, sigma and the interval of a metric are found: by which inference, and about what."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from polars_scorio.arguments import InferenceKind, View
from polars_scorio.counting.categories import Classes
from polars_scorio.kernels.array_types import Ints
from polars_scorio.kernels.posteriors import Independent, Pooled, Questions
from polars_scorio.kernels.states import States
from polars_scorio.metrics.metric import Metric
from polars_scorio.reporting.inference.intervals import Intervals


@dataclass(frozen=True, slots=True, eq=False)
class Inference:
    """Which classes the trials of a question are counted into, and what a user chose."""

    classes: Classes
    kind: InferenceKind
    intervals: Intervals

    def posterior(
        self, view: View, states: States, fitted: States | None = None, owner: Ints | None = None
    ) -> Questions:
        """What a metric looks at, unless its interval is calibrated.

        Parameters
        ----------
        view : "categories" or "success"
            Whether all categories are told apart, or only failure and success.
        states : States
            The questions; each of its groups has results.
        fitted : States, optional
            The same questions in the groups to which a population is fitted each; default those of
            `states`.
        owner : ndarray of int, optional
            The group of `fitted` to which each group of `states` belongs, ascending.

        Returns
        -------
        Independent or Pooled
        """
        states = self.seen(view, states)
        if self.kind == "published":
            return Independent(states)
        if fitted is None or owner is None:
            return Pooled.fit(states, states, np.arange(states.groups), self.intervals.target)
        return Pooled.fit(states, self.seen(view, fitted), owner, self.intervals.target)

    def seen(self, view: View, states: States) -> States:
        """The states as a metric sees them."""
        # Two classes of which the last is success are what is wanted already.
        if view == "success" and (self.classes.size, self.classes.successful) != (2, [1]):
            return states.binary(self.classes.successful)
        return states

    def calibrates(self, metric: Metric, view: View) -> bool:
        """Whether the numbers of a metric are calibrated; those of the others are pooled."""
        if view == "answers":
            return True
        if self.kind != "calibrated" or view == "rewards" or not metric.calibrated:
            return False
        # A blend of the whole benchmark has no estimates that vary between questions.
        single = metric.per_question or self.successes(metric, view) is not None
        return single or self.intervals.target == "benchmark"

    def successes(self, metric: Metric, view: View) -> tuple[int, ...] | None:
        """The classes that count as success of a metric that is a credit; None: it is none."""
        if metric.draw(metric.k[0]) is None:
            return None
        if view == "success":
            return tuple(self.classes.successful)
        w = metric.weights
        return tuple(np.flatnonzero(w == w.max()).tolist()) if np.unique(w).size == 2 else None  # noqa: PLR2004 - failure and success
