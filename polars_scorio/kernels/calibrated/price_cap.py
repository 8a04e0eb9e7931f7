"""Upper limit of the variance of an estimate that the counts themselves show.

The smooth fit prices an estimate far too high if the questions are no Beta population. Its price is
believed only up to a cap, which rests on no model of the questions:

- With 2 k trials or more of each question, the variance has an unbiased estimate from the counts.
- With fewer it has none. The cap is then the largest variance under all distributions of success
  rates that the counts do not reject. It takes time, so it is worked out only if the free fit,
  which has the lower price, explains the counts better.

Without the cap, intervals of 1,000 questions are up to 20 times as wide as needed. To delete it,
let `capped_price` return the larger of the two variances.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from polars_scorio.kernels.array_types import Floats, Ints, Mask
from polars_scorio.kernels.calibrated.credit_sums import CreditSum, draw_sizes
from polars_scorio.kernels.calibrated.extremes import Region
from polars_scorio.kernels.calibrated.fit_moments import Moments
from polars_scorio.kernels.calibrated.free_fit import rate_nodes
from polars_scorio.kernels.calibrated.group_fits import Group
from polars_scorio.kernels.calibrated.question_weights import QuestionWeights
from polars_scorio.kernels.calibrated.reached_mean import reaches_mean

_HIGHER = 1.05  # the smooth price, over the free one, from which on a region is worth its time
_MISFIT = 0.5  # of the smooth fit, likewise
# Width of the region in log likelihood, at any confidence: half the 95 % quantile of chi-squared.
# A number, since computing it would import SciPy's functions with the package.
_ROOM = 3.8414588206941285 / 2
_EVERY_STATE = 2048  # trials up to which the largest noise is looked up among all states
_STATES_PER_ROOT = 15  # beyond: among so many states, times the root of the trials,
_MOST_STATES = 15_000  # up to these


class CappedPrice(NamedTuple):
    """The variance of the estimates of some metrics of one group, each array of shape (C,).

    Attributes
    ----------
    variance : ndarray of float
        The price: that of the smooth fit up to the cap, but never less than that of the free fit.
    factor : ndarray of float
        How much the uncertainty of the price widens it, at least 1.
    smooth_share : ndarray of float
        Where the price lies between that of the free fit (0) and that of the smooth fit (1).
    """

    variance: Floats
    factor: Floats
    smooth_share: Floats

    def between(self, free: Floats, smooth: Floats) -> Floats:
        """Numbers between those of both fits, as far as the price is."""
        return self.smooth_share * smooth + (1 - self.smooth_share) * free


def capped_price(
    group: Group, metrics: Sequence[CreditSum], moments: Moments, weights: QuestionWeights
) -> CappedPrice:
    """The price of some metrics, from their moments under both fits.

    Parameters
    ----------
    group, metrics, weights
        As for `group_moments`.
    moments : Moments
        The result of `group_moments`.
    """
    smooth, free = moments.smooth_variance, moments.free_variance
    higher, cap = smooth > free, np.full(smooth.size, np.inf)
    shown = shows_noise(group, metrics)
    rows = np.flatnonzero(higher & shown)
    if rows.size:
        cap[rows] = observed_caps(group, [metrics[row] for row in rows.tolist()], weights)
    # A price that is hardly higher than the free one is not worth a region.
    for row in np.flatnonzero((smooth > _HIGHER * free) & ~shown).tolist():
        cap[row] = unseen_cap(group, moments.rate_variance[row], float(smooth[row]))
    variance = np.maximum(free, np.minimum(smooth, cap))
    share = np.where(higher, (variance - free) / np.where(higher, smooth - free, 1.0), 0.0)
    spread = np.hypot(np.where(higher, share, 1.0) * moments.smooth_spread, moments.free_spread)
    wider = np.divide(spread, variance, out=np.zeros_like(variance), where=variance > 0)
    return CappedPrice(variance, 1 + wider, share)


def shows_noise(group: Group, metrics: Sequence[CreditSum]) -> Mask:
    """Mask of the metrics of which each question has 2 k trials or more: they show the noise."""
    levels = [2 * draw_sizes(metrics, level.n) <= level.n for level in group.levels]
    return np.asarray(np.all(levels, axis=0))


def unseen_cap(group: Group, rate_variance: Floats, price: float = np.inf) -> float:
    """Upper limit of the variance of an estimate whose noise the counts do not show.

    Parameters
    ----------
    group : Group
        The group.
    rate_variance : ndarray of float, shape (I,)
        Variance of its estimate at each rate, as in `Moments`.
    price : float
        The price that may be capped. A limit above it is infinite: it takes time, and changes
        nothing.
    """
    top = float(rate_variance.max())
    if not top:
        return 0.0 if group.misfit > _MISFIT else np.inf
    values, enough = rate_variance / top, price / top
    if group.misfit <= _MISFIT or reaches_mean(group.free, values, enough, _ROOM):
        return np.inf
    return region_cap(group, rate_variance)


def observed_caps(group: Group, metrics: Sequence[CreditSum], weights: QuestionWeights) -> Floats:
    """Unbiased estimates of the variance, each with a standard deviation of that estimate.

    The standard deviation is never less than what one more question of the noisiest state would
    add: questions without any noise are no proof that others have none.

    Parameters
    ----------
    group, metrics, weights
        As for `group_moments`; each question has 2 k trials or more.

    Returns
    -------
    ndarray of float, shape (C,)
        Infinite beyond 2,048 trials for draws of more than 64 trials of which neither one success
        nor all earn the whole credit: their noise has no estimate that is worth its memory.

    Examples
    --------
    Two questions with one success in two trials each: both differ from their own mean.

    >>> from polars_scorio.kernels.calibrated.credit_sums import fixed_gains
    >>> group = Group.fit(np.array([2]), np.array([1]), np.array([2]))
    >>> share = CreditSum([(1.0, fixed_gains(np.array([1.0])))])
    >>> observed_caps(group, [share], QuestionWeights.equal(group.questions))  # (1/2 + 1/4) / 4
    array([0.1875])
    """
    noise, most = np.empty((len(metrics), group.c.size)), np.zeros(len(metrics))
    for level in group.levels:
        every = _spread_states(level.n)
        for row, metric in enumerate(metrics):
            noise[row, level.rows] = metric.noise_estimates(level.n, level.c)
            most[row] = max(most[row], np.abs(metric.noise_estimates(level.n, every)).max())
    size = group.size
    # Row by row: the last bits of a matrix product depend on the other metrics.
    away = noise - (noise * group.questions).sum(axis=1, keepdims=True) / size
    spread = size / max(size - 1, 1) * (away**2 * weights.fourth).sum(axis=1)
    seen = (noise * weights.second).sum(axis=1)
    caps = seen + np.hypot(np.sqrt(spread), weights.largest**2 * most)
    return np.where(np.isfinite(caps), caps, np.inf)


def _spread_states(n: int) -> Ints:
    """Successes among which the noisiest state is looked up: all, or as many as rates resolve."""
    if n <= _EVERY_STATE:
        return np.arange(n + 1)
    p, _ = rate_nodes(min(int(_STATES_PER_ROOT * np.sqrt(n)), _MOST_STATES))
    return np.unique(np.rint(n * p).astype(np.int64))


def region_cap(group: Group, rate_variance: Floats) -> float:
    """Largest variance under all distributions of success rates that the counts do not reject.

    Parameters
    ----------
    group : Group
        The group.
    rate_variance : ndarray of float, shape (I,)
        Variance of the estimate at each rate, as in `Moments`.
    """
    free, top = group.free, float(rate_variance.max())
    if not top:
        return 0.0
    region = Region.around(free.likelihood, free.questions, free.best, _ROOM)
    # On a scale of its own: a region is precise to 1e-7 of 1.
    return top * region.largest(rate_variance / top)
