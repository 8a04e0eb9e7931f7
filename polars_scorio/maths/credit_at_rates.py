"""Credit of a metric at a success rate, blends included.

What is no polynomial of the rate, such as Geom@k, has no unbiased estimate: a ridge regression on a
grid of rates comes close, and the largest deviation is a bias that the interval adds.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import ceil
from typing import NamedTuple

import numpy as np
import scipy

from polars_scorio.maths.array_rows import Floats, Ints, row_slices
from polars_scorio.maths.draws import (
    all_success,
    any_success,
    area_at,
    binomial_chances,
    is_area,
    only_success,
)
from polars_scorio.maths.free_fit import rate_nodes
from polars_scorio.maths.pooled_moments import Joint


def credit_at(p: Floats, q: Floats, gains: Floats) -> Floats:
    """Mean credit of k ~ Binomial(p) trials at rates ``p = 1 - q``, shape (I,)."""
    # If one success earns all, and for AUC@k, the time does not grow with k.
    k, success = gains.size, only_success(gains)
    if success is not None:
        return np.asarray(gains[success - 1] * _at_least(success, k, p, q))
    if is_area(gains):
        return area_at(p, q, k)
    credit = np.concatenate(([0.0], np.cumsum(gains)))
    values = np.empty_like(p)
    for rows in row_slices(p.size, k + 1):
        values[rows] = binomial_chances(k, p[rows], q[rows]) @ credit
    return values


def _at_least(success: int, k: int, p: Floats, q: Floats) -> Floats:
    """Chance of at least so many successes."""
    with np.errstate(divide="ignore"):
        if success == 1:
            return -np.expm1(k * _log_rate(q, p))
        if success == k:
            return np.exp(k * _log_rate(p, q))
    tail: Floats = scipy.special.betainc(success, k - success + 1, p)
    return tail


def _log_rate(x: Floats, rest: Floats) -> Floats:
    """``log(x)``, from the complement of x if that is smaller."""
    return np.where(rest < x, np.log1p(-np.minimum(rest, 0.5)), np.log(x))


Powers = tuple[float, float]


def blend_means(x: Floats, y: Floats, powers: Powers) -> Floats:
    """``x**a * y**b`` for nonnegative means; 0, infinite or NaN where a mean is 0."""
    zero = (x == 0) & (powers[0] > 0) | (y == 0) & (powers[1] > 0)
    with np.errstate(divide="ignore"):
        powered = np.where(zero, 1.0, x) ** powers[0] * np.where(zero, 1.0, y) ** powers[1]
    return np.where(zero, 0.0, powered)


def blend_moments(joint: Joint, powers: Powers) -> tuple[Floats, Floats]:
    """Mean and variance of ``x**a * y**b`` by the delta method, to first order."""
    # The blend of the means, and ``mean**2 (a**2 Var(x)/x**2 + b**2 Var(y)/y**2 + 2 a b Cov(x,
    # y)/(x y))``, 0 if the mean is 0.
    a, b = powers
    mean = blend_means(joint.x, joint.y, powers)
    x, y = (np.where(each > 0, each, np.inf) for each in (joint.x, joint.y))
    # Relative to the means first: the square of a tiny one would be zero.
    relative = (a * np.sqrt(joint.var_x) / x) ** 2 + (b * np.sqrt(joint.var_y) / y) ** 2
    relative += 2 * a * b * (joint.covariance / x / y)
    return mean, mean**2 * np.maximum(relative, 0.0)


_RIDGE = 0.001
_FEWEST, _PER_ROOT = 121, 15  # success rates of the grid, at least and per root of n
_ENOUGH = 256  # trials in a draw: more of them lower neither bias nor noise by what they cost
_MOST = 2048  # size of a draw: the equations of a larger one take more than seconds


class NearCredit(NamedTuple):
    """Credit of c = 0, ..., n successes, shape (n + 1,), and the largest bias of its mean."""

    credit: Floats
    bias: float


@lru_cache(maxsize=1024)
def root_credit(n: int, k: int, pass_power: float, unanimous_power: float) -> NearCredit:
    """Credit of the successes of n trials, in [0, 1], whose mean is nearly Geom@k at any rate."""
    # ``1 <= k <= n``, powers not negative and not both 0. Bias 0 for n = 1.
    p, _ = _fine_rates(n)
    passing = -np.expm1(k * np.log1p(-p[:-1]))
    return _nearest_credit(n, np.append(passing**pass_power * p[:-1] ** (k * unanimous_power), 1.0))


def _fine_rates(n: int) -> tuple[Floats, Floats]:
    """Success rates of the regression for n trials, and their complements."""
    return rate_nodes(max(_FEWEST, ceil(_PER_ROOT * n**0.5) + 1))


def _nearest_credit(n: int, wanted: Floats) -> NearCredit:
    """Credit of n trials with nearly the `wanted` mean at each rate, exactly at rates 0 and 1."""
    p, _ = _fine_rates(n)
    chances: Floats = np.asarray(scipy.stats.binom.pmf(np.arange(n + 1), n, p[:, None]))
    normal = (1 - _RIDGE) * chances.T @ chances + _RIDGE * np.diag(chances.sum(axis=0))
    credit = np.append(np.zeros(n), wanted[-1])
    inner = slice(1, n)
    right = chances[:, inner].T @ wanted - normal[inner, n] * wanted[-1]
    credit[inner] = np.linalg.solve(normal[inner, inner], right)
    credit = np.clip(credit, wanted.min(), wanted.max())
    return NearCredit(credit, float(np.abs(chances @ credit - wanted).max()))


@lru_cache(maxsize=1024)
def _short_credit(n: int, gains: bytes) -> NearCredit:
    """Credit of all n trials of a question whose mean is nearly that of a longer draw."""
    return _nearest_credit(n, credit_at(*_fine_rates(n), np.frombuffer(gains)))


@dataclass(frozen=True, slots=True)
class ShortDraw:
    """A draw of k trials, or nearly its credit from all trials of a question with fewer."""

    gains: Floats

    def __call__(self, n: int) -> Floats:
        """Gains of a draw from n trials."""
        if n >= self.gains.size:
            return self.gains
        return np.diff(_short_credit(n, self.gains.tobytes()).credit)

    def bias(self, n: Ints) -> Floats:
        """Largest bias of the credit of a question with so many trials."""
        bias = np.zeros(n.shape)
        for size in np.unique(n[n < self.gains.size]).tolist():
            bias[n == size] = _short_credit(size, self.gains.tobytes()).bias
        return bias


@dataclass(frozen=True, slots=True)
class RootDraw:
    """Geom@k of a question as the credit of a draw of its trials, nearly without bias.

    A draw has all trials of a question, or k (at least 256) if there are more: the mean credit over
    all such draws has the same bias, and the equations stay small.
    """

    k: int
    powers: Powers  # of Pass@k and of Pass^k, not negative

    def __call__(self, n: int) -> Floats:
        """Gains of a draw from n trials; ValueError if k > 2,048 and a question has so many."""
        if n < self.k:
            return np.zeros(self.k)  # as many trials as the question would need
        return np.diff(self._credit(n).credit)

    @property
    def size(self) -> int:
        """Trials that a question needs, as the size of an array of gains."""
        return self.k

    def bias(self, n: Ints) -> Floats:
        """Largest bias of the credit of a question with so many trials; 0 if k exceeds them."""
        bias = np.zeros(n.shape)
        for size in np.unique(n[n >= self.k]).tolist():
            bias[n == size] = self._credit(size).bias
        return bias

    def at_rates(self, p: Floats, q: Floats) -> Floats:
        """Geom@k of questions with success rates p, whose complements are q."""
        both = any_success(self.k), all_success(self.k)
        x, y = (credit_at(p, q, gains) for gains in both)
        return blend_means(x, y, self.powers)

    def _credit(self, n: int) -> NearCredit:
        """The credit of a draw from n trials, at least k."""
        if self.k > _MOST:
            raise ValueError(
                f"geom_at_k: calibrated numbers are known up to k = {_MOST:,}, got k={self.k!r}; "
                "name a prior, or ps.geom_ds_at_k"
            )
        return root_credit(min(n, max(self.k, _ENOUGH)), self.k, *self.powers)


def largest_bias(draw: object, n: Ints) -> Floats:
    """Largest bias of the estimate of questions with so many trials: only Geom@k has one."""
    return draw.bias(n) if isinstance(draw, (RootDraw, ShortDraw)) else np.zeros(n.shape)
