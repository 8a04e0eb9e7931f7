"""The smaller draws that bound a metric."""

import numpy as np
import pytest

from polars_scorio.maths.credit_numbers import draw_bounds
from polars_scorio.maths.credits import RootDraw, fixed_gains
from polars_scorio.maths.draws import (
    all_success,
    any_success,
    area_under_curve,
    excess_over_half,
    majority_gains,
)


@pytest.mark.parametrize(
    ("gains", "smaller", "above"),
    [
        (any_success(1), [], True),
        (any_success(5), [(1, False), (2, False), (4, False)], True),
        (any_success(64), [(1, False), (2, False), (4, False), (8, False)], True),
        (all_success(4), [(1, False), (2, True)], False),
        (area_under_curve(4), [(1, False)], True),
        (excess_over_half(4), [(1, False)], False),
        (majority_gains(4), [], False),
        (np.array([0.0, 0.5]), [(1, False)], False),
    ],
)
def test_draws_that_a_question_has_trials_for_bound_a_metric(gains, smaller, above):
    bounds = draw_bounds(fixed_gains(gains), np.array([2, 9]))
    assert [*bounds.smaller] == smaller
    assert bounds.above == above or not smaller


def test_a_bound_holds_for_questions_of_any_rate():
    p = np.linspace(0, 1, 21)
    for gains in (any_success(6), all_success(6), excess_over_half(6)):
        bounds = draw_bounds(fixed_gains(gains), np.array([12]))
        for small in bounds.smaller:
            gap = mean_credit(gains, p) - mean_credit(small.draw_gains()(12), p)
            assert (gap >= -1e-12).all() if bounds.above else (gap <= 1e-12).all()


def mean_credit(gains, p):
    """The expected credit of a draw, from binomial chances."""
    k = gains.size
    count = np.arange(k + 1)
    ways = np.array([1.0, *np.cumprod((k - count[:-1]) / (count[:-1] + 1))])
    chances = ways * p[:, None] ** count * (1 - p[:, None]) ** (k - count)
    return chances @ np.concatenate(([0.0], np.cumsum(gains)))


def test_roots_and_draws_of_all_trials_have_no_bounds():
    assert draw_bounds(RootDraw(2, (0.5, 0.5)), np.array([4])).smaller == ()
    assert draw_bounds(all_success, np.array([4])).smaller == ()
    assert draw_bounds(fixed_gains(all_success(3)), np.array([], np.int64)).itself.k == 3
