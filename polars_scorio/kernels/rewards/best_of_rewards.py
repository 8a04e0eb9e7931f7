"""The best of k trials of a question, from real-valued rewards, and the noise of that estimate."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from polars_scorio.kernels.array_types import Floats, Ints
from polars_scorio.kernels.batches import row_batches


def best_of_rewards(rewards: Floats, offsets: Ints, k: int) -> Floats:
    """Expected best reward of k trials of each question, from real-valued rewards [1]_.

    Parameters
    ----------
    rewards : ndarray of float, shape (R,)
        Rewards of all trials, finite, question after question, in any order within one.
    offsets : ndarray of int, shape (Q + 1,)
        Question ``i`` owns ``rewards[offsets[i]:offsets[i + 1]]``.
    k : int
        Size of the draw, positive.

    Returns
    -------
    ndarray of float, shape (Q,)
        ``sum_{i=k}^{N} C(i-1, k-1) g_(i) / C(N, k)``, ``g_(1) <= ... <= g_(N)`` the sorted
        rewards of a question; NaN where ``k > N``. Only rewards of different sign can cancel.

    References
    ----------
    .. [1] F. Bagirov et al. (2025), arXiv:2510.23393, appendix C.1.

    Examples
    --------
    Of the three pairs of (2, 0, 0.5) two have the best 2 and one 0.5; no pair in (7,).

    >>> best_of_rewards(np.array([2.0, 0.0, 0.5, 7.0]), np.array([0, 3, 4]), 2)
    array([1.5, nan])
    """
    best = np.full(offsets.size - 1, np.nan)
    for rows, ranked in _ranked_rewards(rewards, offsets, k):
        # Counted from the reward nearest to zero, no two terms of one sign ever cancel.
        origin = np.clip(0.0, ranked[:, 0], ranked[:, -1])
        weights = _rank_weights(ranked.shape[1], k)
        best[rows] = origin + ((ranked - origin[:, None]) * weights).sum(axis=1)
    return best


def best_noise(rewards: Floats, offsets: Ints, k: int) -> Floats:
    """Variance of the expected best of k trials of each question, conservative on average.

    Parameters
    ----------
    rewards, offsets, k
        As for `best_of_rewards`.

    Returns
    -------
    ndarray of float, shape (Q,)
        For k below the trials the jackknife's: ``(N-1)/N sum_i (U_-i - U)^2``, `U_-i` the estimate
        without trial i. For k = N the squared gap of the two best. Both have at least the variance
        as their mean, whatever the rewards are [1]_; for k = 1 the first is the variance of the
        rewards over N, which has no bias. NaN where ``k > N``, and for a single trial.

    References
    ----------
    .. [1] B. Efron and C. Stein (1981), The jackknife estimate of variance, Annals of Statistics 9,
       586-596.

    Examples
    --------
    The pairs of (2, 0, 0.5) without one of them have the best 0.5, 2, and 2; the mean is 1.5.

    >>> best_noise(np.array([2.0, 0.0, 0.5]), np.array([0, 3]), 2)
    array([1.])
    >>> best_noise(np.array([2.0, 0.0, 0.5]), np.array([0, 3]), 3)
    array([2.25])
    """
    noise = np.full(offsets.size - 1, np.nan)
    for rows, ranked in _ranked_rewards(rewards, offsets, k):
        n = ranked.shape[1]
        if n == k:
            noise[rows] = np.nan if n == 1 else (ranked[:, -1] - ranked[:, -2]) ** 2
            continue
        # Equal rewards are all zero here, so that they leave no rounding error.
        away = ranked - np.clip(0.0, ranked[:, 0], ranked[:, -1])[:, None]
        estimate = (away * _rank_weights(n, k)).sum(axis=1)
        left_out = _estimates_without_each(away, _rank_weights(n - 1, k))
        noise[rows] = (n - 1) / n * ((left_out - estimate[:, None]) ** 2).sum(axis=1)
    return noise


def _estimates_without_each(ranked: Floats, weights: Floats) -> Floats:
    """The estimate without the trial of each rank: later trials move down by one rank."""
    lower = np.cumsum(ranked[:, :-1] * weights, axis=1)
    upper = np.cumsum((ranked[:, 1:] * weights)[:, ::-1], axis=1)[:, ::-1]
    return np.pad(lower, ((0, 0), (1, 0))) + np.pad(upper, ((0, 0), (0, 1)))


def _ranked_rewards(rewards: Floats, offsets: Ints, k: int) -> Iterator[tuple[Ints, Floats]]:
    """Questions with at least k trials, some of one size at a time, and their sorted rewards."""
    sizes = np.diff(offsets)
    enough = np.flatnonzero(sizes >= k)
    by_size = enough[np.argsort(sizes[enough], kind="stable")]
    distinct, first = np.unique(sizes[by_size], return_index=True)
    # Questions of one size are a matrix; R rewards have at most sqrt(2 R) distinct sizes.
    for size, same in zip(distinct.tolist(), np.split(by_size, first[1:]), strict=False):
        for rows in row_batches(same, size):
            yield rows, np.sort(rewards[offsets[rows][:, None] + np.arange(size)], axis=1)


def _rank_weights(n: int, k: int) -> Floats:
    """Chance that the best of k has rank i, ``C(i-1, k-1) / C(n, k)``, for i = 1..n."""
    rank = np.arange(n, 1, -1)
    falls = np.maximum(rank - k, 0) / (rank - 1)
    weights: Floats = k / n * np.cumprod(np.append(1.0, falls))[::-1]
    return weights
