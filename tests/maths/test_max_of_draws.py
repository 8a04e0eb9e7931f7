"""None"""

from fractions import Fraction
from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scorio import eval as scorio

from polars_scorio.maths import array_rows
from polars_scorio.maths.best_of import best_moments, expected_best
from polars_scorio.maths.posteriors import weighted_average, weighted_moments
from polars_scorio.maths.reward_variances import best_of_rewards

# Sums and products of at most 12 trials and rewards of at most 5: a few units in the last
# place of 5, also where rewards of different sign cancel.
CLOSE = {"rtol": 1e-13, "atol": 1e-14}
# The target is 1e-9; k = 1,024 steps of one rounding each stay near 1e-13.
ACCURATE = 1e-12

EIGHTHS = st.integers(-40, 40).map(lambda i: i / 8)  # exact, and often tied


@st.composite
def samples(draw):
    """One state of at most nine trials: counts (1, L), rewards (L,), k <= n."""
    rewards = draw(st.lists(EIGHTHS, min_size=1, max_size=5))
    codes = draw(st.lists(st.integers(0, len(rewards) - 1), min_size=1, max_size=9))
    k = draw(st.integers(1, len(codes)))
    return np.bincount(codes, minlength=len(rewards))[None], np.array(rewards), k


@st.composite
def posteriors(draw):
    """Two states: nu (2, L), rewards (L,), any k."""
    size = draw(st.integers(1, 5))
    nu = draw(st.lists(st.floats(0.01, 100), min_size=2 * size, max_size=2 * size))
    rewards = draw(st.lists(EIGHTHS, min_size=size, max_size=size))
    return np.reshape(nu, (2, size)), np.array(rewards), draw(st.integers(1, 20))


def sigma(nu, rewards, k):
    return array_rows.weight_range(rewards) * np.sqrt(best_moments(nu, rewards, k)[1])


# DESIGN.md, section 7: R2 and R1, k = 2, printed to 6 digits.
@pytest.mark.parametrize(
    ("counts", "rewards", "estimate", "moments"),
    [
        ([[1, 2, 2], [1, 2, 2]], [0.0, 0.5, 1.0], 0.85, (0.75, 0.08812)),
        ([[2, 3], [1, 4]], [0.0, 1.0], 0.95, (0.839286, 0.097263)),
    ],
)
def test_reproduces_published_numbers(counts, rewards, estimate, moments):
    counts, rewards = np.array(counts), np.array(rewards)
    # Half a unit of the sixth digit, the last that is printed.
    assert expected_best(counts, rewards, 2).mean() == pytest.approx(estimate, abs=5e-7)
    mean, variance = best_moments(counts + 1.0, rewards, 2)
    # Half a unit of the sixth digit again.
    assert (mean.mean(), np.sqrt(variance.sum()) / 2) == pytest.approx(moments, abs=5e-7)


@given(samples())
def test_estimate_is_the_mean_best_over_every_possible_draw(sample):
    counts, rewards, k = sample
    trials = np.repeat(rewards, counts[0])
    oracle = np.mean([max(drawn) for drawn in combinations(trials, k)])
    best = best_of_rewards(trials, np.array([0, trials.size]), k)
    np.testing.assert_allclose(expected_best(counts, rewards, k), oracle, **CLOSE)
    np.testing.assert_allclose(best, oracle, **CLOSE)


@given(st.lists(st.lists(EIGHTHS, max_size=7), max_size=6), st.integers(1, 5))
def test_each_question_is_averaged_over_its_own_draws(questions, k):
    offsets = np.cumsum([0, *map(len, questions)])
    rewards = np.array([reward for question in questions for reward in question])
    oracle = [
        np.mean([max(drawn) for drawn in combinations(question, k)])
        if len(question) >= k
        else np.nan
        for question in questions
    ]
    np.testing.assert_allclose(best_of_rewards(rewards, offsets, k), oracle, **CLOSE)


@pytest.mark.parametrize(
    ("n", "c", "k"),
    [(100_000, c, k) for c in (0, 1, 1_000, 50_000, 99_999, 100_000) for k in (1, 64, 1_024)]
    + [(1_024, 1, 1_024), (1_024, 1_023, 1_024), (5, 3, 2)],
)
def test_rewards_zero_and_one_are_pass_at_k(n, c, k):
    exact = 1 - Fraction(comb(n - c, k), comb(n, k))  # Chen et al. (2021), eq. 1
    (estimate,) = expected_best(np.array([[c, n - c]]), np.array([1.0, 0.0]), k)
    assert estimate == pytest.approx(float(exact), rel=ACCURATE, abs=0)


