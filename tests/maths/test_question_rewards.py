"""Questions by their rewards: sums, the noise of single trials, clusters."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t

from tests.differences import cluster_means, plus_two
from tests.maths.logs import question_rewards

LOG = [[0.1, 0.6, 0.4], [0.9, 0.2], [0.7], [0.3], [0.8, 0.1, 0.1, 0.2]]


@given(st.permutations(range(5)))
def test_the_order_of_questions_changes_no_bit(order):
    shuffled = question_rewards([LOG[i] for i in order], (0, 1))
    for name in ("mean", "size"):
        one, other = getattr(shuffled, name), getattr(question_rewards(LOG, (0, 1)), name)
        assert one.tobytes() == other.tobytes()
    for end, other in zip(
        shuffled.sample().bounds(0.95),
        question_rewards(LOG, (0, 1)).sample().bounds(0.95),
        strict=True,
    ):
        assert end.tobytes() == other.tobytes()


def test_single_trials_have_the_larger_of_two_variances():
    questions = question_rewards(LOG, (0, 1))
    within = np.mean([np.var(rewards, ddof=1) for rewards in LOG if len(rewards) > 1])
    single = questions.full_noise()[questions.trials == 1]
    assert single == pytest.approx([within, within])  # between .7 and .3 it is .08
    far = question_rewards([[0.5, 0.5], [0.0], [1.0]], (0, 1))
    assert far.full_noise().tolist() == [0.5, 0.5, 0.0]


def test_questions_without_noise_are_those_of_equal_or_single_trials():
    questions = question_rewards([[0.7, 0.7, 0.7], [0.7], [0.7, 0.6]], (0, 1))
    assert questions.silent[np.argsort(questions.trials)].tolist() == [True, False, True]


@pytest.mark.parametrize("clusters", [None, [4, 3, 2, 1, 0], [0, 0, 1, 1, 1]])
def test_a_population_has_one_more_reward_at_either_end(clusters):
    questions = question_rewards(LOG, (0, 1))
    means, shares = questions.values, None
    if clusters:
        questions = replace(questions, cluster=np.array(clusters))
        means, shares = cluster_means(questions.values, clusters)
    centre, sigma, freedom = plus_two(means, (0, 1), shares)
    reach = t.ppf(0.975, freedom) * sigma
    found = [each.item() for each in questions.sample().bounds(0.95)]
    # Sums in another order.
    expected = max(centre - reach, 0), min(centre + reach, 1), sigma
    assert found == pytest.approx(expected, rel=1e-12)


def test_one_cluster_tells_nothing_of_others():
    questions = replace(question_rewards(LOG, (0, 1)), cluster=np.zeros(5, dtype=int))
    assert np.isnan(questions.sample().bounds(0.95)).all()
