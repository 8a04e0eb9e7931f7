"""The best and the worst of k trials: Max@k and Min@k."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from polars_scorio.maths.array_rows import Floats, Ints
from polars_scorio.maths.best_of import best_moments, best_variances, expected_best
from polars_scorio.maths.credits import GainsOf, fixed_gains
from polars_scorio.maths.draws import all_success, any_success
from polars_scorio.maths.interval import Estimate
from polars_scorio.maths.posteriors import QuestionPosteriors
from polars_scorio.maths.questions import States, Subgroups
from polars_scorio.maths.reward_variances import GroupRewards, QuestionRewards
from polars_scorio.metrics.metric import (
    Bounds,
    Description,
    DrawSizes,
    RewardMetric,
    Summary,
    WeightPairs,
    Weights,
    described_fields,
    draw_sizes,
    interval_bounds,
    weight_array,
    weight_pairs,
    with_parameter_help,
)

if TYPE_CHECKING:
    from typing_extensions import Self


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ExtremeMetric(RewardMetric):
    """The expected best reward of k trials, or the worst."""

    worst: bool
    range_given: bool  # by the user: the bounds are the range of rewards
    upper: bool | None = None  # end of questions with fewer than k trials; None: unknown

    calibrated = True

    @property
    def reward_range(self) -> Bounds | None:
        """The range of real-valued rewards that a user gave to the metric."""
        return self.bounds if self.range_given else None

    def reward_estimates(self, rewards: GroupRewards, k: int | None) -> QuestionRewards:
        """The expected best, or worst, reward of k trials of each question, and its noise."""
        assert k is not None  # metrics of draws have one
        best = rewards.worst if self.worst else rewards.best
        return best(k, upper=self.upper)

    def at_end(self, *, upper: bool) -> Self:
        """The metric if questions have so far the best (worst) of k trials, or it is the bound."""
        return replace(self, upper=upper)

    def weighing(self, w: WeightPairs) -> Self:
        """The metric with these weights, if it has none; bounds that were its range follow it."""
        if self.w is not None:
            return self
        other = replace(self, w=w)
        return other if self.bounds != self.support else replace(other, bounds=other.support)

    def draw(self, k: int | None) -> GainsOf | None:
        """One success is the best there is, one failure the worst, of two different rewards."""
        if k is None:
            return None
        return fixed_gains(all_success(k) if self.worst else any_success(k))

    def variances(
        self, questions: States, strata: Subgroups[States] | None = None
    ) -> list[Estimate]:
        """The variance of the best or the worst of three or more rewards, or of one, for each k."""
        sizes = [k for k in self.k if k is not None]
        estimates = best_variances(
            questions, self._ordered_weights, sizes, strata, upper=self._best_end
        )
        return [self._mirrored_variance(noisy) for noisy in estimates] if self.worst else estimates

    def summary(self, posterior: QuestionPosteriors, k: int | None) -> Summary:
        """Estimate and posterior of each group."""
        assert k is not None  # the report asks for a k of this metric
        w, unit = self._ordered_weights, self.unit
        # In units of their range: the square of the rewards may be larger than a float.
        origin = float(np.clip(0.0, w.min(), w.max()))

        def moments(nu: Floats, n: Ints) -> tuple[Floats, Floats]:  # noqa: ARG001 - k trials
            return best_moments(nu, (w - origin) / unit, k)

        mu, sigma = posterior.integrate(moments)
        best = expected_best(posterior.states.counts, w, k, upper=self._best_end)
        estimate = posterior.states.mean(best)
        mean, deviation = origin + unit * mu, unit * sigma
        # The worst reward is the best of the negative ones; a sum with 0 has no sign if it is 0.
        sign = -1.0 if self.worst else 1.0
        return Summary(sign * estimate + 0.0, sign * mean + 0.0, deviation)

    @property
    def _ordered_weights(self) -> Floats:
        """The weights, of which the metric is about the largest; negative for the worst."""
        return -self.weights if self.worst else self.weights

    @property
    def _best_end(self) -> bool | None:
        """The end of the best of `_ordered_weights`."""
        return self.upper if self.upper is None else self.upper != self.worst

    def _mirrored_variance(self, noisy: Estimate) -> Estimate:
        """The variance of a reward from that of its negative."""
        return replace(
            noisy,
            estimate=noisy.rest,
            rest=noisy.estimate,
            low=-noisy.low - noisy.width,
        )


@with_parameter_help
def max_at_k(
    k: DrawSizes,
    w: Weights | None = None,
    *,
    bounds: Bounds | Literal["range"] | None = "range",
    name: str | None = None,
) -> ExtremeMetric:
    """Max@k: mean score of the best of k trials [1]_.

    Parameters
    ----------
    w : sequence or dict of float, optional
        Reward of each category: a sequence for the codes 0, 1, ..., a dict for labels. Default:
        floats in the category column are the rewards; else success 1, failure 0, which is Pass@k.
    bounds : tuple of float, None or "range"
        Range into which the interval is clipped; default: the smallest and the largest weight. Of
        real-valued rewards: the range in which all lie; default: that of the accessor, else the
        range in the log.

    Raises
    ------
    ValueError
        If `k` is not positive, `w` is empty, not flat or not finite, or `bounds` are reversed. When
        the rows are read: an infinite reward.

    Notes
    -----
    With the rewards r_1 < ... < r_L and F_l trials of at most r_l, the estimate of a question is
    r_L - sum (r_{l+1} - r_l) C(F_l, k) / C(n, k): the mean of the best over all draws of k of its n
    trials. If k exceeds the trials of a question, it has the best of its trials at one end of the
    range, and the upper bound at the other. Real-valued rewards have no posterior, and no range
    unless `bounds` are given.

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
    return _extreme_metric("max_at_k", k, w, bounds, name, worst=False)


