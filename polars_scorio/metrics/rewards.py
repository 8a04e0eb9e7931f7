"""The best of k trials: Max@k."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from polars_scorio.kernels.arrays import Floats, Ints
from polars_scorio.kernels.batches import spread
from polars_scorio.kernels.posteriors import Questions
from polars_scorio.kernels.rewards import best_moments, best_of_rewards, expected_best
from polars_scorio.kernels.states import Rewards
from polars_scorio.metrics.base import (
    Bounds,
    DrawSizes,
    Headline,
    Summary,
    WeightPairs,
    Weights,
    draw_sizes,
    full_name,
    interval_bounds,
    weight_pairs,
    weights,
)
from polars_scorio.metrics.counted import OnCounts


@dataclass(frozen=True, slots=True)
class BestMetric(OnCounts):
    """The expected best reward of k trials."""

    name: str
    k: tuple[int, ...]
    w: WeightPairs | None = None
    bounds: Bounds | None = (0.0, 1.0)
    prior: tuple[float, float] = (1.0, 1.0)
    uses_prior: bool = True
    rewards: bool = True
    poles: bool = False
    headline: Headline = "estimate"

    @property
    def span(self) -> Bounds:
        """The smallest and the largest weight."""
        w = weights(self.w)
        return float(w.min()), float(w.max())

    def weighing(self, w: WeightPairs) -> BestMetric:
        """The same with weights, if it has none; bounds that were its range still are."""
        if self.w is not None:
            return self
        other = replace(self, w=w)
        return other if self.bounds != self.span else replace(other, bounds=other.span)

    def summary(self, posterior: Questions | Rewards, k: int | None) -> Summary:
        """Estimate and posterior of each group."""
        assert k is not None  # noqa: S101 - the report asks for a k of this metric
        if isinstance(posterior, Rewards):
            estimate = posterior.mean(best_of_rewards(posterior.values, posterior.offsets, k))
            return Summary(estimate, *np.full((2, posterior.groups), np.nan))
        w = weights(self.w)
        # In units of their spread: the square of the rewards may be larger than a float.
        origin, unit = float(np.clip(0.0, w.min(), w.max())), spread(w) or 1.0

        def moments(nu: Floats, n: Ints) -> tuple[Floats, Floats]:  # noqa: ARG001 - k trials
            return best_moments(nu, (w - origin) / unit, k)

        mu, sigma = posterior.integrate(moments)
        estimate = posterior.states.mean(expected_best(posterior.states.counts, w, k))
        return Summary(estimate, origin + unit * mu, unit * sigma)


def max_at_k(
    k: DrawSizes,
    w: Weights | None = None,
    *,
    bounds: Bounds | Literal["range"] | None = "range",
    name: str | None = None,
) -> BestMetric:
    """Max@k: how good is the best of k trials [1]_?

    Parameters
    ----------
    k : int or sequence of int
        Draw sizes, one row of the result each. Where k exceeds the trials of a question, no
        unbiased estimate exists and `estimate` is null; the posterior holds for any k.
    w : sequence or dict of float, optional
        Reward of each category: a sequence for the codes 0, 1, ..., a dict for labels. Default:
        success 1, failure 0, which is Pass@k. Where the category column holds floats and no
        `success` is given, they are the rewards themselves.
    bounds : tuple of float, None or "range"
        Range into which the interval is clipped; default the smallest and the largest weight.
    name : str, optional
        What the result calls the metric.

    Returns
    -------
    BestMetric
        To be given to `report`.

    Raises
    ------
    ValueError
        If `k` is not positive, `w` is empty, not flat or not finite, or `bounds` are reversed. At
        collection: an infinite reward.

    Notes
    -----
    With the rewards r_1 < ... < r_L and F_l trials of at most r_l, the estimate of a question is
    r_L - sum (r_{l+1} - r_l) C(F_l, k) / C(n, k): the mean of the best over all draws of k of its n
    trials. Posterior: the same with the k-th power of the mass up to r_l under the Dirichlet
    posterior of `bayes`, exact in mean and variance. For real-valued rewards, no finite set of
    categories is known to which a Dirichlet prior could give mass, so that mu, sigma, lo and hi are
    null there.

    References
    ----------
    .. [1] F. Bagirov et al. (2025), The Best of N Worlds, arXiv:2510.23393, appendix C.1, for the
       estimate.

    Examples
    --------
    >>> import polars as pl
    >>> import polars_scorio as ps
    >>> trials = pl.DataFrame({"question": 1, "category": [0, 1, 2], "reward": [0.1, -0.5, 2.3]})
    >>> log = trials.scorio(model=None, trial=None)
    >>> log.report(ps.max_at_k(2, w=[0, 0.5, 1]))["estimate"].round(6).to_list()
    [0.833333]
    >>> rewards = trials.scorio(model=None, trial=None, category="reward")
    >>> rewards.report(ps.max_at_k([1, 2]))["estimate"].round(6).to_list()
    [0.633333, 1.566667]
    """
    sizes, pairs = draw_sizes(k), weight_pairs(w)
    span = float(weights(pairs).min()), float(weights(pairs).max())
    limits = span if isinstance(bounds, str) and bounds == "range" else interval_bounds(bounds)
    name = full_name("max_at_k", name, w=(pairs, None), bounds=(limits, span))
    return BestMetric(name, sizes, pairs, limits)
