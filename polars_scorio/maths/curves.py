"""Bands for a whole curve over k: one critical value for all points, and how the band reads.

The estimates at neighbouring k are correlated. Divided by their standard deviations they make a
path on a sphere; the shorter the path, the fewer independent statements the curve makes. The band
takes the critical value of Naiman's inequality for the length of that path [1]_, [2]_.

.. [1] D. Q. Naiman (1986), Annals of Statistics 14, 896-906.
.. [2] B. Efron (1997), Biometrika 84, 143-157: the length heuristic.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import scipy

from polars_scorio.maths.array_rows import Floats, Ints
from polars_scorio.maths.credit_at_rates import RootDraw
from polars_scorio.maths.draws import binomial_chances
from polars_scorio.maths.free_fit import Calibrated, rate_nodes
from polars_scorio.maths.variance import Draw, GainsOf, drawn_credit, shared_power_noise

_BISECTIONS, _LARGEST = 60, 40.0
_TABULATED = 1_024  # trials up to which drawn that are no power have a table of states
_ROUNDING = 1e-12  # in units of the range of a metric


class Path(NamedTuple):
    """Variances of the points of curves, and covariances of neighbours, by the last axis.

    NaN where a curve has no point; an infinite variance where nobody knows it.
    """

    variance: Floats  # (..., K)
    covariance: Floats  # (..., K - 1)

    @property
    def points(self) -> Ints:
        """Number of points of each curve."""
        return np.asarray((~np.isnan(self.variance)).sum(axis=-1))

    @property
    def length(self) -> Floats:
        """Length of each path, without steps that lack a variance; infinite if one is unknown."""
        scale = np.sqrt(self.variance[..., :-1]) * np.sqrt(self.variance[..., 1:])
        known = np.isfinite(scale) & (scale > 0)
        cosine = np.divide(self.covariance, scale, out=np.ones_like(scale), where=known)
        length = np.arccos(np.clip(cosine, -1.0, 1.0)).sum(axis=-1)
        return np.where(np.isinf(self.variance).any(axis=-1), np.inf, length)


def curve_critical(c: Floats | float, path: Path) -> Floats:
    """Critical values with which all points of each curve hold at once, from those of one point."""
    # The root of ``2 Phi(-x) + length / pi exp(-x^2 / 2) = 2 Phi(-c)``, or Bonferroni's value over
    # the points if it is smaller.
    tail, points = scipy.special.ndtr(-np.asarray(c, dtype=np.float64)), path.points
    bonferroni = -scipy.special.ndtri(tail / np.maximum(points, 1))
    length = np.where(np.isinf(path.length), 0.0, path.length)
    low, high = np.broadcast_arrays(np.asarray(c, dtype=np.float64), bonferroni)
    high = np.maximum(low, high)
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        wide = 2 * scipy.special.ndtr(-middle) + length / np.pi * np.exp(-(middle**2) / 2)
        low, high = np.where(wide > 2 * tail, middle, low), np.where(wide > 2 * tail, high, middle)
    critical = np.where(length > 0, high, c)
    return np.asarray(np.where(np.isinf(path.length) & (points > 1), bonferroni, critical))


def question_path(values: Sequence[Floats], weight: Floats, cluster: Ints | None = None) -> Path:
    """The path of means over sampled questions, from their values (M, P) at each k."""
    # `weight` (M,) is the share of each question in the mean, `cluster` (M,) what belongs together.
    parts = []
    for of_k in values:
        away = of_k - weight @ of_k
        # Values that are all the same leave rounding errors, whose directions would count.
        part = np.where(np.abs(away) > _ROUNDING, away, 0.0) * weight[:, None]
        part[:, np.isnan(of_k).any(axis=0)] = np.nan
        if cluster is not None:
            sums = np.zeros((int(cluster.max(initial=-1)) + 1, part.shape[1]))
            np.add.at(sums, cluster, part)
            part = sums
        parts.append(part)
    return Path(
        np.stack([(part**2).sum(axis=0) for part in parts], axis=-1),
        np.stack([(one * two).sum(axis=0) for one, two in pairwise(parts)], axis=-1),
    )


def noise_path(fitted: Calibrated, draws: Sequence[GainsOf | RootDraw]) -> Path:
    """The path of the noise of each group under its free fit, for one draw at each k, (G, K)."""
    # Each question has the variance of a question at the rates of the fit; trials count as often as
    # the questions that have them weigh in the variance of the mean.
    groups, size = fitted.states.groups, len(draws)
    variance, covariance = np.full((groups, size), np.nan), np.full((groups, size - 1), np.nan)
    for members, fits in fitted.batches:
        levels, place = fits.levels
        second = fitted.batch_weights(members, fits).second
        share = np.zeros((members.size, levels.size))
        np.add.at(share.T, place, np.broadcast_to(second, fits.questions.shape).T)
        share *= 1 / share.sum(axis=1, keepdims=True)
        paths = level_noise(rate_nodes(fits.weight.shape[1]), levels, draws)
        for each, table in zip((variance, covariance), paths, strict=True):
            each[members] = np.einsum("gl,kli,gi->gk", share, table, fits.weight, optimize=True)
        every = levels.tolist()
        sizes = [[draw.size] if isinstance(draw, RootDraw) else [draw(n).size for n in every]
                 for draw in draws]  # fmt: skip
        beyond = [max(of_draw, default=0) > fits.n.min() for of_draw in sizes]
        variance[np.ix_(members, np.flatnonzero(beyond))] = np.nan
    return Path(variance, covariance)


def level_noise(
    rates: tuple[Floats, Floats], levels: Ints, draws: Sequence[GainsOf | RootDraw]
) -> tuple[Floats, Floats]:
    """Variances (K, L, I) and neighbours' covariances of the estimate at some rates, by trials."""
    drawn = [] if any(isinstance(draw, RootDraw) for draw in draws) else [*draws]
    shape = len(draws), levels.size, rates[0].size
    powers = [Draw.from_gains(draw(1)).power for draw in drawn if draw(1) is draw(2)]
    if drawn and len(powers) == len(draws) and None not in powers:
        every = [power for power in powers if power is not None]
        noises = [shared_power_noise(*rates, levels, one, one) for one in every]
        shared = [shared_power_noise(*rates, levels, *pair) for pair in pairwise(every)]
        return np.array(noises), np.array(shared).reshape(-1, *shape[1:])
    if not drawn or levels.max() > _TABULATED:
        return np.full(shape, np.inf), np.full((shape[0] - 1, *shape[1:]), np.nan)
    noise = np.empty((2, *shape))
    for place, n in enumerate(levels.tolist()):
        noise[:, :, place] = _tabulated_noise(n, rates, [draw(n) for draw in drawn])
    return noise[0], noise[1, :-1]


