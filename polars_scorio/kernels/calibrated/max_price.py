"""Max@k of weighted categories: the sum, over the steps between rewards, of Pass@k above each."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from polars_scorio.kernels.array_types import Floats, Ints
from polars_scorio.kernels.batches import row_batches
from polars_scorio.kernels.calibrated.credit_sums import fixed_gains
from polars_scorio.kernels.calibrated.group_fits import Calibrated
from polars_scorio.kernels.calibrated.question_weights import Strata
from polars_scorio.kernels.calibrated.variance_price import Price, credit_prices
from polars_scorio.kernels.draws.chance_tables import overlap_chances
from polars_scorio.kernels.draws.credit import all_success
from polars_scorio.kernels.states import States


def best_prices(
    states: States, w: Floats, sizes: list[int], strata: Strata[States] | None = None
) -> list[Price]:
    """The price of the expected best reward of k trials, for each k.

    Parameters
    ----------
    states : States
        The questions by category, without prior trials.
    w : ndarray of float, shape (K,)
        Reward of each category, in any order; equal ones are one.
    sizes : list of int
        Draw sizes k.
    strata : Strata, optional
        Strata of the questions that weigh the same; default: all questions do.

    Returns
    -------
    list of Price
        NaN in groups where k exceeds the trials of some question. With two rewards: that of
        Pass@k.

    Examples
    --------
    >>> counts, questions = np.array([[4, 0, 0], [3, 1, 0], [0, 2, 2], [0, 0, 4]]), [6, 2, 1, 3]
    >>> group = np.zeros(4, dtype=int)
    >>> states = States.tally(counts, 0 * counts, group, np.array(questions), 1)
    >>> (price,) = best_prices(states, np.array([0, 0.5, 1]), [2])
    >>> print(price.mu.round(6), price.sigma.round(6))
    [0.368056] [0.03687]
    """
    rewards, level = np.unique(w, return_inverse=True)
    low, width = float(rewards[0]), float(rewards[-1] - rewards[0])
    if not width:
        return [_constant_price(states, low, k) for k in sizes]
    gaps = np.diff(rewards) / width
    below = [np.flatnonzero(level <= step).tolist() for step in range(gaps.size)]
    fits = [Calibrated.fit(states.binary(own), strata and strata.binary(own)) for own in below]
    staying = [credit_prices(fit, [fixed_gains(all_success(k)) for k in sizes]) for fit in fits]
    urns = _group_urns(states, level, fits, gaps, strata or Strata.of_whole_groups(states))
    results = []
    for row, k in enumerate(sizes):
        matrices = [_reward_correlations(urn, k) for urn in urns]
        correlations = np.reshape(matrices, (-1, gaps.size, gaps.size))  # also of no group
        parts = [own[row] for own in staying]
        results.append(replace(_combined_price(parts, gaps, correlations), low=low, width=width))
    return results


def _constant_price(states: States, value: float, k: int) -> Price:
    """Price of a metric whose rewards are all equal: no noise, and no estimate of missing draws."""
    lacking = states.mean((states.n < k).astype(np.float64)) > 0
    none, estimate = np.zeros(states.groups), np.where(lacking, np.nan, 0.0)
    return Price(estimate, estimate + 1, none, none + 1, estimate, none + 1, value, 0.0)


class _Urn(NamedTuple):
    """One Dirichlet posterior for the questions of a group in each state."""

    n: Ints  # trials, shape (S,)
    below: Floats  # parameters up to each reward but the last, shape (S, L - 1)
    total: Floats  # all of them, shape (S,)
    square: Floats  # squared weights of the questions in each state


def _group_urns(
    states: States, level: Ints, fits: list[Calibrated], gaps: Floats, strata: Strata[States]
) -> list[_Urn]:
    """The posteriors of each group, under the correlation and the mean that were fitted."""
    counts = states.counts @ np.eye(gaps.size + 1, dtype=np.int64)[level]
    ends = np.searchsorted(states.group, np.arange(states.groups + 1)).tolist()
    urns = []
    for group, weights in enumerate(strata.weights(states)):
        start, end = ends[group], ends[group + 1]
        own, questions = counts[states.state[start:end]], states.questions[start:end]
        grids = [fit.groups[group].grid for fit in fits]
        rho = sum(gap * (g.weight @ g.rho) for gap, g in zip(gaps, grids, strict=True))
        n = own.sum(axis=1)
        pooled = 0.5 + (questions / (1 + (n - 1) * rho)) @ own
        nu = (1 - rho) / rho * pooled / pooled.sum() + own
        urns.append(_Urn(n, nu.cumsum(axis=1)[:, :-1], nu.sum(axis=1), weights.second))
    return urns


def _reward_correlations(urn: _Urn, k: int) -> Floats:
    """Correlations of the estimates that all of k trials stay at or below a reward, (L-1, L-1)."""
    steps = urn.below.shape[1]
    covariance = np.zeros((steps, steps))
    if urn.n.min() < k:
        return covariance
    for rows in row_batches(np.arange(urn.n.size), steps * (2 * k + 1)):
        covariance += _reward_covariances(
            urn.n[rows], urn.below[rows], urn.total[rows], urn.square[rows], k
        )
    covariance = np.triu(covariance) + np.triu(covariance, 1).T
    sigma = np.sqrt(np.diag(covariance))
    scale = np.outer(sigma, sigma)
    own = np.eye(steps)
    return np.where(own > 0, 1.0, np.divide(covariance, scale, out=own, where=scale > 0))


def _reward_covariances(n: Ints, below: Floats, total: Floats, square: Floats, k: int) -> Floats:
    """Upper triangle of the summed covariances, given the success rates.

    Two draws of k share r trials: where the first stays below reward l <= m, so do these, and both
    stay with chance ``A_l^k A_m^(k-r)``; ``A_l = Q A_m`` with Q independent of A_m.
    """
    i = np.arange(2 * k)
    power = np.cumprod((below[:, :, None] + i) / (total[:, None, None] + i), axis=2)
    sizes, place = np.unique(n, return_inverse=True)
    shared = np.stack([overlap_chances(size, k)[1:] for size in sizes.tolist()])[place]
    # power[..., x - 1] is E[A^x]; r = 1..k trials are shared.
    lower = power[:, :, 2 * k - 2 : k - 2 if k > 1 else None : -1]
    gain = np.einsum("sr,smr->sm", shared, lower - power[:, :, -1:])
    stays = power[:, :, k - 1]
    weight = square[:, None] * np.divide(gain, stays, out=np.zeros_like(gain), where=stays > 0)
    covariance: Floats = np.triu(stays.T @ weight)
    return covariance


def _combined_price(staying: list[Price], gaps: Floats, correlations: Floats) -> Price:
    """The price of the sum over the steps, from those of staying below each."""

    def total(values: list[Floats]) -> Floats:
        summed: Floats = gaps @ np.stack(values)
        return summed

    noise = gaps[:, None] * np.sqrt(np.stack([each.variance for each in staying]))
    wider = noise * np.stack([each.factor for each in staying])
    variance = np.einsum("lg,glm,mg->g", noise, correlations, noise)
    widened = np.einsum("lg,glm,mg->g", wider, correlations, noise)
    return Price(
        total([each.rest for each in staying]),
        total([each.estimate for each in staying]),
        total([each.mean_rest for each in staying]),
        total([each.mean for each in staying]),
        variance,
        np.divide(widened, variance, out=np.ones_like(variance), where=variance != 0),
    )
