"""Benjamini and Hochberg's adjustment of p-values, for the expected share of false discoveries."""

from __future__ import annotations

import numpy as np

from polars_scorio.kernels.array_types import Floats


def benjamini_hochberg(p: Floats) -> Floats:
    """Adjust p-values so that those up to q have a false discovery rate of at most q [1]_.

    Parameters
    ----------
    p : ndarray of float, shape (J,)
        The p-values of a family of independent tests.

    Returns
    -------
    ndarray of float, shape (J,)
        The smallest of ``J p_(i) / i`` over the ranks i from that of a test on; at most 1.

    References
    ----------
    .. [1] Y. Benjamini, Y. Hochberg (1995), Journal of the Royal Statistical Society B 57(1),
       289-300.

    Examples
    --------
    >>> benjamini_hochberg(np.array([0.01, 0.03, 0.02, 0.5]))
    array([0.04, 0.04, 0.04, 0.5 ])
    """
    order = np.argsort(p, kind="stable")
    scaled = p[order] * p.size / np.arange(1, p.size + 1)
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(np.minimum.accumulate(scaled[::-1])[::-1], 1.0)
    return adjusted
