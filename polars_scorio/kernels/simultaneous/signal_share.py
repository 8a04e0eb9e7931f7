"""Share of the spread of estimated models that is more than noise."""

from __future__ import annotations

import numpy as np

from polars_scorio.kernels.array_types import Floats, Mask
from polars_scorio.kernels.simultaneous.paired_means import Paired, of_pairs

_NOISE = 1.5  # models less those whose noise is subtracted


def signal_share(mu: Floats, sigma: Floats) -> Floats:
    """Share of the spread of independent models that is more than noise [1]_.

    The leader of many models owes part of its lead to luck: true gaps are smaller than observed
    ones. Models that are normal around a common mean have posterior means of B times the observed
    distances from it, and posterior variances of B times ``sigma**2``.

    Parameters
    ----------
    mu, sigma : ndarray of float, shape (S, L)
        Means and standard deviations; NaN in either: the stratum does not have the model.

    Returns
    -------
    ndarray of float, shape (S,)
        ``B = max(0, 1 - (L - 3/2) / Q)``, with Q the squared distances from the weighted mean in
        units of sigma; 0 if all models are the same. 1 for a single model, and if a model has no
        sigma.

    Notes
    -----
    James and Stein subtract ``L - 3``, which minimises the squared error and leaves the gaps of up
    to three models as they are; ``L - 1`` shrinks too much where models differ by about a sigma.
    With ``L - 3/2`` the leader's chance to be the best is within .06 of the truth if the models
    spread by at least a third of sigma. If they are equal, it is .15 too high for two models and
    .10 for ten (6,000 draws).

    References
    ----------
    .. [1] B. Efron, C. Morris (1973), Journal of the American Statistical Association 68, 117-130:
       James and Stein's estimator, towards the mean.

    Examples
    --------
    >>> signal_share(np.array([[0.0, 1.0, 2.0, 3.0]]), np.ones((1, 4)))  # Q = 5
    array([0.5])
    """
    here = np.isfinite(mu) & np.isfinite(sigma)
    known = ~(here & (sigma <= 0)).any(axis=1)
    weight = np.divide(1, sigma**2, out=np.zeros_like(mu), where=here & (sigma > 0))
    deviation = np.where(here, mu - weighted_mean(mu, sigma)[:, None], 0.0)
    return np.where(known, _share_of_spread((weight * deviation**2).sum(axis=1), here), 1.0)


def weighted_mean(mu: Floats, sigma: Floats) -> Floats:
    """Mean of the models of each stratum, weighted by ``1 / sigma**2``.

    Models without a sigma have no weight; 0 if none has any.

    Examples
    --------
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

    Q is ``2 / L`` times the sum of the squared z of all pairs. For independent models of one sigma
    it is the Q of `signal_share`; for equal models it is ``L - 1`` on average, whatever their
    correlations.

    Examples
    --------
    >>> models = Paired.of_moments(np.arange(4.0)[None], np.eye(4)[None], np.array([9.0]))
    >>> signal_share_paired(models)
    array([0.5])
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
    """The share that is left of some squared distances from the mean without their noise."""
    models = here.sum(axis=1)
    noise = np.where(models > 1, models - _NOISE, 0.0)
    lost = np.divide(noise, np.maximum(spread, noise), out=np.zeros_like(noise), where=noise > 0)
    return np.asarray(1 - lost)
