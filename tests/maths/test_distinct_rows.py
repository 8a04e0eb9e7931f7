"""Distinct rows of integers, against NumPy."""

import numpy as np
import pytest

from polars_scorio.maths.array_rows import distinct_rows


@pytest.mark.parametrize("top", [1, 3, 10**6])  # of few codes a table is made, many are sorted
@pytest.mark.parametrize("rows", [0, 1, 200])
def test_distinct_rows_ascend_and_stand_where_they_come_first(top, rows):
    table = np.random.default_rng(2).integers(0, top, (rows, 3), endpoint=True)
    _, first, row = np.unique(table, axis=0, return_index=True, return_inverse=True)
    found, which = distinct_rows(table.T)
    np.testing.assert_array_equal(found, first)
    np.testing.assert_array_equal(which, row.ravel())
