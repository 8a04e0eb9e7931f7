"""Scores of differences that follow a Beta distribution on [-1, 1]."""

import numpy as np
import scipy

from polars_scorio.kernels.array_types import Floats

_NARROW = 1e8  # shapes from which on `beta_interval` is normal


def beta_score(lead: Floats, sigma: Floats, z: Floats) -> Floats:
    """Largest critical value at which the interval of a Beta difference excludes zero.

    Parameters
    ----------
    lead, sigma : ndarray of float
        Mean of the difference, without sign, and its standard deviation, in units of the range.
    z : ndarray of float
        The score of a normal difference, for those that no Beta distribution fits.

    Returns
    -------
    ndarray of float
        The normal quantile of the chance that the difference has the sign of its mean.

    Examples
    --------
    A Beta(3, 1) on [-1, 1] is negative with chance 1/8.

    >>> beta_score(np.array([0.5]), np.sqrt([0.15]), np.array([0.5 / 0.15**0.5])).round(4)
    array([1.1503])
    """
    share = (1 + lead) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        total = (1 - lead**2) / sigma**2 - 1
    usable = (sigma > 0) & (total > 0) & ((1 - share) * total < _NARROW)
    a, b = (np.where(usable, part * total, 1.0) for part in (share, 1 - share))
    return np.where(usable, -scipy.special.ndtri(scipy.special.betainc(a, b, 0.5)), z)
