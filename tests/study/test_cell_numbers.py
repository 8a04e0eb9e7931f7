"""Numbers of cells: the columns that they become, and what comes back from those."""

import numpy as np

import polars_scorio as ps
from polars_scorio.maths.price import Price
from polars_scorio.study.cell_numbers import CENTER, PRICE, CellNumbers, read_price

HALF, NONE = np.array([0.5, 0.25]), np.array([np.nan, 0.5])


def test_what_is_not_known_is_null_and_what_no_inference_has_is_no_column():
    columns = CellNumbers("calibrated", NONE, HALF, HALF, HALF, HALF).columns()
    assert columns["estimate"].to_list() == [None, 0.5]
    assert columns.columns == ["estimate", "mu", "sigma", "lo", "hi", "inference"]
    assert columns["inference"].to_list() == ["range", "calibrated"]
    around = CellNumbers("calibrated", NONE, HALF, HALF, HALF, HALF, HALF, HALF)
    assert CENTER in around.columns().columns


def test_a_price_comes_back_from_the_rows_on_the_range_of_the_metric():
    price = Price(HALF, 1 - HALF, HALF, 1 - HALF, HALF / 10, HALF + 1)
    rows = CellNumbers("calibrated", HALF, HALF, HALF, HALF, HALF, price=price).columns()
    assert PRICE in rows.columns
    found = read_price(rows, ps.avg([-1, 3]))
    assert (found.low, found.width, found.bounded) == (-1, 4, True)
    np.testing.assert_array_equal(found.variance, price.variance)
    np.testing.assert_array_equal(found.factor, price.factor)
