"""The tally of a group: the counts of an expression are those of a report."""

import polars as pl
import pytest

from polars_scorio.counting.group_tally import GroupTally
from polars_scorio.counting.roles import Roles

NAN = float("nan")


def counts(values: list, tally: GroupTally, dtype: pl.DataType | None = None) -> list[int]:
    column = pl.DataFrame({"x": pl.Series(values, dtype=dtype)})
    _, *columns = column.select(pl.struct(tally.aggregations(pl.col("x"))).struct.unnest())
    (row,) = tally.counts("x", columns).tolist()
    return row


@pytest.mark.parametrize(
    ("values", "roles", "weighted", "expected"),
    [
        pytest.param([0, 1, 1], {}, None, [1, 2], id="codes"),
        pytest.param([True, None], {"missing": "drop"}, None, [0, 1], id="dropped"),
        pytest.param([True, None], {"missing": 0}, None, [1, 1], id="stand-in"),
        pytest.param(["a", "b", "b"], {"success": "b"}, None, [1, 2], id="labels"),
        pytest.param([2, 0, 2], {}, (0, 1, 2), [1, 0, 2], id="weighted"),
        pytest.param([0.2, 0.5, NAN], {"threshold": 0.5, "missing": 0}, None, [2, 1], id="reward"),
        pytest.param([2**53, 2**53 + 1], {"success": 2**53}, None, [1, 1], id="large integers"),
    ],
)
def test_each_trial_is_in_its_class(values, roles, weighted, expected):
    assert counts(values, GroupTally(Roles(**roles), weighted)) == expected


def test_a_fraction_is_that_of_its_column():
    assert counts([0.1, 0.3], GroupTally(Roles(success=0.1), None), pl.Float32()) == [1, 1]


def test_labels_and_numbers_do_not_mix():
    with pytest.raises(TypeError, match=r"^categories must be all labels or all numbers, got "):
        counts(["a"], GroupTally(Roles(success="a", missing=0), None))
