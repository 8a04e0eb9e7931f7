"""Did trials stop on their outcomes, or follow difficulty?"""

import numpy as np

from polars_scorio.kernels.calibrated.stopping_test import (
    follows_difficulty,
    stopped_in_a_pattern,
    stopped_in_order,
    stopping,
)


def states(*rows):
    return tuple(np.array(rows).T)


RETRIED = states((1, 1, 6), (2, 1, 3), (4, 0, 4), (4, 2, 1))  # until the first success
GIVEN_UP = states((3, 2, 4), (2, 1, 3), (6, 6, 9))  # until the first failure
HARDER = states((4, 4, 20), (4, 3, 10), (16, 2, 10), (16, 1, 20))
UNRELATED = states((4, 4, 9), (4, 0, 9), (4, 2, 9), (8, 8, 9), (8, 0, 9), (8, 4, 9))


def test_a_pattern_needs_one_count_among_those_with_fewer_trials():
    assert stopped_in_a_pattern(*RETRIED)
    assert stopped_in_a_pattern(*GIVEN_UP)
    assert not stopped_in_a_pattern(*HARDER)
    assert not stopped_in_a_pattern(*states((1, 1, 4), (4, 2, 9)))  # four are too few
    assert not stopped_in_a_pattern(*states((4, 1, 9), (4, 2, 9)))  # equal n


def test_the_last_trial_gives_outcomes_away():
    last, others = np.array([1.0] * 12 + [0, 0]), np.array([0.0] * 12 + [0.5, np.nan])
    assert stopped_in_order(last, others)  # 11.5 / sqrt(12.25) = 3.3
    assert not stopped_in_order(last[:9], others[:9])  # exactly 3
    assert not stopped_in_order(np.zeros(3), np.zeros(3))


def test_difficulty():
    assert follows_difficulty(*HARDER)
    assert not follows_difficulty(*UNRELATED)
    assert not follows_difficulty(*states((3, 1, 1)))
    assert not follows_difficulty(*states((3, 1, 9), (6, 2, 9)))  # all as hard


def test_what_is_reported():
    assert stopping(*RETRIED) == "outcomes"
    assert stopping(*HARDER) == "difficulty"
    assert stopping(*HARDER, order=(np.ones(10), np.zeros(10))) == "outcomes"
    assert stopping(*UNRELATED) is None
    # Equal n: nothing can have followed anything, whatever the order says.
    assert stopping(*states((4, 4, 9)), order=(np.ones(10), np.zeros(10))) is None
