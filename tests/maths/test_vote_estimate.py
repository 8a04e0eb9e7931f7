"""The variance of votes: unbiased for one vote, not too low for more, and at the bounds."""

from itertools import product
from math import factorial, prod

import numpy as np
import pytest
from scipy.special import betaincinv

from polars_scorio.maths.ballots import (
    Ballots,
    Votes,
    vote_estimate,
    vote_noise,
    vote_success,
    vote_variance,
)
from polars_scorio.maths.questions import Subgroups


def ballots(votes, abstained=0):
    """Questions of which the first answer is right."""
    votes = np.atleast_2d(votes)
    right = np.zeros(votes.shape, dtype=bool)
    right[:, 0] = True
    return Ballots(votes, right, np.full(len(votes), abstained))


def every_outcome(rates, n):
    """All counts of n trials, and their chances."""
    counts = np.array([each for each in product(range(n + 1), repeat=len(rates)) if sum(each) == n])
    chances = [
        factorial(n) * prod(p**c / factorial(c) for p, c in zip(rates, each.tolist(), strict=True))
        for each in counts
    ]
    return ballots(counts), np.array(chances)


RATES = [(0.5, 0.5), (0.4, 0.35, 0.25), (0.8, 0.1, 0.1), (0.3, 0.4, 0.3), (0.05, 0.9, 0.05)]


@pytest.mark.parametrize("rates", RATES)
@pytest.mark.parametrize("n", [2, 4, 7])
def test_of_one_vote_the_variance_is_unbiased(rates, n):
    outcomes, chance = every_outcome(rates, n)
    share = vote_success(outcomes, 1)
    mean = chance @ share
    # Sums over all outcomes: rounding.
    assert chance @ vote_noise(outcomes, 1) == pytest.approx(chance @ (share - mean) ** 2, rel=1e-9)


@pytest.mark.parametrize("rates", RATES)
@pytest.mark.parametrize(("n", "k"), [(4, 2), (4, 3), (8, 2), (8, 3), (8, 5), (9, 4)])
def test_of_more_votes_the_variance_is_expected_not_to_be_too_low(rates, n, k):
    outcomes, chance = every_outcome(rates, n)
    share = vote_success(outcomes, k)
    true = chance @ (share - chance @ share) ** 2
    if k <= n // 2:
        assert chance @ vote_noise(outcomes, k) >= true * (1 - 1e-9)  # rounding
    else:  # what draws of half of the trials say of larger ones
        assert chance @ vote_noise(outcomes, k) >= 0.9 * true


def test_beyond_the_root_of_the_trials_rare_failures_are_bounded_not_estimated():
    # 50 of 64 are right: 16 votes hardly ever fail, and single trials do not show that they may.
    votes = ballots([[50, 14]])
    share = vote_success(votes, 16)
    bound = 16 / (64 - 16) * share * (1 - share)
    assert vote_noise(votes, 16) == pytest.approx(bound, rel=1e-12)  # the formula, in other words
    assert (vote_variance(votes, 16) < bound / 2).all()
    assert vote_noise(votes, 8) == pytest.approx(vote_variance(votes, 8), rel=1e-12)  # 8 * 8 = 64


def test_a_single_trial_has_no_variance_of_its_own():
    assert np.isnan(vote_noise(ballots([[1, 0], [0, 1]]), 1)).all()
    votes = Votes.tally(ballots([[1, 0], [0, 1]] * 5), np.zeros(10, dtype=int), 1)
    # All of them bounded by the mean: 1/2 * 1/2 each, over the square of their number.
    assert vote_estimate(votes, 1).sigma == pytest.approx([(10 * 0.25 / 10**2) ** 0.5])


def test_votes_of_unequal_strata_weigh_as_much_as_their_stratum():
    each = ballots([[2, 2], [4, 0], [3, 1]])
    strata = Subgroups(Votes.tally(each, np.array([0, 1, 1]), 2), np.array([0, 0]), 1)
    noisy = vote_estimate(Votes.tally(each, np.zeros(3, dtype=int), 1), 1, strata=strata)
    # (1/2 + (1 + 3/4) / 2) / 2, and of each question p (1 - p) / 3 by its squared weight: rounding.
    assert noisy.mu == pytest.approx([11 / 16])
    assert noisy.sigma**2 == pytest.approx([(1 / 4 / 4 + 3 / 16 / 16) / 3])


def test_beyond_the_trials_there_is_no_variance():
    votes = Votes.tally(ballots([[2, 1], [4, 0]]), np.zeros(2, dtype=int), 1)
    noisy = vote_estimate(votes, 4)
    assert np.isnan([noisy.estimate, noisy.variance, *noisy.ends(0.025)]).all()
    assert not np.isnan(vote_estimate(votes, 3).ends(0.025)).any()


@pytest.mark.parametrize("short", [0.0, 1.0])
def test_an_end_of_the_range_equals_plain_sums(short):
    votes, k = ballots([[3, 2], [4, 0], [1, 1], [2, 0]]), 3
    shares = [*vote_success(votes, k)[:2], short, short]
    noises = [*vote_noise(votes, k)[:2], 0, 0]  # two questions have too few trials
    u, mean = sum(shares) / 4, (sum(shares) + 0.5) / 5
    # What one of thirteen trials can change is the least.
    s2, square = max(sum(noises) / 16, 1 / 169), min(u, 1 - u) ** 2
    s2 = max(s2, s2 / (square + s2) * mean * (1 - mean) / 13)
    factor = 1 + sum(noise**2 for noise in noises) ** 0.5 / 16 / s2
    share = square / (square + s2)
    number = share * u * (1 - u) + (1 - share) * max(mean * (1 - mean), 4 * s2)
    number /= s2 * factor
    ends = (
        betaincinv(u * number, (1 - u) * number + 1, 0.025),
        betaincinv(u * number + 1, (1 - u) * number, 0.975),
    )
    group = np.zeros(4, dtype=int)
    found = vote_estimate(Votes.tally(votes, group, 1), k, short=short)
    assert np.ravel(found.ends(0.025)) == pytest.approx(ends, rel=1e-9)


@pytest.mark.parametrize("n", [1, 4, 64])
@pytest.mark.parametrize("questions", [1, 5, 100])
@pytest.mark.parametrize("k", [1, 3, 16])
def test_trials_that_all_agree_are_worth_no_more_than_they_are(n, questions, k):
    if k > n:
        return
    group = np.zeros(questions, dtype=int)
    right = Votes.tally(ballots([[n, 0]] * questions), group, 1)
    lo, hi = vote_estimate(right, k).ends(0.025)
    # Clopper and Pearson's lower end of all successes, of as many trials, or fewer.
    assert hi == 1
    assert 0 < lo <= 0.025 ** (1 / (n * questions)) + 1e-9
    wrong = Votes.tally(ballots([[0, n]] * questions), group, 1)
    mirrored = vote_estimate(wrong, k).ends(0.025)
    np.testing.assert_allclose(mirrored, (1 - hi, 1 - lo), atol=1e-9)


def test_questions_that_look_alike_count_each():
    many = Votes.tally(ballots([[3, 1], [2, 2], [3, 1]]), np.array([0, 0, 1]), 2)
    assert many.kind_count == 2
    alone = [
        vote_estimate(Votes.tally(ballots(each), np.zeros(len(each), dtype=int), 1), 1).mu.item()
        for each in ([[3, 1], [2, 2]], [[3, 1]])
    ]
    assert vote_estimate(many, 1).mu.tolist() == alone
