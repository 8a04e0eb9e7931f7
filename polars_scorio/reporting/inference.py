"""How mu, sigma and the interval of a metric are found: pooling, target, confidence, shape."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from polars_scorio.arguments import Pooling, View
from polars_scorio.counting.categories import Classes
from polars_scorio.kernels.arrays import Ints
from polars_scorio.kernels.posteriors import Independent, Pooled, Questions
from polars_scorio.kernels.states import States
from polars_scorio.metrics.results import Intervals


@dataclass(frozen=True, slots=True, eq=False)
class Inference:
    """Which classes the trials of a question are counted into, and what a user chose."""

    kinds: Classes
    intervals: Intervals
    pooling: Pooling = "none"

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
            return Pooled.fit(states, states, np.arange(states.groups), self.intervals.target)
        return Pooled.fit(states, fitted, owner, self.intervals.target)
