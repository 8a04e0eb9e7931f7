"""Fixed draws: the same points on every run, on every machine."""

from functools import lru_cache

import numpy as np
import scipy

from polars_scorio.kernels.array_types import Floats

EVEN = 8  # dimensions in which a lattice is better than random points
_SEED = 20240517


@lru_cache(maxsize=4)
def normal_draws(dimensions: int, size: int) -> Floats:
    """Standard normal draws that never change.

    Parameters
    ----------
    dimensions, size : int
        How many variables and how many draws.

    Returns
    -------
    ndarray of float, shape (dimensions, size)
        Up to 8 dimensions the additive sequence of the generalised golden ratio (its points lie
        more evenly than random ones), from there on the raw bits of PCG64, which NumPy promises not
        to change. Read-only: it is kept.

    Examples
    --------
    >>> float(normal_draws(2, 1024).std().round(2))
    1.0
    """
    uniform = (
        _lattice_points(dimensions, size)
        if dimensions <= EVEN
        else _random_points(dimensions, size)
    )
    draws = scipy.special.ndtri(uniform)
    draws.flags.writeable = False
    return draws


def _lattice_points(dimensions: int, size: int) -> Floats:
    ratio = 2.0
    for _ in range(64):
        ratio = (1 + ratio) ** (1 / (dimensions + 1))
    step = ratio ** -np.arange(1.0, dimensions + 1)
    return np.asarray((np.outer(step, np.arange(1, size + 1)) + 0.5) % 1).clip(1e-12, 1 - 1e-12)


def _random_points(dimensions: int, size: int) -> Floats:
    raw = np.random.PCG64(_SEED).random_raw(dimensions * size)
    return (((raw >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53).reshape(dimensions, size)


@lru_cache(maxsize=4)
def sphere_directions(dimensions: int, size: int) -> Floats:
    """Points on the unit sphere that never change.

    Parameters
    ----------
    dimensions, size : int
        Of the space, and how many points.

    Returns
    -------
    ndarray of float, shape (dimensions, size)
        Read-only.

    Examples
    --------
    >>> np.sqrt((sphere_directions(3, 4) ** 2).sum(axis=0)).round(9)
    array([1., 1., 1., 1.])
    """
    draws = normal_draws(dimensions, size)
    points: Floats = draws / np.sqrt((draws**2).sum(axis=0))
    points.flags.writeable = False
    return points
