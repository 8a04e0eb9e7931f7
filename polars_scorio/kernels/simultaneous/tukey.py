"""Critical value for all differences of independent models: the studentized range."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import scipy

from polars_scorio.kernels.array_types import Floats, Ints
from polars_scorio.kernels.simultaneous.roots import illinois_root

# The lowest of the models, in steps: the trapezoidal rule holds 1e-13 for up to 10,000 models.
_STEP = 1 / 16
_LOWEST = np.arange(-9, 9 + _STEP, _STEP)
_WEIGHT = np.exp(-(_LOWEST**2) / 2) * _STEP / np.sqrt(2 * np.pi)


def range_within(models: Ints, c: Floats) -> Floats:
    """Chance that no two of some models with equal sigmas differ by more than c sigmas of a pair.

    Parameters
    ----------
    models : ndarray of int
        How many models there are, at least 1.
    c : ndarray of float
        In standard deviations of the difference of two models; of the shape of `models`.

    Returns
    -------
    ndarray of float
        ``P(max - min <= sqrt(2) c)`` of standard normal variables.

    Examples
    --------
    >>> range_within(np.array([2, 3]), np.array([1.959964, 2.343701])).round(4)
    array([0.95, 0.95])
    """
    highest = _LOWEST + np.sqrt(2) * c[..., None]
    within = scipy.special.ndtr(highest) - scipy.special.ndtr(_LOWEST)
    return np.asarray(models * (within ** (models[..., None] - 1) * _WEIGHT).sum(axis=-1))


def tukey_critical(models: Ints, confidence: float) -> Floats:
    """Critical values for all pairs of independent models (Tukey-Kramer).

    Parameters
    ----------
    models : ndarray of int
        How many models each stratum has.
    confidence : float
        With which all intervals of a stratum hold at once.

    Returns
    -------
    ndarray of float
        A value to use instead of z: exact for equal sigmas, at least as wide as needed for unequal
        ones [1]_. z itself for two models or fewer.

    References
    ----------
    .. [1] A. J. Hayter (1984), Annals of Statistics 12(1), 61-75.

    Examples
    --------
    >>> tukey_critical(np.array([2, 10, 1000]), 0.95).round(4)
    array([1.96  , 3.1637, 5.2111])
    """
    sizes, place = np.unique(models, return_inverse=True)
    values = [_critical_value(max(int(size), 2), confidence) for size in sizes]
    return np.array(values)[place].reshape(models.shape)


def confidence_of_each(models: Ints, confidence: float) -> Floats:
    """Confidence of single intervals of which those of all pairs hold at once.

    Parameters
    ----------
    models, confidence
        As for `tukey_critical`.

    Examples
    --------
    >>> confidence_of_each(np.array([2, 10]), 0.95).round(6)
    array([0.95    , 0.998442])
    """
    return np.asarray(scipy.special.erf(tukey_critical(models, confidence) / np.sqrt(2)))


@lru_cache(maxsize=4096)
def _critical_value(models: int, confidence: float) -> float:
    if models == 2:
        return float(scipy.special.ndtri((1 + confidence) / 2))
    low = scipy.special.ndtri(np.array([(1 + confidence) / 2]))
    # Bonferroni's value is never too small.
    high = -scipy.special.ndtri(np.array([(1 - confidence) / (models * (models - 1))]))
    size = np.array([models])
    return float(illinois_root(lambda c: range_within(size, c) - confidence, low, high, 40)[0])
