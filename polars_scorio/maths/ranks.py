"""Rank ranges, chances to be the best, shrunken gaps, and the score of a selected leader."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache

import numpy as np
import scipy

from polars_scorio.maths.array_rows import Floats, Ints, Mask, row_batches, row_slices
from polars_scorio.maths.covariance import Paired, of_pairs
from polars_scorio.maths.max_t import EVEN, normal_draws

_ROWS = 256  # models that are compared with all others at a time


def rank_ranges(better: Ints, worse: Ints, here: Mask) -> tuple[Ints, Ints]:
    """Best and worst rank that each model can have, (S, L); 0 for absent models.

    ``1 + better``, and the number of models less `worse`, from verdicts that hold at once for all
    pairs of a stratum (then so do its ranges) or of a model: M. Mogstad, J. P. Romano, A. M.
    Shaikh, D. Wilhelm (2024), Review of Economic Studies 91(1), 476-518, section 3.
    """
    models = here.sum(axis=1, keepdims=True)
    return np.where(here, 1 + better, 0), np.where(here, models - worse, 0)


def better_and_worse(mu: Floats, differs: Mask) -> tuple[Ints, Ints]:
    """Numbers of better and of worse models (S, L), from a table of all pairs.

    `differs` (S, L, L) is judged for the model of the row. Models with the same estimate are
    neither.
    """
    higher = differs & (mu[:, None, :] > mu[:, :, None])
    lower = differs & (mu[:, None, :] < mu[:, :, None])
    return higher.sum(axis=2), lower.sum(axis=2)


def tiers(mu: Floats, better: Mask) -> Ints:
    """Tier of each model (S, L): one more than the largest among the models shown to be better.

    `better` (S, L, L): whether the model of the column was shown to be better than that of the
    row. 0 for absent models. A model of a tier is worse than some model of the tier above, perhaps
    not than all; tier 1 is where `rank_ranges` begin at 1.
    """
    order = np.argsort(-np.where(np.isnan(mu), -np.inf, mu), axis=1, kind="stable")
    tier, stratum = np.zeros(mu.shape, np.int64), np.arange(len(mu))
    for model in order.T:
        above = np.where(better[stratum, model], tier, 0).max(axis=1)
        tier[stratum, model] = np.where(np.isnan(mu[stratum, model]), 0, 1 + above)
    return tier


def counts_by_score(
    mu: Floats, c: Floats, pair_scores: Callable[[Ints, Ints], Floats]
) -> tuple[Ints, Ints]:
    """Numbers of better and of worse models (S, L), pair by pair, some models at a time.

    `pair_scores` maps columns of pairs (P,) to scores (S, P): a pair differs if its score exceeds c
    of its first model. Memory grows with the models, time with the pairs; `lower_models` is faster.
    """
    strata, models = mu.shape
    better, worse = np.zeros(mu.shape, np.int64), np.zeros(mu.shape, np.int64)
    for rows in row_slices(models, strata * models):
        first = np.arange(models)[rows]
        a, b = np.repeat(first, models), np.tile(np.arange(models), first.size)
        differs = pair_scores(a, b) > c[:, a]
        for counts, there in ((better, mu[:, a] < mu[:, b]), (worse, mu[:, a] > mu[:, b])):
            counts[:, rows] = (differs & there).reshape(strata, -1, models).sum(axis=2)
    return better, worse


def lower_models(value: Floats, down: Floats, up: Floats, c: Floats, limit: float) -> Ints:
    """Number of models that lie clearly below each model, (S, L), without a table of all pairs.

    Model j lies clearly below model i if ``min(value[i] - value[j], limit) > c[i] * hypot(down[i],
    up[j])``; NaN never does. For models above, negate `value` and swap `down` and `up`. Models are
    taken in order of value, 256 at a time: bounds for all of them decide most others, and only the
    rest is compared pair by pair. 100,000 models took 1.5 s instead of 155 s. To delete this
    shortcut, let `mixed` be all columns.
    """
    value = np.where(np.isnan(down + up + c), np.nan, value)
    order = np.argsort(-value, axis=1, kind="stable")
    value, down, up, c = (np.take_along_axis(each, order, axis=1) for each in (value, down, up, c))
    counts = np.zeros(value.shape, dtype=np.int64)
    for start in range(0, value.shape[1], _ROWS):
        rows = slice(start, start + _ROWS)
        above = value[:, rows], down[:, rows], c[:, rows]
        every, some = _surely_below(*above, value, up, limit)
        mixed = np.flatnonzero((some & ~every).any(axis=0))
        every[:, mixed] = False
        counts[:, rows] = every.sum(axis=1, keepdims=True) * np.isfinite(above[0])
        counts[:, rows] += _pairs_below(*above, value[:, mixed], up[:, mixed], limit)
    found = np.empty_like(counts)
    np.put_along_axis(found, order, counts, axis=1)
    return found


def _surely_below(
    value: Floats, down: Floats, c: Floats, others: Floats, up: Floats, limit: float
) -> tuple[Mask, Mask]:
    """Masks of the other models clearly below all of some models, and below at least one."""
    known = np.isfinite(value)

    def least(numbers: Floats) -> Floats:
        return np.asarray(np.where(known, numbers, np.inf).min(axis=1, keepdims=True))

    def most(numbers: Floats) -> Floats:
        return np.asarray(np.where(known, numbers, -np.inf).max(axis=1, keepdims=True))

    every = np.minimum(least(value) - others, limit) > most(c) * np.hypot(most(down), up)
    some = np.minimum(most(value) - others, limit) > least(c) * np.hypot(least(down), up)
    return every, some


def _pairs_below(
    value: Floats, down: Floats, c: Floats, others: Floats, up: Floats, limit: float
) -> Ints:
    """Number of the other models that lie clearly below each model."""
    gap = np.minimum(value[:, :, None] - others[:, None, :], limit)
    reach = c[:, :, None] * np.hypot(down[:, :, None], up[:, None, :])
    return np.asarray((gap > reach).sum(axis=2))


_REACH = 7.0  # standard deviations: what lies beyond has a chance of 1e-12
_POINTS, _WEIGHTS = np.polynomial.legendre.leggauss(6)
_OFFSETS = np.arange(-15.0, 17.0)  # steps of half a sigma and more that cover the reach
_SURE = 1e-13  # a sigma that is smaller, in units of the largest number, is none
_FEW, _MANY = 2048, 8192  # draws: where they are even, and elsewhere


def p_best(mu: Floats, sigma: Floats) -> Floats:
    """Chance of each model to be the best, for independent normal posteriors; NaN if absent.

    The integral of ``phi((x - mu_i) / sigma_i) / sigma_i`` times the product of ``Phi((x - mu_j) /
    sigma_j)``. Models without a sigma stay where they are: the highest share what is left.
    Gauss-Legendre rules between points of a lattice whose steps fit the sigma of each near model:
    error below 1e-8, even if sigmas differ by orders of magnitude.
    """
    here = np.isfinite(mu) & np.isfinite(sigma)
    size = np.where(here, np.abs(mu), 0).max(axis=1, keepdims=True, initial=0.0)
    moving = here & (sigma > _SURE * size)
    share = np.zeros(mu.shape)
    for rows in row_slices(len(mu), 32 * mu.shape[1]):
        share[rows] = _raw_shares(mu[rows], sigma[rows], moving[rows], here[rows] & ~moving[rows])
    total = share.sum(axis=1, keepdims=True)
    np.divide(share, total, out=share, where=total > 0)
    return np.where(here, share, np.nan)


def _raw_shares(mu: Floats, sigma: Floats, moving: Mask, fixed: Mask) -> Floats:
    """The chances of some strata, before rounding errors are removed."""
    spread = np.where(moving, sigma, 1.0)
    floor = np.where(fixed, mu, -np.inf).max(axis=1)
    # Below, some model is surely better; above, no model is.
    low = np.maximum(np.where(moving, mu - _REACH * spread, -np.inf).max(axis=1), floor)
    high = np.where(moving, mu + _REACH * spread, -np.inf).max(axis=1)
    share = np.zeros(mu.shape)
    for stratum, left, right in _integration_panels(mu, spread, moving, low, high):
        share += _panel_integrals(mu, spread, moving, stratum, left, right)
    top = fixed & (mu == floor[:, None])
    below = np.where(
        moving, scipy.special.ndtr((np.nan_to_num(floor, neginf=0)[:, None] - mu) / spread), 1.0
    )
    left_over = np.where(np.isfinite(floor), below.prod(axis=1), 0.0)
    return share + np.where(top, (left_over / np.maximum(top.sum(axis=1), 1))[:, None], 0.0)


def _integration_panels(
    mu: Floats, spread: Floats, moving: Mask, low: Floats, high: Floats
) -> Iterator[tuple[Ints, Floats, Floats]]:
    """Stratum and ends of the panels, some at a time."""
    step = np.exp2(np.floor(np.log2(spread)))[:, :, None]
    points = np.floor(mu[:, :, None] / step + _OFFSETS) * step
    points = np.where(moving[:, :, None], points, low[:, None, None]).reshape(len(mu), -1)
    usable = np.isfinite(low) & np.isfinite(high) & (low < high)
    bottom, top = (np.where(usable, end, 0.0)[:, None] for end in (low, high))
    ends = np.concatenate([np.clip(points, bottom, top), bottom, top], axis=1)
    ends.sort(axis=1)
    stratum, place = np.nonzero(ends[:, 1:] > ends[:, :-1])
    left, right = ends[stratum, place], ends[stratum, place + 1]
    for some in row_slices(stratum.size, _POINTS.size * mu.shape[1]):
        yield stratum[some], left[some], right[some]


def _panel_integrals(
    mu: Floats, spread: Floats, moving: Mask, stratum: Ints, left: Floats, right: Floats
) -> Floats:
    """The parts of the chances that some panels add, shape (S, L)."""
    half = (right - left) / 2
    x = ((left + right) / 2)[:, None] + half[:, None] * _POINTS
    z = (x[:, None, :] - mu[stratum, :, None]) / spread[stratum, :, None]
    here = moving[stratum]
    z[~here] = np.inf
    below = scipy.special.ndtr(z)
    # Density of a model at x, given that it is not above x.
    rate = np.exp(-(z**2) / 2) / (np.sqrt(2 * np.pi) * below * spread[stratum, :, None])
    weight = below.prod(axis=1) * _WEIGHTS * half[:, None]
    parts = (rate * weight[:, None, :]).sum(axis=2)
    added = np.zeros(mu.shape)
    np.add.at(added, stratum, np.where(here, parts, 0.0))
    return added


def p_best_paired(models: Paired) -> Floats:
    """Chance of each model to be the best (S, L), for models on the same sample of questions.

    NaN for absent models, and for several models without degrees of freedom. From fixed draws of
    Student's t: errors of .002 up to 8 models and .006 beyond. Models with the same data share
    their chances.
    """
    here = np.isfinite(models.mean)
    size = models.mean.shape[1]
    share = np.full(here.shape, np.nan)
    alone = here.sum(axis=1) == 1
    share[alone] = np.where(here[alone], 1.0, np.nan)
    many = np.flatnonzero((here.sum(axis=1) > 1) & (models.freedom > 0))
    number = _FEW if size <= EVEN else _MANY
    draws = normal_draws(size, number)
    for rows in row_batches(many, size * number):
        part = models.of(rows)
        shares = _mean_of_alike(_share_of_draws(part, draws), part.alike)
        share[rows] = np.where(here[rows], shares, np.nan)
    return share


def _mean_of_alike(share: Floats, alike: Ints) -> Floats:
    """Mean of the chances of the models with the same data, for each of them."""
    row = np.arange(len(share))[:, None]
    total, number = np.zeros_like(share), np.zeros_like(share)
    np.add.at(total, (row, alike), share)
    np.add.at(number, (row, alike), 1.0)
    return np.asarray(total[row, alike] / number[row, alike])


def _share_of_draws(models: Paired, draws: Floats) -> Floats:
    """Share of the draws in which each model is the highest."""
    freedoms, place = np.unique(models.freedom, return_inverse=True)
    scale = np.stack([_student_scale(float(freedom), *draws.shape) for freedom in freedoms])[place]
    height = np.empty((*models.mean.shape, draws.shape[1]))
    height[:, 0] = 0
    np.matmul(models.root, draws[:-1], out=height[:, 1:])
    height *= scale[:, None, :]
    height += np.where(np.isfinite(models.mean), models.mean, -np.inf)[:, :, None]
    highest = height == height.max(axis=1, keepdims=True)
    return np.asarray((highest / highest.sum(axis=1, keepdims=True)).mean(axis=2))


@lru_cache(maxsize=256)
def _student_scale(freedom: float, dimensions: int, size: int) -> Floats:
    """Factors that turn normal draws into Student's t, from the last dimension of the draws."""
    draws = normal_draws(dimensions, size)[-1]
    if np.isinf(freedom):
        return np.ones_like(draws)
    return np.asarray(np.sqrt(freedom / scipy.special.chdtri(freedom, scipy.special.ndtr(draws))))


