"""Metrics of counts that are already made: what comes out for each row of counts."""

from threading import Thread

import numpy as np
import polars as pl
import pytest

import polars_scorio as ps
from polars_scorio.metrics.metric import (
    INFINITE,
    POSTERIOR,
    DrawMetric,
    MetricOfCounts,
    number_column,
    quiet_infinities,
)
from tests.made_logs import long, outcomes

NUMBERS = ["estimate", "mu", "sigma", "lo", "hi"]


@pytest.mark.parametrize(
    "metric", [ps.bayes(), ps.avg(), ps.pass_at_k(2), ps.geom_at_k(2)], ids=str
)
def test_rows_of_counts_have_the_published_numbers_of_a_question(metric):
    found = MetricOfCounts(metric, 0.8)(np.array([[1, 3], [0, 0], [4, 0]])).struct.unnest()
    expected = [
        outcomes({(4, right): 1}).scorio.report(metric, confidence=0.8, prior="uniform")
        for right in (3, 0)
    ]
    # The same arithmetic on one state: nothing to tolerate.
    assert found[[0, 2]].rows() == pl.concat(expected).select(NUMBERS).rows()
    assert found.row(1) == (None,) * 5


def test_the_estimate_alone_is_a_column_of_floats():
    answer = MetricOfCounts(ps.pass_at_k(2), posterior=False)
    assert answer.dtype == pl.Float64()
    assert answer(np.array([[1, 1], [0, 1]])).to_list() == [1.0, None]
    assert MetricOfCounts(ps.pass_at_k(2)).dtype == POSTERIOR


def test_a_negative_power_of_zero_is_refused():
    answer = MetricOfCounts(ps.geom_at_k(2, unanimous_power=-1), posterior=False)
    with pytest.raises(ValueError, match="a negative power of zero"):
        answer(np.array([[1, 1]]))


# The common form of the metrics of draws, and what tells a curve over thresholds from it.


def test_the_gains_of_a_draw_are_those_of_its_size():
    draw = ps.pass_at_k(3).draw(3)
    np.testing.assert_array_equal(draw(10), [1, 0, 0])
    every = ps.maj_at_k().draw(None)
    np.testing.assert_array_equal(every(3), [0, 1, 0])
    np.testing.assert_array_equal(every(5), [0, 0, 1, 0, 0])


def test_only_a_draw_without_size_takes_all_trials():
    assert ps.maj_at_k().all_trials
    assert not ps.maj_at_k(3).all_trials


def test_a_curve_has_one_draw_size_and_several_thresholds():
    curve = ps.tail_pass(4, [3, 2])
    assert isinstance(curve, DrawMetric)
    assert (curve.k, curve.t, curve.row_sizes) == ((4,), (2, 3), (2, 3))
    assert (curve.name, curve.at_row(0).row_sizes) == ("tail_pass(k=4)", (2,))
    np.testing.assert_array_equal(curve.draw(3)(10), [0, 0, 1, 0])


# Summaries of metrics: columns of their numbers, and what they leave alone.


def test_what_another_thread_ignores_stays_ignored():
    # NumPy 1 counts the threads that ignore something, and Polars evaluates groups in several.
    log = long([[0, 1]])
    with np.errstate(divide="ignore"):
        other = Thread(target=ps.scorio(log).bayes)
        other.start()
        other.join()
        assert np.divide(1.0, np.zeros(1)).item() == np.inf


def test_a_number_that_is_not_known_is_null():
    column = number_column(np.array([0.5, np.nan, np.inf]))
    assert column.to_list() == [0.5, None, np.inf]


def test_only_metrics_that_can_be_infinite_silence_numpy():
    negative, plain = ps.geom_ds_at_k(2, pass_power=-1), ps.geom_ds_at_k(2)
    with quiet_infinities(negative):
        assert np.divide(1.0, np.zeros(1)).item() == np.inf
    with quiet_infinities(plain), pytest.warns(RuntimeWarning, match="divide by zero"):
        np.divide(1.0, np.zeros(1))


def test_an_infinite_number_or_a_lost_sigma_is_infinite():
    rows = pl.DataFrame({"estimate": [0.5, np.inf, 0.5], "mu": 0.5, "sigma": [0.1, 0.1, None]})
    assert rows.select(INFINITE).to_series().to_list() == [False, True, True]
