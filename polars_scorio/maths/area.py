"""AUC@k for large k: the area under Pass@1, ..., Pass@k, in time that hardly grows with k.

The trapezoid rule of the curve has the closed form ``(k - 1) AUC = sum_{i=1}^k (1 - q^i) - (1 - q)
/ 2 - (1 - q^k) / 2``, and the sum of the powers is ``q (1 - q^k) / p``. Posterior moments are sums
over a few dozen success rates at equal steps of the logit.
"""

from __future__ import annotations

from math import ceil, factorial
from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from polars_scorio.maths.array_rows import Floats, Ints, row_slices
from polars_scorio.maths.powers import no_success_drawn

_STEP = 0.25  # step of the logit for a broad density: the rule errs by exp(-pi^2 / step), 7e-18
_NARROW = 0.7  # step in standard deviations for a narrow density: exp(-2 (pi / .7)^2)
_FINER = 1.5  # from one step to the next: few of them, for logs with few states
_WIDE = 0.04  # steps from which on logs of the density are sums of logs that states share
# Rates less likely than exp(-40) are left out, but where a power of k makes up for it.
_DEPTH = 40.0
_MORE = 1.4  # from one number of rates to the next
_ALIVE = 6  # arrays in use at a time
_TERMS = 18  # terms of power series of arguments up to 1