_NOISE = 1.5  # models less those whose noise is subtracted


def signal_share(mu: Floats, sigma: Floats) -> Floats:
    """Share B (S,) of the spread of independent models that is more than noise.

    ``max(0, 1 - (L - 3/2) / Q)``, Q the squared distances from the weighted mean in units of sigma;
    0 if all are the same, 1 for a single model or if one has no sigma. Normal models around a
    common mean have posterior means of B times the observed distances and variances of B times
    ``sigma**2`` (B. Efron, C. Morris 1973, JASA 68, 117-130). James and Stein's ``L - 3`` leaves
    the gaps of up to three models as they are; ``L - 1`` shrinks too much at differences of about
    sigma. With ``L - 3/2`` the leader's chance to be the best is within .06 of the truth if the
    models spread by at least a third of sigma; if equal, it is .15 too high for two models, .10 for
    ten (6,000 draws).
    """
    here = np.isfinite(mu) & np.isfinite(sigma)
    known = ~(here & (sigma <= 0)).any(axis=1)
    weight = np.divide(1, sigma**2, out=np.zeros_like(mu), where=here & (sigma > 0))
    deviation = np.where(here, mu - weighted_mean(mu, sigma)[:, None], 0.0)
    return np.where(known, _share_of_spread((weight * deviation**2).sum(axis=1), here), 1.0)


