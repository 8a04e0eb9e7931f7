"""Differences of mean rewards: each side reaches as far as its own interval."""

from dataclasses import fields, replace

import numpy as np
import pytest
from scipy.special import ndtri

from polars_scorio.maths.interval import MeasuredPairs
from tests.documents import study_numbers
from tests.maths.logs import reward_variance

CASES = study_numbers("rewards")["differences"]
FIRST = [[0.9, 0.8, 0.7], [0.6, 0.9], [0.5, 0.7, 0.2]]
SECOND = [[0.4, 0.2, 0.7], [0.6, 0.5, 0.1], [0.5, 0.3]]


def ends_by_trials(first, second, bounds, k=1, confidence=0.95):
    one, other = (reward_variance(logs, bounds, k) for logs in (first, second))
    both = {
        each.name: np.concatenate([getattr(side, each.name) for side in (one, other)])
        for each in fields(one)
    }
    place = np.array([0])
    pairs = MeasuredPairs.from_side(replace(one, **both), [None], place, place + 1)
    return np.ravel(pairs.ends(np.array([[-ndtri((1 - confidence) / 2)]]))).tolist()


def test_differences_equal_the_vectors_of_the_study():
    for case in CASES:
        options = case["options"]
        ends = ends_by_trials(case["first"], case["second"], options["bounds"], options["k"])
        assert ends == pytest.approx([case["result"]["lo"], case["result"]["hi"]], abs=1e-9)


def test_the_difference_of_the_other_order_is_mirrored():
    lo, hi = ends_by_trials(FIRST, SECOND, (0, 1))
    assert ends_by_trials(SECOND, FIRST, (0, 1)) == pytest.approx([-hi, -lo], abs=1e-12)


def test_rewards_and_range_may_be_rescaled():
    lo, hi = ends_by_trials(FIRST, SECOND, (0, 1))
    rescaled = [[[10 * x - 3 for x in rewards] for rewards in logs] for logs in (FIRST, SECOND)]
    assert ends_by_trials(*rescaled, (-3, 7)) == pytest.approx([10 * lo, 10 * hi], abs=1e-8)
