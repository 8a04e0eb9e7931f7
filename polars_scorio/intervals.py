"""From a posterior mean and standard deviation to a credible interval."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from polars_scorio.kernels.arrays import Floats

Bounds = tuple[float, float]


def normal_interval(
    mu: Floats, sigma: Floats, confidence: float, bounds: Bounds | None
) -> tuple[Floats, Floats]:
    """Central normal credible interval, clipped to the range of the metric [1]_.

    Parameters
    ----------
    mu, sigma : ndarray of float, shape (G,)
        Posterior mean and standard deviation, in the units of the metric.
    confidence : float
        Credibility of the interval, between 0 and 1.
    bounds : tuple of float or None
        Both ends are clipped into ``[low, high]``; None leaves them as they are.

    Returns
    -------
    lo, hi : ndarray of float, shape (G,)
        ``mu -+ z sigma`` with ``z`` the ``(1 + confidence) / 2`` quantile of the normal.

    References
    ----------
    .. [1] M. Hariri et al. (2026), Don't Pass@k, arXiv:2510.04265, section 2.

    Examples
    --------
    >>> lo, hi = normal_interval(np.array([0.8]), np.array([0.2]), 0.95, (0.0, 1.0))
    >>> lo.round(4), hi
    (array([0.408]), array([1.]))
    """
    reach = ndtri((1 + confidence) / 2) * sigma
    low, high = bounds or (-np.inf, np.inf)
    return np.clip(mu - reach, low, high), np.clip(mu + reach, low, high)