def weighted_mean(mu: Floats, sigma: Floats) -> Floats:
    """Mean of the models of each stratum by ``1 / sigma**2``; 0 if no model has a sigma.

    >>> weighted_mean(np.array([[0.5, 0.8]]), np.array([[0.1, 0.2]]))
    array([0.56])
    """
    here = np.isfinite(mu) & np.isfinite(sigma) & (sigma > 0)
    weight = np.divide(1, sigma**2, out=np.zeros_like(mu), where=here)
    total = weight.sum(axis=1)
    weighted = (weight * np.where(here, mu, 0.0)).sum(axis=1)
    return np.asarray(np.divide(weighted, total, out=np.zeros_like(total), where=total > 0))


def signal_share_paired(models: Paired) -> Floats:
    """Share of the spread that is more than noise, for models on the same sample of questions.

    Q is ``2 / L`` times the sum of the squared z of all pairs: that of `signal_share` for
    independent models of one sigma, and ``L - 1`` on average for equal models, whatever their
    correlations.
    """
    here = np.isfinite(models.mean)
    mean = np.where(here, models.mean, 0.0)
    square = (mean[:, :, None] - mean[:, None, :]) ** 2
    variance = of_pairs(models.covariance)
    with np.errstate(divide="ignore"):
        z = np.divide(square, variance, out=np.zeros_like(square), where=square > 0)
    both = here[:, :, None] & here[:, None, :]
    spread = z.sum(axis=(1, 2), where=both) / np.maximum(here.sum(axis=1), 1)
    return _share_of_spread(spread, here)


