"""Few nodes instead of many, where the data leave little doubt about the population.

The nodes of a grid must resolve its density. What is integrated over them, the moments of metrics,
is much smoother than a narrow density: a Gauss rule of that density needs an eighth of the nodes.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from polars_scorio.kernels.array_types import Floats


def gauss_rules(place: Floats, mass: Floats, size: int) -> tuple[Floats, Floats]:
    """Few points and weights that have the moments of many, up to degree ``2 * size - 1`` [1]_.

    Parameters
    ----------
    place : ndarray of float, shape (N,)
        The points that all measures share.
    mass : ndarray of float, shape (R, N)
        Mass of each measure at each point, not negative.
    size : int
        Number of points of each rule.

    Returns
    -------
    points, weights : ndarray of float, shape (R, size)
        The weights of a rule sum to 1.

    References
    ----------
    .. [1] G. H. Golub, J. H. Welsch (1969), Calculation of Gauss quadrature rules, Math. Comp. 23,
       221-230.

    Examples
    --------
    >>> points, weights = gauss_rules(np.array([-2.0, 0.0, 2.0]), np.ones((1, 3)), 2)
    >>> (points**2).round(6), weights.round(6)
    (array([[2.666667, 2.666667]]), array([[0.5, 0.5]]))
    """
    jacobi = np.zeros((len(mass), size, size))
    value = 1 / np.sqrt(mass.sum(axis=1, keepdims=True)) * np.ones_like(place)
    before, length = np.zeros_like(value), np.zeros((len(mass), 1))
    for row in range(size):
        following = place * value
        centre = (mass * value * following).sum(axis=1, keepdims=True)
        jacobi[:, row, row] = centre[:, 0]
        following -= centre * value + length * before
        length = np.sqrt((mass * following**2).sum(axis=1, keepdims=True))
        if row + 1 < size:
            jacobi[:, row + 1, row] = length[:, 0]
        # A measure of fewer points has no more polynomials: points without weight are added.
        before, value = value, following / np.maximum(length, np.finfo(float).tiny)
    points, vectors = np.linalg.eigh(jacobi)
    return points, vectors[:, 0] ** 2


def interpolation_matrix(points: Floats, size: int) -> Floats:
    """Matrix from values at the nodes of Gauss and Legendre to values at other points of [-1, 1].

    Parameters
    ----------
    points : ndarray of float, shape (..., P)
        Where to.
    size : int
        Number of nodes.

    Returns
    -------
    ndarray of float, shape (..., P, size)
        Exact for polynomials of a degree below `size`.

    Examples
    --------
    >>> nodes, _ = np.polynomial.legendre.leggauss(3)
    >>> (interpolation_matrix(np.array([0.5]), 3) @ nodes**2).round(9)
    array([0.25])
    """
    return np.asarray(
        np.polynomial.legendre.legvander(points, size - 1) @ _legendre_coefficients(size)
    )


@lru_cache(maxsize=2)
def _legendre_coefficients(size: int) -> Floats:
    """Matrix from values at the nodes to the coefficients of Legendre's polynomials."""
    nodes, weights = np.polynomial.legendre.leggauss(size)
    degrees = np.arange(size)[:, None]
    values = np.polynomial.legendre.legvander(nodes, size - 1).T
    return np.asarray((degrees + 0.5) * values * weights)
