"""Numbers as tables and pages write them."""

import polars as pl
import pytest

import polars_scorio as ps
from polars_scorio.display.phrases import (
    MISSING,
    NumberFormat,
    probability_text,
    sigma_values,
)


@pytest.mark.parametrize(
    ("values", "scale"),
    [
        ([0.2, 1.0], NumberFormat(percent=True, digits=1)),
        ([0.2, 1.5], NumberFormat(percent=False, digits=3)),
        ([-0.2, 0.5], NumberFormat(percent=False, digits=3)),
    ],
)
def test_numbers_within_zero_and_one_are_percentages(values, scale):
    assert NumberFormat.from_values(values, [0.02]) == scale


def test_a_number_that_is_missing_is_a_dash():
    scale = NumberFormat(percent=True, digits=1)
    assert scale.cell(None, None, None) == MISSING
    assert scale.text(-0.0001) == "0.0"
    assert probability_text(None) == MISSING


def test_sigma_is_a_quarter_of_an_interval_if_it_is_missing_or_less():
    rows = pl.DataFrame({"sigma": [0.5, None, 0.001], "lo": 0.0, "hi": 1.0})
    assert sigma_values(rows) == [0.5, 0.25, 0.25]


def test_all_right_has_no_more_digits_than_its_interval_deserves():
    log = pl.DataFrame({"model": "ada", "question": [1, 2, 3, 4] * 4, "category": 1})
    rows = log.scorio(trial=None).report(ps.avg(), ps.pass_at_k(4), ps.pass_hat_k(4))
    texts = [NumberFormat.from_values([mu], sigma_values(rows[[place]])).text(mu)
             for place, mu in enumerate(rows["estimate"])]  # fmt: skip
    assert texts == ["100.0"] * 3
