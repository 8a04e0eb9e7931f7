"""Powers and sums of logs for the chances of draws, without cancellation.

Each sum is a difference of logs of the gamma function, which Stirling's formula splits into a
difference of ``t log t``, written as a few logs of which none exceeds a few times the sum, and one
of a series: nothing large cancels, for few or many trials. Short products are multiplied out, and
sums of positive terms keep the complement of a chance; long ones use the sums of logs.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from polars_scorio.maths.array_rows import Floats, Ints, row_slices

_SUMS_ALIVE = 24  # arrays in use at a time
_FAR = 16  # from here on the series has all digits; as many trials before it are multiplied out
_GROUP = 8  # factors of a product, which overflows beyond odds of 1e38
_SERIES = (-1 / 24, 7 / 2880, -31 / 40320, 127 / 215040, -511 / 608256)


def sum_of_logs(a: Floats, b: Floats, k: int) -> Floats:
    """Sum of ``log1p(a / (b + i))``, i < k, for each state, to about 1e-15; infinite if b is 0.

    Stirling's formula of ``log gamma(t + 1/2)``: NIST DLMF 5.11.8. a below 1e38.
    """
    return _summed_logs(a, b, k, operator.truediv, _far_logs)


def sum_of_gaps(a: Floats, b: Floats, k: int, m: int) -> Floats:
    """``sum_of_logs(a, b, k) - sum_of_logs(a, b + m, k)``, accurate to its last digits.

    It is the sum of ``log1p(m a / ((a + b + m + i) (b + i)))``, i < k; `b` is positive.
    """
    return _summed_logs(a, b, k, partial(_odds_of_gaps, m=m), partial(_far_gaps, m=m))


def _summed_logs(
    a: Floats, b: Floats, k: int, odds: Callable[..., Floats], rest: Callable[..., Floats]
) -> Floats:
    """Sum of ``log1p(odds(a, b + i))``: term by term if b + i is small, then `rest`."""
    total, few = np.empty_like(a), min(k, _FAR)
    for block in row_slices(a.size, _SUMS_ALIVE):
        part, x, y = total[block], a[block], b[block]
        near = y < _FAR
        first = np.where(near, float(few), 0.0)
        part[:] = rest(x, y + (first - 0.5), k - first)
        if not near.any():
            continue
        x, y = x[near], y[near]
        for start in range(0, few, _GROUP):
            # A product less 1, of factors above 1: to its own last digits.
            product = odds(x, y + start)
            for i in range(start + 1, min(start + _GROUP, few)):
                term = odds(x, y + i)
                term += term * product
                product += term
            part[near] += np.log1p(product)
    return total


def _odds_of_gaps(a: Floats, b: Floats, m: int) -> Floats:
    return m / (a + b + m) * (a / b)


def _far_logs(a: Floats, t: Floats, k: Floats) -> Floats:
    """`sum_of_logs` at ``b = t + 1/2``, if that is large."""
    t_k = t + k
    total = k * np.log1p(a / t_k)
    total += a * np.log1p(k / (t + a))
    total -= t * np.log1p(a / t * (k / (t_k + a)))
    start, end = _series_of_gap(np.array([t, t_k]), a)
    total += start - end
    return total


def _far_gaps(a: Floats, t: Floats, k: Floats, m: int) -> Floats:
    """`sum_of_gaps` at ``b = t + 1/2``, if that is large: a, k and m have symmetric roles."""
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


_SHORT = 32  # trials up to which products cost less than sums of logs
_POWERS_ALIVE = 12  # arrays in use at a time
_STEPS = 8  # from state to state that cost less than a state by itself


class NoSuccess(NamedTuple):
    """A draw without a success, for each state, each of shape (S,)."""

    chance: Floats  # E[q**k], q the chance of a failure
    rest: Floats  # 1 - chance, accurate to its last digits
    variance: Floats  # of q**k


def no_success(a: Floats, b: Floats, k: int) -> NoSuccess:
    """Moments of the chance that k new trials have no success, under ``p ~ Beta(a, b)``.

    A variance under 1e-280 may lose digits, down to 0.
    """
    chance, rest, variance = chances_and_growth(a, b, k)
    variance *= chance
    return NoSuccess(chance, rest, variance)


def power_chances(a: Floats, b: Floats, k: int) -> tuple[Floats, Floats]:
    """``E[q**k]`` and its complement, as `no_success`; `b` may be 0: no trial ever fails.

    >>> chance, rest = power_chances(np.array([1.0, 1.0]), np.array([1.0, 0.0]), 3)
    >>> chance, rest
    (array([0.25, 0.  ]), array([0.75, 1.  ]))
    """
    if k > _SHORT:
        logs = log_none(a, b, k)
        return np.exp(logs), -np.expm1(logs)
    chance, rest = np.ones(a.size), np.zeros(a.size)
    for block in row_slices(a.size, _POWERS_ALIVE):
        _multiply_chances(a[block], b[block], k, chance[block], rest[block])
    return chance, rest


def chances_and_growth(a: Floats, b: Floats, k: int) -> tuple[Floats, Floats, Floats]:
    """``E[q**k]``, its complement, and ``E[q**2k] / E[q**k] - E[q**k]``, as `no_success`.

    >>> uniform = np.array([1.0])
    >>> print(*(part * 15 for part in chances_and_growth(uniform, uniform, 2)))
    [5.] [10.] [4.]
    """
    if k > _SHORT:
        logs, log_ratio = log_none(a, b, k), sum_of_gaps(a, b, k, k)
        growth = np.exp(logs + log_ratio) * -np.expm1(-log_ratio)
        return np.exp(logs), -np.expm1(logs), growth
    chance, rest, growth = np.ones(a.size), *np.zeros((2, a.size))
    for block in row_slices(a.size, _POWERS_ALIVE):
        _multiply_chances(a[block], b[block], k, chance[block], rest[block])
        _add_growth(a[block], b[block], k, growth[block])
    return chance, rest, growth


def no_success_by_state(a: Floats, b: Floats, n: int, c: Ints, k: int) -> NoSuccess:
    """`no_success` (S, J) of populations Beta(a, b) after n trials with c successes, ascending.

    If the states lie close, each follows from the one before, at a cost that does not depend on k.
    """
    first, last = int(c[0]), int(c[-1])
    if last - first > _STEPS * c.size:
        flat = no_success(np.add.outer(c, a).ravel(), np.add.outer(n - c, b).ravel(), k)
        return NoSuccess(*(part.reshape(c.size, a.size) for part in flat))
    start = no_success(a + first, b + (n - first), k)
    # Most often all of them: then without a copy.
    rows = slice(None) if (np.diff(c) == 1).all() else c - first
    return NoSuccess(
        *(part[rows] for part in _following_states(start, b + (n - last), last - first, k))
    )


def _following_states(start: NoSuccess, fewest: Floats, steps: int, k: int) -> NoSuccess:
    """The states after the first, row by row: each has one failure less and one success more.

    `fewest` are the failures (and what the population adds to them) in the last row.
    """
    chance, rest, variance, share = np.empty((4, steps + 1, fewest.size))
    chance[0], rest[0], variance[0], share[0] = *start, np.ones_like(fewest)
    left = np.arange(steps - 1.0, -1.0, -1.0)[:, None] + fewest
    np.divide(left, left + 2 * k, out=share[1:])
    more = left + k
    np.divide(left, more, out=chance[1:])
    for table in (chance, share):
        np.multiply.accumulate(table, axis=0, out=table)
    # By the law of total variance: what one trial tells apart, and a share of it that is left. The
    # shares are taken out of the sum; a product of them that is lost exceeds the variance.
    apart = np.multiply(k, chance[:-1], out=left)
    np.divide(apart, more, out=rest[1:])
    np.maximum(share[:-1], np.finfo(float).tiny, out=more)
    np.divide(np.square(rest[1:], out=left), more, out=variance[1:])
    for table in (rest, variance):
        np.add.accumulate(table, axis=0, out=table)
    variance *= share
    return NoSuccess(chance, np.minimum(rest, 1.0, out=rest), variance)


def no_success_drawn(n: Ints, c: Ints, k: int) -> tuple[Floats, Floats]:
    """Chance that a draw of k of the n trials has none of the c successes, and its complement."""
    if k <= _SHORT:
        # Polya's urn with a negative content (see `draws.urn_chances`).
        chance, rest = power_chances(-c.astype(float), (c - n).astype(float), k)
    else:
        # The factors (left + i) / (left + c + i), i < k: as of an urn that is never emptied.
        left = n - c - (k - 1)
        some = np.flatnonzero(left > 0)
        chance, rest = np.empty((2, n.size))
        chance[some], rest[some] = power_chances(c[some].astype(float), left[some].astype(float), k)
    # Too few failures: no rounding there.
    none = n - c < k
    chance[none], rest[none] = 0.0, 1.0
    return chance, rest


def log_none(a: Floats, b: Floats, k: int) -> Floats:
    """``ln E[q**k]``, ``q ~ Beta(b, a)``: minus the sum of ``log1p(a / (b + i))``, i < k.

    >>> round(float(np.exp(log_none(np.array([1.0]), np.array([1.0]), 999))[0]), 12)
    0.001
    """
    with np.errstate(divide="ignore"):  # Where no trial ever fails, the log is -inf.
        return -sum_of_logs(a, b, k)


def power_covariance(a: Floats, b: Floats, k: int, m: int, *, mixed: bool) -> Floats:
    """Covariance of ``1 - q**k`` and ``1 - q**m``; if `mixed`, of ``1 - q**k`` and ``p**m``.

    ``E[q**(k + m)]`` is ``E[q**k] E[q**m]`` times the product of ``1 + m a / ((a + b + m + i) (b +
    i))``, and ``E[q**k p**m]`` is ``E[q**k] E[p**m]`` over that of ``1 + m / (a + b + i)``, i < k.
    """
    first = log_none(a, b, k)
    second = log_none(b, a, m) if mixed else log_none(a, b, m)
    if mixed:
        log_ratio = sum_of_logs(np.full_like(a, m), a + b, k)
        both = first + second
    else:
        log_ratio = sum_of_gaps(a, b, k, m)
        both = first + second + log_ratio
    product: Floats = np.exp(both) * -np.expm1(-log_ratio)
    return product


def _multiply_chances(a: Floats, b: Floats, k: int, chance: Floats, rest: Floats) -> None:
    """`chances` trial by trial, into arrays of ones and zeros."""
    total, now, left, term = a + b, *np.empty((3, a.size))
    for i in range(k):
        chance /= np.add(total, i, out=now)
        rest += np.multiply(chance, a, out=term)
        chance *= np.add(b, i, out=left)
    np.minimum(rest, 1.0, out=rest)


def _add_growth(a: Floats, b: Floats, k: int, growth: Floats) -> None:
    """Add the growth trial by trial to an array of zeros.

    The difference of the products of ``later_i = (b + k + i) / (a + b + k + i)`` and ``now_i = (b +
    i) / (a + b + i)``, i < k, is the sum of ``later_0 ... later_{i-1} (later_i - now_i) now_{i+1}
    ... now_{k-1}``, all positive.
    """
    total, gap = a + b, k * a
    later, term = np.ones(a.size), np.empty(a.size)
    for i in range(k):
        later /= np.add(total, k + i, out=term)
        growth *= np.add(b, i, out=term)
        growth += np.multiply(later, gap, out=term)
        growth /= np.add(total, i, out=term)
        later *= np.add(b, k + i, out=term)