@pytest.mark.parametrize("seed", range(20))
def test_agrees_with_scorio(seed):
    rng = np.random.default_rng(seed)
    m, n, prior, size = rng.integers(1, [9, 13, 5, 6])
    size += 1
    outcomes, earlier = rng.integers(size, size=(m, n)), rng.integers(size, size=(m, prior))
    rewards = np.round(rng.normal(size=size), 1)  # sometimes tied
    k = int(rng.integers(1, n + 1))
    counts, before = (
        np.stack([(matrix == j).sum(axis=1) for j in range(size)], axis=1)
        for matrix in (outcomes, earlier)
    )
    estimate = expected_best(counts, rewards, k).mean()
    mean, _ = best_moments(1.0 + counts + before, rewards, k)
    deviation = np.sqrt((sigma(1.0 + counts + before, rewards, k) ** 2).sum()) / m
    mu, s, _, _ = scorio.max_at_k_ci(outcomes, k, rewards, earlier)
    # The reference takes variances as differences: up to 1e-9 of them is lost.
    assert estimate == pytest.approx(scorio.max_at_k(outcomes, k, rewards), rel=1e-11, abs=1e-12)
    assert (mean.mean(), deviation) == pytest.approx((mu, s), rel=1e-9, abs=1e-12)


@given(samples())
def test_the_best_of_one_is_the_weighted_average(sample):
    counts, rewards, _ = sample
    np.testing.assert_allclose(
        expected_best(counts, rewards, 1), weighted_average(counts, rewards), **CLOSE
    )


@given(posteriors())
def test_the_posterior_of_the_best_of_one_is_that_of_the_weighted_average(posterior):
    nu, rewards, _ = posterior
    np.testing.assert_allclose(best_moments(nu, rewards, 1), weighted_moments(nu, rewards), **CLOSE)


@given(samples())
def test_the_best_of_all_trials_is_the_best_reward_seen(sample):
    counts, rewards, _ = sample
    best = rewards[counts[0] > 0].max()
    np.testing.assert_allclose(expected_best(counts, rewards, int(counts.sum())), best, **CLOSE)


@given(samples())
def test_more_trials_are_never_worse(sample):
    counts, rewards, _ = sample
    best = [expected_best(counts, rewards, k).item() for k in range(1, counts.sum() + 1)]
    assert np.all(np.diff(best) >= -CLOSE["atol"])


@given(posteriors(), st.permutations(range(5)))
def test_the_order_of_the_categories_is_irrelevant(posterior, order):
    nu, rewards, k = posterior
    order = [j for j in order if j < rewards.size]
    np.testing.assert_allclose(
        best_moments(nu[:, order], rewards[order], k), best_moments(nu, rewards, k), **CLOSE
    )
    counts = nu.astype(np.int64)
    np.testing.assert_array_equal(
        expected_best(counts[:, order], rewards[order], k), expected_best(counts, rewards, k)
    )


@given(posteriors())
def test_categories_of_equal_reward_are_one(posterior):
    nu, rewards, k = posterior
    np.testing.assert_allclose(
        best_moments(np.hstack([nu / 4, 0.75 * nu]), np.tile(rewards, 2), k),
        best_moments(nu, rewards, k),
        **CLOSE,
    )


@given(posteriors(), st.sampled_from([1e-12, 3.0, 1e12, 1e155]))
def test_the_unit_of_the_rewards_scales_the_mean_and_leaves_the_variance(posterior, unit):
    nu, rewards, k = posterior
    mean, variance = best_moments(nu, rewards, k)
    scaled_mean, scaled_variance = best_moments(nu, unit * rewards, k)
    np.testing.assert_allclose(scaled_mean / unit, mean, **CLOSE)
    np.testing.assert_allclose(scaled_variance, variance, **CLOSE)


@given(posteriors())
def test_a_shift_of_the_rewards_costs_no_digit_of_the_spread(posterior):
    nu, rewards, k = posterior
    mean, variance = best_moments(nu, rewards, k)
    shifted_mean, shifted_variance = best_moments(nu, rewards + 1e9, k)
    # Eighths survive a shift of 1e9; one unit in its last place is 1.2e-7.
    np.testing.assert_allclose(shifted_mean - 1e9, mean, atol=1.3e-7, rtol=0)
    np.testing.assert_allclose(shifted_variance, variance, **CLOSE)


