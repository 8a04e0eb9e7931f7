"""The score of the leader of many candidates, which owes part of its lead to being selected."""

from __future__ import annotations

import numpy as np

from polars_scorio.kernels.array_types import Floats, Ints
from polars_scorio.kernels.simultaneous.signal_share import weighted_mean


def selected_tail(candidates: Ints, confidence: float) -> Floats:
    """Chance below the lower end of the interval of the leader of some candidates [1]_.

    Parameters
    ----------
    candidates : ndarray of int
        From how many candidates each leader was selected, at least 1.
    confidence : float
        Of the interval after selection.

    Returns
    -------
    ndarray of float
        ``1 - (1 - d)**(1 / L)``, ``d = (1 - confidence) / 2``: with it the lower ends of L
        independent, or positively correlated, candidates lie below their scores all at once. The
        upper end stays as it is, because selection never makes it worse.

    References
    ----------
    .. [1] Z. Sidak (1967), Journal of the American Statistical Association 62, 626-633.

    Examples
    --------
    >>> selected_tail(np.array([1, 3]), 0.95).round(6)
    array([0.025   , 0.008404])
    """
    return np.asarray(-np.expm1(np.log1p(-(1 - confidence) / 2) / candidates))


def shrunk_scores(mu: Floats, sigma: Floats, share: Floats) -> Floats:
    """Scores moved towards the mean of their stratum by the part of the spread that is noise.

    Parameters
    ----------
    mu, sigma : ndarray of float, shape (S, L)
        Scores and standard deviations; NaN where a stratum does not have the model.
    share : ndarray of float, shape (S,)
        B of `signal_share`.

    Returns
    -------
    ndarray of float, shape (S, L)
        ``m + B (mu - m)``, m the mean weighted by ``1 / sigma**2``.

    Examples
    --------
    >>> shrunk_scores(np.array([[0.6, 0.4]]), np.full((1, 2), 0.1), np.array([0.5]))
    array([[0.55, 0.45]])
    """
    mean = weighted_mean(mu, sigma)[:, None]
    # Without any sigma there is no mean, and no noise.
    return np.where(share[:, None] < 1, mean + share[:, None] * (mu - mean), mu)
