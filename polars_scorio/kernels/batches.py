"""What the kernels on arrays of states by categories share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

import numpy as np

from polars_scorio.kernels.arrays import Floats, Ints

Mass = TypeVar("Mass", Floats, Ints)

_ROOM = 2**18  # numbers per batch: 2 MB an array, so that a dozen of them stay in the caches


def weight_range(w: Floats) -> float:
    """Return the largest weight minus the smallest: the unit of the variances.

    The square of a weight near 1e155 does not fit into a float. Kernels therefore
    return variances in units of ``weight_range(w) ** 2``; multiply sigma by ``weight_range(w)``
    after the root.

    Raises
    ------
    ValueError
        If the difference itself does not fit into a float.

    Examples
    --------
    >>> weight_range(np.array([0.5, -1.0, 3.0]))
    4.0
    """
    width = float(w.max()) - float(w.min())
    if not np.isfinite(width):
        low, high = float(w.min()), float(w.max())
        raise ValueError(f"weights must lie less than 1.8e308 apart, got {low!r} and {high!r}")
    return width


def batches(rows: Ints, columns: int) -> Iterator[Ints]:
    """Cut row numbers into batches that bound the memory of a kernel.

    Examples
    --------
    >>> [batch.size for batch in batches(np.arange(100_000), 4)]
    [65536, 34464]
    """
    size = max(_ROOM // columns, 1)
    return (rows[start : start + size] for start in range(0, rows.size, size))


def require_weight_per_category(mass: Mass, w: Floats) -> None:
    """Raise ValueError unless `mass` is (S, K) and `w` is (K,): broadcasting would hide it."""
    if w.ndim != 1 or w.size == 0 or mass.shape[1:] != w.shape:
        raise ValueError(
            "expected arrays of shapes (S, K) and (K,) with K > 0: one weight for each "
            f"category; got {mass.shape} and {w.shape}"
        )