@with_parameter_help
def min_at_k(
    k: DrawSizes,
    w: Weights | None = None,
    *,
    bounds: Bounds | Literal["range"] | None = "range",
    name: str | None = None,
) -> ExtremeMetric:
    """Min@k: mean score of the worst of k trials [1]_.

    Parameters
    ----------
    w : sequence or dict of float, optional
        As for `max_at_k`. Default: success 1, failure 0, which is Pass^k.
    bounds : tuple of float, None or "range"
        As for `max_at_k`.

    Raises
    ------
    ValueError
        As for `max_at_k`.

    Notes
    -----
    It is `max_at_k` of the negative rewards, with the sign changed. With the rewards
    r_1 > ... > r_L and F_l trials of at least r_l, the estimate of a question is
    r_L + sum (r_l - r_{l+1}) C(F_l, k) / C(n, k).

    References
    ----------
    .. [1] F. Bagirov et al. (2025), The Best of N Worlds, arXiv:2510.23393, appendix C.1, for
       `max_at_k`.

    Examples
    --------
    >>> import polars as pl
    >>> import polars_scorio as ps
    >>> trials = pl.DataFrame({"question": 1, "category": [0.1, -0.5, 2.3]})
    >>> log = trials.scorio(model=None, trial=None)
    >>> log.report(ps.min_at_k([1, 2]))["estimate"].round(6).to_list()
    [0.633333, -0.3]
    """
    return _extreme_metric("min_at_k", k, w, bounds, name, worst=True)


def _extreme_metric(
    function: str,
    k: DrawSizes,
    w: Weights | None,
    bounds: Bounds | Literal["range"] | None,
    name: str | None,
    *,
    worst: bool,
) -> ExtremeMetric:
    sizes, pairs = draw_sizes(k), weight_pairs(w)
    span = float(weight_array(pairs).min()), float(weight_array(pairs).max())
    limits = span if isinstance(bounds, str) and bounds == "range" else interval_bounds(bounds)
    described = Description(
        function,
        "Min@{k}" if worst else "Max@{k}",
        f"E[the {'smallest' if worst else 'largest'} reward of k trials]",
    )
    return ExtremeMetric(
        **described_fields(described, name, w=(pairs, None), bounds=(limits, span)),
        k=sizes,
        w=pairs,
        bounds=limits,
        worst=worst,
        range_given=not isinstance(bounds, str) and bounds is not None,
    )
