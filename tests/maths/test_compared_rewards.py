"""Differences of mean rewards: each side reaches as far as its own interval."""

import numpy as np
import pytest
from scipy.special import ndtri

from polars_scorio.maths.reward_variances import ComparedRewards
from polars_scorio.maths.variance_estimates import PairedNoise, interval_ends
from tests.documents import study_numbers
from tests.maths.logs import reward_variance

CASES = study_numbers("rewards")["differences"]
FIRST = [[0.9, 0.8, 0.7], [0.6, 0.9], [0.5, 0.7, 0.2]]
SECOND = [[0.4, 0.2, 0.7], [0.6, 0.5, 0.1], [0.5, 0.3]]


def ends_by_trials(first, second, bounds, k=1, confidence=0.95):
    sides = [ComparedRewards(reward_variance(logs, bounds, k)) for logs in (first, second)]
    c = np.array([-ndtri((1 - confidence) / 2)])
    no_pairs = PairedNoise(np.array([np.nan]), np.array([1.0]))
    reaches = sides[0].reach(c), sides[1].reach(c)
    ends = interval_ends(*sides, reaches, no_pairs, np.array([False]), c)
    return [end.item() for end in ends]


def test_differences_equal_the_vectors_of_the_study():
    on_these = [case for case in CASES if case["options"]["target"] == "benchmark"]
    assert on_these
    for case in on_these:
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


def test_lower_ends_are_those_of_the_interval():
    noisy = reward_variance(FIRST, (-1, 3))
    lower = ComparedRewards(noisy).ends(np.array([0.025]))[0].item()
    assert lower == pytest.approx(-1 + 4 * noisy.ends(0.025)[0].item(), rel=1e-12)
