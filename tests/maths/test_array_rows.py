"""Rows of arrays: batches, spreads, and distinct ones."""

import numpy as np
import pytest

from polars_scorio.maths.array_rows import (
    distinct_rows,
    require_weight_per_category,
    row_batches,
    weight_range,
)


def test_spread_is_the_distance_of_the_extremes():
    assert weight_range(np.array([1e155, -2e155, 0.0])) == 3e155
    assert weight_range(np.array([0.3, 0.3])) == 0.0


def test_spread_must_fit_into_a_float():
    with pytest.raises(ValueError, match=r"apart, got -1e\+308 and 1e\+308"):
        weight_range(np.array([1e308, 0.0, -1e308]))


@pytest.mark.parametrize(("rows", "columns"), [(0, 3), (1, 3), (200_000, 3), (5, 2**20)])
def test_batches_hold_every_row_once_and_stay_small(rows, columns):
    cut = row_batches(np.arange(rows), columns)
    np.testing.assert_array_equal(np.concatenate([*cut, np.arange(0)]), np.arange(rows))
    # 64 MB of eight-byte numbers, with room for ten such arrays; one row is the least.
    assert all(batch.size == 1 or batch.size * columns <= 2**23 / 10 for batch in cut)


@pytest.mark.parametrize(
    ("mass", "w"), [((2, 3), (2,)), ((2, 1), (3,)), ((3,), (3,)), ((2, 3), (1, 3)), ((2, 0), (0,))]
)
def test_shapes_that_numpy_would_broadcast_are_refused(mass, w):
    with pytest.raises(ValueError, match="one weight for each category"):
        require_weight_per_category(np.ones(mass), np.ones(w))


# Distinct rows of integers, against NumPy.


@pytest.mark.parametrize("top", [1, 3, 10**6])  # of few codes a table is made, many are sorted
@pytest.mark.parametrize("rows", [0, 1, 200])
def test_distinct_rows_ascend_and_stand_where_they_come_first(top, rows):
    table = np.random.default_rng(2).integers(0, top, (rows, 3), endpoint=True)
    _, first, row = np.unique(table, axis=0, return_index=True, return_inverse=True)
    found, which = distinct_rows(table.T)
    np.testing.assert_array_equal(found, first)
    np.testing.assert_array_equal(which, row.ravel())
