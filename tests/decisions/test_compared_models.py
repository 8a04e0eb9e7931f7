"""Rows of a report as arrays with a row for each stratum and a column for each model."""

import numpy as np
import polars as pl

from polars_scorio.decisions.models import ReportRows, strata_blocks

NUMBERS = {"mu": [0.1, 0.2, 0.3, 0.4], "sigma": [1.0, 2.0, 3.0, None]}
ROWS = ReportRows(pl.DataFrame({**NUMBERS, "lo": [0.0] * 4, "hi": [1.0] * 4}))
(BLOCK,) = strata_blocks(pl.Series([0, 0, 1, 1]))
SCORES = None  # the numbers of these rows are those of the report


def test_numbers_are_by_stratum_and_model_and_nan_where_there_is_none():
    mu, sigma, lo, hi = ROWS.model_numbers(BLOCK, SCORES)
    np.testing.assert_array_equal(mu, [[0.1, 0.2], [0.3, 0.4]])
    np.testing.assert_array_equal(sigma, [[1, 2], [3, np.nan]])
    assert not lo.any()
    assert hi.all()


def test_without_a_prior_no_pair_is_decided_by_it():
    a, b = BLOCK.pairs()
    assert ROWS.outweighed_pairs(BLOCK, SCORES, a, b).tolist() == [[False], [False]]
    assert ROWS.number_outweighed(BLOCK, SCORES).tolist() == [0, 0]
