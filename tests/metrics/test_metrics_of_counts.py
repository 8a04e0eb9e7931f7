"""Metrics of counts that are already made: what comes out for each row of counts."""

import numpy as np
import polars as pl
import pytest

import polars_scorio as ps
from polars_scorio.metrics.metric import POSTERIOR, Answer
from tests.made_logs import outcomes

NUMBERS = ["estimate", "mu", "sigma", "lo", "hi"]


@pytest.mark.parametrize(
    "metric", [ps.bayes(), ps.avg(), ps.pass_at_k(2), ps.geom_at_k(2)], ids=str
)
def test_rows_of_counts_have_the_published_numbers_of_a_question(metric):
    found = Answer(metric, 0.8)(np.array([[1, 3], [0, 0], [4, 0]])).struct.unnest()
    expected = [
        outcomes({(4, right): 1}).scorio.report(metric, confidence=0.8, prior="uniform")
        for right in (3, 0)
    ]
    # The same arithmetic on one state: nothing to tolerate.
    assert found[[0, 2]].rows() == pl.concat(expected).select(NUMBERS).rows()
    assert found.row(1) == (None,) * 5


def test_the_estimate_alone_is_a_column_of_floats():
    answer = Answer(ps.pass_at_k(2), posterior=False)
    assert answer.dtype == pl.Float64()
    assert answer(np.array([[1, 1], [0, 1]])).to_list() == [1.0, None]
    assert Answer(ps.pass_at_k(2)).dtype == POSTERIOR


def test_a_negative_power_of_zero_is_refused():
    answer = Answer(ps.geom_at_k(2, unanimous_power=-1), posterior=False)
    with pytest.raises(ValueError, match="a negative power of zero"):
        answer(np.array([[1, 1]]))