@given(samples())
def test_a_shift_of_the_rewards_costs_no_digit_of_the_estimate(sample):
    counts, rewards, k = sample
    trials, offsets = np.repeat(rewards, counts[0]), np.array([0, counts.sum()])
    best = expected_best(counts, rewards, k)
    for shift in (1e9, -1e9):
        shifted = expected_best(counts, rewards + shift, k)
        # Eighths survive a shift of 1e9; one unit in its last place is 1.2e-7.
        np.testing.assert_allclose(shifted - shift, best, atol=1.3e-7, rtol=0)
        shifted = best_of_rewards(trials + shift, offsets, k)
        # The same unit in the last place of 1e9.
        np.testing.assert_allclose(shifted - shift, best, atol=1.3e-7, rtol=0)


@given(posteriors())
def test_variance_is_never_negative_and_mean_lies_among_the_rewards(posterior):
    nu, rewards, k = posterior
    mean, variance = best_moments(nu, rewards, k)
    assert np.all(variance >= 0)
    assert np.all(variance <= 0.25)  # Popoviciu: a quarter of the squared range
    assert np.all((mean >= rewards.min() - 1e-14) & (mean <= rewards.max() + 1e-14))


def test_a_draw_larger_than_the_trials_has_no_estimate():
    counts = np.array([[1, 1], [2, 1], [0, 0]])
    best = expected_best(counts, np.array([0.0, 1.0]), 3)
    np.testing.assert_array_equal(best, [np.nan, 1.0, np.nan])
    best = best_of_rewards(np.array([0.0, 1.0, 0.0, 1.0, 0.0]), np.array([0, 2, 5, 5]), 3)
    np.testing.assert_array_equal(best, [np.nan, 1.0, np.nan])


@pytest.mark.parametrize("rewards", [[0.7], [0.7, 0.7, 0.7], [-1e155, -1e155]])
def test_one_level_is_certain(rewards):
    counts, rewards = np.full((2, len(rewards)), 3), np.array(rewards)
    np.testing.assert_array_equal(expected_best(counts, rewards, 2), [rewards[0]] * 2)
    mean, variance = best_moments(counts + 1.0, rewards, 2)
    np.testing.assert_array_equal([mean, variance], [[rewards[0]] * 2, [0.0, 0.0]])


def test_no_states_give_no_values():
    rewards = np.array([0.0, 0.5, 1.0])
    assert expected_best(np.empty((0, 3), dtype=np.int64), rewards, 2).shape == (0,)
    assert [x.shape for x in best_moments(np.empty((0, 3)), rewards, 2)] == [(0,), (0,)]
    assert best_of_rewards(np.empty(0), np.array([0]), 2).shape == (0,)


def test_the_widest_rewards_there_are_do_not_overflow():
    rewards = np.array([-1.7e308, 1.7e308])
    best = expected_best(np.array([[1, 1], [1, 3]]), rewards, 1)
    # Two or three roundings; the zero is exact.
    np.testing.assert_allclose(best, [0.0, 0.85e308], rtol=1e-15)
    assert best_of_rewards(rewards, np.array([0, 2]), 1).item() == 0.0
    with pytest.raises(ValueError, match=r"apart, got -1\.7e\+308 and 1\.7e\+308"):
        best_moments(np.array([[1.0, 3.0]]), rewards, 2)


def test_a_reward_per_category_is_required():
    with pytest.raises(ValueError, match=r"got \(1, 3\) and \(2,\)"):
        expected_best(np.array([[1, 2, 3]]), np.array([0.0, 1.0]), 1)
    with pytest.raises(ValueError, match=r"got \(1, 1\) and \(2,\)"):
        best_moments(np.array([[1.0]]), np.array([0.0, 1.0]), 1)


@pytest.mark.slow
def test_batches_leave_no_trace(monkeypatch):
    rng = np.random.default_rng(5)
    counts, rewards = rng.integers(0, 9, size=(200, 12)), rng.random(12)
    trials, offsets = rng.normal(size=300), np.sort(np.append(rng.integers(0, 301, 49), [0, 300]))

    def values():
        return [
            expected_best(counts, rewards, 7),
            *best_moments(counts + 1.0, rewards, 7),
            best_of_rewards(trials, offsets, 3),
        ]

    whole = values()
    # One state, then three at a time. Bit by bit: Polars cuts the states differently from run
    # to run. Twelve categories, for NumPy changes the order of its sums from eight on.
    for room in (12, 36):
        monkeypatch.setattr(array_rows, "CELLS", room)
        np.testing.assert_equal(values(), whole)
