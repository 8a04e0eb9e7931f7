"""Numbers as tables and pages write them."""

import polars as pl
import pytest

from polars_scorio.display.number_format import MISSING, Scale, probability_text, sigma_values


@pytest.mark.parametrize(
    ("values", "scale"),
    [
        ([0.2, 1.0], Scale(percent=True, digits=1)),
        ([0.2, 1.5], Scale(percent=False, digits=3)),
        ([-0.2, 0.5], Scale(percent=False, digits=3)),
    ],
)
def test_numbers_within_zero_and_one_are_percentages(values, scale):
    assert Scale.of(values, [0.02]) == scale


def test_a_number_that_is_missing_is_a_dash():
    scale = Scale(percent=True, digits=1)
    assert scale.cell(None, None, None) == MISSING
    assert scale.text(-0.0001) == "0.0"
    assert probability_text(None) == MISSING


def test_sigma_is_a_quarter_of_an_interval_if_it_is_missing():
    rows = pl.DataFrame({"sigma": [0.5, None], "lo": [0.0, 0.0], "hi": [1.0, 1.0]})
    assert sigma_values(rows) == [0.5, 0.25]
