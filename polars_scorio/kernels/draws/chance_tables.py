"""Tables of hypergeometric and binomial chances, from the logs of binomial coefficients.

The chances of draws of one size from all contents of an urn are needed at once, and again for the
next group: a table of logs is much faster than a library's pmf of each, and small tables are kept.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import scipy

from polars_scorio.kernels.array_types import Floats, Ints
from polars_scorio.kernels.draws.expected_credit import urn_chances

_KEPT = 2**14  # numbers of a table that is worth keeping: 128 kB
_TABULATED = 4096  # trials of an urn up to which logs of binomial coefficients come from a table


@lru_cache(maxsize=32)
def log_binomials(n: int) -> Floats:
    """``ln C(n, j)`` for j = 0..n.

    Examples
    --------
    >>> np.exp(log_binomials(4)).round(9)
    array([1., 4., 6., 4., 1.])
    """
    logs = scipy.special.gammaln(np.arange(1.0, n + 2))
    binomials: Floats = logs[-1] - logs - logs[::-1]
    return binomials


def draw_chances(total: int, size: int) -> Floats:
    """Chances of j successes in a draw without replacement from u successes among `total`.

    Parameters
    ----------
    total, size : int
        Trials in the urn and in the draw, ``size <= total``.

    Returns
    -------
    ndarray of float, shape (total + 1, size + 1)
        Row u, column j. Not to be written to.

    Examples
    --------
    >>> draw_chances(2, 1)
    array([[1. , 0. ],
           [0.5, 0.5],
           [0. , 1. ]])
    """
    kept = (total + 1) * (size + 1) <= _KEPT
    return _kept_chances(total, size) if kept else _all_chances(total, size)


def _all_chances(total: int, size: int) -> Floats:
    return draw_chance_rows(total, size, np.arange(total + 1))


_kept_chances = lru_cache(maxsize=512)(_all_chances)


def draw_chance_rows(total: int, size: int, successes: Ints) -> Floats:
    """Rows of `draw_chances`, for some numbers of successes in the urn, shape (S, size + 1).

    Beyond 4,096 trials in the urn, `total` changes neither time nor memory.

    Examples
    --------
    >>> draw_chance_rows(2, 1, np.array([1]))
    array([[0.5, 0.5]])
    """
    if total > _TABULATED:
        # Polya's urn with a negative content is an urn without replacement.
        return urn_chances(
            -successes.astype(np.float64), (successes - total).astype(np.float64), size
        )
    u, j = successes[:, None], np.arange(size + 1)
    rest = u - j
    possible = (rest >= 0) & (rest <= total - size)
    others = log_binomials(total - size)[np.where(possible, rest, 0)]
    logs = log_binomials(size) + others - log_binomials(total)[u]
    return np.where(possible, np.exp(np.where(possible, logs, 0.0)), 0.0)


def overlap_chances(total: int, size: int) -> Floats:
    """Chances that two draws of equal size from `total` trials have 0..size trials in common.

    Parameters
    ----------
    total, size : int
        Trials in the urn and in each draw, ``size <= total``.

    Returns
    -------
    ndarray of float, shape (size + 1,)
        One row of `draw_chances`.

    Examples
    --------
    >>> overlap_chances(4, 2).round(6)
    array([0.166667, 0.666667, 0.166667])
    """
    return np.asarray(draw_chance_rows(total, size, np.array([size]))[0])


def share_chances(n: int, further: int, c: Ints) -> Floats:
    """Chance that the c of ``c + t`` successes fall on the first n trials, t on `further` ones.

    Parameters
    ----------
    n, further : int
        Trials.
    c : ndarray of int, shape (S,)
        Successes among the first n.

    Returns
    -------
    ndarray of float, shape (S, further + 1)
        For t = 0..further.

    Examples
    --------
    >>> share_chances(1, 1, np.array([0, 1]))
    array([[1. , 0.5],
           [0.5, 1. ]])
    """
    both = log_binomials(n + further)[c[:, None] + np.arange(further + 1)]
    chances: Floats = np.exp(log_binomials(n)[c, None] + log_binomials(further) - both)
    return chances


def binomial_chances(n: int, p: Floats, q: Floats) -> Floats:
    """Chances of 0..n successes in n trials, for success rates p = 1 - q.

    Returns
    -------
    ndarray of float, shape (I, n + 1)

    Examples
    --------
    >>> binomial_chances(2, np.array([0.0, 0.5]), np.array([1.0, 0.5])).round(9)
    array([[1.  , 0.  , 0.  ],
           [0.25, 0.5 , 0.25]])
    """
    j = np.arange(n + 1.0)
    with np.errstate(divide="ignore"):  # xlogy(1, 0) is -inf, as it should be
        logs = (
            log_binomials(n)
            + scipy.special.xlogy(j, p[:, None])
            + scipy.special.xlogy(n - j, q[:, None])
        )
    chances: Floats = np.exp(logs)
    return chances
