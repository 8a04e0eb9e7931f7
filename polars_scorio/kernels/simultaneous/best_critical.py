"""Critical values for the models that may be the best: one-sided, one comparison row for each."""

from __future__ import annotations

import numpy as np
import scipy

from polars_scorio.kernels.array_types import Floats, Ints, Mask
from polars_scorio.kernels.batches import row_batches
from polars_scorio.kernels.simultaneous.roots import illinois_root

_GROUPS = 32  # of models with similar sigmas, at most
_REACH = 8.0  # standard deviations of the candidate that count
_FINEST = 0.05  # a smaller ratio of two sigmas counts as this one, or the rule would not see it
# Steps of the trapezoidal rule, by the smallest ratio of two sigmas: each holds 1e-9 for a few
# models, and half of it for many.
_STEPS = ((0.6, 1 / 2), (0.3, 1 / 4), (0.0, 1 / 8))
_FEW = 12


def best_critical(sigma: Floats, confidence: float) -> Floats:
    """Critical values to tell whether independent models are worse than some other model [1]_.

    Parameters
    ----------
    sigma : ndarray of float, shape (S, L)
        Standard deviations of the models; NaN where a stratum does not have the model.
    confidence : float
        With which none of the others seems better than a model that is the best.

    Returns
    -------
    ndarray of float, shape (S, L)
        For model i the c with ``P(X_j - X_i <= c sqrt(s_i**2 + s_j**2) for all j) = confidence``
        (Dunnett's one-sided value with i as the baseline). More than 32 models count in groups of
        similar sigmas, and c is then a little too large. If another sigma is less than a twentieth
        of that of the model, the chance is up to .002 too large. Models without a sigma do not
        count as others. NaN where the model is absent.

    References
    ----------
    .. [1] J. C. Hsu (1984), Annals of Statistics 12(3), 1136-1144: comparisons with the best.

    Examples
    --------
    >>> best_critical(np.ones((1, 3)), 0.95).round(4)
    array([[1.9163, 1.9163, 1.9163]])
    """
    critical = np.full(sigma.shape, np.nan)
    here = np.isfinite(sigma)
    critical[here] = scipy.special.ndtri(confidence)
    several = np.flatnonzero((here & (sigma > 0)).sum(axis=1) > 1)
    groups = min(sigma.shape[1], _GROUPS)
    for rows in row_batches(several, groups**2 * int(4 * _REACH / _STEPS[-1][1])):
        critical[rows] = _grouped_critical(sigma[rows], confidence)
    return critical


def _grouped_critical(sigma: Floats, confidence: float) -> Floats:
    """Critical values of strata with several models, by groups of similar sigmas."""
    here, moving = np.isfinite(sigma), np.isfinite(sigma) & (sigma > 0)
    place, groups = _sigma_places(sigma, moving)
    least, most = np.full((2, len(sigma), groups), np.nan)
    number = np.zeros((len(sigma), groups))
    for group in range(groups):
        inside = moving & (place == group)
        number[:, group] = inside.sum(axis=1)
        least[:, group] = np.where(inside, sigma, np.inf).min(axis=1)
        most[:, group] = np.where(inside, sigma, 0.0).max(axis=1)
    # A candidate with the least sigma and others with the largest need the largest value.
    of_group = _critical_of_groups(least, most, number, confidence)
    single = scipy.special.ndtri(confidence)
    found = np.where(moving, np.take_along_axis(of_group, place, axis=1), single)
    # A model without an error has independent differences.
    alone = -scipy.special.ndtri(-np.expm1(np.log(confidence) / moving.sum(axis=1)))
    found = np.where(here & ~moving, alone[:, None], found)
    return np.where(here, found, np.nan)


def _sigma_places(sigma: Floats, moving: Mask) -> tuple[Ints, int]:
    """Group of each model, and the number of groups: of many models of equal width in log sigma."""
    models = sigma.shape[1]
    if models <= _GROUPS:
        return np.broadcast_to(np.arange(models), sigma.shape), models
    log = np.log(np.where(moving, sigma, 1.0))
    low = np.where(moving, log, np.inf).min(axis=1, keepdims=True)
    width = np.where(moving, log, -np.inf).max(axis=1, keepdims=True) - low
    share = np.divide(log - low, width, out=np.zeros_like(log), where=moving & (width > 0))
    return np.minimum((share * _GROUPS).astype(np.int64), _GROUPS - 1), _GROUPS


def _critical_of_groups(
    candidate: Floats, others: Floats, number: Floats, confidence: float
) -> Floats:
    """A critical value for a candidate from each group of models, shape (S, G)."""
    strata, groups = number.shape
    counted = np.repeat(number[:, None, :], groups, axis=1)
    counted[:, np.arange(groups), np.arange(groups)] -= 1
    counted = np.maximum(counted, 0).reshape(-1, groups)
    ratio = np.repeat(others[:, None, :], groups, axis=1) / candidate[:, :, None]
    ratio = ratio.reshape(-1, groups)
    wanted = counted.sum(axis=1) > 1
    critical = np.full(strata * groups, scipy.special.ndtri(confidence))
    smallest = np.where(counted > 0, ratio, np.inf).min(axis=1)
    for (above, step), below in zip(_STEPS, (np.inf, *(each for each, _ in _STEPS)), strict=False):
        kind = wanted & (smallest >= above) & (smallest < below)
        critical[kind] = _one_sided_critical(ratio[kind], counted[kind], confidence, step)
    return critical.reshape(strata, groups)


def _one_sided_critical(ratio: Floats, number: Floats, confidence: float, step: float) -> Floats:
    """Critical values of candidates with sigma 1, from the sigmas of groups of others."""
    if not len(ratio):
        return np.empty(0)
    spread = np.where(number > 0, np.maximum(ratio, _FINEST), 1.0)[:, None, :]
    reach = np.hypot(spread, 1.0)
    if number.shape[1] > _FEW:
        step /= 2
    x = np.arange(-_REACH, _REACH + step, step)[None, :, None]
    weight = np.exp(-(x[0, :, 0] ** 2) / 2) * step / np.sqrt(2 * np.pi)
    low = np.full(len(ratio), scipy.special.ndtri(confidence))
    # Independent differences need the most (Sidak).
    high = -scipy.special.ndtri(-np.expm1(np.log(confidence) / number.sum(axis=1)))

    single = number.max() <= 1

    def excess(c: Floats) -> Floats:
        below = scipy.special.ndtr((c[:, None, None] * reach + x) / spread)
        power = np.where(number[:, None, :] > 0, below, 1.0) if single else below ** number[:, None]
        within = power.prod(axis=2) @ weight
        # The log of the tail is nearly straight in c.
        return np.asarray(np.log1p(-confidence) - np.log(np.maximum(1 - within, 1e-300)))

    return illinois_root(excess, low, high, 5)
