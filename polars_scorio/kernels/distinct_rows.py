"""Distinct rows of integers."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from polars_scorio.kernels.array_types import Ints


def distinct_rows(columns: Iterable[Ints]) -> tuple[Ints, Ints]:
    """First place of each distinct row, in ascending order, and the distinct row of each row.

    Rows become one integer each: sorting those is many times faster than sorting rows, and where
    they are small, a table of all of them is faster again.

    Parameters
    ----------
    columns : iterable of ndarray of int, shape (R,)
        The columns of the rows, at least one; not negative.

    Returns
    -------
    first : ndarray of int, shape (S,)
        The first row with each distinct content.
    row : ndarray of int, shape (R,)
        Which of these each row equals.

    Examples
    --------
    >>> first, row = distinct_rows([np.array([2, 0, 2]), np.array([1, 3, 1])])
    >>> first.tolist(), row.tolist()
    ([1, 0], [1, 0, 1])
    """
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
    found = place >= 0
    return place[found], (np.cumsum(found) - 1)[code]


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
    found, ordinal = np.unique(values, return_inverse=True)
    return ordinal, found.size
