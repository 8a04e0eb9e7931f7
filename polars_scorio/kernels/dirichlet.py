"""Weighted averages of categories: of observed trials, and under a Dirichlet posterior."""

from __future__ import annotations

from functools import reduce

import numpy as np

from polars_scorio.kernels.array_types import Floats, Ints
from polars_scorio.kernels.batches import require_weight_per_category, row_slices, weight_range


def weighted_average(counts: Ints, w: Floats) -> Floats:
    """Mean weight of the observed trials of each state.

    Parameters
    ----------
    counts : ndarray of int, shape (S, K)
        Trials of each state that fell into each category; at least one per state.
    w : ndarray of float, shape (K,)
        Weight of each category, in any order, finite.

    Returns
    -------
    ndarray of float, shape (S,)
        ``sum_j w_j c_j / n``. Only weights of different sign can cancel: where all have
        one sign, the relative error is a few units in the last place.

    Raises
    ------
    ValueError
        If the shapes do not fit, or a state has no trial.

    Examples
    --------
    >>> weighted_average(np.array([[1, 2, 2], [1, 2, 1]]), np.array([0.0, 0.5, 1.0]))
    array([0.6, 0.5])
    """
    require_weight_per_category(counts, w)
    n = counts.sum(axis=1)
    if np.any(n == 0):
        empty = np.flatnonzero(n == 0)
        raise ValueError(
            f"{empty.size:,} of {n.size:,} states have no trial, the first is state {empty[0]}. "
            "Leave them out: their average is undefined."
        )
    average = np.empty(n.size)
    for rows in row_slices(n.size, w.size):
        average[rows] = _average_weight(np.ascontiguousarray(counts[rows].T) / n[rows], w)
    return average


def weighted_moments(nu: Floats, w: Floats) -> tuple[Floats, Floats]:
    """Mean and variance of ``sum_j w_j p_j``, ``p ~ Dirichlet(nu)``, for each state [1]_.

    Parameters
    ----------
    nu : ndarray of float, shape (S, K)
        Dirichlet parameters of each state, positive; ``T`` is their sum.
    w : ndarray of float, shape (K,)
        Weight of each category, in any order, finite.

    Returns
    -------
    mean : ndarray of float, shape (S,)
        ``sum_j w_j nu_j / T``, as accurate as `weighted_average`.
    variance : ndarray of float, shape (S,)
        ``(sum_j w_j**2 nu_j / T - mean**2) / (T + 1)`` in units of ``weight_range(w) ** 2``;
        0 where all weights are equal.

    Raises
    ------
    ValueError
        If the shapes do not fit, or `w` is wider than a float.

    References
    ----------
    .. [1] M. Hariri et al. (2026), arXiv:2510.04265, the posterior mean and variance of
       Bayes@N for one question.

    Examples
    --------
    ``p_1 + 3 p_2`` is ``1 + 2 p_2``, and ``p_2 ~ Beta(1, 1)`` has variance 1/12.

    >>> mean, variance = weighted_moments(np.array([[1.0, 1.0]]), np.array([1.0, 3.0]))
    >>> mean, 12 * variance
    (array([2.]), array([1.]))
    """
    require_weight_per_category(nu, w)
    mean, variance = np.empty(len(nu)), np.empty(len(nu))
    for rows in row_slices(len(nu), w.size):
        # Category after category: sums over few columns of a row are slow.
        own = np.ascontiguousarray(nu[rows].T)
        total = _row_sum(own)
        share = own / total
        mean[rows] = _average_weight(share, w)
        variance[rows] = _weight_variance(share, w) / (total + 1)
    return mean, variance


def _row_sum(rows: Floats) -> Floats:
    """Sum of the rows, in their order: that of `sum` depends on how many columns there are."""
    total: Floats = reduce(np.add, rows)
    return total


def _average_weight(share: Floats, w: Floats) -> Floats:
    """Mean weight of each column of shares."""
    # Counted from the weight nearest to zero, no two terms of one sign ever cancel.
    origin = np.clip(0.0, w.min(), w.max())
    average: Floats = origin + _row_sum(share * (w - origin)[:, None])
    return average


def _weight_variance(share: Floats, w: Floats) -> Floats:
    """Variance of the weights under each column of shares, in units of ``weight_range(w) ** 2``."""
    unit = weight_range(w) or 1.0
    # Counted from the weight of the largest share, the mean is no larger than about the
    # scatter: with shares (1e-9, .5, .5) and w = (0, 1 - 1e-5, 1) any other origin costs digits.
    largest, origin = share[0], np.full(share.shape[1], w[0])
    for other, weight in zip(share[1:], w[1:], strict=True):  # several times as fast as `argmax`
        origin = np.where(other > largest, weight, origin)
        largest = np.maximum(largest, other)
    deviation = (w[:, None] - origin) / unit
    deviation -= _row_sum(share * deviation)
    deviation *= deviation
    return _row_sum(share * deviation)
