from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from polars_scorio.maths.cost_means import QuestionCosts, expected_tries

TRIALS = st.lists(
    st.tuples(st.booleans(), st.integers(0, 40).map(lambda eighths: eighths / 8)),
    min_size=1,
    max_size=6,
)


def costs_of(trials):
    """The costs of one question, from its pairs of success and cost."""
    success, cost = (np.array(each, dtype=float) for each in zip(*trials, strict=True))
    sums = (cost.sum(), (cost**2).sum(), cost.max(), success @ cost, success @ cost**2)
    n, c = np.array([len(trials)]), np.array([int(success.sum())])
    return QuestionCosts(
        0 * n, 1, 0 * n, 1.0 + 0 * n, None, n, c, *(np.array([each]) for each in sums)
    )


def spent_until_success(order, k):
    """What an order of trials costs until its first success, in at most k tries."""
    spent = 0.0
    for success, cost in order[:k]:
        spent += cost
        if success:
            break
    return spent


@given(TRIALS, st.integers(1, 6))
def test_spending_is_the_mean_over_every_order_of_the_trials(trials, k):
    values = costs_of(trials).until_success(k)
    if k > len(trials):
        assert np.isnan(values.x[0])
        assert np.isnan(values.y[0])
        return
    orders = [*permutations(trials)]
    spent = np.mean([spent_until_success(order, k) for order in orders])
    solved = np.mean([any(success for success, _ in order[:k]) for order in orders])
    assert values.x[0] == pytest.approx(spent, abs=1e-12)
    assert values.y[0] == pytest.approx(solved, abs=1e-12)


@given(TRIALS.filter(lambda trials: len(trials) > 1), st.integers(1, 5))
def test_the_noise_is_that_of_the_jackknife(trials, k):
    n = len(trials)
    values = costs_of(trials).until_success(k)
    if n <= k:
        assert np.isnan(values.noise).all()
        return
    without = [costs_of([*trials[:i], *trials[i + 1 :]]).until_success(k) for i in range(n)]
    both = np.array([[each.x[0], each.y[0]] for each in without])
    moments = (n - 1) * np.cov(both.T, bias=True)
    expected = [moments[0, 0], moments[0, 1], moments[1, 1]]
    np.testing.assert_allclose(values.noise[:, 0], expected, rtol=1e-9, atol=1e-11)


@given(TRIALS.filter(lambda trials: len(trials) > 1))
def test_one_try_is_one_trial(trials):
    costs = costs_of(trials)
    once, mean = costs.until_success(1), costs.per_success()
    np.testing.assert_allclose([once.x, once.y], [mean.x, mean.y], rtol=1e-12)
    np.testing.assert_allclose(once.noise, mean.noise, rtol=1e-9, atol=1e-12)


def test_trials_that_all_cost_the_same_have_no_noise_of_cost():
    values = costs_of([(True, 0.1), (False, 0.1), (False, 0.1)]).per_trial()
    assert values.noise[0, 0] == 0
    assert values.y[0] == 1


def test_a_single_trial_has_no_noise_that_is_known():
    assert np.isnan(costs_of([(True, 2.0)]).per_success().noise).all()


# The vectors of the method, from an implementation of its own.
@pytest.mark.parametrize(
    ("k", "spending"),
    [
        (1, [1.5, 1.1, 1.375, 1.575, 1.5]),
        (2, [3.0, 1.1, 2.375, 2.5392857142857137, 1.7333333333333332]),
    ],
)
def test_reproduces_spending_of_another_implementation(k, spending):
    n, c = np.array([4, 4, 4, 8, 6]), np.array([0, 4, 1, 3, 5])
    won, lost = np.array([0.0, 4.4, 1.0, 3.6, 7.0]), np.array([6.0, 0.0, 4.5, 9.0, 2.0])
    costs = QuestionCosts(
        0 * n, 1, 0 * n, 1.0 + 0 * n, None, n, c, won + lost, won**2 + lost**2, won, won, won**2
    )
    np.testing.assert_allclose(costs.until_success(k).x, spending, rtol=1e-12)


def test_tries_beyond_the_trials_are_none():
    won, lost = expected_tries(np.array([3]), np.array([1]), 4)
    assert (won[0], lost[0]) == (0, 0)
