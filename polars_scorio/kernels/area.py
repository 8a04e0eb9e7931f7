"""AUC@k at a cost that k hardly changes: the area under Pass@1, ..., Pass@k by the trapezoid rule.

``(k - 1) AUC = sum_{i=1}^k (1 - q^i) - (1 - q) / 2 - (1 - q^k) / 2``, and the sum of the powers is
``q (1 - q^k) / p``. Its posterior moments are sums over a few dozen success rates, equally far from
each other by their logits.
"""

from __future__ import annotations

from math import factorial

import numpy as np

from polars_scorio.kernels.arrays import Floats, Ints
from polars_scorio.kernels.batches import slices
from polars_scorio.kernels.powers import no_success_drawn

_STEP = 0.24  # of the logit: the rule errs by exp(-pi^2 / step), 1e-17
_NARROW = 0.68  # of the standard deviation, where that is less: exp(-2 (pi / .68)^2)
_DEPTH = (
    45.0  # rates less likely than exp(-45) are left out, but where a power of k makes up for it
)
_NEWTON = 16  # steps to where they begin
_FEWEST, _MORE = (
    32,
    1.25,
)  # rates, in classes so that no digit depends on which states come together
_ALIVE = 24  # arrays in use at a time
_TERMS = 18  # of power series of arguments up to 1


def area_drawn(n: Ints, c: Ints, k: int) -> Floats:
    """The unbiased estimate of AUC@k for each state.

    Parameters
    ----------
    n, c : ndarray of int, shape (S,)
        Trials and successes of each state, ``0 <= c <= n`` and ``k <= n``.
    k : int
        Trials of the draw, at least 2.

    Notes
    -----
    With the chance ``H_i = C(n - c, i) / C(n, i)`` of no success, the sum of H_1, ..., H_k is
    ``(n - c) / (c + 1)`` times the chance that one of k draws is among c + 1 of the trials. Where a
    success is rare, the sum of ``1 - H_i`` is an alternating series of factorial moments, whose
    terms decrease at once.

    Examples
    --------
    >>> area_drawn(np.array([5]), np.array([3]), 3).round(6)
    array([0.85])
    """
    chance, rest = no_success_drawn(n, c, k)
    failures = n - c
    _, more = no_success_drawn(n, np.minimum(c + 1, n), k)
    left = failures / (c + 1) * more - failures / n / 2 - chance / 2
    area = 1 - left / (k - 1)
    rare = np.flatnonzero(2 * k * c < n)
    if rare.size:
        passed = _sum_of_passes(n[rare], c[rare], k)
        area[rare] = (passed - c[rare] / n[rare] / 2 - rest[rare] / 2) / (k - 1)
    return area


def area_moments(a: Floats, b: Floats, k: int) -> tuple[Floats, Floats]:
    """Posterior mean and variance of AUC@k for each state.

    Parameters
    ----------
    a, b : ndarray of float, shape (S,)
        The posterior ``p ~ Beta(a, b)`` of the chance of a success, positive.
    k : int
        Trials of the draw, at least 24: power series of 1/k are cut off.

    Notes
    -----
    The trapezoid rule for the logit of p, whose density and whose ``q^k`` are analytic in a strip
    of half width pi/2 or more, with ``|q| <= 1``: it converges geometrically [1]_. Where the
    density is a power of p (or q) and AUC 0 (or 1) its terms are a geometric series.

    References
    ----------
    .. [1] L. N. Trefethen, J. A. C. Weideman (2014), The Exponentially Convergent Trapezoidal Rule,
       SIAM Review 56, 385-458, theorem 5.1.

    Examples
    --------
    Pass@i of a uniform rate is ``i / (i + 1)``.

    >>> mean, variance = area_moments(np.array([1.0]), np.array([1.0]), 24)
    >>> passes = np.arange(1, 25) / np.arange(2, 26)
    >>> ends = (passes[0] + passes[-1]) / 2
    >>> mean.round(6), round(float(passes.sum() - ends) / 23, 6)
    (array([0.889306]), 0.889306)
    """
    low, high = _range(a, b, k)
    step = np.minimum(_STEP, _NARROW * np.sqrt(1 / a + 1 / b))
    needed = (high - low) / step / _FEWEST
    sizes = np.ceil(np.log(np.maximum(needed, 1.0)) / np.log(_MORE)).astype(np.int64)
    mean, variance = np.empty((2, a.size))
    for size in np.unique(sizes).tolist():
        rows, rates = np.flatnonzero(sizes == size), int(_FEWEST * _MORE**size) + 1
        for block in slices(rows.size, _ALIVE * rates):
            own = rows[block]
            start, between = low[own, None], (high - low)[own, None] / (rates - 1)
            logits = start + between * np.arange(rates)
            mean[own], variance[own] = _moments(a[own, None], b[own, None], logits, k)
    return mean, variance