def _tabulated_noise(n: int, rates: tuple[Floats, Floats], gains: Sequence[Floats]) -> Floats:
    """Variances of some drawn, and covariances with the next one, by sums over states."""
    states, chances = np.arange(n + 1), binomial_chances(n, *rates)
    values = np.stack([drawn_credit(np.full(n + 1, n), states, each)[0] for each in gains])
    after = np.roll(values, -1, axis=0)
    mean, following = values @ chances.T, after @ chances.T
    return np.stack([
        (values**2) @ chances.T - mean**2,
        (values * after) @ chances.T - mean * following,
    ])  # fmt: skip


class Stretch(NamedTuple):
    """The sign at one end of a band, and the last k at which it holds, (...)."""

    sign: Ints  # 1: the first model is better, -1: the second, 0: this end is not decided
    reach: Ints  # 0 without a sign


def first_stretch(k: Ints, lo: Floats, hi: Floats) -> Stretch:
    """From the first point on, as long as the sign stays decided and the same, by the last axis."""
    here = ~np.isnan(lo)
    sign = np.where(lo > 0, 1, np.where(hi < 0, -1, 0))
    first = np.take_along_axis(sign, here.argmax(axis=-1)[..., None], axis=-1)
    same = np.logical_and.accumulate(((sign == first) | ~here) & (first != 0), axis=-1) & here
    last = same.shape[-1] - 1 - same[..., ::-1].argmax(axis=-1)
    return Stretch(first[..., 0], np.where(same.any(axis=-1), k[last], 0))


def last_stretch(k: Ints, lo: Floats, hi: Floats) -> Stretch:
    """`first_stretch` from the last point down."""
    return first_stretch(k[::-1], lo[..., ::-1], hi[..., ::-1])


def rising_band(lo: Floats, hi: Floats) -> tuple[Floats, Floats]:
    """The band of a curve that never falls, by the first axis; NaN is no point."""
    low, high = np.fmax.accumulate(lo, axis=0), np.fmin.accumulate(hi[::-1], axis=0)[::-1]
    return np.where(np.isnan(lo), np.nan, low), np.where(np.isnan(hi), np.nan, high)
