"""Numbers of a question: those of all trials are those of its parts, put together."""

import polars as pl

from polars_scorio.counting.checks import (
    joined_list,
    least_number,
    over_parts,
    over_trials,
    summed_number,
)

TRIALS = pl.DataFrame({"question": [1, 1, 1, 2], "part": [0, 1, 1, 0], "x": [3, 1, None, 5]})
NUMBERS = [
    summed_number("sum", pl.col("x").sum()),
    least_number("least", pl.col("x").min()),
    joined_list("list", pl.col("x").drop_nulls()),
]


def test_parts_add_up_to_the_question():
    whole = TRIALS.group_by("question").agg(over_trials(NUMBERS))
    parts = TRIALS.group_by("question", "part").agg(over_trials(NUMBERS))
    again = parts.group_by("question").agg(over_parts(NUMBERS))
    expected = [(1, 4, 1, [1, 3]), (2, 5, 5, [5])]
    for tally in (whole, again):
        assert tally.with_columns(pl.col("list").list.sort()).sort("question").rows() == expected
