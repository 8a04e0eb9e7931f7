"""Price of votes over answers, without a model of the questions.

Each question prices itself: nothing is known of how answers are shared out among questions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from polars_scorio.kernels.array_types import Floats, Ints
from polars_scorio.kernels.calibrated.question_weights import Strata
from polars_scorio.kernels.calibrated.variance_price import Price
from polars_scorio.kernels.question_groups import QuestionGroups, question_pairs
from polars_scorio.kernels.votes import (
    Ballots,
    Ties,
    distinct_ballots,
    vote_success,
    vote_variance,
)

_QUARTER = 4


@dataclass(frozen=True, eq=False)
class Votes(QuestionGroups):
    """The answers of the questions of some groups.

    Attributes
    ----------
    ballots : Ballots
        The answers of S questions, no two of them alike.
    """

    ballots: Ballots

    @classmethod
    def tally(cls, ballots: Ballots, group: Ints, groups: int) -> Votes:
        """Collect questions, each of a group, shape (M,)."""
        ballots, place = distinct_ballots(ballots)
        return cls(*question_pairs(group, place, np.ones_like(place)), groups, ballots)

    @property
    def kind_count(self) -> int:
        """Number of different questions, S."""
        return len(self.ballots.votes)

    @property
    def alone(self) -> Votes:
        """Each of the S questions as a group of its own."""
        return Votes.tally(self.ballots, np.arange(self.kind_count), self.kind_count)


def vote_price(
    votes: Votes, k: int, ties: Ties = "split", strata: Strata[Votes] | None = None
) -> Price:
    """The price of the votes of k trials in each group.

    Parameters
    ----------
    votes : Votes
        The answers.
    k, ties
        As for `vote_success`.
    strata : Strata, optional
        Strata of the questions that weigh the same; default: all questions do.

    Returns
    -------
    Price
        NaN where k exceeds the trials of some question.

    Notes
    -----
    The variance is the sum of `vote_noise` over the questions by their squared weights (1 / M^2, or
    of strata those of M equal ones with the same sum of squares); the factor is how
    uncertain that sum is, as in `price.Moments.factor`: where one question has all the noise, it is
    known no better than by that question. The mean is the estimate, shrunk by half a question of
    each kind, ``(M u + 1/2) / (M + 1)``. Trials that all agree seem to have no noise. So sigma is
    never below what one trial can change, and near a bound, where agreement is all there is, the
    estimate is worth no more Bernoulli draws than there are trials.

    Examples
    --------
    Two questions, of each of which three of four trials are right.

    >>> ballots = Ballots(np.array([[3, 1]] * 2), np.array([[True, False]] * 2), np.array([0, 0]))
    >>> votes = Votes.tally(ballots, np.array([0, 0]), 1)
    >>> price = vote_price(votes, 1)
    >>> print(price.mu, price.sigma.round(4), price.factor.round(4))
    [0.75] [0.1768] [1.7071]
    """
    sums_of = (strata or Strata.of_whole_groups(votes)).weighted_sums
    each, size = vote_success(votes.ballots, k, ties), 1 / sums_of(np.ones(votes.kind_count), 2)
    estimate, rest = sums_of(each), sums_of(1 - each)
    mean, mean_rest = ((size * part + 0.5) / (size + 1) for part in (estimate, rest))
    own = vote_noise(votes.ballots, k, ties)
    # A single trial tells nothing of its question; the mean of all bounds the sum of those.
    single = np.isnan(own) & (votes.ballots.trials >= k)
    known, unknown, of_one = np.where(single, 0.0, own), single.astype(float), mean * mean_rest
    total = sums_of(known, 2) + sums_of(unknown, 2) * of_one
    square = sums_of(known**2, 4) + sums_of(unknown, 4) * of_one**2
    trials = size * sums_of(votes.ballots.trials.astype(float))
    variance = _floored_variance(total, estimate, rest, of_one, trials)
    factor = 1 + np.sqrt(square) / variance
    return Price(estimate, rest, mean, mean_rest, variance, factor)


def vote_noise(ballots: Ballots, k: int, ties: Ties = "split") -> Floats:
    """Variance of `vote_success` of each question: expected not to be below the true one.

    Parameters
    ----------
    ballots, k, ties
        As for `vote_success`.

    Returns
    -------
    ndarray of float, shape (M,)
        For draws of up to a quarter of the trials, and up to the root of their number [2]_, the
        jackknife, `vote_variance`. Beyond, where hardly two draws have nothing in common or rare
        failures of a vote leave no trace, ``k / (n - j) U_j (1 - U_j)`` of the votes of
        ``j = min(k, n // 2)`` trials: a mean over draws of k of n trials varies by at most
        ``k / n`` times what one draw does [1]_, and so does that of j. NaN for a single trial, and
        where k exceeds the trials.

    References
    ----------
    .. [1] W. Hoeffding (1948), A class of statistics with asymptotically normal distribution, Ann.
       Math. Statist. 19, 293-325, eq. 5.22.
    .. [2] L. Mentch, G. Hooker (2016), Quantifying Uncertainty in Random Forests, J. Mach. Learn.
       Res. 17(26), theorem 1: means over draws are normal where k grows more slowly than that.

    Examples
    --------
    Half of four trials are right: the votes of all four are priced by those of two.

    >>> ballots = Ballots(np.array([[2, 2]]), np.array([[True, False]]), np.array([0]))
    >>> vote_noise(ballots, 4).round(6)
    array([0.5])
    """
    n = ballots.trials
    found = np.full(n.size, np.nan)
    few = (k <= n // _QUARTER) & (k * k <= n)
    if few.any():
        found[few] = vote_variance(ballots.of(few), k, ties)
    for trials in np.unique(n[~few & (n >= max(k, 2))]).tolist():
        rows, drawn = n == trials, min(k, trials // 2)
        share = vote_success(ballots.of(rows), drawn, ties)
        found[rows] = k / (trials - drawn) * share * (1 - share)
    return found


def _floored_variance(
    variance: Floats, estimate: Floats, rest: Floats, of_one: Floats, trials: Floats
) -> Floats:
    """The variance of each group, of which the answers of a few trials do not say enough."""
    variance = np.maximum(variance, 1 / trials**2)
    square = np.minimum(estimate, rest) ** 2
    return np.maximum(variance, variance / (square + variance) * of_one / trials)
