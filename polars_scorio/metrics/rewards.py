"""The best of k trials: Max@k."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from polars_scorio.kernels.array_types import Floats, Ints
from polars_scorio.kernels.calibrated.credit_sums import GainsOf, fixed
from polars_scorio.kernels.calibrated.max_price import best_prices
from polars_scorio.kernels.calibrated.variance_price import Price
from polars_scorio.kernels.draws.credit import any_success
from polars_scorio.kernels.max_of_draws import best_moments, best_of_rewards, expected_best
from polars_scorio.kernels.posteriors import QuestionPosteriors
from polars_scorio.kernels.states import Rewards, States
from polars_scorio.metrics.metric import Metric
from polars_scorio.metrics.metric_arguments import (
    Bounds,
    DrawSizes,
    WeightPairs,
    Weights,
    checked_label,
    draw_sizes,
    interval_bounds,
    unusual_arguments,
    weight_array,
    weight_pairs,
)
from polars_scorio.metrics.parameter_help import with_parameter_help
from polars_scorio.metrics.summary import Summary

if TYPE_CHECKING:
    from typing_extensions import Self


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class BestMetric(Metric):
    """The expected best reward of k trials."""

    rewards = True
    calibrated = True

    def weighing(self, w: WeightPairs) -> Self:
        """The metric with these weights, if it has none; bounds that were its range follow it."""
        if self.w is not None:
            return self
        other = replace(self, w=w)
        return other if self.bounds != self.support else replace(other, bounds=other.support)

    def draw(self, k: int | None) -> GainsOf | None:
        """One success is the best there is, where there is but one reward above the least."""
        return None if k is None else fixed(any_success(k))

    def prices(self, questions: States) -> list[Price]:
        """The price of the best of three or more rewards, or of one, for each k."""
        return best_prices(questions, self.weights, [k for k in self.k if k is not None])

    def summary(self, posterior: QuestionPosteriors | Rewards, k: int | None) -> Summary:
        """Estimate and posterior of each group."""
        assert k is not None  # noqa: S101 - the report asks for a k of this metric
        if isinstance(posterior, Rewards):
            estimate = posterior.mean(best_of_rewards(posterior.values, posterior.offsets, k))
            return Summary(estimate, *np.full((2, posterior.groups), np.nan))
        w, unit = self.weights, self.unit
        # In units of their range: the square of the rewards may be larger than a float.
        origin = float(np.clip(0.0, w.min(), w.max()))

        def moments(nu: Floats, n: Ints) -> tuple[Floats, Floats]:  # noqa: ARG001 - k trials
            return best_moments(nu, (w - origin) / unit, k)

        mu, sigma = posterior.integrate(moments)
        estimate = posterior.states.mean(expected_best(posterior.states.counts, w, k))
        return Summary(estimate, origin + unit * mu, unit * sigma)


@with_parameter_help
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
    w : sequence or dict of float, optional
        Reward of each category: a sequence for the codes 0, 1, ..., a dict for labels. Default:
        success 1, failure 0, which is Pass@k. Where the category column holds floats and no
        `success` is given, they are the rewards themselves.
    bounds : tuple of float, None or "range"
        Range into which the interval is clipped; default the smallest and the largest weight.

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
    span = float(weight_array(pairs).min()), float(weight_array(pairs).max())
    limits = span if isinstance(bounds, str) and bounds == "range" else interval_bounds(bounds)
    return BestMetric(
        function="max_at_k",
        title="Max@{k}",
        formula="E[the largest reward of k trials]",
        given=unusual_arguments(w=(pairs, None), bounds=(limits, span)),
        label=checked_label(name),
        k=sizes,
        w=pairs,
        bounds=limits,
    )
