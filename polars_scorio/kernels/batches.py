"""Blocks and checks that kernels on arrays of states by categories share."""

from __future__ import annotations

from typing import TypeVar

import numpy as np

from polars_scorio.kernels.array_types import Floats, Ints

Mass = TypeVar("Mass", Floats, Ints)

# Numbers in a temporary array of a kernel: 1 MB, so that several stay in the caches.
CELLS = 2**17


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


def row_slices(rows: int, columns: int) -> list[slice]:
    """Cut rows into blocks of at most `CELLS` numbers, for kernels of so many columns.

    Examples
    --------
    >>> row_slices(50_000, 4)
    [slice(0, 32768, None), slice(32768, 65536, None)]
    """
    step = max(CELLS // max(columns, 1), 1)
    return [slice(start, start + step) for start in range(0, rows, step)]


def row_batches(rows: Ints, columns: int) -> list[Ints]:
    """Cut row numbers into the same blocks.

    Examples
    --------
    >>> [batch.size for batch in row_batches(np.arange(50_000), 4)]
    [32768, 17232]
    """
    return [rows[block] for block in row_slices(rows.size, columns)]


def require_weight_per_category(mass: Mass, w: Floats) -> None:
    """Raise ValueError unless `mass` is (S, K) and `w` is (K,): broadcasting would hide it."""
    if w.ndim != 1 or w.size == 0 or mass.shape[1:] != w.shape:
        raise ValueError(
            "expected arrays of shapes (S, K) and (K,) with K > 0: one weight for each "
            f"category; got {mass.shape} and {w.shape}"
        )