def area_at(p: Floats, q: Floats, k: int) -> Floats:
    """AUC@k at success rates ``p = 1 - q``; `k` as for `area_moments`.

    Examples
    --------
    >>> area_at(np.array([0.0, 0.5, 1.0]), np.array([1.0, 0.5, 0.0]), 1001)
    array([0.     , 0.99925, 1.     ])
    """
    area, inside = p.copy(), (p > 0) & (q > 0)
    area[inside], _ = _areas(np.log(p[inside] / q[inside]), k)
    return area


def _sum_of_passes(n: Ints, c: Ints, k: int) -> Floats:
    """``sum_{i=1}^k (1 - H_i)`` where ``k c`` is less than n / 2."""
    term = k * (k + 1) / 2 * c / n
    total = term.copy()
    for m in range(1, min(_TERMS, k)):
        term = term * (-(k - m) / (m + 2) * np.maximum(c - m, 0) / (n - m))
        total += term
    return np.asarray(total)


def _range(a: Floats, b: Floats, k: int) -> tuple[Floats, Floats]:
    """Between which logits there is anything to sum up."""
    depth = _DEPTH + 2 * np.log(k)
    middle = np.log(a) - np.log(b)
    below, above = _reach(a, b, depth), _reach(b, a, depth)
    # Beyond these AUC is 0, or 1, and the density a power.
    lowest, highest = -(40 + np.log(k) + np.log1p(b)), 40 + np.log1p(a)
    return np.maximum(middle - below, lowest), np.minimum(middle + above, highest)


def _reach(a: Floats, b: Floats, depth: float) -> Floats:
    """How far below its mode the log density of the logit falls by `depth`."""
    share, other, total = a / (a + b), b / (a + b), a + b
    # From beyond: Newton's method for a concave function stays there.
    far = (depth + total * np.log1p(a / b)) / a
    for _ in range(_NEWTON):
        shrunk = _log_shrunk(share, other, far)
        slope = a - a * np.exp(-far - shrunk)
        far = far - (a * far + total * shrunk - depth) / slope
    return np.asarray(far)


def _log_shrunk(share: Floats, other: Floats, far: Floats) -> Floats:
    """``log(other + share exp(-far))``, where both shares sum up to 1."""
    less = share * np.expm1(-far)
    return np.where(less > -0.5, np.log1p(less), np.log(other + share * np.exp(-far)))  # noqa: PLR2004


def _moments(a: Floats, b: Floats, logits: Floats, k: int) -> tuple[Floats, Floats]:
    """Mean and variance by the trapezoid rule, for each row of logits."""
    weight = _weights(a, b, logits)
    area, left = _areas(logits, k)
    mean, rest = (weight * area).sum(axis=1), (weight * left).sum(axis=1)
    # From the nearer bound: nothing large cancels.
    low = (mean <= rest)[:, None]
    square = np.where(low, area - mean[:, None], left - rest[:, None]) ** 2
    return mean, (weight * square).sum(axis=1)


def _weights(a: Floats, b: Floats, logits: Floats) -> Floats:
    """Weight of each rate; those beyond the first and the last are added to these."""
    away = logits - (np.log(a) - np.log(b))
    less, total = np.minimum(a, b), a + b
    # From the mode, and by the lesser of both: large logs are never subtracted.
    towards = np.where(a <= b, away, -away)
    weight = np.exp(less * towards - total * np.log1p(less / total * np.expm1(towards)))
    step = logits[:, 1:2] - logits[:, :1]
    weight[:, :1] /= -np.expm1(-a * step)
    weight[:, -1:] /= -np.expm1(-b * step)
    weight /= weight.sum(axis=1, keepdims=True)
    return np.asarray(weight)


def _areas(logits: Floats, k: int) -> tuple[Floats, Floats]:
    """AUC@k at each logit, and its complement."""
    odds = np.exp(logits)
    q = 1 / (1 + odds)
    p = odds * q
    draws = k * np.log1p(odds)  # -k log q
    some = -np.expm1(-draws)
    left = (some / odds - q / 2 - np.exp(-draws) / 2) / (k - 1)
    area = 1 - left
    few = draws < 1
    area[few] = _few_passes(p[few], draws[few], some[few], k)
    return area, left


def _few_passes(p: Floats, draws: Floats, some: Floats, k: int) -> Floats:
    """AUC@k where ``k p`` is small, without a difference of numbers near k."""
    # 1 + (q / p) log q, and 1 - (1 - e^-x) / x.
    first = _series(p, [1 / (m * (m + 1)) for m in range(1, _TERMS)])
    second = _series(draws, [(-1) ** (m + 1) / factorial(m + 1) for m in range(1, _TERMS)])
    passed = k * (first + (1 - first) * second)
    return np.asarray((passed - p / 2 - some / 2) / (k - 1))


def _series(x: Floats, factors: list[float]) -> Floats:
    """``factors[0] x + factors[1] x**2 + ...``"""
    total = np.full_like(x, factors[-1])
    for factor in factors[-2::-1]:
        total *= x
        total += factor
    total *= x
    return total
