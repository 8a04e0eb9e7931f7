"""Means over the strata of a model, as aggregations."""

import polars as pl
import pytest

from polars_scorio.study.cell_numbers import error_of_mean, mean_of_strata


def test_a_model_that_lacks_a_number_in_a_stratum_has_no_mean():
    rows = pl.DataFrame({"model": ["a", "a", "b", "b"], "mu": [0.2, 0.6, 0.5, None]})
    means = rows.group_by("model", maintain_order=True).agg(mean_of_strata("mu"))
    assert means.rows() == [("a", pytest.approx(0.4)), ("b", None)]


def test_errors_of_strata_add_up_as_squares():
    rows = pl.DataFrame({"model": ["a", "a"], "sigma": [3.0, 4.0]})
    error = rows.group_by("model").agg(error_of_mean("sigma"))["sigma"].item()
    assert error == pytest.approx(5 / 2)