def _share_of_spread(spread: Floats, here: Mask) -> Floats:
    """Share of some squared distances from the mean that is not their noise."""
    models = here.sum(axis=1)
    noise = np.where(models > 1, models - _NOISE, 0.0)
    lost = np.divide(noise, np.maximum(spread, noise), out=np.zeros_like(noise), where=noise > 0)
    return np.asarray(1 - lost)


def selected_tail(candidates: Ints, confidence: float) -> Floats:
    """Chance below the lower end of the interval of the leader of L candidates.

    ``1 - (1 - d)**(1 / L)``, ``d = (1 - confidence) / 2``, as in `families.sidak_critical`: the
    lower ends of L independent or positively correlated candidates then hold at once. Selection
    never makes the upper end worse.
    """
    return np.asarray(-np.expm1(np.log1p(-(1 - confidence) / 2) / candidates))


def shrunk_scores(mu: Floats, sigma: Floats, share: Floats) -> Floats:
    """Scores moved towards the mean of their stratum by the part of the spread that is noise.

    ``m + B (mu - m)``, m the `weighted_mean`, B the `signal_share`.
    """
    mean = weighted_mean(mu, sigma)[:, None]
    # Without any sigma there is no mean, and no noise.
    return np.where(share[:, None] < 1, mean + share[:, None] * (mu - mean), mu)