def area_drawn(n: Ints, c: Ints, k: int) -> Floats:
    """Unbiased estimate of AUC@k for n trials with c successes, shape (S,), ``2 <= k <= n``.

    With the chance ``H_i = C(n - c, i) / C(n, i)`` of no success, the sum of H_1, ..., H_k is ``(n
    - c) / (c + 1)`` times the chance that one of k draws is among c + 1 of the trials. If successes
    are rare, the sum of ``1 - H_i`` is an alternating series of factorial moments.
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
    """Posterior mean and variance of AUC@k under ``p ~ Beta(a, b)``, shape (S,); k at least 24.

    The trapezoid rule for the logit of p converges geometrically (L. N. Trefethen, J. A. C.
    Weideman 2014, SIAM Review 56, theorem 5.1).
    """
    low, high = _logit_range(a, b, k)
    # Steps, first rates and numbers of rates that a few states share, but none owes to the others.
    needed = 1 / np.sqrt(1 / _STEP**2 + 1 / (_NARROW**2 * (1 / a + 1 / b)))
    step = _STEP / _FINER ** np.ceil(np.log(_STEP / needed) / np.log(_FINER))
    first = np.floor(low / step)
    sizes = np.ceil(np.log(high / step - first + 1) / np.log(_MORE))
    mean, variance = np.empty((2, a.size))
    order = np.lexsort((first, sizes, step))
    edges = np.flatnonzero((np.diff(step[order]) != 0) | (np.diff(sizes[order]) != 0)) + 1
    for rows in np.split(order, edges) if a.size else []:
        apart, size = float(step[rows[0]]), ceil(_MORE ** sizes[rows[0]]) + 1
        for block in row_slices(rows.size, _ALIVE * size):
            own = rows[block]
            rates = _rates_from(first[own], size, apart, k)
            mean[own], variance[own] = _area_moments(a[own, None], b[own, None], rates, apart)
    return mean, variance


def area_at(p: Floats, q: Floats, k: int) -> Floats:
    """AUC@k at success rates ``p = 1 - q``, for k of at least 24.

    >>> area_at(np.array([0.0, 0.5, 1.0]), np.array([1.0, 0.5, 0.0]), 1001)
    array([0.     , 0.99925, 1.     ])
    """
    area, inside = p.copy(), (p > 0) & (q > 0)
    area[inside], _ = _area_and_rest(np.log(p[inside] / q[inside]), k)
    return area


def _sum_of_passes(n: Ints, c: Ints, k: int) -> Floats:
    """``sum_{i=1}^k (1 - H_i)`` if ``k c`` is less than n / 2."""
    term = k * (k + 1) / 2 * c / n
    total = term.copy()
    for m in range(1, min(_TERMS, k)):
        term = term * (-(k - m) / (m + 2) * np.maximum(c - m, 0) / (n - m))
        total += term
    return np.asarray(total)


def _logit_range(a: Floats, b: Floats, k: int) -> tuple[Floats, Floats]:
    """Range of logits outside of which the terms are negligible."""
    depth = _DEPTH + 2 * np.log(k)
    middle = np.log(a) - np.log(b)
    below, above = _logit_reach(a, b, depth), _logit_reach(b, a, depth)
    # Beyond these AUC is 0, or 1, and the density a power.
    lowest, highest = -(40 + np.log(k) + np.log1p(b)), 40 + np.log1p(a)
    return np.maximum(middle - below, lowest), np.minimum(middle + above, highest)


def _logit_reach(a: Floats, b: Floats, depth: float) -> Floats:
    """Distance below its mode at which the log density of the logit falls by about `depth`."""
    share, other, total = a / (a + b), b / (a + b), a + b
    # Both are beyond: the tangent far away, and where the power of p falls by as much, then of q.
    tangent = depth + total * np.log1p(a / b)
    powers = depth / a + np.sqrt(2 * depth / a) + np.log1p(depth / b + np.sqrt(2 * depth / b))
    far = np.minimum(tangent / a, powers)
    # Newton's method for the root of the fall, which is nearly linear.
    fall = a * far + total * _log_shrunk(share, other, far)
    slope = a * other * -np.expm1(-far) / (other + share * np.exp(-far))
    return np.asarray(far - 2 * (fall - np.sqrt(depth * fall)) / slope)


def _log_shrunk(share: Floats, other: Floats, far: Floats) -> Floats:
    """``log(other + share exp(-far))``, where both shares sum up to 1."""
    less = share * np.expm1(-far)
    return np.where(less > -0.5, np.log1p(less), np.log(other + share * np.exp(-far)))


class _Rates(NamedTuple):
    """Success rates of each state by logit, with AUC@k at them; each of shape (S, R)."""

    logits: Floats
    log_p: Floats
    log_q: Floats
    area: Floats
    left: Floats  # 1 - AUC@k


def _rate_areas(logits: Floats, k: int) -> _Rates:
    log_p, log_q = -np.log1p(np.exp(-logits)), -np.log1p(np.exp(logits))
    return _Rates(logits, log_p, log_q, *_area_and_rest(logits, k))


def _rates_from(first: Floats, size: int, step: float, k: int) -> _Rates:
    """As many rates from each of the first ones, which ascend: computed once for all states."""
    places = int(first[-1] - first[0]) + size
    if places > first.size * size:  # too far from each other
        return _rate_areas((first[:, None] + np.arange(size)) * step, k)
    table = np.array(_rate_areas((first[0] + np.arange(places)) * step, k))
    return _Rates(*sliding_window_view(table, size, axis=1)[:, (first - first[0]).astype(int)])


def _area_moments(a: Floats, b: Floats, rates: _Rates, step: float) -> tuple[Floats, Floats]:
    """Mean and variance by the trapezoid rule, for each row of rates."""
    weight = _rate_weights(a, b, rates, step)
    mean, rest = (weight * rates.area).sum(axis=1), (weight * rates.left).sum(axis=1)
    # From the nearer bound: nothing large cancels.
    low = (mean <= rest)[:, None]
    square = np.where(low, rates.area - mean[:, None], rates.left - rest[:, None]) ** 2
    return mean, (weight * square).sum(axis=1)


def _rate_weights(a: Floats, b: Floats, rates: _Rates, step: float) -> Floats:
    """Weight of each rate; those beyond the first and the last are added to these."""
    if step > _WIDE:
        weight = a * rates.log_p
        weight += b * rates.log_q
        weight -= weight.max(axis=1, keepdims=True)
    else:
        # From the mode, and by the lesser of both: large logs are never subtracted.
        away, less, total = rates.logits - (np.log(a) - np.log(b)), np.minimum(a, b), a + b
        towards = np.where(a <= b, away, -away)
        weight = less * towards - total * np.log1p(less / total * np.expm1(towards))
    np.exp(weight, out=weight)
    weight[:, :1] /= -np.expm1(-a * step)
    weight[:, -1:] /= -np.expm1(-b * step)
    weight /= weight.sum(axis=1, keepdims=True)
    return weight


def _area_and_rest(logits: Floats, k: int) -> tuple[Floats, Floats]:
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
    """AUC@k for small ``k p``, without a difference of numbers near k."""
    # 1 + (q / p) log q, and 1 - (1 - e^-x) / x.
    first = _power_series(p, [1 / (m * (m + 1)) for m in range(1, _TERMS)])
    second = _power_series(draws, [(-1) ** (m + 1) / factorial(m + 1) for m in range(1, _TERMS)])
    passed = k * (first + (1 - first) * second)
    return np.asarray((passed - p / 2 - some / 2) / (k - 1))


def _power_series(x: Floats, factors: list[float]) -> Floats:
    """``factors[0] x + factors[1] x**2 + ...``"""
    total = np.full_like(x, factors[-1])
    for factor in factors[-2::-1]:
        total *= x
        total += factor
    total *= x
    return total
