"""The credit of a draw at known success rates."""

import numpy as np
import scipy

from polars_scorio.kernels.array_types import Floats
from polars_scorio.kernels.batches import row_slices
from polars_scorio.kernels.draws.area import area_at
from polars_scorio.kernels.draws.chance_tables import binomial_chances
from polars_scorio.kernels.draws.credit import is_area, only_success


def credit_at(p: Floats, q: Floats, gains: Floats) -> Floats:
    """Mean credit of k trials at each success rate.

    Parameters
    ----------
    p, q : ndarray of float, shape (I,)
        Success rates and their complements.
    gains : ndarray of float, shape (k,)
        What each success adds (see `kernels.draws.credit`).

    Returns
    -------
    ndarray of float, shape (I,)
        ``E[gains[0] + ... + gains[J - 1]]``, ``J ~ Binomial(k, p)``. Where one success earns all,
        and for AUC@k, k costs nothing.

    Examples
    --------
    >>> p = np.array([0.0, 0.5, 1.0])
    >>> credit_at(p, 1 - p, np.array([1.0, 0.0])), credit_at(p, 1 - p, np.array([0.25, 0.5]))
    (array([0.  , 0.75, 1.  ]), array([0.    , 0.3125, 0.75  ]))
    """
    k, success = gains.size, only_success(gains)
    if success is not None:
        return np.asarray(gains[success - 1] * _at_least(success, k, p, q))
    if is_area(gains):
        return area_at(p, q, k)
    credit = np.concatenate(([0.0], np.cumsum(gains)))
    values = np.empty_like(p)
    for rows in row_slices(p.size, k + 1):
        values[rows] = binomial_chances(k, p[rows], q[rows]) @ credit
    return values


def _at_least(success: int, k: int, p: Floats, q: Floats) -> Floats:
    """Chance of so many successes or more."""
    with np.errstate(divide="ignore"):
        if success == 1:
            return -np.expm1(k * _log_rate(q, p))
        if success == k:
            return np.exp(k * _log_rate(p, q))
    tail: Floats = scipy.special.betainc(success, k - success + 1, p)
    return tail


def _log_rate(x: Floats, rest: Floats) -> Floats:
    """``log(x)``, from what is left of 1 where that is less."""
    return np.where(rest < x, np.log1p(-np.minimum(rest, 0.5)), np.log(x))
