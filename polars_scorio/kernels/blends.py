"""Geometric blends of two means, and their variance to first order."""

from __future__ import annotations

import numpy as np

from polars_scorio.kernels.arrays import Floats

Powers = tuple[float, float]


def blend(x: Floats, y: Floats, powers: Powers) -> Floats:
    """``x**a * y**b`` for means that may be zero.

    Parameters
    ----------
    x, y : ndarray of float, shape (S,)
        Means, not negative; NaN where there is none.
    powers : tuple of float
        ``(a, b)``; negative ones are allowed.

    Returns
    -------
    ndarray of float, shape (S,)
        Zero where a mean of zero has a positive power; infinite where one has a negative power and
        the other mean is not zero under a positive one.

    Examples
    --------
    >>> blend(np.array([0.25, 0.0, 0.0]), np.array([1.0, 4.0, 0.0]), (0.5, -1.0))
    array([0.5, 0. , 0. ])
    """
    zero = (x == 0) & (powers[0] > 0) | (y == 0) & (powers[1] > 0)
    with np.errstate(divide="ignore"):
        powered = np.where(zero, 1.0, x) ** powers[0] * np.where(zero, 1.0, y) ** powers[1]
    return np.where(zero, 0.0, powered)


def blend_variance(
    x: Floats, y: Floats, variances: tuple[Floats, Floats, Floats], powers: Powers
) -> Floats:
    """Variance of ``x**a * y**b`` by the delta method, to first order.

    Parameters
    ----------
    x, y : ndarray of float, shape (S,)
        Means.
    variances : tuple of ndarray of float, shape (S,)
        Var(x), Var(y) and Cov(x, y).
    powers : tuple of float
        ``(a, b)``.

    Returns
    -------
    ndarray of float, shape (S,)
        ``(x**a y**b)**2 (a**2 Var(x)/x**2 + b**2 Var(y)/y**2 + 2 a b Cov(x, y)/(x y))``; zero where
        the blend is zero.

    Examples
    --------
    ``x y`` of independent means: ``y**2 Var(x) + x**2 Var(y)``.

    >>> one = np.array([1.0])
    >>> blend_variance(2 * one, 3 * one, (0.1 * one, 0.2 * one, 0 * one), (1.0, 1.0))
    array([1.7])
    """
    a, b = powers
    mean = blend(x, y, powers)
    x, y = np.where(x > 0, x, np.inf), np.where(y > 0, y, np.inf)
    var_x, var_y, covariance = variances
    # Relative to the means first, so that nothing overflows where one is tiny.
    relative = (a * np.sqrt(var_x) / x) ** 2 + (b * np.sqrt(var_y) / y) ** 2
    relative += 2 * a * b * (covariance / x / y)
    return mean**2 * np.maximum(relative, 0.0)
