"""Holm's adjustment of p-values, of which any may depend on any other."""

from __future__ import annotations

import numpy as np

from polars_scorio.kernels.array_types import Floats


def holm_adjusted(p: Floats) -> Floats:
    """Adjust p-values so that the chance of any false rejection is controlled [1]_.

    Parameters
    ----------
    p : ndarray of float, shape (..., J)
        The p-values of a family; NaN, which stands for a large one, counts as 1.

    Returns
    -------
    ndarray of float, shape (..., J)
        The largest of ``(J - i + 1) p_(i)`` over the ranks i up to that of a test; at most 1.

    References
    ----------
    .. [1] S. Holm (1979), Scandinavian Journal of Statistics 6(2), 65-70.

    Examples
    --------
    >>> holm_adjusted(np.array([0.001, 0.02, 0.04, 0.3]))
    array([0.004, 0.06 , 0.08 , 0.3  ])
    """
    known = np.where(np.isnan(p), 1.0, p)
    order = np.argsort(known, axis=-1, kind="stable")
    scaled = np.take_along_axis(known, order, axis=-1) * np.arange(p.shape[-1], 0, -1)
    adjusted = np.empty_like(known)
    raised = np.minimum(np.maximum.accumulate(scaled, axis=-1), 1.0)
    np.put_along_axis(adjusted, order, raised, axis=-1)
    return adjusted
