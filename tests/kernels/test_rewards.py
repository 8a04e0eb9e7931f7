from fractions import Fraction
from itertools import combinations, pairwise, product
from math import comb

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scorio import eval as scorio

from polars_scorio.kernels import batches
from polars_scorio.kernels.dirichlet import weighted_average, weighted_moments
from polars_scorio.kernels.rewards import best_moments, best_of_rewards, expected_best

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
    return batches.weight_range(rewards) * np.sqrt(best_moments(nu, rewards, k)[1])


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


REWARDS = {
    "grades": [0.0, 0.25, 0.5, 1.0],
    "tiny step": [0.0, 1e-12, 0.5, 1.0],
    "tiny top step": [0.0, 1.0, 1 - 1e-12, 0.5],
    "tiny": [1e-12, 3e-12, 0.0, 2e-12],
    "huge": [1e12, 0.0, 5e11, 1e-12],
    "near the root of the largest float": [0.0, 1e155, 3e155, 2e155],
    "shifted": [1e9, 1e9 + 0.25, 1e9 + 0.5, 1e9 + 1],
    "negative": [-1.0, -1e-12, -0.5, -1e9],
    "tied": [0.5, 1.0, 0.5, 0.0],
    "unsorted": [1.0, 0.0, 0.75, 0.5],
}
rewards_of_one_sign = pytest.mark.parametrize("rewards", REWARDS.values(), ids=REWARDS)

COUNTS = [
    [100_000, 0, 0, 0],
    [0, 0, 0, 100_000],
    [99_999, 1, 0, 0],
    [0, 99_999, 0, 1],
    [1, 0, 99_999, 0],
    [25_000, 25_000, 25_000, 25_000],
    [90_000, 9_000, 900, 100],
    [0, 1, 1_022, 1],  # n = 1,024: k = n
]


@rewards_of_one_sign
@pytest.mark.parametrize("k", [1, 2, 64, 1_024])
def test_estimate_is_accurate_in_every_corner(rewards, k):
    levels = sorted({Fraction(reward) for reward in rewards})
    exact = []
    for counts in COUNTS:
        at_most = [
            sum(c for c, r in zip(counts, rewards, strict=True) if r <= level) for level in levels
        ]
        draws = [0, *(comb(f, k) for f in at_most)]
        best = sum(level * (b - a) for level, (a, b) in zip(levels, pairwise(draws), strict=True))
        exact.append(float(best / draws[-1]))
    estimate = expected_best(np.array(COUNTS), np.array(rewards), k)
    np.testing.assert_allclose(estimate, exact, rtol=ACCURATE)
    trials = np.concatenate([np.repeat(rewards, counts) for counts in COUNTS])
    offsets = np.append(0, np.sum(COUNTS, axis=1).cumsum())
    np.testing.assert_allclose(best_of_rewards(trials, offsets, k), exact, rtol=ACCURATE)


PARAMETERS = [
    *(np.array(COUNTS) + 1.0),
    *(np.array(COUNTS) + 1e-3),
    [1e-3, 1e-3, 1e-3, 1e-3],
    [1e6, 1e6, 1e6, 1e6],
    [1e-3, 1e6, 1e6, 1e-3],
    [1e6, 1e-3, 1e-3, 1e6],
    [0.5, 17.25, 3.1, 1e4],
]


def moments_in_many_digits(nu, rewards, k):
    """Mean and sigma from E[g] and E[g^2], as in DESIGN.md, section 5."""
    levels = sorted(set(rewards))
    s = [mpmath.fsum(x for x, r in zip(nu, rewards, strict=True) if r <= level) for level in levels]
    steps = [mpmath.mpf(b) - mpmath.mpf(a) for a, b in pairwise(levels)]

    def power(below, total, k):  # E[A^k], A ~ Beta(below, total - below)
        return mpmath.rf(below, k) / mpmath.rf(total, k)

    deficit = mpmath.fsum(step * power(s[i], s[-1], k) for i, step in enumerate(steps))
    both = []
    for i, j in product(range(len(steps)), repeat=2):
        low, high = min(i, j), max(i, j)
        # A_low = Q A_high, Q ~ Beta(s_low, s_high - s_low) independent of A_high.
        ratio = power(s[low], s[high], k) if low < high else 1
        both.append(steps[i] * steps[j] * ratio * power(s[high], s[-1], 2 * k))
    return levels[-1] - deficit, mpmath.sqrt(mpmath.fsum(both) - deficit**2)


