"""The common form of the metrics of draws, and what tells a curve over thresholds from it."""

import numpy as np

import polars_scorio as ps
from polars_scorio.metrics.metric import DrawMetric


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
