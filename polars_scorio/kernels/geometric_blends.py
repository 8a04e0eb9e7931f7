"""Geometric blends of two means, and their variance to first order."""

from __future__ import annotations

import numpy as np

from polars_scorio.kernels.array_types import Floats
from polars_scorio.kernels.pooling.pooled_moments import Joint

Powers = tuple[float, float]


def blend_means(x: Floats, y: Floats, powers: Powers) -> Floats:
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
    >>> blend_means(np.array([0.25, 0.0, 0.0]), np.array([1.0, 4.0, 0.0]), (0.5, -1.0))
    array([0.5, 0. , 0. ])
    """
    zero = (x == 0) & (powers[0] > 0) | (y == 0) & (powers[1] > 0)
    with np.errstate(divide="ignore"):
        powered = np.where(zero, 1.0, x) ** powers[0] * np.where(zero, 1.0, y) ** powers[1]
    return np.where(zero, 0.0, powered)


def blend_moments(joint: Joint, powers: Powers) -> tuple[Floats, Floats]:
    """Mean and variance of ``x**a * y**b`` by the delta method, to first order.

    Parameters
    ----------
    joint : Joint
        Means, variances and covariance of x and y, each of shape (S,).
    powers : tuple of float
        ``(a, b)``.

    Returns
    -------
    mean, variance : ndarray of float, shape (S,)
        The blend of the means, and ``mean**2 (a**2 Var(x)/x**2 + b**2 Var(y)/y**2
        + 2 a b Cov(x, y)/(x y))``, which is zero where the mean is zero.

    Examples
    --------
    ``x y`` of independent means: ``y**2 Var(x) + x**2 Var(y)``.

    >>> one = np.array([1.0])
    >>> blend_moments(Joint(2 * one, 3 * one, 0.1 * one, 0.2 * one, 0 * one), (1.0, 1.0))
    (array([6.]), array([1.7]))
    """
    a, b = powers
    mean = blend_means(joint.x, joint.y, powers)
    x, y = (np.where(each > 0, each, np.inf) for each in (joint.x, joint.y))
    # Relative to the means first: the square of a tiny one would be zero.
    relative = (a * np.sqrt(joint.var_x) / x) ** 2 + (b * np.sqrt(joint.var_y) / y) ** 2
    relative += 2 * a * b * (joint.covariance / x / y)
    return mean, mean**2 * np.maximum(relative, 0.0)
