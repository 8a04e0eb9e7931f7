"""Rubrics are values: they can be copied, and sent to other processes."""

import copy
import pickle

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polars_scorio as ps

SIGNALS = pl.DataFrame(
    {
        **{name: [1, 0, 1, 0] for name in ("has_box", "is_correct")},
        "token_ratio": [0.1, 0.4, 0.2, 0.9],
        "repeated_pattern": [0, 0, 0, 1],
        **{name: [1.0, 2.0, 3.0, 4.0] for name in ("prompt_bpt", "completion_bpt")},
        **{name: [0.2, 0.7, 0.1, 0.4] for name in ("A", "B", "C")},
    }
)
OWN = ps.rubrics.rubric(
    "pace", {"slow": pl.col("token_ratio") > 0.3}, otherwise="fast", success="fast"
)


def pickled(rubric: object) -> object:
    return pickle.loads(pickle.dumps(rubric))  # noqa: S301 - our own bytes


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickled])
@pytest.mark.parametrize(
    "rubric", [*ps.rubrics.schemata(A_high_at=0.6, ood_q=0.5), OWN], ids=lambda rubric: rubric.name
)
def test_rubrics_can_be_copied_and_pickled(rubric, copied):
    other = copied(rubric)
    assert_frame_equal(SIGNALS.select(other.expr()), SIGNALS.select(rubric.expr()))
    assert repr(other) == repr(rubric)
    with pytest.raises(TypeError, match="does not support item assignment"):
        other.example["slow"] = 9
