"""Draws without any success: Pass@k and Pass^k in closed form, at a cost that k hardly changes.

Short products are multiplied out, and sums of positive terms carry what is left of 1; long ones are
sums of logs over the few points of `sums.sum_points`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from polars_scorio.kernels.arrays import Floats, Ints
from polars_scorio.kernels.batches import slices
from polars_scorio.kernels.sums import sum_points

_SHORT = 24  # trials up to which products cost less than logs at the points
_ALIVE = 12  # arrays in use at a time
_STEPS = 8  # from state to state that cost less than a state by itself


class NoSuccess(NamedTuple):
    """A draw without a success, for each state, each of shape (S,).

    Attributes
    ----------
    chance : ndarray of float
        ``E[q**k]``, q the chance of a failure.
    rest : ndarray of float
        ``1 - chance``, to its own last digits.
    variance : ndarray of float
        Of ``q**k``.
    """

    chance: Floats
    rest: Floats
    variance: Floats


def no_success(a: Floats, b: Floats, k: int) -> NoSuccess:
    """Moments of the chance that k new trials hold no success.

    Parameters
    ----------
    a, b : ndarray of float, shape (S,)
        The posterior ``p ~ Beta(a, b)`` of the chance of a success, positive.
    k : int
        Trials, at least 1.

    Returns
    -------
    NoSuccess
        A variance under 1e-280 may lose digits, down to 0.

    Examples
    --------
    ``q**2`` under a uniform posterior: 1/3, and ``1/5 - 1/9`` is 4/45.

    >>> uniform = np.array([1.0])
    >>> print(*(part * 45 for part in no_success(uniform, uniform, 2)))
    [15.] [30.] [4.]
    """
    parts = np.empty((3, a.size))
    method = _multiplied if k <= _SHORT else _summed
    for block in slices(a.size, _ALIVE):
        method(a[block], b[block], k, parts[:, block])
    return NoSuccess(*parts)


def no_success_by_state(a: Floats, b: Floats, n: int, c: Ints, k: int) -> NoSuccess:
    """`no_success` of each of some populations, after each of some states of n trials.

    Parameters
    ----------
    a, b : ndarray of float, shape (J,)
        The populations, ``p ~ Beta(a, b)`` before the trials.
    n : int
        Trials.
    c : ndarray of int, shape (S,)
        Successes of each state, ascending.
    k : int
        Trials of the draw.

    Returns
    -------
    NoSuccess
        Each part of shape (S, J). Where the states lie close, from each number of successes to the
        next, which costs the same for every k.

    Examples
    --------
    >>> uniform = np.array([1.0])
    >>> no_success_by_state(uniform, uniform, 1, np.array([0, 1]), 2).chance.ravel() * 6
    array([3., 1.])
    """
    first, last = int(c[0]), int(c[-1])
    if last - first > _STEPS * c.size:
        flat = no_success(np.add.outer(c, a).ravel(), np.add.outer(n - c, b).ravel(), k)
        return NoSuccess(*(part.reshape(c.size, a.size) for part in flat))
    parts = np.empty((3, last - first + 1, a.size))
    parts[:, 0] = no_success(a + first, b + (n - first), k)
    _climb(parts, b + (n - last), k)
    # Most often all of them: then without a copy.
    return NoSuccess(*(parts if (np.diff(c) == 1).all() else parts[:, c - first]))


def _climb(parts: Floats, fewest: Floats, k: int) -> None:
    """Fill the rows after the first: each has one failure less and one success more.

    `fewest` are the failures (and what the population adds to them) in the last row.
    """
    chance, rest, variance = parts
    left, term = np.empty((2, fewest.size))
    for row in range(1, len(chance)):
        np.add(fewest, len(chance) - 1 - row, out=left)
        np.add(left, k, out=term)
        np.divide(chance[row - 1], term, out=term)
        np.multiply(term, left, out=chance[row])
        term *= k
        np.add(rest[row - 1], term, out=rest[row])
        # By the law of total variance: what one trial tells apart, and what it leaves.
        term *= term
        term += variance[row - 1]
        term *= left
        left += 2 * k
        np.divide(term, left, out=variance[row])
    np.minimum(rest, 1.0, out=rest)


def no_success_drawn(n: Ints, c: Ints, k: int) -> tuple[Floats, Floats]:
    """Chance that a draw of k of the n trials holds none of the c successes, and its complement.

    Parameters
    ----------
    n, c : ndarray of int, shape (S,)
        Trials and successes of each state, ``0 <= c <= n`` and ``k <= n``.
    k : int
        Trials of the draw, at least 1.

    Examples
    --------
    >>> chance, rest = no_success_drawn(np.array([5, 5]), np.array([3, 4]), 2)
    >>> chance.round(6), rest.round(6)
    (array([0.1, 0. ]), array([0.9, 1. ]))
    """
    parts = np.empty((2, n.size))
    if k <= _SHORT:
        for block in slices(n.size, _ALIVE):
            _drawn(n[block].astype(float), (n - c)[block].astype(float), k, parts[:, block])
    else:
        # The factors (left + i) / (left + c + i), i < k: as of an urn that is never emptied.
        left = (n - c - (k - 1)).astype(float)
        logs = np.full(n.size, -np.inf)
        logs[left > 0] = log_none(c[left > 0].astype(float), left[left > 0], k)
        parts[:] = np.exp(logs), -np.expm1(logs)
    # Nothing but failures, or too few of them: no rounding there.
    parts[:, n - c < k] = np.array([[0.0], [1.0]])
    return parts[0], parts[1]


def log_none(a: Floats, b: Floats, k: int) -> Floats:
    """``ln E[q**k]``, ``q ~ Beta(b, a)``: less the sum of ``log1p(a / (b + i))``, i < k.

    Examples
    --------
    >>> round(float(np.exp(log_none(np.array([1.0]), np.array([1.0]), 999))[0]), 12)
    0.001
    """
    logs = np.empty_like(a)
    for block in slices(a.size, _ALIVE):
        x, y = a[block], b[block]
        logs[block] = -_sum_of_logs(k, lambda i: x / (y + i), x)  # noqa: B023 - called at once
    return logs


def _sum_of_logs(k: int, odds: Callable[[float], Floats], like: Floats) -> Floats:
    """Sum of ``log1p(odds(i))``, i < k, for each state.

    Term by term: the order of a sum over an axis depends on how many states come together.
    """
    total = np.zeros_like(like)
    for point, weight in zip(*(each.tolist() for each in sum_points(k)), strict=True):
        term = odds(point)
        np.log1p(term, out=term)
        term *= weight
        total += term
    return total


def covariance(a: Floats, b: Floats, k: int, m: int, *, mixed: bool) -> Floats:
    """Covariance of ``1 - q**k`` and ``1 - q**m``; if `mixed`, of ``1 - q**k`` and ``p**m``.

    ``E[q**(k + m)]`` is ``E[q**k] E[q**m]`` times the product of
    ``1 + m a / ((a + b + m + i) (b + i))``, and ``E[q**k p**m]`` is ``E[q**k] E[p**m]`` over that
    of ``1 + m / (a + b + i)``, i < k.

    Examples
    --------
    ``1 - q`` is p, and ``p**2`` has the covariance ``1/4 - 1/2 * 1/3`` with it.

    >>> uniform = np.array([1.0])
    >>> covariance(uniform, uniform, 1, 2, mixed=True) * 12
    array([1.])
    """
    product = np.empty_like(a)
    for block in slices(a.size, _ALIVE):
        x, y = a[block], b[block]
        first = log_none(x, y, k)
        second = log_none(y, x, m) if mixed else log_none(x, y, m)
        log_ratio = _log_ratio(x, y, k, m, mixed=mixed)
        both = first + second + (0.0 if mixed else log_ratio)
        product[block] = np.exp(both) * -np.expm1(-log_ratio)
    return product


def _log_ratio(a: Floats, b: Floats, k: int, m: int, *, mixed: bool = False) -> Floats:
    """Log of the products in `covariance`."""
    total = a + b
    if mixed:
        return _sum_of_logs(k, lambda i: m / (total + i), a)
    gap, ahead = m * a, total + m
    return _sum_of_logs(k, lambda i: gap / ((ahead + i) * (b + i)), a)


def _multiplied(a: Floats, b: Floats, k: int, parts: Floats) -> None:
    """`no_success` trial by trial.

    ``Var(q**k) = E[q**k] (E[q**2k] / E[q**k] - E[q**k])``: of the products of
    ``later_i = (b + k + i) / (a + b + k + i)`` and of ``now_i = (b + i) / (a + b + i)``, i < k, the
    difference is the sum of
    ``later_0 ... later_{i-1} (later_i - now_i) now_{i+1} ... now_{k-1}``.
    """
    total, gap = a + b, k * a
    chance, later = np.ones((2, a.size))
    rest, growth = np.zeros((2, a.size))
    now, left, term = np.empty((3, a.size))
    for i in range(k):
        np.add(total, i, out=now)
        np.add(b, i, out=left)
        chance /= now
        rest += np.multiply(chance, a, out=term)
        chance *= left
        growth *= left
        later /= np.add(total, k + i, out=term)
        growth += np.multiply(later, gap, out=term)
        growth /= now
        later *= np.add(b, k + i, out=term)
    parts[:] = chance, np.minimum(rest, 1.0), chance * growth


def _summed(a: Floats, b: Floats, k: int, parts: Floats) -> None:
    """`no_success` by logs."""
    logs, log_ratio = log_none(a, b, k), _log_ratio(a, b, k, k)
    variance = np.exp(2 * logs + log_ratio) * -np.expm1(-log_ratio)
    parts[:] = np.exp(logs), -np.expm1(logs), variance


def _drawn(n: Floats, failures: Floats, k: int, parts: Floats) -> None:
    """`no_success_drawn` trial by trial."""
    c, now, left = n - failures, n.copy(), failures.copy()
    chance, rest, term = np.ones(n.size), np.zeros(n.size), np.empty(n.size)
    for _ in range(k):
        chance /= now
        rest += np.multiply(chance, c, out=term)
        chance *= left  # 0 once, and for ever
        left -= 1
        now -= 1
    parts[:] = np.abs(chance), np.minimum(rest, 1.0)
