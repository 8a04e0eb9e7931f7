"""Rank ranges, chances to be the best, shrunken gaps, and the score of a selected leader."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import scipy

from polars_scorio.maths.array_rows import Floats, Ints, Mask
from polars_scorio.maths.covariance import Paired
from polars_scorio.maths.families import shared_error


def rank_ranges(better: Ints, worse: Ints, here: Mask) -> tuple[Ints, Ints]:
    """Best and worst rank that each model can have, (S, L); 0 for absent models."""
    # ``1 + better``, and the number of models less `worse`, from verdicts that hold at once for all
    # pairs of a stratum (then so do its ranges) or of a model: M. Mogstad, J. P. Romano, A. M.
    # Shaikh, D. Wilhelm (2024), Review of Economic Studies 91(1), 476-518, section 3.
    models = here.sum(axis=1, keepdims=True)
    return np.where(here, 1 + better, 0), np.where(here, models - worse, 0)


def better_and_worse(mu: Floats, differs: Mask) -> tuple[Ints, Ints]:
    """Numbers of better and of worse models (S, L), from a table of all pairs."""
    higher = differs & (mu[:, None, :] > mu[:, :, None])
    lower = differs & (mu[:, None, :] < mu[:, :, None])
    return higher.sum(axis=2), lower.sum(axis=2)


def tiers(mu: Floats, better: Mask) -> Ints:
    """Tier of each model (S, L): one more than the largest among the models shown to be better."""
    # `better` (S, L, L): whether the model of the column was shown to be better than that of the
    # row. 0 for absent models; tier 1 is where `rank_ranges` begin at 1.
    order = np.argsort(-np.where(np.isnan(mu), -np.inf, mu), axis=1, kind="stable")
    tier, stratum = np.zeros(mu.shape, np.int64), np.arange(len(mu))
    for model in order.T:
        above = np.where(better[stratum, model], tier, 0).max(axis=1)
        tier[stratum, model] = np.where(np.isnan(mu[stratum, model]), 0, 1 + above)
    return tier


_CONTENDING = 4.5  # z against the leader; of others the chance to be the best is below 4e-6
_MOST_CONTENDERS = 200
_NODES = np.arange(-8.0, 8.5, 0.5)
_NODE_WEIGHTS = np.exp(-(_NODES**2) / 2) / np.sqrt(2 * np.pi) / 2
_ALIKE = 1e-12


def leading_chances(
    ranked: Floats, numbers: Sequence[Floats], pair_z: Callable[[Ints, Ints], Floats]
) -> Floats:
    """Chance of each model to be the best, (S, L), from the z of pairs; NaN for absent models."""
    # `pair_z` maps columns (S, P) of both models of pairs to z. A model that is at least as good as
    # another in all of `numbers` (mu, lo, hi) has no smaller chance. NaN with more than 200 models
    # near the leader, and where a z is unknown.
    here = np.isfinite(ranked)
    order = np.argsort(-np.where(here, ranked, -np.inf), axis=1, kind="stable")
    every = np.broadcast_to(np.arange(ranked.shape[1]), ranked.shape)
    z = pair_z(np.broadcast_to(order[:, :1], ranked.shape), every)
    unknown = (here & np.isnan(z) & (every != order[:, :1])).any(axis=1)
    # The leader and the next one always contend, and so does who is as close as that.
    farthest = np.fmax(np.take_along_axis(z, order[:, :2][:, -1:], axis=1), _CONTENDING)
    near = here & ((z <= farthest + _ALIKE) | (every == order[:, :1]))
    size = near.sum(axis=1)
    unknown |= size > _MOST_CONTENDERS
    near &= ~unknown[:, None]
    most = int(near.sum(axis=1).max(initial=0))
    place = np.argsort(~near, axis=1, kind="stable")[:, :most]
    left = np.take_along_axis(near, place, axis=1)
    a, b = np.triu_indices(most, 1)
    of_pairs, z = np.zeros((len(place), most, most)), pair_z(place[:, a], place[:, b])
    of_pairs[:, a, b], of_pairs[:, b, a] = z, -z
    chances = _shrunken_chances(of_pairs, left)
    values = [np.take_along_axis(each, place, axis=1) for each in numbers]
    share = np.zeros(ranked.shape)
    np.put_along_axis(share, place, _ordered_chances(chances, values, left), axis=1)
    return np.where(here & ~unknown[:, None], share, np.nan)


def _shrunken_chances(z: Floats, here: Mask) -> Floats:
    """Chances to be the highest of independent models with one sigma, (S, K), from all z."""
    # Gaps are shrunk by ``B = max(0, 1 - (K - 2) / Q)``, Q the squared z over the models, the part
    # that is more than noise. Two models keep their gap: the chance is ``Phi(z)``.
    other = here[:, :, None] & here[:, None, :] & ~np.eye(here.shape[1], dtype=np.bool_)
    models = here.sum(axis=1)
    spread = np.where(other, z, 0.0)
    spread = (spread**2).sum(axis=(1, 2)) / np.maximum(models, 1)
    signal = _share_of_spread(spread, models - 2.0)
    gaps = np.where(other, np.sqrt(2 * signal)[:, None, None] * z, np.inf)
    nodes = zip(_NODES, _NODE_WEIGHTS, strict=True)
    share = sum(weight * scipy.special.ndtr(gaps + x).prod(axis=2) for x, weight in nodes)
    return _shares_of_one(np.where(here, share, 0.0))


def _ordered_chances(share: Floats, numbers: Sequence[Floats], here: Mask) -> Floats:
    """Chances (S, K) that are never smaller for a model that is at least as good in all numbers."""
    good = here[:, :, None] & here[:, None, :]
    for each in numbers:
        good &= each[:, :, None] >= each[:, None, :] - _ALIKE
    good |= np.eye(here.shape[1], dtype=np.bool_)
    most = np.where(good, share[:, None, :], -np.inf).max(axis=2, initial=-np.inf)
    least = np.where(good, share[:, :, None], np.inf).min(axis=1, initial=np.inf)
    return _shares_of_one(np.where(here, (most + least) / 2, 0.0))


def _shares_of_one(parts: Floats) -> Floats:
    """Numbers over their sum in each row; 0 where that is."""
    total = parts.sum(axis=1, keepdims=True)
    return np.asarray(np.divide(parts, total, out=np.zeros_like(parts), where=total > 0))


_NOISE = 1.5  # models less those whose noise is subtracted


def signal_share(mu: Floats, sigma: Floats) -> Floats:
    """Share B (S,) of the spread of independent models that is more than noise."""
    # ``max(0, 1 - (L - 3/2) / Q)``, Q the squared distances from the weighted mean in units of
    # sigma; 1 for a single model or if one has no sigma (B. Efron, C. Morris 1973, JASA 68,
    # 117-130). With ``L - 3`` gaps of up to three models stay; ``L - 1`` shrinks too much at
    # differences of sigma.
    here = np.isfinite(mu) & np.isfinite(sigma)
    known = ~(here & (sigma <= 0)).any(axis=1)
    weight = np.divide(1, sigma**2, out=np.zeros_like(mu), where=here & (sigma > 0))
    deviation = np.where(here, mu - weighted_mean(mu, sigma)[:, None], 0.0)
    spread = (weight * deviation**2).sum(axis=1)
    return np.where(known, _share_of_spread(spread, here.sum(axis=1) - _NOISE), 1.0)


def weighted_mean(mu: Floats, sigma: Floats) -> Floats:
    """Mean of the models of each stratum by ``1 / sigma**2``; 0 if no model has a sigma."""
    here = np.isfinite(mu) & np.isfinite(sigma) & (sigma > 0)
    weight = np.divide(1, sigma**2, out=np.zeros_like(mu), where=here)
    total = weight.sum(axis=1)
    weighted = (weight * np.where(here, mu, 0.0)).sum(axis=1)
    return np.asarray(np.divide(weighted, total, out=np.zeros_like(total), where=total > 0))


def signal_share_paired(models: Paired, runs: Floats) -> Floats:
    """Share of the spread that is more than noise, for models on the same sample of questions."""
    # Q is ``2 / L`` times the sum of the squared z of all pairs: that of `signal_share` for equal
    # sigmas without correlation, and ``L - 1`` on average for equal models. `runs` (S, L) add to
    # the variance of each model.
    here = np.isfinite(models.mean)
    mean = np.where(here, models.mean, 0.0)
    square = (mean[:, :, None] - mean[:, None, :]) ** 2
    variance = models.pair_noise() + runs[:, :, None] + runs[:, None, :]
    with np.errstate(divide="ignore"):
        z = np.divide(square, variance, out=np.zeros_like(square), where=square > 0)
    both = here[:, :, None] & here[:, None, :]
    number = here.sum(axis=1)
    spread = z.sum(axis=(1, 2), where=both) / np.maximum(number, 1)
    return _share_of_spread(spread, number - _NOISE)


def _share_of_spread(spread: Floats, noise: Floats) -> Floats:
    """Share of some squared distances that exceeds their noise; 1 if that is not positive."""
    noise = np.maximum(noise, 0.0)
    lost = np.divide(noise, np.maximum(spread, noise), out=np.zeros_like(noise), where=noise > 0)
    return np.asarray(1 - lost)


def selected_tail(candidates: Ints, confidence: float) -> Floats:
    """Chance below the lower end of the interval of the leader of L candidates."""
    # The lower ends of L candidates hold at once. Selection never makes the upper end worse.
    return shared_error(candidates, (1 + confidence) / 2)


def shrunk_scores(mu: Floats, sigma: Floats, share: Floats) -> Floats:
    """Scores moved towards the mean of their stratum by the part of the spread that is noise."""
    mean = weighted_mean(mu, sigma)[:, None]
    # Without any sigma there is no mean, and no noise.
    return np.where(share[:, None] < 1, mean + share[:, None] * (mu - mean), mu)
