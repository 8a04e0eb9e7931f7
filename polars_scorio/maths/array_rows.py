"""Array types, distinct rows, and slices that bound memory."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]


Mass = TypeVar("Mass", Floats, Ints)

# Numbers in a temporary array of a kernel: 1 MB, so that several stay in the caches.
CELLS = 2**17


def weight_range(w: Floats) -> float:
    """Largest weight minus the smallest, the unit of the variances; ValueError if not a float."""
    # The square of a weight near 1e155 overflows: callers multiply sigma by it after the root.
    width = float(w.max()) - float(w.min())
    if not np.isfinite(width):
        low, high = float(w.min()), float(w.max())
        raise ValueError(f"weights must lie less than 1.8e308 apart, got {low!r} and {high!r}")
    return width


def known_ratio(part: ArrayLike, whole: ArrayLike, unknown: float = 0.0) -> Floats:
    """Part over whole, broadcast together; `unknown` where the whole is not positive."""
    some, every = np.broadcast_arrays(part, whole)
    ratio: Floats = np.divide(some, every, out=np.full(every.shape, unknown), where=every > 0)
    return ratio


def row_slices(rows: int, columns: int) -> list[slice]:
    """Slices of rows with at most `CELLS` numbers each, for this many columns."""
    step = max(CELLS // max(columns, 1), 1)
    return [slice(start, start + step) for start in range(0, rows, step)]


def row_batches(rows: Ints, columns: int) -> list[Ints]:
    """Row numbers cut into blocks of at most `CELLS` numbers."""
    return [rows[block] for block in row_slices(rows.size, columns)]


def require_weight_per_category(mass: Mass, w: Floats) -> None:
    """Raise ValueError unless `mass` is (S, K) and `w` is (K,): broadcasting would hide it."""
    if w.ndim != 1 or w.size == 0 or mass.shape[1:] != w.shape:
        raise ValueError(
            "expected arrays of shapes (S, K) and (K,) with K > 0: one weight for each "
            f"category; got {mass.shape} and {w.shape}"
        )


def distinct_rows(columns: Iterable[Ints]) -> tuple[Ints, Ints]:
    """First place of each distinct row, ascending, and the index of each row among these."""
    # `columns` (R,) are nonnegative integers. One integer for each row sorts many times faster.
    columns = [*columns]
    code, size = np.zeros(columns[0].size, dtype=np.int64), 1
    for column in columns:
        digit, top = column, int(column.max(initial=0)) + 1
        if size * top >= 2**63:
            code, size = _ordinal_codes(code)
            digit, top = _ordinal_codes(digit)
        if top > 1:
            code *= top
            code += digit
            size *= top
    bits = code.size.bit_length()
    if size >= 2 ** (63 - bits):
        code, size = _ordinal_codes(code)
    return _distinct_by_table(code, size) if size <= code.size else _distinct_by_sorting(code, bits)


def _distinct_by_table(code: Ints, size: int) -> tuple[Ints, Ints]:
    """Distinct codes by a table of all codes below `size`."""
    place = np.full(size, -1)
    place[code[::-1]] = np.arange(code.size - 1, -1, -1)
    known = place >= 0
    return place[known], (np.cumsum(known) - 1)[code]


def _distinct_by_sorting(code: Ints, bits: int) -> tuple[Ints, Ints]:
    """Distinct codes by sorting them, each with its row as the last bits."""
    # Sorting numbers is several times faster than np.unique, which sorts their places.
    both = np.sort(code << bits | np.arange(code.size))
    rows = both & (1 << bits) - 1
    new = np.diff(both >> bits, prepend=-1) > 0
    row = np.empty_like(rows)
    row[rows] = np.cumsum(new) - 1
    return rows[new], row


def _ordinal_codes(values: Ints) -> tuple[Ints, int]:
    """Index of each value among the distinct values, and the number of those."""
    levels, ordinal = np.unique(values, return_inverse=True)
    return ordinal, levels.size
