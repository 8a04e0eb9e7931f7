"""Max@k: the expected best reward of k trials, observed and under a Dirichlet posterior.

With the distinct rewards ``r_1 < ... < r_L`` the best of k trials is

    r_1 + sum_l (r_{l+1} - r_l) [some trial is above r_l],

so all that is needed is, for each level, the chance that all k trials stay at or below it.
"""

from __future__ import annotations

import numpy as np

from polars_scorio.kernels.array_types import Floats, Ints
from polars_scorio.kernels.batches import (
    Mass,
    require_weight_per_category,
    row_batches,
    weight_range,
)
from polars_scorio.kernels.draws.powers import chances_and_growth, power_chances


def expected_best(counts: Ints, rewards: Floats, k: int) -> Floats:
    """Expected best reward of k trials drawn without replacement, for each state [1]_.

    Parameters
    ----------
    counts : ndarray of int, shape (S, L)
        Trials of each state that fell into each category; ``n`` is their sum.
    rewards : ndarray of float, shape (L,)
        Reward of each category, in any order, finite; equal rewards are one level.
    k : int
        Size of the draw, positive.

    Returns
    -------
    ndarray of float, shape (S,)
        ``r_L - sum_{l<L} (r_{l+1} - r_l) C(F_l, k) / C(n, k)``, ``F_l`` the trials with a
        reward of at most ``r_l``; NaN where ``k > n``. Only rewards of different sign can
        cancel: where all have one sign, the relative error is below 1e-12.

    Raises
    ------
    ValueError
        If the shapes do not fit.

    References
    ----------
    .. [1] F. Bagirov et al. (2025), arXiv:2510.23393, appendix C.1, summed by parts.

    Examples
    --------
    Of the three pairs of rewards (0, 0.5, 2) one has the best 0.5 and two have 2.

    >>> expected_best(np.array([[1, 1, 1]]), np.array([0.0, 0.5, 2.0]), 2)
    array([1.5])
    """
    require_weight_per_category(counts, rewards)
    n, levels = counts.sum(axis=1), np.unique(rewards)
    best = np.full(n.size, np.nan)
    for rows in row_batches(np.flatnonzero(n >= k), rewards.size):
        at_most, _ = _cumulated_mass(counts[rows], rewards)
        # C(F, k) / C(n, k) is E[A^k] with A ~ Beta(F - k + 1, n - F), or 0 where F < k.
        below = np.maximum(at_most, k - 1) - (k - 1)
        below, above, pair = _distinct_masses(below, n[rows, None] - (k - 1) - below)
        miss, hit = power_chances(above, below, k)
        best[rows] = _mean_best(levels, miss[pair], hit[pair])
    return best


def best_moments(nu: Floats, rewards: Floats, k: int) -> tuple[Floats, Floats]:
    """Posterior mean and variance of the expected best reward of k trials, for each state.

    The expected best reward is ``g = r_L - sum_{l<L} (r_{l+1} - r_l) A_l**k`` with
    ``A_l = p_1 + ... + p_l`` and ``p ~ Dirichlet(nu)``, categories in order of reward.

    Parameters
    ----------
    nu : ndarray of float, shape (S, L)
        Dirichlet parameters of each state, positive.
    rewards : ndarray of float, shape (L,)
        Reward of each category, in any order, finite; equal rewards are one level.
    k : int
        Size of the draw, positive.

    Returns
    -------
    mean : ndarray of float, shape (S,)
        ``E[g]``. Only rewards of different sign can cancel.
    variance : ndarray of float, shape (S,)
        ``Var(g)`` in units of ``weight_range(rewards) ** 2``; 0 where all rewards are equal, or
        where it is below the smallest float.

    Raises
    ------
    ValueError
        If the shapes do not fit, or `rewards` are wider than a float.

    Notes
    -----
    ``A_l = Q A_m`` for ``l <= m`` with ``Q`` independent of ``A_m``, hence
    ``Cov(A_l^k, A_m^k) = E[A_l^k] (E[A_m^2k] / E[A_m^k] - E[A_m^k])``: never negative, so
    nothing cancels in the double sum over levels.

    Examples
    --------
    ``g = 4 - 4 (1 - p)`` with ``p ~ Beta(1, 1)``: mean 2, variance 16/12.

    >>> mean, variance = best_moments(np.array([[1.0, 1.0]]), np.array([4.0, 0.0]), 1)
    >>> mean, 12 * variance
    (array([2.]), array([1.]))
    """
    require_weight_per_category(nu, rewards)
    unit, levels = weight_range(rewards), np.unique(rewards)
    step = np.diff(levels) / unit
    mean, variance = np.empty(len(nu)), np.empty(len(nu))
    for rows in row_batches(np.arange(len(nu)), rewards.size):
        below, above, pair = _distinct_masses(*_cumulated_mass(nu[rows], rewards))
        miss, hit, growth = chances_and_growth(above, below, k)
        mean[rows] = _mean_best(levels, miss[pair], hit[pair])
        terms = step * miss[pair]
        # sum_m step_m growth_m (terms_m + 2 sum_{l<m} terms_l)
        up_to = 2 * terms.cumsum(axis=1) - terms
        variance[rows] = (step * growth[pair] * up_to).sum(axis=1)
    return mean, variance


def _cumulated_mass(mass: Mass, rewards: Floats) -> tuple[Mass, Mass]:
    """Mass at or below, and mass above, each distinct reward but the highest: (S, levels - 1)."""
    order = np.argsort(rewards, kind="stable")
    last_of_level = np.flatnonzero(rewards[order[:-1]] < rewards[order[1:]])
    ordered = mass[:, order]
    below = ordered.cumsum(axis=1)[:, last_of_level]
    # Summed from the other end: total - below would lose the digits of a small rest.
    above = ordered[:, ::-1].cumsum(axis=1)[:, ::-1][:, last_of_level + 1]
    return below, above


def _distinct_masses(below: Mass, above: Mass) -> tuple[Floats, Floats, Ints]:
    """Distinct pairs, and the place of each pair among them: a million states share few."""
    pairs, place = np.unique((below + 1j * above).ravel(), return_inverse=True)
    return pairs.real.copy(), pairs.imag.copy(), place.reshape(below.shape)


def _mean_best(levels: Floats, miss: Floats, hit: Floats) -> Floats:
    """Mean of the best reward; no trial exceeds level l with chance ``miss[l] = 1 - hit[l]``.

    Positive rewards are summed up from the lowest level, negative ones down from the highest:
    so a term is subtracted only where rewards differ in sign.
    """
    positive, negative = np.maximum(levels, 0.0), np.maximum(-levels, 0.0)
    gain = positive[0] + (np.diff(positive) * hit).sum(axis=1)
    loss = negative[-1] - (np.diff(negative) * miss).sum(axis=1)
    mean: Floats = gain - loss
    return mean
