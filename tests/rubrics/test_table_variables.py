"""The variables of table 4, one by one; the schemata test their combinations."""

import polars as pl
import pytest

from polars_scorio.rubrics.reading import Reading, Variables

# Bits 1..10 of ten attempts, of which the even ones are correct.
LOG = pl.DataFrame(
    {
        "completion_bpt": [float(bits) for bits in range(1, 11)],
        "is_correct": [0, 1] * 5,
        "has_box": [1, 1, 1, 1, 1, 0, 0, 0, 0, None],
        "repeated_pattern": [1] + [0] * 9,
        "C": [0.1] * 8 + [0.5, None],
        "A": [0.5] * 3 + [0.4] * 7,
        "B": [0.1] * 10,
    }
)
VARIABLES = Variables(Reading(), lambda _, percentile: percentile)


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("invalid", [1, 9]),
        ("correct", [2, 4, 6, 8, 10]),
        ("wrong", [1, 3, 5, 7, 9]),
        ("boxed", [1, 2, 3, 4, 5]),
        ("unboxed", [6, 7, 8, 9]),
        ("high_conf", [1, 2, 3, 4]),  # at most percentile 40: 4.6
        ("low_conf", [5, 6, 7, 8, 9, 10]),
        ("wrong_high_conf", [1, 3, 5]),  # at most percentile 60 of 1, 3, 5, 7, 9: 5.8
        ("wrong_low_conf", [7, 9]),
        ("correct_high_conf", [2, 4]),  # at most percentile 33 of 2, 4, 6, 8, 10: 4.64
        ("correct_mid_conf", [6]),  # at most percentile 66: 7.28
        ("correct_low_conf", [8, 10]),
        ("A_high", [1, 2, 3]),
        ("A_low", [4, 5, 6, 7, 8, 9, 10]),
        ("high_B", [1, 2, 3, 4, 5, 6, 7, 8]),
    ],
)
def test_a_variable_holds_for_these_rows(name, rows):
    held = LOG.select(getattr(VARIABLES, name)).to_series()
    assert [place for place, value in enumerate(held, 1) if value] == rows
