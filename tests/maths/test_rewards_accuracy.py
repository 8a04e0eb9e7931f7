"""Rewards: accurate to 12 digits at every corner."""

from fractions import Fraction
from itertools import pairwise, product
from math import comb

import mpmath
import numpy as np
import pytest

from polars_scorio.maths import array_rows
from polars_scorio.maths.best_of import best_moments, expected_best
from polars_scorio.maths.reward_variances import best_of_rewards

# The target is 1e-9; k = 1,024 steps of one rounding each stay near 1e-13.
ACCURATE = 1e-12


def sigma(nu, rewards, k):
    return array_rows.weight_range(rewards) * np.sqrt(best_moments(nu, rewards, k)[1])


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


@pytest.mark.every(3)
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
