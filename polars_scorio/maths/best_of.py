"""Best and worst of k trials, with their noise.

With the distinct rewards ``r_1 < ... < r_L`` the best of k trials is ``r_1 + sum_l (r_{l+1} - r_l)
[some trial is above r_l]``: each level needs only the chance that all k trials stay at or below it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from polars_scorio.maths.array_rows import (
    Floats,
    Ints,
    Mass,
    known_ratio,
    require_weight_per_category,
    row_batches,
    weight_range,
)
from polars_scorio.maths.credits import EndDraw, fixed_gains, state_estimates
from polars_scorio.maths.draws import (
    all_success,
    chances_and_growth,
    overlap_chances,
    power_chances,
)
from polars_scorio.maths.interval import (
    Estimate,
    MeanNoise,
    Weighted,
    expected_correlations,
    mean_noises,
)
from polars_scorio.maths.questions import States, Subgroups


def expected_best(counts: Ints, rewards: Floats, k: int, *, upper: bool | None = None) -> Floats:
    """Expected best reward of k trials drawn without replacement, shape (S,).

    If ``k > n``, NaN, or an end: the best of all n trials, or the best there is (`upper`).
    """
    # F. Bagirov et al. (2025), arXiv:2510.23393, appendix C.1, summed by parts over the levels, so
    # that rewards of one sign never cancel.
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
    if upper is not None:
        of_all = np.where(counts[n < k] > 0, rewards, levels[0]).max(axis=1)
        best[n < k] = levels[-1] if upper else of_all
    return best


def best_moments(nu: Floats, rewards: Floats, k: int) -> tuple[Floats, Floats]:
    """Posterior mean and variance (in squared units of `weight_range`) of the best reward of k."""
    # Cumulative shares are products of independent ratios: all covariances are positive terms.
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
    """Distinct pairs, and the index of each pair among them: a million states share few."""
    pairs, place = np.unique((below + 1j * above).ravel(), return_inverse=True)
    return pairs.real.copy(), pairs.imag.copy(), place.reshape(below.shape)


def _mean_best(levels: Floats, miss: Floats, hit: Floats) -> Floats:
    """Mean of the best reward; no trial exceeds level l with chance ``miss[l] = 1 - hit[l]``."""
    # Positive rewards are summed up from the lowest level, negative ones down from the highest:
    # terms are subtracted only if rewards differ in sign.
    positive, negative = np.maximum(levels, 0.0), np.maximum(-levels, 0.0)
    gain = positive[0] + (np.diff(positive) * hit).sum(axis=1)
    loss = negative[-1] - (np.diff(negative) * miss).sum(axis=1)
    mean: Floats = gain - loss
    return mean


def best_variances(
    states: States,
    w: Floats,
    sizes: list[int],
    strata: Subgroups[States] | None = None,
    *,
    upper: bool | None = None,
) -> list[Estimate]:
    """Variance estimates (G,) of the best reward of k, for each k in `sizes`; see `expected_best`.

    A question at its upper end has no noise.
    """
    # Two rewards give the result of Pass@k.
    rewards, level = np.unique(w, return_inverse=True)
    low, width = float(rewards[0]), float(rewards[-1] - rewards[0])
    if not width:
        return [_constant_variance(states, low, k if upper is None else 0) for k in sizes]
    gaps = np.diff(rewards) / width
    below = [np.flatnonzero(level <= step).tolist() for step in range(gaps.size)]
    asked = [Weighted(states.binary(each), strata and strata.binary(each)) for each in below]
    urns = _group_urns(Weighted(states, strata), level, asked, gaps)
    results = []
    for k in sizes:
        matrices = [_reward_correlations(urn, k, upper=bool(upper)) for urn in urns]
        correlations = np.reshape(matrices, (-1, gaps.size, gaps.size))  # also of no group
        draw = fixed_gains(all_success(k))
        draw = draw if upper is None else EndDraw(draw, upper=not upper)
        noises = [mean_noises(each.questions, [draw]) for each in asked]
        staying = MeanNoise(*np.concatenate(noises, axis=1))
        means = [[each.mean(one) for one in state_estimates(each.states, draw)] for each in asked]
        stay, rise = np.tensordot(gaps, means, 1)
        mean_noise = _combined_noise(staying, gaps, correlations)
        noisy = Estimate.from_noise(rise, stay, mean_noise, asked[0].effective)
        results.append(replace(noisy, low=low, width=width))
    return results


def _constant_variance(states: States, value: float, k: int) -> Estimate:
    """Variance if all rewards are equal: no noise; NaN if k exceeds the trials of some question."""
    lacking = states.mean((states.n < k).astype(np.float64)) > 0
    none, estimate = np.zeros(states.groups), np.where(lacking, np.nan, 0.0)
    still = estimate + 1, estimate, none + 1, estimate + np.inf
    return Estimate(estimate, *still, low=value, width=0.0)


class _Urn(NamedTuple):
    """One Dirichlet posterior for the questions of a group in each state."""

    n: Ints  # trials, shape (S,)
    below: Floats  # parameters up to each reward but the last, shape (S, L - 1)
    total: Floats  # all of them, shape (S,)
    square: Floats  # squared weights of the questions in each state


def _group_urns(whole: Weighted, level: Ints, asked: list[Weighted], gaps: Floats) -> list[_Urn]:
    """Posteriors of each group, under the expected correlation and the pooled mean."""
    questions, urns = whole.questions, []
    counts = whole.states.counts @ np.eye(gaps.size + 1, dtype=np.int64)[level]
    correlations = gaps @ np.stack([expected_correlations(each) for each in asked])
    for group, rho in enumerate(correlations.tolist()):
        rows = questions.group == group
        tables, number = counts[questions.state[rows]], questions.number[rows]
        n = tables.sum(axis=1)
        pooled = 0.5 + (number / (1 + (n - 1) * rho)) @ tables
        nu = (1 - rho) / rho * pooled / pooled.sum() + tables
        square = number * questions.weight[rows] ** 2
        urns.append(_Urn(n, nu.cumsum(axis=1)[:, :-1], nu.sum(axis=1), square))
    return urns


def _reward_correlations(urn: _Urn, k: int, *, upper: bool) -> Floats:
    """Correlations of the estimates that all of k trials stay at or below a reward, (L-1, L-1)."""
    steps = urn.below.shape[1]
    covariance = np.zeros((steps, steps))
    drawn = np.where(urn.n < k, 0 if upper else urn.n, k)
    for size in np.unique(drawn[drawn > 0]).tolist():
        for rows in row_batches(np.flatnonzero(drawn == size), steps * (2 * size + 1)):
            part = urn.n[rows], urn.below[rows], urn.total[rows], urn.square[rows]
            covariance += _reward_covariances(*part, size)
    covariance = np.triu(covariance) + np.triu(covariance, 1).T
    sigma = np.sqrt(np.diag(covariance))
    scale = np.outer(sigma, sigma)
    eye = np.eye(steps)
    return np.where(eye > 0, 1.0, np.divide(covariance, scale, out=eye, where=scale > 0))


def _reward_covariances(n: Ints, below: Floats, total: Floats, square: Floats, k: int) -> Floats:
    """Upper triangle of the summed covariances, given the success rates."""
    # Two draws of k share r trials: if the first stays below reward l <= m, so do these, and both
    # stay with chance ``A_l^k A_m^(k-r)``; ``A_l = Q A_m`` with Q independent of A_m.
    i = np.arange(2 * k)
    power = np.cumprod((below[:, :, None] + i) / (total[:, None, None] + i), axis=2)
    sizes, place = np.unique(n, return_inverse=True)
    shared = np.stack([overlap_chances(size, k)[1:] for size in sizes.tolist()])[place]
    # power[..., x - 1] is E[A^x]; r = 1..k trials are shared.
    lower = power[:, :, 2 * k - 2 : k - 2 if k > 1 else None : -1]
    gain = np.einsum("sr,smr->sm", shared, lower - power[:, :, -1:])
    stays = power[:, :, k - 1]
    weight = square[:, None] * known_ratio(gain, stays)
    covariance: Floats = np.triu(stays.T @ weight)
    return covariance


def _combined_noise(staying: MeanNoise, gaps: Floats, correlations: Floats) -> MeanNoise:
    """Variance of the sum over the steps, from those of staying below each, (L - 1, G) each."""
    noise = gaps[:, None] * np.sqrt(staying.variance)
    variance = np.einsum("lg,glm,mg->g", noise, correlations, noise)
    widened = np.einsum("lg,glm,mg->g", noise * staying.factor, correlations, noise)
    factor = np.divide(widened, variance, out=np.ones_like(variance), where=variance != 0)
    return MeanNoise(variance, factor, gaps @ staying.rest, gaps @ staying.mean)
