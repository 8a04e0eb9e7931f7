"""Chance of each model to be the best."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import numpy as np
import scipy

from polars_scorio.kernels.array_types import Floats, Ints, Mask
from polars_scorio.kernels.batches import row_batches, row_slices
from polars_scorio.kernels.simultaneous.fixed_draws import EVEN, normal_draws
from polars_scorio.kernels.simultaneous.paired_means import Paired

_REACH = 7.0  # standard deviations: what lies beyond has a chance of 1e-12
_POINTS, _WEIGHTS = np.polynomial.legendre.leggauss(6)
_OFFSETS = np.arange(-15.0, 17.0)  # steps of half a sigma and more that cover the reach
_SURE = 1e-13  # a sigma that is smaller, in units of the largest number, is none
_FEW, _MANY = 2048, 8192  # draws: where they are even, and elsewhere


def p_best(mu: Floats, sigma: Floats) -> Floats:
    """Chance of each model to be the best, for independent normal posteriors.

    Parameters
    ----------
    mu, sigma : ndarray of float, shape (S, L)
        Means and standard deviations; NaN in either: the stratum does not have the model.

    Returns
    -------
    ndarray of float, shape (S, L)
        The integral of ``phi((x - mu_i) / sigma_i) / sigma_i`` times the product of
        ``Phi((x - mu_j) / sigma_j)`` over the others; sums to 1. NaN where a model is absent. Those
        without a sigma stay where they are: the highest of them share what is left.

    Notes
    -----
    Gauss-Legendre rules between points of a lattice whose steps fit the sigma of each model that is
    near: an error below 1e-8, also where sigmas differ by orders of magnitude.

    Examples
    --------
    >>> p_best(np.array([[0.5, 0.5, 0.1]]), np.array([[0.1, 0.1, 0.0]])).round(4)
    array([[0.5, 0.5, 0. ]])
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
    """The chances of some strata, before rounding errors are taken out."""
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
    """Chance of each model to be the best, for models on the same sample of questions.

    Parameters
    ----------
    models : Paired
        Means, covariances and degrees of freedom.

    Returns
    -------
    ndarray of float, shape (S, L)
        Sums to 1; NaN where a model is absent, and for several models without degrees of freedom.
        From fixed draws of Student's t distribution: errors of about 0.002 for up to 8 models,
        where the draws lie evenly, and 0.006 beyond. Models that are the highest together share
        the draw. Models with the same data share their chances, which are then equal.

    Examples
    --------
    >>> models = Paired.of_moments(np.array([[0.5, 0.5]]), np.eye(2)[None], np.array([9.0]))
    >>> p_best_paired(models).round(2)
    array([[0.5, 0.5]])
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
    """How often each model is the highest."""
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
