"""Sums of logs over the trials of a draw, in closed form: one cost for every number of trials.

Each sum is a difference of logs of the gamma function, which Stirling's formula takes apart: into a
difference of ``t log t``, written as a few logs of which none exceeds a few times the sum, and into
one of a series. Nothing large cancels, neither for few trials nor for very many.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from polars_scorio.kernels.array_types import Floats
from polars_scorio.kernels.batches import row_batches, row_slices

_ALIVE = 24  # arrays in use at a time
_FAR = 16  # from here on the series has all digits; as many trials before it are multiplied out
_GROUP = 8  # factors of a product, which overflows beyond odds of 1e38
_SERIES = (-1 / 24, 7 / 2880, -31 / 40320, 127 / 215040, -511 / 608256)


def sum_of_logs(a: Floats, b: Floats, k: int) -> Floats:
    """Sum of ``log1p(a / (b + i))``, i < k, for each state [1]_.

    Parameters
    ----------
    a, b : ndarray of float, shape (S,)
        Not negative; `a` below 1e38.
    k : int
        Number of terms, at least 1.

    Returns
    -------
    ndarray of float, shape (S,)
        To 1e-15 or so; infinite where `b` is 0.

    References
    ----------
    .. [1] NIST Digital Library of Mathematical Functions, 5.11.8: Stirling's formula of
       ``log gamma(t + 1/2)``.

    Examples
    --------
    ``(1 + 1/1) (1 + 1/2) ... (1 + 1/k)`` is ``k + 1``.

    >>> np.exp(sum_of_logs(np.array([1.0]), np.array([1.0]), 999_999)).round(6)
    array([1000000.])
    """
    return _summed_logs(a, b, k, _odds_ratio, _far_logs)


def sum_of_gaps(a: Floats, b: Floats, k: int, m: int) -> Floats:
    """``sum_of_logs(a, b, k) - sum_of_logs(a, b + m, k)``, to its own last digits.

    It is the sum of ``log1p(m a / ((a + b + m + i) (b + i)))``, i < k; `b` is positive.

    Examples
    --------
    ``(2/1 3/2 4/3) / (5/4 6/5 7/6)`` is ``4 / (7/4)``.

    >>> np.exp(sum_of_gaps(np.array([1.0]), np.array([1.0]), 3, 3)).round(12)
    array([2.28571429])
    """
    return _summed_logs(a, b, k, partial(_odds_of_gaps, m=m), partial(_far_gaps, m=m))


def _summed_logs(
    a: Floats, b: Floats, k: int, odds: Callable[..., Floats], rest: Callable[..., Floats]
) -> Floats:
    """The sum of ``log1p(odds(a, b + i))``: term by term where b + i is small, then `rest`."""
    total, few = np.empty_like(a), min(k, _FAR)
    for block in row_slices(a.size, _ALIVE):
        first = np.where(b[block] < _FAR, float(few), 0.0)
        total[block] = rest(a[block], b[block] + (first - 0.5), k - first)
    for near in row_batches(np.flatnonzero(b < _FAR), _ALIVE):
        x, y = a[near], b[near]
        for start in range(0, few, _GROUP):
            # A product less 1, of factors above 1: to its own last digits.
            product = odds(x, y + start)
            for i in range(start + 1, min(start + _GROUP, few)):
                term = odds(x, y + i)
                term += term * product
                product += term
            total[near] += np.log1p(product)
    return total


def _odds_ratio(a: Floats, b: Floats) -> Floats:
    return a / b


def _odds_of_gaps(a: Floats, b: Floats, m: int) -> Floats:
    return m / (a + b + m) * (a / b)


def _far_logs(a: Floats, t: Floats, k: Floats) -> Floats:
    """`sum_of_logs` at ``b = t + 1/2``, where that is large."""
    t_k = t + k
    total = k * np.log1p(a / t_k)
    total += a * np.log1p(k / (t + a))
    total -= t * np.log1p(a / t * (k / (t_k + a)))
    start, end = _series_of_gap(np.array([t, t_k]), a)
    total += start - end
    return total


def _far_gaps(a: Floats, t: Floats, k: Floats, m: int) -> Floats:
    """`sum_of_gaps` at ``b = t + 1/2``, where that is large: a, k and m play one part."""
    t_a, t_k, t_m = t + a, t + k, t + m
    t_ak, t_am, t_km = t_a + k, t_a + m, t_k + m
    end = t_am + k
    total = a * np.log1p(k / t_a * (m / end))
    total += k * np.log1p(a / t_k * (m / end))
    total += m * np.log1p(a / t_m * (k / end))
    total -= t * np.log1p(a / t_ak * (k / t_km) * (m / t_am) * ((t + end) / t))
    series = _series_of_gap(np.array([t, t_k, t_m, t_km]), a)
    total += series[0] - series[1] - series[2] + series[3]
    return total


def _series_of_gap(t: Floats, a: Floats) -> Floats:
    """Stirling's series at t less that at ``t + a``, in odd powers of ``u = 1/t`` and ``v``.

    ``u p(u^2) - v p(v^2)`` is ``(u - v) (p(u^2) + v (u + v) slope)``, with the slope of p between
    both squares, and ``u - v = a u v``: no difference is taken.
    """
    u, v = 1 / t, 1 / (t + a)
    square, other = u * u, v * v
    value, slope = np.full_like(t, _SERIES[-1]), np.zeros_like(t)
    for factor in _SERIES[-2::-1]:
        slope *= other
        slope += value
        value *= square
        value += factor
    slope *= v * (u + v)
    value += slope
    value *= a * u * v
    return value
