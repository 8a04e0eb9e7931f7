"""Intervals around a posterior mean: by a normal or by a Beta distribution."""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import NDArray

from polars_scorio.kernels.array_types import Floats, Ints

# SciPy's inverse of the Beta integral errs by 1e-5 of a standard deviation from shapes of 1e10 on
# and gives NaN from 1e15 on; the normal with a correction for skewness holds 1e-8 from 1e8 on.
_NARROW = 1e8

_NARROWEST = 1e-150  # its square can still be divided by


def normal_interval(
    mu: Floats, sigma: Floats, confidence: Floats | float, bounds: tuple[float, float] | None
) -> tuple[Floats, Floats]:
    """``mu +- z sigma``, both ends clipped into both bounds.

    Parameters
    ----------
    mu, sigma : ndarray of float
        Posterior means and standard deviations.
    confidence : float or ndarray of float
        Probability of the interval, inside (0, 1).
    bounds : tuple of float or None
        Lower and upper bound; None: no clipping.

    Returns
    -------
    lo, hi : ndarray of float

    Examples
    --------
    >>> lo, hi = normal_interval(np.array([0.8]), np.array([0.2]), 0.95, (0.0, 1.0))
    >>> lo.round(3), hi
    (array([0.408]), array([1.]))

    """
    reach = -scipy.special.ndtri(_tail_chance(confidence)) * sigma
    low, high = (-np.inf, np.inf) if bounds is None else bounds
    return np.clip(mu - reach, low, high), np.clip(mu + reach, low, high)


def beta_interval(
    mu: Floats,
    sigma: Floats,
    confidence: Floats | float,
    bounds: tuple[float, float],
    *,
    lowest: NDArray[np.bool_] | bool = False,
    highest: NDArray[np.bool_] | bool = False,
) -> tuple[Floats, Floats]:
    """Central quantiles of the Beta distribution with these moments, on the bounds.

    Parameters
    ----------
    mu, sigma : ndarray of float
        Means and standard deviations; NaN gives NaN. For the population multiply `sigma` by
        `small_sample_factor` first.
    confidence : float or ndarray of float
        Probability of the interval, inside (0, 1).
    bounds : tuple of float
        Finite lower and upper bound, ``lower < upper``.
    lowest, highest : ndarray of bool or bool, default False
        Whether all observed trials are in the lowest (highest) category: then `lo` (`hi`) is the
        bound itself, which quantiles never reach.

    Returns
    -------
    lo, hi : ndarray of float
        ``mu`` twice where sigma is 0. `normal_interval` where no Beta distribution is that wide.
        The interval always holds `mu`: the mean of a skewed distribution lies outside its central
        quantiles if the confidence is low, and then the nearer end is `mu`.

    Examples
    --------
    The uniform distribution has the standard deviation ``sqrt(1/12)``.

    >>> lo, hi = beta_interval(np.array([0.5]), np.array([12**-0.5]), 0.95, (0.0, 1.0))
    >>> lo.round(6), hi.round(6)
    (array([0.025]), array([0.975]))

    """
    low, high = bounds
    width = high - low
    u, sd = (mu - low) / width, sigma / width
    kappa = u * (1 - u) / np.clip(sd, _NARROWEST, 1) ** 2 - 1
    beta = (sd > 0) & (kappa > 0)
    narrow = beta & (np.minimum(u, 1 - u) * kappa > _NARROW)
    moved = np.where(narrow, _third_moment_shift(u, kappa, confidence), 0.0)
    lo, hi = normal_interval(mu + width * moved, sigma, confidence, bounds)
    a, b = (np.where(beta & ~narrow, share * kappa, 1.0) for share in (u, 1 - u))
    lo = np.where(
        beta & ~narrow, low + width * scipy.special.betaincinv(a, b, _tail_chance(confidence)), lo
    )
    hi = np.where(
        beta & ~narrow, low + width * scipy.special.betainccinv(a, b, _tail_chance(confidence)), hi
    )
    inside = np.clip(mu, low, high)
    lo, hi = np.minimum(lo, inside), np.maximum(hi, inside)
    known = ~np.isnan(mu + sigma)
    return np.where(lowest & known, low, lo), np.where(highest & known, high, hi)


def small_sample_factor(questions: Ints | Floats, confidence: float) -> Floats:
    """Student's quantile over the normal one: what few questions add to a population's sigma.

    Parameters
    ----------
    questions : ndarray of int or float
        How many questions, M; or clusters of them, as far as they count.
    confidence : float
        Probability of the interval, inside (0, 1).

    Returns
    -------
    ndarray of float
        ``t_{M-1} / z``; NaN for ``M <= 1``: one question says nothing about the others.

    Examples
    --------
    >>> small_sample_factor(np.array([1, 2, 30]), 0.95).round(3)
    array([  nan, 6.483, 1.044])

    """
    freedom = np.maximum(questions - 1, 1)
    tail = _tail_chance(confidence)
    return np.where(
        questions > 1, scipy.special.stdtrit(freedom, tail) / scipy.special.ndtri(tail), np.nan
    )


def _third_moment_shift(u: Floats, kappa: Floats, confidence: Floats | float) -> Floats:
    """Cornish and Fisher's correction for skewness, the same at both ends."""
    z = scipy.special.ndtri(_tail_chance(confidence))
    return np.asarray((1 - 2 * u) * (z**2 - 1) / (3 * np.maximum(kappa, 1.0)))


def _tail_chance(confidence: Floats | float) -> Floats | float:
    return (1 - confidence) / 2
