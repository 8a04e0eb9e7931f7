"""Sums over very many trials of a draw, by a few points that stand for all of them.

The terms are smooth in the logarithm of the place of a trial, so that a Gauss rule for the sum
itself, not for an integral beside it, needs 17 points for 64 terms and 39 for a million. Its
weights are positive: a sum of positive terms stays one.
"""

from __future__ import annotations

from functools import lru_cache
from math import ceil, log

import numpy as np
import scipy
from numpy.typing import NDArray

from polars_scorio.kernels.arrays import Floats

_BLOCK = 16  # points for a block of trials, each block twice as long as the one before
_NEWTON = 2  # steps from the roots that LAPACK gives

# More digits where the platform has them: a weight that is off by 4e-15 is so for every state.
_Wide = NDArray[np.longdouble]


@lru_cache(maxsize=256)
def sum_points(k: int) -> tuple[Floats, Floats]:
    """Points and weights of ``sum_{i < k} f(i)``, for f with singularities below 0 alone [1]_.

    Parameters
    ----------
    k : int
        Number of terms, at least 2.

    Returns
    -------
    points, weights : ndarray of float, shape (N,)
        ``f(points) @ weights`` is the sum, to 1e-15 or so where ``x f(x)`` is a combination of
        ``log(1 + c / (x + d))`` with ``c, d > 0``. Not to be written to.

    References
    ----------
    .. [1] W. Gautschi (2004), Orthogonal Polynomials: Computation and Approximation, section 2.2:
       Gauss rules of discrete measures. Here the measure has the mass ``1 / i`` at ``log i``.

    Examples
    --------
    The million terms of a harmonic number:

    >>> points, weights = sum_points(1_000_000)
    >>> points.size, round(float(weights @ (1 / (1 + points))), 9)
    (39, 14.392726723)
    """
    size = ceil(2.3 * log(k)) + 6
    if k - 1 <= size:
        return np.arange(float(k)), np.ones(k)
    place, mass = _blocks(k)
    logs = np.log(place)
    middle = (logs[0] + logs[-1]) / 2
    root, weight = _gauss(*_recurrence(logs - middle, mass / place, size))
    point = np.exp(root + middle)
    # The first trial has no logarithm.
    first = np.array([0.0, 1.0])[:, None]
    points, weights = np.concatenate([first, [point, weight * point]], axis=1).astype(np.float64)
    return points, weights


def _blocks(k: int) -> tuple[_Wide, _Wide]:
    """The trials 1..k - 1, in each block as many as can stand for it, and for how many each does.

    A Gauss rule for equal masses at equal distances: Gram's polynomials.
    """
    places, masses = [], []
    start = 1
    while start < k:
        length = min(start, k - start)
        place, mass = np.arange(length, dtype=np.longdouble), np.ones(length, dtype=np.longdouble)
        if length > _BLOCK:
            n = np.arange(1, _BLOCK, dtype=np.longdouble)
            off = n * np.sqrt((np.longdouble(length) ** 2 - n**2) / (4 * n**2 - 1)) / 2
            root, mass = _gauss(np.zeros(_BLOCK, dtype=np.longdouble), off, mass.sum())
            place = root + np.longdouble(length - 1) / 2
        places.append(start + place)
        masses.append(mass)
        start += length
    return np.concatenate(places), np.concatenate(masses)


def _recurrence(place: _Wide, mass: _Wide, size: int) -> tuple[_Wide, _Wide, np.longdouble]:
    """Jacobi matrix of the measure, by the method of Lanczos, and its total mass."""
    basis = np.zeros((size, place.size), dtype=np.longdouble)
    diagonal, off = np.zeros((2, size), dtype=np.longdouble)
    total = mass.sum()
    vector = np.sqrt(mass / total)
    for row in range(size):
        basis[row] = vector
        vector = place * vector
        diagonal[row] = basis[row] @ vector
        for _ in range(2):  # twice is enough to stay orthogonal
            vector = vector - (basis[: row + 1] @ vector) @ basis[: row + 1]
        off[row] = np.sqrt(vector @ vector)
        vector = vector / off[row]
    return diagonal, off[:-1], total


def _gauss(diagonal: _Wide, off: _Wide, total: np.longdouble) -> tuple[_Wide, _Wide]:
    """Roots and weights of a Gauss rule from its Jacobi matrix."""
    rough = scipy.linalg.eigh_tridiagonal(
        diagonal.astype(np.float64), off.astype(np.float64), eigvals_only=True
    )
    root = rough.astype(np.longdouble)
    for _ in range(_NEWTON):
        value, slope, square = _polynomials(root, diagonal, off)
        root = root - value / slope
    return root, total / square


def _polynomials(x: _Wide, diagonal: _Wide, off: _Wide) -> tuple[_Wide, _Wide, _Wide]:
    """The polynomial after the last one, its slope, and the sum of squares of those before it."""
    before, value, square = np.zeros_like(x), np.ones_like(x), np.zeros_like(x)
    slope_before, slope, back = np.zeros_like(x), np.zeros_like(x), np.longdouble(0)
    for centre, ahead in zip(diagonal, np.append(off, np.longdouble(1)), strict=True):
        square = square + value**2
        following = ((x - centre) * value - back * before) / ahead
        slope_following = (value + (x - centre) * slope - back * slope_before) / ahead
        before, value, slope_before, slope = value, following, slope, slope_following
        back = ahead
    return value, slope, square