@rewards_of_one_sign
@pytest.mark.parametrize("k", [1, 2, 64, 1_024])
def test_posterior_is_accurate_in_every_corner(rewards, k):
    # E[g^2] - E[g]^2 loses up to 40 digits here: 50 are left of 90.
    with mpmath.workdps(90):
        exact = [moments_in_many_digits(nu, rewards, k) for nu in PARAMETERS]
        exact_mean, exact_sigma = np.array([[float(x) for x in pair] for pair in exact]).T
    mean, _ = best_moments(np.array(PARAMETERS), np.array(rewards), k)
    np.testing.assert_allclose(mean, exact_mean, rtol=ACCURATE)
    # A variance below 1e-308 is zero: sigma below 1e-154 of the spread.
    unseen = 1e-153 * np.ptp(rewards)
    np.testing.assert_allclose(
        sigma(np.array(PARAMETERS), np.array(rewards), k), exact_sigma, rtol=ACCURATE, atol=unseen
    )


@pytest.mark.parametrize("k", [1, 2, 64, 1_024])
def test_estimate_of_real_rewards_is_accurate_for_a_hundred_thousand_trials(k):
    n = 100_000
    millionths = np.random.default_rng(7).geometric(1e-4, size=n)
    draws = total = 0
    for i, reward in enumerate(np.sort(millionths).tolist(), start=1):
        draws = draws * (i - 1) // (i - k) if i > k else int(i == k)  # how many end at rank i
        total += draws * reward
    exact = Fraction(total, comb(n, k) * 10**6)
    # Up to 100,000 factors in the weight of a rank, one rounding each, about half of them up.
    (estimate,) = best_of_rewards(millionths / 1e6, np.array([0, n]), k)
    assert estimate == pytest.approx(float(exact), rel=ACCURATE, abs=0)


@pytest.mark.parametrize("k", [1, 2, 100, 99_999, 100_000])
def test_one_lucky_trial_among_a_hundred_thousand_counts_k_in_n(k):
    # P(a given trial is drawn) = k / n.
    rewards = np.append(5.0, np.zeros(99_999))
    (estimate,) = best_of_rewards(rewards, np.array([0, 100_000]), k)
    assert estimate == pytest.approx(5 * k / 100_000, rel=ACCURATE, abs=0)


@pytest.mark.parametrize(
    ("nu", "rewards", "k"),
    [
        ([1.0, 1.0, 1.0], [0.0, 0.5, 1.0], 2),
        ([3.0, 0.5, 8.0, 2.0], [-1.0, 4.0, 0.0, 0.5], 5),
        ([40.0, 1.0, 1.0], [0.0, 1.0, 10.0], 16),
    ],
)
def test_posterior_agrees_with_simulation(nu, rewards, k):
    order = np.argsort(rewards)
    p = np.random.default_rng(3).dirichlet(nu, size=400_000)[:, order]
    chance = np.diff(np.minimum(p.cumsum(axis=1), 1) ** k, axis=1, prepend=0)  # of each best
    g = chance @ np.array(rewards)[order]
    # Five standard errors of a mean and of a variance; the seed is fixed.
    error = 5 / np.sqrt(g.size)
    squares = (g - g.mean()) ** 2
    (mean,), _ = best_moments(np.array([nu]), np.array(rewards), k)
    (deviation,) = sigma(np.array([nu]), np.array(rewards), k)
    assert mean == pytest.approx(g.mean(), abs=error * g.std())
    assert deviation**2 == pytest.approx(squares.mean(), abs=error * squares.std())


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
        monkeypatch.setattr(batches, "_ROOM", room)
        np.testing.assert_equal(values(), whole)
