"""The error of an unbiased estimate, as a polynomial of the success rate.

A polynomial comes as its credit: ``g[t]`` for t successes in d trials stands for
``g(p) = E[g[T]]``, ``T ~ Binomial(d, p)`` (the Bernstein form).
"""

from __future__ import annotations

import numpy as np

from polars_scorio.kernels.array_types import Floats, Ints
from polars_scorio.kernels.draws.chance_tables import draw_chances, overlap_chances

_PAIRS = 64  # k up to which two draws are paired for each overlap


def credit_of(gains: Floats) -> Floats:
    """The credit of 0..k successes, from what each success adds.

    Examples
    --------
    >>> credit_of(np.array([0.5, 0.25]))
    array([0.  , 0.5 , 0.75])
    """
    return np.concatenate(([0.0], np.cumsum(gains)))


def elevate_degree(credit: Floats, trials: int) -> Floats:
    """Elevate a polynomial: its credit by the successes in more trials.

    Examples
    --------
    >>> elevate_degree(np.array([0.0, 1.0]), 2)
    array([0. , 0.5, 1. ])
    """
    return draw_chances(trials, credit.size - 1) @ credit


def expected_successes(n: int, credit: Floats) -> Floats:
    """The unbiased estimate ``U_n(c)`` for c = 0..n: the credit of a draw from the n trials.

    Examples
    --------
    >>> expected_successes(3, np.array([0.0, 0.0, 1.0])).round(9)
    array([0.        , 0.        , 0.33333333, 1.        ])
    """
    return elevate_degree(credit, n)


def variance_degree(n: int, k: int) -> int:
    """Trials in which `variance_credit` counts its successes."""
    return 2 * k if 2 * k >= n or k <= _PAIRS else n


def variance_credit(n: int, credit: Floats) -> Floats:
    """Variance of the unbiased estimate from n trials of a question, given its success rate.

    ``V_n(p) = E[U_n(C)^2 | p] - g(p)^2``, ``C ~ Binomial(n, p)``.

    Parameters
    ----------
    n : int
        Trials of the question, at least k.
    credit : ndarray of float, shape (k + 1,)
        The credit of 0..k successes.

    Returns
    -------
    ndarray of float, shape (D + 1,)
        The polynomial by the successes in `variance_degree` trials: 2 k, or n where that is more
        and k is large.

    Notes
    -----
    A constant that is added to the credit changes nothing. Each entry is taken from the credit
    above its first or below its last value, whichever leaves less to cancel: near both ends of the
    range of p the relative accuracy is kept.

    Examples
    --------
    The mean of n = 4 trials has the variance ``p (1 - p) / 4``; ``p (1 - p)`` is 1/2 for one
    success in two trials.

    >>> variance_credit(4, np.array([0.0, 1.0])).round(9)
    array([0.   , 0.125, 0.   ])
    """
    k = credit.size - 1
    moments = _paired_moments if 2 * k < n and k <= _PAIRS else _elevated_moments
    (up, up_square), (down, down_square) = (moments(n, credit - credit[end]) for end in (0, -1))
    return np.where(up <= down, up - up_square, down - down_square)


def _elevated_moments(n: int, credit: Floats) -> tuple[Floats, Floats]:
    """``E[U^2]`` and ``g^2`` by the successes in max(n, 2 k) trials."""
    k = credit.size - 1
    degree = max(n, 2 * k)
    return elevate_degree(elevate_degree(credit, n) ** 2, degree), elevate_degree(
        _half_product(credit, _disjoint_draw(credit)), degree
    )


def _paired_moments(n: int, credit: Floats) -> tuple[Floats, Floats]:
    """Moments by the successes in 2 k trials: ``U^2`` is the mean over pairs of draws.

    Two draws of k out of n share r trials with hypergeometric chances; the second then takes r of
    the k trials of the first, and k - r of k others.
    """
    k = credit.size - 1
    overlap = overlap_chances(n, k)
    second = np.zeros((k + 1, k + 1))
    for r in np.flatnonzero(overlap).tolist():
        inside, outside = draw_chances(k, r), draw_chances(k, k - r)
        successes = np.arange(r + 1)[:, None] + np.arange(k - r + 1)
        second += overlap[r] * (inside @ credit[successes] @ outside.T)
    return _half_product(credit, second), _half_product(credit, _disjoint_draw(credit))


def _disjoint_draw(credit: Floats) -> Floats:
    """Credit of a second draw that shares no trial, by the successes in the first and in it."""
    return np.broadcast_to(credit, (credit.size, credit.size))


def _half_product(credit: Floats, second: Floats) -> Floats:
    """``E[credit[A] second[A, t - A]]`` for t = 0..2k, A those in one half of 2 k trials."""
    k = credit.size - 1
    first: Ints = np.arange(k + 1)
    rest = np.clip(np.arange(2 * k + 1)[:, None] - first, 0, k)
    product: Floats = (draw_chances(2 * k, k) * credit * second[first, rest]).sum(axis=1)
    return product
